//! Programs that declare no test: their `main` is run under every schedule.
//!
//! The driver requests it; or, for a program started by hand, the environment variable
//! `CLEWLINE_BODY`, with the arguments of `clewline run`. Every behaviour of `main` is correct
//! except a crash, a failure, or blocking forever. When it returns, or calls `exit`, the program
//! has ended, with all threads that still run.

use std::{
    ffi::{CStr, OsString, c_char, c_int},
    os::unix::ffi::OsStringExt,
};

use clewline_core::{CodecError, NotFound};
use clewline_matrix::{Explorable, TestProgram, foreign_program};
use clewline_threads::control::{Calls, FailureKind, Limits, Panic};

use super::{
    call::call_with,
    current_task::{self, RuntimeCell},
    driver,
    exit::{self, IS_BODY},
    foreign::ForeignCode,
    interpose, isolate, output, panics, races, real, run, signals, subject,
};

type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

const BODY_VARIABLE: &str = "CLEWLINE_BODY";
// Separates arguments.
const ARGUMENT_SEPARATOR: u8 = 0x1f;

/// `main` and its arguments.
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

static PROGRAM: RuntimeCell<Program> =
    RuntimeCell::new(Program { main: no_main, argc: 0, argv: 0, environment: 0 });

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
    let is_explored = driver::is_driven() || std::env::var_os(BODY_VARIABLE).is_some();
    let main = if is_explored { explore } else { main };
    // SAFETY: the program's startup code requests this call.
    unsafe { real::__libc_start_main(main, argc, argv, init, fini, loader, stack) }
}

/// Replaces `main`.
extern "C" fn explore(argc: c_int, argv: *mut *mut c_char, environment: *mut *mut c_char) -> c_int {
    let main = PROGRAM.get().main;
    if subject::Subject::is_registered() {
        return main(argc, argv, environment);
    }
    if !driver::is_driven() {
        hand_over(argc, argv);
    }
    run::fix_addresses();
    PROGRAM.set(Program { main, argc, argv: argv as usize, environment: environment as usize });
    IS_BODY.set(true);
    let (mut line, wanted) = driver::connect();
    if let Err(message) = run::begin(&wanted) {
        signals::die(&format!("error: {message}\n"));
    }
    output::begin_capture();
    // The output of a panicking thread is not read, and a backtrace is slow. SAFETY: no other
    // thread of the process uses the environment: the existing ones sleep.
    unsafe { std::env::set_var("RUST_BACKTRACE", "0") };
    run::serve(&mut line, &Body, true);
    // Buffered output of the code must not be flushed now. SAFETY: the call has no preconditions.
    unsafe { libc::_exit(0) }
}

/// Hands the program over to the driver, as the variable requests.
fn hand_over(argc: c_int, argv: *mut *mut c_char) -> ! {
    let arguments = std::env::var_os(BODY_VARIABLE).unwrap_or_default().into_vec();
    let pieces = arguments.split(|it| *it == ARGUMENT_SEPARATOR).filter(|it| !it.is_empty());
    let options = pieces.map(|it| OsString::from_vec(it.to_vec())).collect();
    // SAFETY: these are the arguments of `main`.
    let argument = |at: usize| unsafe { CStr::from_ptr(*argv.add(at)) }.to_bytes().to_vec();
    let mut own = (0..argc as usize).map(|at| OsString::from_vec(argument(at)));
    let name = own.next().unwrap_or_default();
    driver::hand_over(&name, options, own.collect())
}

/// A program as a subject.
#[derive(Debug)]
struct Body;

impl Explorable for Body {
    fn invocations(&self) -> Vec<String> {
        vec!["main".to_owned()]
    }

    fn test_program(
        &self,
        labels: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        let calls = labels.try_map(|it| match it.as_str() {
            "main" => Ok(()),
            other => Err(CodecError(NotFound::new("operation", other, ["main"]).to_string())),
        })?;
        races::set_starts_alone(
            calls.columns.len() == 1 && calls.initial.is_empty() && calls.last.is_empty(),
        );
        let call = |(): &()| {
            let Program { main, argc, argv, environment } = PROGRAM.get();
            // SAFETY: this is `main` with its arguments.
            let status = unsafe { call_with(argc as usize, argv, environment, 0, main as *const () as usize) }
                as c_int;
            interpose::end_forked(status);
            let Some(control) = current_task::control() else { return status.into() };
            if status != 0 {
                let unsaid = || Panic {
                    kind: FailureKind::Failure,
                    message: format!("main returned {status}"),
                    ..Panic::default()
                };
                let panic = panics::panic_in_output(&output::captured()).unwrap_or_else(unsaid);
                control.fail(panic, current_task::place(main as *const () as usize + 1));
            }
            exit::end_program(control, main as *const () as usize + 1)
        };
        Ok(isolate::wrap(foreign_program(
            labels,
            calls,
            limits,
            &ForeignCode,
            || (),
            call,
            |_| String::new(),
        )))
    }
}
