//! Codec: how a specification's calls and returns are written down.
//!
//! Files carry histories as methods, arguments and answers ([`Recording`](crate::Recording)). A
//! specification that implements [`Codec`] can be reached from there:
//! [`ErasedSpec`](crate::ErasedSpec) forgets its types and turns a recording into a
//! [`Case`](crate::ErasedHistory), which is all that a report or the command line ever holds.

use std::{fmt, sync::Arc};

use crate::{
    sampling::CallSampler,
    specification::Specification,
    value::{Value, Values},
};

/// A specification whose calls and returns have a written form.
pub trait Codec: Specification + Sized {
    /// Reads a call.
    ///
    /// # Errors
    ///
    /// If the object has no such method, or it takes another argument.
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Self::Call, CodecError>;

    /// Reads what `call` returned.
    ///
    /// # Errors
    ///
    /// If `call` can never return such a thing.
    fn read_return(&self, values: &Values, call: &Self::Call, ret: Value)
    -> Result<Self::Return, CodecError>;

    /// Writes a call: its method and argument. [`read_call`](Self::read_call) undoes it.
    fn write_call(&self, call: &Self::Call) -> (&'static str, Encoded);

    /// Writes what `call` returned. [`read_return`](Self::read_return) undoes it.
    fn write_return(&self, call: &Self::Call, ret: &Self::Return) -> Encoded;

    /// Some call, as `dice` will have it: for generated histories.
    fn sample(&self, dice: &mut CallSampler) -> Self::Call;

    /// The name by which the catalog knows this specification, as in `queue:8`, so that a history can be judged from
    /// its file. `None` if it is not in the catalog.
    fn name(&self) -> Option<String> {
        None
    }

    /// Whether a state of this object means the same when there are more values than these, so that a history can be
    /// judged from it that is not over yet.
    fn is_stable_under_new_values(&self, _values: &Values) -> bool {
        true
    }

    /// Tells the specification what the values of the history to come hold, and what a missing key reads as.
    fn bind(&mut self, _values: &Arc<Values>, _missing: Value) {}
}

/// A value on its way out: made of values that exist, or of new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// A value of the recording.
    Value(Value),
    /// An integer.
    Int(i64),
    /// A text.
    Text(Box<str>),
    /// A list.
    List(Vec<Encoded>),
}

impl Encoded {
    /// Nothing: no argument, no answer.
    pub const NOTHING: Encoded = Encoded::Value(Value::ABSENT);

    /// A list of two values.
    #[must_use]
    pub fn pair(a: Value, b: Value) -> Encoded {
        Encoded::List(vec![Encoded::Value(a), Encoded::Value(b)])
    }

    /// This value in `values`.
    pub fn store(&self, values: &mut Values) -> Value {
        match self {
            Encoded::Value(value) => *value,
            Encoded::Int(int) => values.int(*int),
            Encoded::Text(text) => values.text(text),
            Encoded::List(items) => {
                let items: Vec<Value> = items.iter().map(|it| it.store(values)).collect();
                values.list(&items)
            }
        }
    }

    /// This value as a report writes it: `3`, `"x"`, `[1, 2]`, and nothing for nothing.
    #[must_use]
    pub fn show(&self, values: &Values) -> String {
        match self {
            Encoded::Value(value) => values.show(*value).to_string(),
            Encoded::Int(int) => int.to_string(),
            Encoded::Text(text) => format!("{text:?}"),
            Encoded::List(items) => {
                let items: Vec<String> = items.iter().map(|it| it.show(values)).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
}

/// Something was written down that the object cannot have said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError(pub String);

impl CodecError {
    /// The object has no method of that name; `known` lists those it has.
    #[must_use]
    pub fn method(found: &str, known: &str) -> CodecError {
        CodecError(format!("expected one of the operations {known}; found `{found}`"))
    }

    /// `what` (an argument, an answer) is not as `expected`.
    #[must_use]
    pub fn value(what: &str, expected: &str, values: &Values, found: Value) -> CodecError {
        if found.is_absent() {
            return CodecError(format!("{what}: expected {expected}, found nothing"));
        }
        CodecError(format!("{what}: expected {expected}, found {}", values.show(found)))
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
