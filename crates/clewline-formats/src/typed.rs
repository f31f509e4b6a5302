//! Typed histories as recordings: serde writes calls and results, and reads them.
//!
//! The shape is that of the native format. A call that serde writes as a text, such as a variant
//! without fields, is a method without an argument: `Take` is `"op": "Take"`. One that it writes as
//! an object with one member, such as a variant with fields, is a method with an argument: `Put(3)`
//! is `"op": "Put", "arg": 3`. Any other call is the argument of the method `call`.

use std::fmt::Debug;

use clewline_core::{
    CodecError, Datum, History, LoadError, RawCall, Recording, Value, Values, numbered_recording,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as JsonValue;

use crate::{
    WriteError,
    text::{
        Sink,
        json::{self, Json},
    },
};

// The method of calls that serde writes neither as a text nor as an object with one member.
const METHOD_OF_OTHERS: &str = "call";

/// The recording of a typed history, which [`from_recording`] reads again.
///
/// # Errors
///
/// If serde cannot write a call or a result as JSON, or does not read it as it was: JSON has one
/// `null` for `None` and for `Some(())`.
pub fn to_recording<C, R>(history: &History<C, R>) -> Result<Recording, WriteError>
where
    C: Serialize + DeserializeOwned + Clone + PartialEq + Debug,
    R: Serialize + DeserializeOwned + Clone + PartialEq + Debug,
{
    let mut sink = Sink::default();
    let raw = history.clone().try_map(|id, call, ret| {
        let refuse = |what: &dyn Debug, why: String| {
            WriteError::CannotHold(format!("operation {}: {what:?} cannot be written: {why}", id.0))
        };
        let raw = write_call(&call, &mut sink).map_err(|why| refuse(&call, why))?;
        if read_call::<C>(&sink.values, raw).as_ref() != Ok(&call) {
            return Err(refuse(&call, NOT_READ_AGAIN.to_owned()));
        }
        let Some(ret) = ret else { return Ok((raw, None)) };
        let written = write(&ret, &mut sink).map_err(|why| refuse(&ret, why))?;
        if read::<R>(&sink.values, written).as_ref() != Ok(&ret) {
            return Err(refuse(&ret, NOT_READ_AGAIN.to_owned()));
        }
        Ok((raw, Some(written)))
    })?;
    Ok(numbered_recording(raw, sink.values, &[]))
}

const NOT_READ_AGAIN: &str = "serde does not read it as it was";

/// The typed history of a recording. Processes and objects whose names are numbers have these
/// numbers.
///
/// # Errors
///
/// If serde does not read a call or a result.
pub fn from_recording<C, R>(recording: Recording) -> Result<History<C, R>, LoadError>
where
    C: DeserializeOwned,
    R: DeserializeOwned,
{
    let Recording { history, values, names, .. } = recording;
    let lines: Vec<usize> = history.operations().map(|it| names.line(history.source(it.id))).collect();
    let history = history.try_map(|id, raw, ret| {
        let wrong = |what: &str, why: String| LoadError {
            line: lines[id.index()],
            error: CodecError(format!("{what}: {why}")),
        };
        let call = read_call(&values, raw).map_err(|why| wrong("the call", why))?;
        let ret = ret.map(|it| read(&values, it)).transpose().map_err(|why| wrong("the result", why))?;
        Ok((call, ret))
    })?;
    Ok(names.renumber(history, &values))
}

fn write_call(call: &impl Serialize, sink: &mut Sink) -> Result<RawCall, String> {
    let written = serde_json::to_value(call).map_err(|it| it.to_string())?;
    let (method, argument) = match written {
        JsonValue::String(method) => (method, Value::ABSENT),
        JsonValue::Object(members) if members.len() == 1 && !members.contains_key(METHOD_OF_OTHERS) => {
            let (method, argument) = members.into_iter().next().expect("it has one member");
            (method, write(&argument, sink)?)
        }
        other => (METHOD_OF_OTHERS.to_owned(), write(&other, sink)?),
    };
    Ok(RawCall { method: sink.values.text(&method), arg: argument })
}

fn write(value: &impl Serialize, sink: &mut Sink) -> Result<Value, String> {
    let text = serde_json::to_string(value).map_err(|it| it.to_string())?;
    Json::new(&text).value(sink).map_err(|it| it.message)
}

fn read_call<C: DeserializeOwned>(values: &Values, call: RawCall) -> Result<C, String> {
    let method = match values.get(call.method) {
        Datum::Text(name) | Datum::Symbol(name) => name.to_owned(),
        _ => return Err("the name of an operation is no text".to_owned()),
    };
    let written = match (method, call.arg) {
        (method, Value::ABSENT) => JsonValue::String(method),
        (method, argument) if method == METHOD_OF_OTHERS => to_json(values, argument)?,
        (method, argument) => [(method, to_json(values, argument)?)].into_iter().collect(),
    };
    serde_json::from_value(written).map_err(|it| it.to_string())
}

fn read<R: DeserializeOwned>(values: &Values, value: Value) -> Result<R, String> {
    serde_json::from_value(to_json(values, value)?).map_err(|it| it.to_string())
}

/// A value as serde reads it. A result that a file leaves out is `null`.
fn to_json(values: &Values, value: Value) -> Result<JsonValue, String> {
    if value.is_absent() {
        return Ok(JsonValue::Null);
    }
    let mut text = String::new();
    json::write(values, value, &mut text)?;
    serde_json::from_str(&text).map_err(|it| it.to_string())
}
