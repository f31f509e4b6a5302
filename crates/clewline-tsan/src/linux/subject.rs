//! The registered subject of a test.

use std::ffi::c_long;

use clewline_core::{CodecError, NotFound};
use clewline_matrix::{BadMatrix, Explorable, TestProgram, foreign_program, split_outside};
use clewline_threads::control::{Calls, Limits};

use super::{
    call::call_with,
    calls_out, current_task,
    foreign::ForeignCode,
    interpose, isolate,
    register::{ARGUMENTS_MAX, Function, Operation, Work, intern, registered, text_of},
};

/// A call that can be made.
#[derive(Clone, Copy, Debug)]
struct Call {
    function: Function,
    arguments: [c_long; ARGUMENTS_MAX],
}

// Results that are not numbers.
const VOID_RESULT: i64 = i64::MIN;

const NONE_RESULT: i64 = i64::MIN + 1;

const TRUE_RESULT: i64 = i64::MIN + 2;

const FALSE_RESULT: i64 = i64::MIN + 3;

fn show(result: i64) -> String {
    match result {
        VOID_RESULT => String::new(),
        NONE_RESULT => "None".to_owned(),
        TRUE_RESULT => "true".to_owned(),
        FALSE_RESULT => "false".to_owned(),
        number => match text_of(number) {
            Some(text) => text.to_string_lossy().into_owned(),
            None => number.to_string(),
        },
    }
}

/// Why a test without operations cannot be explored.
pub(super) const NOTHING_REGISTERED: &str =
    "nothing was registered that could be called: declare operations with clewline.h";

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
            return Err(NOTHING_REGISTERED.to_owned());
        }
        Ok(Subject { operations: registered.operations.clone(), init: registered.init })
    }

    fn call(&self, label: &str) -> Result<Call, CodecError> {
        let (name, given) = match label.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.trim_end().trim_end_matches(')').trim()),
            None => (label.trim(), ""),
        };
        let found = self.operations.iter().find(|it| it.name == name);
        let names = self.operations.iter().map(|it| it.name.as_str());
        let operation =
            found.ok_or_else(|| CodecError(NotFound::new("operation", name, names).to_string()))?;
        let bad = |it: BadMatrix| CodecError(format!("`{label}`: {it}"));
        let given =
            if given.is_empty() { Vec::new() } else { split_outside(given, |it| it == ',').map_err(bad)? };
        if given.len() != operation.arguments {
            let example = invocation(name, &EXAMPLE_ARGUMENTS[..operation.arguments]);
            return Err(CodecError(match operation.arguments {
                0 => format!("`{label}`: {name} takes no argument"),
                1 => format!("`{label}`: expected a number, as in `{example}`"),
                n => format!("`{label}`: expected {n} numbers, as in `{example}`"),
            }));
        }
        let mut arguments = [0; ARGUMENTS_MAX];
        for (argument, text) in arguments.iter_mut().zip(given) {
            *argument = argument_of(text.trim()).ok_or_else(|| {
                CodecError(format!("`{label}`: expected a number or a \"string\", found `{}`", text.trim()))
            })?;
        }
        Ok(Call { function: operation.function, arguments })
    }
}

/// A number, or the number of a string in quotation marks.
fn argument_of(text: &str) -> Option<c_long> {
    let Some(quoted) = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else {
        return text.parse().ok();
    };
    let (mut string, mut is_escaped) = (String::new(), false);
    for it in quoted.chars() {
        if it == '\\' && !is_escaped {
            is_escaped = true;
            continue;
        }
        string.push(match it {
            'n' if is_escaped => '\n',
            't' if is_escaped => '\t',
            _ => it,
        });
        is_escaped = false;
    }
    Some(intern(&string))
}

const EXAMPLE_ARGUMENTS: [c_long; ARGUMENTS_MAX] = [1, 2, 3, 4];

/// The text of a call.
fn invocation(name: &str, arguments: &[c_long]) -> String {
    if arguments.is_empty() {
        return name.to_owned();
    }
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    format!("{name}({})", arguments.join(", "))
}

impl Explorable for Subject {
    fn invocations(&self) -> Vec<String> {
        // Each argument is 1 or 2.
        let of = |it: &Operation| {
            let (name, n) = (it.name.clone(), it.arguments);
            (0..1 << n).map(move |bits: c_long| {
                let arguments: Vec<c_long> = (0..n).rev().map(|at| 1 + (bits >> at & 1)).collect();
                invocation(&name, &arguments)
            })
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
            let [one, two, three, four] = it.arguments.map(|it| it as usize);
            // SAFETY: the function takes up to four numbers and returns one.
            let result = unsafe { call_with(one, two, three, four, it.function as *const () as usize) };
            interpose::end_forked(0);
            current_task::settle();
            current_task::control().into_iter().for_each(calls_out::settle);
            result as i64
        };
        Ok(isolate::wrap(foreign_program(labels, calls, limits, &ForeignCode, make, call, show)))
    }
}
