//! Reports for programs: one JSON object, on one line.
//!
//! The names of the fields, and their order, are promised to other people's scripts.

use std::io::{self, Write};

use clewline_core::{Datum, OperationId, Value, Values, Verdict};
use serde_json::Value as Json;

use super::{Judged, WitnessShown, explanation};

/// Writes the report, with a line break after it.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn report(judged: &Judged<'_>, witness: WitnessShown, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"file\":{}", quoted(judged.name))?;
    write!(out, ",\"verdict\":{}", quoted(judged.verdict.word()))?;
    write!(out, ",\"operations\":{},\"objects\":{}", judged.operations(), judged.objects())?;
    write!(out, ",\"algorithm\":{}", quoted(judged.algorithm))?;
    write!(out, ",\"elapsed_ms\":{}", judged.elapsed.as_millis())?;
    match judged.verdict {
        Verdict::Holds(found) => {
            if witness == WitnessShown::Whole {
                write!(out, ",\"witness\":")?;
                ids(judged, &found.order, out)?;
            }
        }
        Verdict::Violated(violation) => {
            write!(out, ",\"explanation\":{{")?;
            if let Some(object) = violation.core.first().and_then(|&it| judged.object(it)) {
                write!(out, "\"object\":{},", json(judged.case.values(), object))?;
            }
            write!(out, "\"core\":")?;
            ids(judged, &violation.core, out)?;
            if !violation.pending.is_empty() {
                write!(out, ",\"pending\":")?;
                ids(judged, &violation.pending, out)?;
            }
            if !violation.is_minimal {
                write!(out, ",\"minimal\":false")?;
            }
            if let Some(line) = judged.stream.and_then(|it| it.line) {
                write!(out, ",\"line\":{line}")?;
            }
            write!(out, ",\"text\":{}}}", quoted(&explanation(judged, violation)))?;
        }
        Verdict::Unknown(reason) => write!(out, ",\"reason\":{}", quoted(&reason.to_string()))?,
    }
    writeln!(out, "}}")
}

/// Writes that a file could not be judged at all: `{"file": …, "error": …}`.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn failure(name: &str, error: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"file\":{},\"error\":{}}}", quoted(name), quoted(error))
}

fn ids(judged: &Judged<'_>, operations: &[OperationId], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "[")?;
    for (place, &id) in operations.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(out, "{comma}{}", json(judged.case.values(), judged.id(id)))?;
    }
    write!(out, "]")
}

fn json(values: &Values, value: Value) -> Json {
    match values.get(value) {
        Datum::Absent | Datum::Nil => Json::Null,
        Datum::Bool(truth) => truth.into(),
        Datum::Int(int) => int.into(),
        Datum::Text(text) | Datum::Symbol(text) | Datum::Other(text) => text.into(),
        Datum::List(items) => items.iter().map(|&it| json(values, it)).collect(),
    }
}

fn quoted(text: &str) -> Json {
    text.into()
}
