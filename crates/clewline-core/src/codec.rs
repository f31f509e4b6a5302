//! Codec: the written form of a specification's calls and results.
//!
//! Files store histories as methods, arguments and results ([`Recording`](crate::Recording)). A
//! specification that implements [`Codec`] can be loaded from them:
//! [`ErasedSpec`](crate::ErasedSpec) erases its types and turns a recording into an
//! [`ErasedHistory`](crate::ErasedHistory), which is all that reports and the command line use.

use std::{fmt, sync::Arc};

use crate::{
    not_found::NotFound,
    recording::RawCall,
    sampling::CallSampler,
    specification::Specification,
    value::{Value, Values},
};

/// A specification whose calls and results have a written form, so that histories can be read from
/// files, written to files and generated.
///
/// `read_call` undoes `write_call`, and `read_return` undoes `write_return`.
pub trait Codec: Specification + Sized {
    /// Reads a call: a method and its argument.
    ///
    /// # Errors
    ///
    /// If the object has no such method, or the method does not take such an argument.
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Self::Call, CodecError>;

    /// Reads the result of `call`.
    ///
    /// # Errors
    ///
    /// If `call` can never return such a value.
    fn read_return(&self, values: &Values, call: &Self::Call, ret: Value)
    -> Result<Self::Return, CodecError>;

    /// Writes a call as its method and argument. [`read_call`](Self::read_call) undoes it.
    fn write_call(&self, call: &Self::Call) -> (&'static str, Encoded);

    /// Writes the result of `call`. [`read_return`](Self::read_return) undoes it.
    fn write_return(&self, call: &Self::Call, ret: &Self::Return) -> Encoded;

    /// A random call drawn from `sampler`, for generated histories.
    fn sample(&self, sampler: &mut CallSampler) -> Self::Call;

    /// The name of this specification in the catalog, such as `queue:8`, so that a history can be
    /// checked from its file alone. `None` if it is not in the catalog.
    fn name(&self) -> Option<String> {
        None
    }

    /// Whether states keep their meaning when values are added to these, so that the beginning of a
    /// history can be checked before the history is complete.
    fn is_stable_under_new_values(&self, _values: &Values) -> bool {
        true
    }

    /// The calls that bring a fresh object into the state `initial`, each of which returns true or
    /// nothing.
    ///
    /// # Errors
    ///
    /// If `initial` is no state of the object.
    fn initial_calls(&self, values: &mut Values, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        Err(CodecError::value(
            "the initial state",
            "none, which this specification does not take",
            values,
            initial,
        ))
    }

    /// Makes `initial` the state of a fresh object, if that needs no calls. Called before
    /// [`bind`](Self::bind). Returns whether it was done; otherwise
    /// [`initial_calls`](Self::initial_calls) are made.
    fn start_at(&mut self, _values: &Values, _initial: Value) -> bool {
        false
    }

    /// Sets the table of values of the history that follows, and the value that a missing key reads
    /// as. Called before a history is read.
    fn bind(&mut self, _values: &Arc<Values>, _missing: Value) {}
}

/// A value to be written: a value of the recording, or a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// A value of the recording, or one that needs no table.
    Value(Value),
    /// An integer.
    Int(i64),
    /// A text.
    Text(Box<str>),
    /// A list.
    List(Vec<Encoded>),
    /// What only its text says, as JSON writes it without spaces: an object, its members sorted by
    /// their names, or a number of more than 64 bits.
    Other(Box<str>),
}

impl Encoded {
    /// Nothing: no argument, or no result.
    pub const NOTHING: Encoded = Encoded::Value(Value::ABSENT);

    /// A list of two values.
    #[must_use]
    pub fn pair(a: Value, b: Value) -> Encoded {
        Encoded::List(vec![Encoded::Value(a), Encoded::Value(b)])
    }

    /// Adds this value to `values` and returns it.
    pub fn store(&self, values: &mut Values) -> Value {
        match self {
            Encoded::Value(value) => values.adopt(*value),
            Encoded::Int(int) => values.int(*int),
            Encoded::Text(text) => values.text(text),
            Encoded::List(items) => {
                let items: Vec<Value> = items.iter().map(|it| it.store(values)).collect();
                values.list(&items)
            }
            Encoded::Other(written) => values.other(written),
        }
    }

    /// This value as a report writes it: `3`, `"x"`, `[1, 2]`; empty for
    /// [`NOTHING`](Self::NOTHING).
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
            Encoded::Other(written) => written.to_string(),
        }
    }
}

/// An operation in a recording is not one that the object can have executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError(pub String);

impl CodecError {
    /// `what` (an argument, a result) is not as `expected`.
    #[must_use]
    pub fn value(what: &str, expected: &str, values: &Values, found: Value) -> CodecError {
        if found.is_absent() {
            return CodecError(format!("{what}: expected {expected}, found nothing"));
        }
        CodecError(format!("{what}: expected {expected}, found {}", values.show(found)))
    }
}

impl From<NotFound> for CodecError {
    fn from(error: NotFound) -> CodecError {
        CodecError(error.to_string())
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
