//! The driver: the process that decides what is explored, and reports findings.

use std::{
    ffi::{CStr, CString, OsStr, OsString, c_int, c_void},
    fs::File,
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsRawFd, FromRawFd},
        unix::{ffi::OsStrExt, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::Command,
};

use clewline_remote::{DRIVEN_VARIABLE, Line, RunOptions};

use super::{exit, signals};

/// Whether this process was started by a driver.
pub(super) fn is_driven() -> bool {
    std::env::var_os(DRIVEN_VARIABLE).is_some()
}

/// The line to the driver, and the run options. Restores standard input to what it would be without
/// a driver.
pub(super) fn connect() -> (Line, RunOptions) {
    // SAFETY: these are system calls, and no other thread uses the environment.
    let ends = unsafe {
        // Programs started by this one have no driver.
        std::env::remove_var(DRIVEN_VARIABLE);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // Requests this program to report what it has.
        signals::handle(libc::SIGTERM, on_end, libc::SA_RESTART);
        let copy = || libc::fcntl(0, libc::F_DUPFD_CLOEXEC, LINE_FILE_MIN);
        [copy(), copy()]
    };
    let [Some(from), Some(to)] = ends.map(|it| (0 <= it).then_some(it)) else {
        signals::die("error: the driver: there is no line to it\n");
    };
    exit::set_line_files([from, to]);
    // SAFETY: the system just created them, and nothing else owns them.
    let [from, to] = [from, to].map(|it| unsafe { File::from_raw_fd(it) });
    restore_input();
    let mut line = Line::new(from, to);
    match line.receive().ok().and_then(RunOptions::from_message) {
        Some(wanted) => (line, wanted),
        None => lost(),
    }
}

unsafe extern "C" fn on_end(_signal: c_int, _info: *mut libc::siginfo_t, _context: *mut c_void) {
    clewline_core::interrupt();
}

const LINE_FILE_MIN: c_int = 100;

/// The same file, with a number that the code does not use.
pub(super) fn out_of_the_way(file: &File) -> io::Result<File> {
    // SAFETY: the call copies a file that is open, and nothing else owns the copy.
    unsafe {
        match libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, LINE_FILE_MIN) {
            -1 => Err(io::Error::last_os_error()),
            number => Ok(File::from_raw_fd(number)),
        }
    }
}

/// Makes the driver's standard input this program's, or `/dev/null` if it cannot be opened again.
fn restore_input() {
    // SAFETY: the call only queries the system.
    let parent = unsafe { libc::getppid() };
    let own = CString::new(format!("/proc/{parent}/fd/0")).unwrap_or_default();
    for path in [own.as_c_str(), c"/dev/null"] {
        // SAFETY: the path ends with a zero byte, and the opened file is duplicated and closed
        // here.
        unsafe {
            let input = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_NOCTTY | libc::O_CLOEXEC);
            if 0 < input {
                libc::dup2(input, 0);
                libc::close(input);
                return;
            }
        }
    }
}

/// Without a driver there is nothing to do.
pub(super) fn lost() -> ! {
    // SAFETY: the call has no preconditions.
    unsafe { libc::_exit(2) }
}

/// Becomes the driver, which starts this program again: `clewline run NAME OPTIONS -- OWN`.
pub(super) fn hand_over(name: &OsStr, options: Vec<OsString>, own: Vec<OsString>) -> ! {
    // A name without a folder was looked up in the path.
    let program = match name.as_bytes().contains(&b'/') {
        true => PathBuf::from(name),
        false => std::env::current_exe().unwrap_or_else(|_| PathBuf::from(name)),
    };
    let mut command = Command::new(find().unwrap_or_else(|| DRIVER_FILE.into()));
    command.arg("run").arg(&program).args(options);
    if !own.is_empty() {
        command.arg("--").args(own);
    }
    // Preloaded libraries of this program are not for the driver.
    let error = command.env_remove("LD_PRELOAD").exec();
    signals::die(&format!(
        "error: this program is explored by `{DRIVER_FILE} run {}`, and {DRIVER_FILE} was found neither beside the \
         runtime nor in the path: {error}\n",
        program.display()
    ))
}

const DRIVER_FILE: &str = "clewline";

/// The driver, if it is where it would look for the runtime.
fn find() -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the call fills the structure if it succeeds, and the names live as long as the
    // process.
    let file = unsafe {
        if libc::dladdr(find as *const c_void, info.as_mut_ptr()) == 0 {
            return None;
        }
        CStr::from_ptr(info.assume_init().dli_fname)
    };
    let file = Path::new(OsStr::from_bytes(file.to_bytes())).canonicalize().ok()?;
    let folder = file.parent()?;
    let above = folder.parent();
    let places = [
        Some(folder.join(DRIVER_FILE)),
        above.map(|it| it.join(DRIVER_FILE)),
        above.map(|it| it.join("bin/clewline")),
    ];
    places.into_iter().flatten().find(|it| it.is_file())
}
