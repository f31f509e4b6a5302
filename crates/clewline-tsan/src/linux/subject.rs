//! The registered subject of a test.

use std::ffi::c_long;

use clewline_core::CodecError;
use clewline_threads::{
    Explorable, TestProgram,
    control::{Calls, Limits},
    instrument,
};

use super::{
    call::call,
    current_task,
    foreign::ForeignCode,
    isolate,
    register::{Function, Operation, Work, registered},
};

/// A call that can be made.
#[derive(Clone, Copy, Debug)]
struct Call {
    function: Function,
    argument: c_long,
}

// Results that are not numbers.
const VOID_RESULT: i64 = i64::MIN;

const NONE_RESULT: i64 = i64::MIN + 1;

fn show(result: i64) -> String {
    match result {
        VOID_RESULT => String::new(),
        NONE_RESULT => "None".to_owned(),
        number => number.to_string(),
    }
}

/// The registered subject.
#[derive(Debug)]
pub(super) struct Subject {
    operations: Vec<Operation>,
    init: Option<Work>,
}

impl Subject {
    /// Whether any operation is registered.
    pub(super) fn is_registered() -> bool {
        !registered().operations.is_empty()
    }

    /// The subject; an error if no operation is registered.
    pub(super) fn new() -> Result<Subject, String> {
        let registered = registered();
        if registered.operations.is_empty() {
            return Err(
                "nothing was registered that could be called: declare operations with clewline.h".to_owned()
            );
        }
        Ok(Subject { operations: registered.operations.clone(), init: registered.init })
    }

    fn call(&self, label: &str) -> Result<Call, CodecError> {
        let (name, argument) = match label.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.trim_end().trim_end_matches(')').trim()),
            None => (label.trim(), ""),
        };
        let found = self.operations.iter().find(|it| it.name == name);
        let operation = found.ok_or_else(|| {
            let known: Vec<&str> = self.operations.iter().map(|it| it.name.as_str()).collect();
            CodecError(format!("`{label}` cannot be called; what can be is {}", known.join(", ")))
        })?;
        let argument = match (operation.takes_argument, argument) {
            (false, "") => 0,
            (true, number) if let Ok(number) = number.parse() => number,
            (true, _) => return Err(CodecError(format!("`{label}`: expected a number, as in `{name}(1)`"))),
            (false, _) => return Err(CodecError(format!("`{label}`: {name} takes no argument"))),
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

    fn test_program(
        &self,
        labels: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        let calls = labels.try_map(|it| self.call(it))?;
        let init = self.init;
        let make = move || {
            if let Some(init) = init {
                current_task::outside_test_code(|| init());
            }
        };
        let call = |it: &Call| {
            // SAFETY: the function takes a number and returns one.
            unsafe { call(it.argument as usize, it.function as *const () as usize) as i64 }
        };
        Ok(isolate::wrap(instrument::program(labels, calls, limits, &ForeignCode, make, call, show)))
    }
}
