//! Writing EDN.

use clewline_core::{Datum, Value, Values};

use super::{Edn, Tail, token::ends_token};
use crate::text::{Sink, quoted::write_text, shown_in_one_line};

/// Writes a name as a keyword, or as a text if it cannot be one.
pub(crate) fn write_name(name: &str, out: &mut String) {
    if is_keyword(name) {
        out.push(':');
        out.push_str(name);
    } else {
        write_text(name, out);
    }
}

fn is_keyword(name: &str) -> bool {
    !name.is_empty() && !name.bytes().any(ends_token)
}

/// Writes a value; reading returns the same value. If EDN cannot express it, why.
pub(crate) fn write(values: &Values, value: Value, out: &mut String) -> Result<(), String> {
    match values.get(value) {
        Datum::Absent => return Err("EDN cannot write a value that is absent".to_owned()),
        Datum::Nil => out.push_str("nil"),
        Datum::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        Datum::Int(int) => out.push_str(&int.to_string()),
        Datum::Text(text) => write_text(text, out),
        Datum::List(items) => {
            out.push('[');
            for (place, &item) in items.iter().enumerate() {
                if place != 0 {
                    out.push(' ');
                }
                write(values, item, out)?;
            }
            out.push(']');
        }
        Datum::Symbol(name) => {
            if !is_keyword(name) {
                return Err(format!("EDN has no way to write the keyword {name:?}"));
            }
            out.push(':');
            out.push_str(name);
        }
        Datum::Other(written) => {
            let mut sink = Sink::default();
            let mut edn = Edn::new(written, Tail::End);
            let same = edn.value(&mut sink).is_ok_and(|it| sink.values.get(it) == Datum::Other(written));
            if !same || edn.at != written.len() {
                return Err(format!("EDN has no way to write {}", shown_in_one_line(written)));
            }
            out.push_str(written);
        }
    }
    Ok(())
}
