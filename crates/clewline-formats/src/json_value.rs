//! One value, written as JSON.

use clewline_core::{Value, Values};

use crate::text::{Sink, json::Json};

/// The value of a JSON text, as a line of JSON lines would have it.
///
/// # Errors
///
/// If it is not one JSON value: what was expected, and what was found.
pub fn json_value(text: &str, values: &mut Values) -> Result<Value, String> {
    let mut sink = Sink { values: std::mem::take(values), ..Sink::default() };
    let mut json = Json::new(text);
    let value = json.value(&mut sink).and_then(|value| match json.peek() {
        None => Ok(value),
        Some(_) => Err(json.error("the end of the text")),
    });
    *values = sink.values;
    value.map_err(|it| it.message)
}
