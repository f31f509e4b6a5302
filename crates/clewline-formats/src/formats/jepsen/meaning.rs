//! How the values of an invocation and of its completion give argument and result.

use clewline_core::{Datum, Value, Values};

// Sorted: their result is in the value of the completion.
const METHODS_WITH_RESULT: &[&str] =
    &["deq", "dequeue", "drain", "get", "peek", "poll", "pop", "pop-back", "pop-front", "read", "take"];
// Sorted: they take no argument, and nil is none.
const METHODS_WITHOUT_ARGUMENT: &[&str] = &["acquire", "dec", "inc", "lock", "release", "unlock"];

#[derive(Clone, Copy)]
enum Style {
    WithResult,
    Cas,
    Nullary,
    Plain,
}

/// The argument and the result of an operation that was invoked with one value and, unless it is
/// pending, completed with another.
pub(super) fn meaning(
    values: &Values,
    method: Value,
    invoked: Value,
    completed: Option<Value>,
) -> (Value, Option<Value>) {
    let echo = |it: Value| if it == invoked { Value::ABSENT } else { it };
    let unless_nil = |it: Value| if it == Value::NIL { Value::ABSENT } else { it };
    match style(values, method) {
        Style::WithResult if completed == Some(invoked) => (Value::ABSENT, completed),
        Style::WithResult => (unless_nil(invoked), completed),
        Style::Cas => (invoked, completed.map(|it| Value::bool(it != Value::FALSE))),
        Style::Nullary => (unless_nil(invoked), completed.map(echo)),
        Style::Plain => (invoked, completed.map(echo)),
    }
}

/// Two values that mean this argument and this result, if there are such.
pub(super) fn spell(
    values: &Values,
    method: Value,
    arg: Value,
    ret: Option<Value>,
) -> Option<(Value, Option<Value>)> {
    let invoked = [arg, Value::NIL, Value::ABSENT];
    // The plain style first: a method without argument is invoked with nil.
    let invoked = if arg.is_absent() { [Value::NIL, Value::ABSENT, Value::ABSENT] } else { invoked };
    let completed = |invoked| [ret.map(|_| invoked), ret];
    let pairs = invoked.into_iter().flat_map(|it| completed(it).map(|completed| (it, completed)));
    pairs.into_iter().find(|&(invoked, completed)| meaning(values, method, invoked, completed) == (arg, ret))
}

/// Whether `method` is one whose result is the value of its completion.
pub(super) fn has_result(values: &Values, method: Value) -> bool {
    matches!(style(values, method), Style::WithResult)
}

fn style(values: &Values, method: Value) -> Style {
    let (Datum::Text(name) | Datum::Symbol(name)) = values.get(method) else { return Style::Plain };
    if METHODS_WITH_RESULT.binary_search(&name).is_ok() {
        Style::WithResult
    } else if METHODS_WITHOUT_ARGUMENT.binary_search(&name).is_ok() {
        Style::Nullary
    } else if name == "cas" {
        Style::Cas
    } else {
        Style::Plain
    }
}
