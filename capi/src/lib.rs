//! The checker of Clewline for C: `include/clewline_check.h` describes what is here.
//!
//! A history is collected as text in the native format, JSON lines, so that C has the same meaning
//! of arguments, results, times and errors as files have. [`interface`] is what C calls, and has
//! all of the unsafe code; [`handles`] makes pointers that are never followed, so that an invalid
//! one is an error.

mod handles;
mod history;
mod interface;
mod recorder;
mod report;

use std::{fmt, sync::Arc};

use clewline_core::ErasedSpec;
use clewline_methods::Check;
use clewline_script::Script;
use serde_json::Value as Json;

/// Why a call failed: its status and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    status: Status,
    message: String,
}

/// What became of a call, besides success, which is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
enum Status {
    Argument = 1,
    Input = 2,
    Io = 3,
    Internal = 4,
}

impl Failure {
    fn argument(message: impl Into<String>) -> Failure {
        Failure { status: Status::Argument, message: message.into() }
    }

    fn input(error: impl fmt::Display) -> Failure {
        Failure { status: Status::Input, message: error.to_string() }
    }
}

/// A specification. One of the catalog has a name.
#[derive(Clone)]
struct Spec {
    name: Option<String>,
    object: Arc<dyn ErasedSpec>,
}

impl Spec {
    fn find(name: &str) -> Result<Spec, Failure> {
        let object = clewline_specs::find(name).map_err(Failure::input)?;
        Ok(Spec { name: Some(name.to_owned()), object: Arc::from(object) })
    }

    /// The specification in the text of a script, which errors and reports call `file`.
    fn script(file: &str, text: &str) -> Result<Spec, Failure> {
        let script = Script::load(file, text).map_err(Failure::input)?;
        Ok(Spec { name: None, object: Arc::new(script) })
    }

    /// Checks that `call`, with its result if it is complete, is an operation of the object.
    fn accept(&self, call: &Call, ret: Option<&Option<String>>) -> Result<(), Failure> {
        let mut line = format!("{{\"process\":0,{}", call.members());
        match ret {
            Some(Some(ret)) => line.push_str(&format!(",\"ret\":{ret},\"call\":0,\"return\":1}}")),
            Some(None) => line.push_str(",\"call\":0,\"return\":1}"),
            None => line.push_str(",\"call\":0}"),
        }
        let format = "jsonl".parse().map_err(Failure::input)?;
        // Both name a line, which is of no use here.
        let message = |it: String| Failure::input(without_line(&it));
        let recording = Check::new().format(format).recording("", line.as_bytes());
        let recording = recording.map_err(|it| message(it.message()))?;
        self.object.load(recording).map_err(|it| message(it.error.to_string()))?;
        Ok(())
    }
}

/// An error without the line in front of it.
fn without_line(message: &str) -> &str {
    match message.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest,
        _ => message,
    }
}

/// What is called: an operation, its argument and its object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    object: Option<String>,
    op: String,
    arg: Option<String>,
}

impl Call {
    fn new(object: Option<&str>, op: &str, arg: Option<&str>) -> Result<Call, Failure> {
        let arg = arg.map(|it| json("the argument", it)).transpose()?;
        Ok(Call { object: object.map(str::to_owned), op: op.to_owned(), arg })
    }

    /// The members of a JSON object.
    fn members(&self) -> String {
        let mut members = format!("\"op\":{}", Json::from(self.op.as_str()));
        if let Some(arg) = &self.arg {
            members.push_str(&format!(",\"arg\":{arg}"));
        }
        if let Some(object) = &self.object {
            members.push_str(&format!(",\"object\":{}", Json::from(object.as_str())));
        }
        members
    }
}

/// A JSON text in one line.
fn json(what: &str, text: &str) -> Result<String, Failure> {
    if let Err(error) = serde_json::from_str::<Json>(text) {
        return Err(Failure::input(format!("{what}: expected JSON, found `{text}`: {error}")));
    }
    // A line break can only be between tokens.
    Ok(text.replace(['\n', '\r'], " "))
}
