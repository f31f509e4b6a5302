//! What a test says of itself: how the subject is made, and what can be called.
//!
//! `clewline.h` calls these functions before `main` does anything.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint};

use clewline_core::Misfit;
use clewline_threads::{
    Explorable, Trial,
    control::{Calls, Limits},
    front,
};

use super::{
    call::{call, stubs},
    foreign::Code,
    here::{self, Alone},
    isolate, places,
};

type Work = extern "C" fn();
type Function = extern "C" fn(c_long) -> c_long;

/// An operation of the subject.
#[derive(Clone, Debug)]
struct Operation {
    name: String,
    function: Function,
    takes_argument: bool,
}

/// Everything that was said.
#[derive(Debug, Default)]
pub(super) struct Registered {
    init: Option<Work>,
    finish: Option<Work>,
    operations: Vec<Operation>,
    pub(super) matrices: Vec<String>,
    pub(super) golden: Option<String>,
    pub(super) quasi: Option<String>,
    /// What failed outside of tasks in this execution.
    failure: Option<String>,
}

static REGISTERED: Alone<Option<Registered>> = Alone::new(None);

/// What was said so far.
pub(super) fn registered() -> &'static mut Registered {
    REGISTERED.get().get_or_insert_default()
}

fn text(text: *const c_char) -> String {
    // SAFETY: the caller says that it is a string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_init(init: Work) {
    registered().init = Some(init);
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_finish(finish: Work) {
    registered().finish = Some(finish);
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_operation(name: *const c_char, function: Function, takes_argument: c_int) {
    let operation = Operation { name: text(name), function, takes_argument: takes_argument != 0 };
    registered().operations.push(operation);
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_matrix(matrix: *const c_char) {
    registered().matrices.push(text(matrix));
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_golden(specification: *const c_char) {
    registered().golden = Some(text(specification));
}

#[unsafe(no_mangle)]
extern "C" fn clewline_register_quasi(factors: *const c_char) {
    registered().quasi = Some(text(factors));
}

extern "C" fn fail_at(message: *const c_char, pc: usize) {
    let message = text(message);
    match here::control() {
        Some(control) => places::fail(control, message, pc),
        None => registered().failure = Some(message),
    }
}

#[unsafe(no_mangle)]
extern "C" fn clewline_choose(n: c_uint) -> c_uint {
    match here::control() {
        Some(control) if 1 < n => control.chooses(n),
        Some(_) | None => 0,
    }
}

stubs! {
    clewline_fail, "rsi" => fail_at;
}

/// An execution begins.
pub(super) fn begin() {
    registered().failure = None;
}

/// Every operation has returned.
pub(super) fn finish() {
    if let Some(finish) = registered().finish {
        here::outside(|| finish());
    }
}

/// What failed outside of tasks.
pub(super) fn failure() -> Option<String> {
    registered().failure.take()
}

/// A call that can be made.
#[derive(Clone, Copy, Debug)]
struct Call {
    function: Function,
    argument: c_long,
}

// Answers that are no numbers.
const NOTHING: i64 = i64::MIN;
const NONE: i64 = i64::MIN + 1;

fn show(answer: i64) -> String {
    match answer {
        NOTHING => String::new(),
        NONE => "None".to_owned(),
        number => number.to_string(),
    }
}

/// The subject that was registered.
#[derive(Debug)]
pub(super) struct Subject {
    operations: Vec<Operation>,
    init: Option<Work>,
}

impl Subject {
    /// Whether anything can be called.
    pub(super) fn is_there() -> bool {
        !registered().operations.is_empty()
    }

    /// The subject; an error if nothing can be called.
    pub(super) fn new() -> Result<Subject, String> {
        let registered = registered();
        if registered.operations.is_empty() {
            return Err(
                "nothing was registered that could be called: declare operations with clewline.h".to_owned()
            );
        }
        Ok(Subject { operations: registered.operations.clone(), init: registered.init })
    }

    fn call(&self, label: &str) -> Result<Call, Misfit> {
        let (name, argument) = match label.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.trim_end().trim_end_matches(')').trim()),
            None => (label.trim(), ""),
        };
        let found = self.operations.iter().find(|it| it.name == name);
        let operation = found.ok_or_else(|| {
            let known: Vec<&str> = self.operations.iter().map(|it| it.name.as_str()).collect();
            Misfit(format!("`{label}` cannot be called; what can be is {}", known.join(", ")))
        })?;
        let argument = match (operation.takes_argument, argument) {
            (false, "") => 0,
            (true, number) if let Ok(number) = number.parse() => number,
            (true, _) => return Err(Misfit(format!("`{label}`: expected a number, as in `{name}(1)`"))),
            (false, _) => return Err(Misfit(format!("`{label}`: {name} takes no argument"))),
        };
        Ok(Call { function: operation.function, argument })
    }
}

impl Explorable for Subject {
    fn invocations(&self) -> Vec<String> {
        let of = |it: &Operation| match it.takes_argument {
            true => vec![format!("{}(1)", it.name), format!("{}(2)", it.name)],
            false => vec![it.name.clone()],
        };
        self.operations.iter().flat_map(of).collect()
    }

    fn trial(&self, labels: &Calls<String>, limits: &Limits) -> Result<Box<dyn Trial>, Misfit> {
        let calls = labels.try_map(|it| self.call(it))?;
        let init = self.init;
        let make = move || {
            if let Some(init) = init {
                here::outside(|| init());
            }
        };
        let call = |it: &Call| {
            // SAFETY: the function takes a number and answers one.
            unsafe { call(it.argument as usize, it.function as *const () as usize) as i64 }
        };
        Ok(isolate::wrap(front::trial(labels, calls, limits, &Code, make, call, show)))
    }
}
