//! Programs that declare no test: their own `main` is run under every schedule.
//!
//! The environment variable `CLEWLINE_BODY` asks for it, with the arguments of `clewline explore`. Whatever `main` does is right, but to crash, to
//! fail, or to wait for ever. When it returns, or somebody calls `exit`, the program has ended, whoever else still runs.

use std::{
    ffi::{OsString, c_char, c_int},
    io::Write,
    os::unix::ffi::OsStringExt,
    sync::Arc,
};

use clewline_cli::{Registered, explore_registered};
use clewline_core::Misfit;
use clewline_threads::{
    Explorable, Trial,
    control::{Calls, Limits, Panic},
    front::{self},
};

use super::{
    call::call_with,
    exit::IS_BODY,
    foreign::Code,
    here::{self, Own},
    isolate, output, panics, races, real, run, signals, subject,
};

type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

const VARIABLE: &str = "CLEWLINE_BODY";
// Between arguments.
const BETWEEN: char = '\u{1f}';

/// `main`, and what it is called with.
#[derive(Clone, Copy, Debug)]
struct Program {
    main: Main,
    argc: c_int,
    argv: usize,
    environment: usize,
}

extern "C" fn no_main(_: c_int, _: *mut *mut c_char, _: *mut *mut c_char) -> c_int {
    2
}

static PROGRAM: Own<Program> = Own::new(Program { main: no_main, argc: 0, argv: 0, environment: 0 });

#[unsafe(no_mangle)]
extern "C" fn __libc_start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: usize,
    fini: usize,
    loader: usize,
    stack: usize,
) -> c_int {
    PROGRAM.set(Program { main, argc, argv: argv as usize, environment: 0 });
    let main = if std::env::var_os(VARIABLE).is_some() { explore } else { main };
    // SAFETY: what starts the program asks for it.
    unsafe { real::__libc_start_main(main, argc, argv, init, fini, loader, stack) }
}

/// In the place of `main`.
extern "C" fn explore(argc: c_int, argv: *mut *mut c_char, environment: *mut *mut c_char) -> c_int {
    let main = PROGRAM.get().main;
    if subject::Subject::is_there() {
        return main(argc, argv, environment);
    }
    run::fix_addresses();
    PROGRAM.set(Program { main, argc, argv: argv as usize, environment: environment as usize });
    IS_BODY.set(true);
    let told = std::env::var_os(VARIABLE).unwrap_or_default().into_vec();
    let pieces = String::from_utf8_lossy(&told).into_owned();
    let pieces = pieces.split(BETWEEN).filter(|it| !it.is_empty());
    let mut arguments: Vec<OsString> = pieces.map(OsString::from).collect();
    // SAFETY: the program has a name.
    let name = unsafe { std::ffi::CStr::from_ptr(*argv) }.to_string_lossy().into_owned();
    if let Err(told) = run::own_options(&mut arguments).and_then(|()| run::prepare()) {
        signals::die(&format!("error: {told}\n"));
    }
    output::keep_quiet();
    // Nobody reads what a thread of the program writes when it panics, and to find out where it was takes long.
    // SAFETY: no other thread of the process uses the environment: those that were made sleep.
    unsafe { std::env::set_var("RUST_BACKTRACE", "0") };
    let given = Registered {
        name: name.rsplit('/').next().unwrap_or(&name).to_owned(),
        explorable: Arc::new(Body),
        command: Box::new(move || run::command(&name)),
        is_body: true,
        matrices: vec!["main".to_owned()],
        spec: None,
        quasi: None,
    };
    let code = explore_registered(given, arguments);
    let _nobody_listens = std::io::stdout().flush();
    // What the code has written, and nobody has read, is not to be read now.
    // SAFETY: it asks for nothing.
    unsafe { libc::_exit(code.into()) }
}

/// A program, as something to explore.
#[derive(Debug)]
struct Body;

impl Explorable for Body {
    fn invocations(&self) -> Vec<String> {
        vec!["main".to_owned()]
    }

    fn trial(&self, labels: &Calls<String>, limits: &Limits) -> Result<Box<dyn Trial>, Misfit> {
        let calls = labels.try_map(|it| match it.as_str() {
            "main" => Ok(()),
            other => Err(Misfit(format!("`{other}` cannot be called; what can be is main"))),
        })?;
        races::set_starts_alone(
            calls.columns.len() == 1 && calls.initial.is_empty() && calls.last.is_empty(),
        );
        let call = |(): &()| {
            let Program { main, argc, argv, environment } = PROGRAM.get();
            // SAFETY: this is `main`, and what it is called with.
            let status =
                unsafe { call_with(argc as usize, argv, environment, main as *const () as usize) } as c_int;
            let Some(control) = here::control() else { return status.into() };
            if status != 0 {
                let unsaid = || Panic { message: format!("main returned {status}"), ..Panic::default() };
                let panic = panics::told(&output::said()).unwrap_or_else(unsaid);
                control.fails(panic, here::place(main as *const () as usize + 1));
            }
            control.ends_all(here::place(main as *const () as usize + 1))
        };
        Ok(isolate::wrap(front::trial(labels, calls, limits, &Code, || (), call, |_| String::new())))
    }
}
