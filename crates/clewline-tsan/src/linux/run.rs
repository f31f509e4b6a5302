//! A test as a program: `clewline_main`, which explores what was registered.

use std::{
    ffi::{CStr, OsString, c_char, c_int},
    fs::File,
    io,
    os::{
        fd::AsRawFd,
        unix::{ffi::OsStringExt, process::CommandExt},
    },
    process::Command,
};

use clewline_matrix::Explorable;
use clewline_remote::{CopyEnds, Knowledge, Line, Offer, RunOptions, ServedSubject, TimeLimit, code_of};
use clewline_threads::instrument::set_resolver;

use super::{
    current_task::{self, RuntimeCell},
    driver, entry, exit, heap, isolate, modules, output, park, places, races, register, signals, snapshot,
    subject, trampolines, unseen, watchdog,
};

#[used]
#[unsafe(link_section = ".init_array")]
static LOAD: extern "C" fn() = load;

/// Runs before any code of the program. What its constructors allocate is part of the initial state
/// of every execution.
extern "C" fn load() {
    modules::find_system();
    if heap::map() {
        current_task::load();
    }
}

/// Disables address randomization, so that addresses are the same in every run of a program:
/// restarts the program. Returns only if they are fixed already, or if they cannot be fixed.
pub(super) fn fix_addresses() {
    const QUERY: libc::c_ulong = 0xffff_ffff;
    const TRIED: &str = "CLEWLINE_ADDRESSES_FIXED";
    // SAFETY: the call only queries the system.
    let now = unsafe { libc::personality(QUERY) };
    if now < 0 || now & libc::ADDR_NO_RANDOMIZE != 0 || std::env::var_os(TRIED).is_some() {
        return;
    }
    // SAFETY: the call sets the personality for the next program of this process.
    if unsafe { libc::personality((now | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong) } < 0 {
        return;
    }
    let mut arguments = std::env::args_os();
    let mut again = Command::new("/proc/self/exe");
    again.arg0(arguments.next().unwrap_or_default()).args(arguments).env(TRIED, "1");
    // If it cannot be restarted, it continues as it is.
    let _cannot = again.exec();
}

/// Prepares the exploration.
///
/// # Errors
///
/// The resource that the system does not provide.
fn prepare(wanted: &RunOptions) -> Result<(), String> {
    current_task::leave();
    if !heap::is_mapped() {
        return Err("the addresses are taken that the heap of the code under test needs".to_owned());
    }
    let name = c"__libc_single_threaded";
    // SAFETY: the C library has a byte of that name, if it has the name. Code that assumes a single
    // thread omits atomic operations.
    unsafe {
        let single = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).cast::<c_char>();
        if !single.is_null() {
            *single = 0;
        }
    }
    entry::begin_fences();
    unseen::begin(wanted);
    races::set_detection(!wanted.ignores_races);
    trampolines::install();
    heap::mark();
    snapshot::take();
    park::make()?;
    signals::install_handlers(entry::abandon_blocks);
    watchdog::start();
    set_resolver(places::shown);
    Ok(())
}

/// Applies the run options of the driver and prepares the exploration.
///
/// # Errors
///
/// The resource that the system does not provide.
pub(super) fn begin(wanted: &RunOptions) -> Result<(), String> {
    output::leave_standard_output();
    races::set_points(wanted.points);
    let base = modules::program_base();
    races::set_racing(wanted.racing.iter().map(|it| if code_of(*it) < base { it + base } else { *it }));
    heap::set_reuse(wanted.reuses_memory);
    if wanted.isolates_executions {
        isolate::request();
    }
    prepare(wanted)
}

/// Lets the driver at the other end of `line` explore `subject`.
pub(super) fn serve(line: &mut Line, subject: &dyn Explorable, is_body: bool) {
    let register::Registration { matrices, golden, quasi, may_fail, roles, .. } = register::registered();
    let offer = Offer {
        invocations: subject.invocations(),
        matrices: matrices.clone(),
        spec: golden.clone(),
        quasi: quasi.clone(),
        may_fail: may_fail.clone(),
        roles: roles.clone(),
        is_body,
    };
    let racing = || {
        let (base, text) = (modules::program_base(), modules::program_text());
        let is_own = |place: usize| text.iter().any(|it| it.contains(&(code_of(place) - 1)));
        races::racing().iter().map(|it| if is_own(*it) { it - base } else { *it }).collect()
    };
    exit::set_line(line);
    let limited = TimeLimit { set: watchdog::set_deadline, reason: watchdog::late_place };
    let (lost, knowledge) = (driver::lost, Knowledge { known: races::known, add: races::add_known });
    let unseen = unseen::all;
    let served = ServedSubject { subject, offer: &offer, racing, knowledge, copy, limited, unseen, lost };
    if let Err(error) = clewline_remote::serve(line, &served) {
        signals::die(&format!("error: the driver: {error}\n"));
    }
    if IS_COPY.get() {
        // The program ends once. SAFETY: the call has no preconditions.
        unsafe { libc::_exit(0) }
    }
}

static IS_COPY: RuntimeCell<bool> = RuntimeCell::new(false);

/// Copies this process, between two explorations. The copy explores what this one could, and is
/// told what to do at these ends of a line.
fn copy(ends: &CopyEnds) -> io::Result<Option<Line>> {
    let open = |number: u32, writes: bool| {
        let path = format!("/proc/{}/fd/{number}", ends.process);
        let file = File::options().read(!writes).write(writes).open(path)?;
        driver::out_of_the_way(&file)
    };
    let (from, to) = (open(ends.from, false)?, open(ends.to, true)?);
    // SAFETY: only this thread continues in the copy, and all other threads of the process sleep.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            IS_COPY.set(true);
            // SAFETY: the call has no preconditions.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            output::discard();
            watchdog::start();
            exit::set_line_files([from.as_raw_fd(), to.as_raw_fd()]);
            Ok(Some(Line::new(from, to)))
        }
        _ => Ok(None),
    }
}

/// Explores what was registered. A program started by hand is started again by the driver, which
/// gets its arguments.
#[unsafe(no_mangle)]
extern "C" fn clewline_main(argc: c_int, argv: *mut *mut c_char) -> c_int {
    if exit::IS_BODY.get() {
        signals::die(&format!("error: {}\n", subject::NOTHING_REGISTERED));
    }
    if !driver::is_driven() {
        // SAFETY: these are the arguments of `main`.
        let argument = |at: usize| unsafe { CStr::from_ptr(*argv.add(at)) }.to_bytes().to_vec();
        let mut arguments = (0..argc as usize).map(|at| OsString::from_vec(argument(at)));
        let name = arguments.next().unwrap_or_default();
        driver::hand_over(&name, arguments.collect(), Vec::new());
    }
    fix_addresses();
    let (mut line, wanted) = driver::connect();
    match subject::Subject::new().and_then(|it| begin(&wanted).map(|()| it)) {
        Ok(subject) => serve(&mut line, &subject, false),
        Err(message) => signals::die(&format!("error: {message}\n")),
    }
    0
}
