//! Writing JSON.

use clewline_core::{Datum, Value, Values};

use super::Json;
use crate::text::{Sink, quoted::write_text, shown_in_one_line};

/// Writes a value; reading returns the same value. If JSON cannot express it, why.
pub(crate) fn write(values: &Values, value: Value, out: &mut String) -> Result<(), String> {
    match values.get(value) {
        Datum::Absent => return Err("JSON cannot write a value that is absent".to_owned()),
        Datum::Nil => out.push_str("null"),
        Datum::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        Datum::Int(int) => out.push_str(&int.to_string()),
        Datum::Text(text) => write_text(text, out),
        Datum::List(items) => {
            out.push('[');
            for (place, &item) in items.iter().enumerate() {
                if place != 0 {
                    out.push_str(", ");
                }
                write(values, item, out)?;
            }
            out.push(']');
        }
        Datum::Symbol(name) => return Err(format!("JSON has no symbols such as :{name}")),
        Datum::Other(written) => {
            let mut sink = Sink::default();
            let mut json = Json::new(written);
            let same = json.value(&mut sink).is_ok_and(|it| sink.values.get(it) == Datum::Other(written));
            if !same || json.at != written.len() {
                return Err(format!("JSON has no way to write {}", shown_in_one_line(written)));
            }
            out.push_str(written);
        }
    }
    Ok(())
}
