//! A recording as a table.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use clewline_core::Recording;
use clewline_formats::{WriteError, formats::jsonl};
use serde_json::Value as Json;

/// The table of a recording. JSON lines say what is in it: there is one notion of what the times of
/// a history are.
pub(crate) fn of(recording: &Recording) -> Result<RecordBatch, WriteError> {
    let mut lines = Vec::new();
    jsonl::ENTRY.write(recording, &mut lines)?;
    let refused = |why: &str| WriteError::CannotHold(why.to_owned());
    let text = String::from_utf8(lines).map_err(|_| refused("it is no text"))?;
    let rows: Result<Vec<Json>, _> = text.lines().map(serde_json::from_str).collect();
    let rows = rows.map_err(|it| refused(&it.to_string()))?;
    if rows.iter().any(|it| it["note"].is_string()) {
        return Err(refused("it has notes, and a table has no place for them"));
    }
    if rows.iter().any(|it| it["event"].is_string()) {
        return Err(refused(
            "a process continues after an operation of unknown outcome, so that it has no times",
        ));
    }
    let column = |name: &'static str| rows.iter().map(move |it| it.get(name)).collect::<Vec<_>>();
    let mut fields: Vec<Field> = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for name in ["process", "op", "call", "return", "arg", "ret", "object", "id", "order"] {
        let cells = column(name);
        if cells.iter().all(Option::is_none) && !matches!(name, "return" | "arg" | "ret") {
            continue;
        }
        let is_nullable = !matches!(name, "process" | "op" | "call");
        let (array, is_json) = array(name, &cells);
        let field = Field::new(name, array.data_type().clone(), is_nullable);
        fields.push(if is_json { as_json(field) } else { field });
        columns.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|it| refused(&it.to_string()))
}

fn as_json(field: Field) -> Field {
    let about = [("ARROW:extension:name", "arrow.json"), ("ARROW:extension:metadata", "")];
    let about = about.map(|(name, value)| (name.to_owned(), value.to_owned()));
    field.with_metadata(std::collections::HashMap::from(about))
}

/// A column, and whether its texts are JSON.
fn array(name: &str, cells: &[Option<&Json>]) -> (ArrayRef, bool) {
    let is_data = matches!(name, "arg" | "ret");
    // A null that is there is a value: only JSON distinguishes it from one that is not.
    let all = |is_one: fn(&Json) -> bool| cells.iter().flatten().all(|it| is_one(it));
    let has_gaps = cells.iter().any(Option::is_none);
    let is_typed = !(name == "ret" && has_gaps);
    let is_any = cells.iter().any(Option::is_some);
    if is_typed && is_any && all(Json::is_i64) {
        let ints = cells.iter().map(|it| it.and_then(Json::as_i64));
        return (Arc::new(ints.collect::<Int64Array>()), false);
    }
    if is_typed && is_any && all(Json::is_boolean) {
        let truths = cells.iter().map(|it| it.and_then(Json::as_bool));
        return (Arc::new(truths.collect::<BooleanArray>()), false);
    }
    if !is_data && name != "return" && all(Json::is_string) {
        let texts = cells.iter().map(|it| it.and_then(Json::as_str));
        return (Arc::new(texts.collect::<StringArray>()), false);
    }
    if name == "return" {
        return (Arc::new(cells.iter().map(|it| it.and_then(Json::as_i64)).collect::<Int64Array>()), false);
    }
    if !is_data {
        // Names of both kinds: texts.
        let text = |it: &Json| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        return (Arc::new(cells.iter().map(|it| it.map(text)).collect::<StringArray>()), false);
    }
    (Arc::new(cells.iter().map(|it| it.map(Json::to_string)).collect::<StringArray>()), true)
}
