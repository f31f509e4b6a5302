//! A test as a program: `clewline_main`, which explores what was registered.

use std::{
    ffi::{CStr, OsString, c_char, c_int},
    io::Write,
    os::unix::{ffi::OsStringExt, process::CommandExt},
    process::Command,
    sync::Arc,
};

use clewline_cli::{Registered, explore_registered};
use clewline_threads::front::set_resolver;
use clewline_unmodified::{CENSUS_VARIABLE, answer};

use super::{
    heap, here, isolate, modules, output, park, places, races, register, signals, snapshot, subject, watchdog,
};

#[used]
#[unsafe(link_section = ".init_array")]
static LOAD: extern "C" fn() = load;

/// Before anything of the program runs. What its constructors allocate is part of what every execution begins with.
extern "C" fn load() {
    modules::find_system();
    if heap::map() {
        here::load();
    }
}

/// Addresses are the same in every run of a program only if the system is told so, before the program begins. Answers only if they are, or if
/// nothing can be done about it.
pub(super) fn fix_addresses() {
    const QUERY: libc::c_ulong = 0xffff_ffff;
    const TRIED: &str = "CLEWLINE_ADDRESSES_FIXED";
    // SAFETY: this is a question to the system.
    let now = unsafe { libc::personality(QUERY) };
    if now < 0 || now & libc::ADDR_NO_RANDOMIZE != 0 || std::env::var_os(TRIED).is_some() {
        return;
    }
    // SAFETY: it says how the next program of this process begins.
    if unsafe { libc::personality((now | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong) } < 0 {
        return;
    }
    let mut arguments = std::env::args_os();
    let mut again = Command::new("/proc/self/exe");
    again.arg0(arguments.next().unwrap_or_default()).args(arguments).env(TRIED, "1");
    // If it cannot be run again, it goes on as it is.
    let _cannot = again.exec();
}

/// Makes everything ready.
///
/// # Errors
///
/// What the system does not give.
pub(super) fn prepare() -> Result<(), String> {
    here::leave();
    if !heap::is_mapped() {
        return Err("the addresses are taken that the heap of the code under test needs".to_owned());
    }
    let name = c"__libc_single_threaded";
    // SAFETY: the C library has a byte of that name, if it has the name. Code that believes to be alone leaves out what makes
    // operations atomic.
    unsafe {
        let single = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).cast::<c_char>();
        if !single.is_null() {
            *single = 0;
        }
    }
    for library in modules::uninstrumented() {
        output::tell(&format!(
            "note: {library} was not compiled for this: its calls of pthread and malloc are seen, and not its accesses to memory\n"
        ));
    }
    heap::mark();
    snapshot::take();
    park::make()?;
    signals::watch();
    watchdog::start();
    set_resolver(places::resolve);
    Ok(())
}

/// The options that other explorations do not have. Others are left in `arguments`.
pub(super) fn own_options(arguments: &mut Vec<OsString>) -> Result<(), String> {
    let mut others = Vec::new();
    let mut all = std::mem::take(arguments).into_iter();
    while let Some(argument) = all.next() {
        let text = argument.to_string_lossy().into_owned();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (text, None),
        };
        let mut value = || {
            let next = || all.next().map(|it| it.to_string_lossy().into_owned());
            value.clone().or_else(next).ok_or_else(|| format!("{name}: expected a value"))
        };
        match name.as_str() {
            "--points" => races::set_points(points(&value()?)?),
            "--reuse" => heap::set_reuse(reuse(&value()?)?),
            "--isolate" => isolate::ask(),
            "--racing" => races::set_racing(racing(&value()?)?),
            _ => others.push(argument),
        }
    }
    *arguments = others;
    Ok(())
}

fn points(text: &str) -> Result<races::Points, String> {
    match text {
        "racing" => Ok(races::Points::Racing),
        "all" => Ok(races::Points::All),
        "atomics" => Ok(races::Points::Atomics),
        _ => Err(format!("--points: expected `racing`, `all` or `atomics`; found `{text}`")),
    }
}

fn reuse(text: &str) -> Result<bool, String> {
    match text {
        "never" => Ok(false),
        "any" => Ok(true),
        _ => Err(format!("--reuse: expected `never` or `any`; found `{text}`")),
    }
}

fn racing(text: &str) -> Result<Vec<usize>, String> {
    let read =
        |it: &str| usize::from_str_radix(it, 16).map_err(|_| format!("--racing: `{it}` is no address"));
    text.split(',').map(read).collect()
}

/// How this exploration is begun, with what it has found out about points.
pub(super) fn command(name: &str) -> String {
    let mut command = std::env::var("CLEWLINE_COMMAND").unwrap_or_else(|_| name.to_owned());
    match races::points() {
        races::Points::Racing if races::racing().is_empty() => (),
        races::Points::Racing => {
            let places: Vec<String> = races::racing().iter().map(|it| format!("{it:x}")).collect();
            command.push_str(&format!(" --racing {}", places.join(",")));
        }
        races::Points::All => command.push_str(" --points all"),
        races::Points::Atomics => command.push_str(" --points atomics"),
    }
    if isolate::is_asked() {
        command.push_str(" --isolate");
    }
    if heap::reuses() {
        command.push_str(" --reuse any");
    }
    command
}

/// Counts histories, and says how many there are.
fn count(subject: &subject::Subject, question: &str) -> c_int {
    match answer(subject, question) {
        Ok(answer) => {
            let written = writeln!(std::io::stdout(), "{answer}");
            if written.is_ok() { 0 } else { 2 }
        }
        Err(misfit) => signals::die(&format!("error: {misfit}\n")),
    }
}

/// Explores what was registered, as the arguments of `clewline explore` say.
#[unsafe(no_mangle)]
extern "C" fn clewline_main(argc: c_int, argv: *mut *mut c_char) -> c_int {
    fix_addresses();
    // SAFETY: these are the arguments of `main`.
    let argument = |at: usize| unsafe { CStr::from_ptr(*argv.add(at)) }.to_bytes().to_vec();
    let mut arguments: Vec<OsString> =
        (0..argc as usize).map(|at| OsString::from_vec(argument(at))).collect();
    let name = if arguments.is_empty() { OsString::from("test") } else { arguments.remove(0) };
    let name = name.to_string_lossy().into_owned();
    let subject = own_options(&mut arguments).and_then(|()| subject::Subject::new());
    let subject = match subject.and_then(|it| prepare().map(|()| it)) {
        Ok(subject) => subject,
        Err(told) => signals::die(&format!("error: {told}\n")),
    };
    if let Some(question) = std::env::var_os(CENSUS_VARIABLE) {
        return count(&subject, &question.to_string_lossy());
    }
    let registered = register::registered();
    let short = name.rsplit('/').next().unwrap_or(&name).to_owned();
    let full = name.clone();
    let given = Registered {
        name: short,
        explorable: Arc::new(subject),
        command: Box::new(move || command(&full)),
        is_body: false,
        matrices: registered.matrices.clone(),
        spec: registered.golden.clone(),
        quasi: registered.quasi.clone(),
    };
    explore_registered(given, arguments).into()
}
