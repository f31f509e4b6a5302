//! JSON as a tree, for formats whose objects are deep.

use serde_json::Value as JsonValue;

use super::{NESTING_DEPTH_MAX, Sink, TextError, objects::Object, shown_in_one_line};
use crate::ReadError;
use clewline_core::Value;

/// The tree of an object.
pub(crate) fn tree(object: Object<'_>) -> Result<JsonValue, ReadError> {
    serde_json::from_str(object.text).map_err(|error| {
        let before: usize =
            object.text.split_inclusive('\n').take(error.line().max(1) - 1).map(str::len).sum();
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let at = (before + error.column().max(1) - 1).min(object.text.len());
        // A column counts bytes; an error may be within a character.
        let at = (0..=at).rev().find(|it| object.text.is_char_boundary(*it)).unwrap_or(0);
        object.locate(TextError { at, message: format!("expected JSON: {message}") })
    })
}

/// The names of the members of an object, for errors.
pub(crate) fn shown_members(tree: &JsonValue) -> String {
    let names: Vec<String> = match tree.as_object() {
        Some(members) => members.keys().map(|it| format!("`{it}`")).collect(),
        None => return shown_in_one_line(&tree.to_string()),
    };
    if names.is_empty() { "no member".to_owned() } else { shown_in_one_line(&names.join(", ")) }
}

/// The value of a history that a tree is.
pub(crate) fn value(sink: &mut Sink, tree: &JsonValue) -> Value {
    value_at(sink, tree, 0)
}

fn value_at(sink: &mut Sink, tree: &JsonValue, depth: u32) -> Value {
    match tree {
        JsonValue::Null => Value::NIL,
        JsonValue::Bool(truth) => Value::bool(*truth),
        JsonValue::Number(number) => match number.as_i64() {
            Some(int) => sink.values.int(int),
            None => sink.values.other(&number.to_string()),
        },
        JsonValue::String(text) => sink.values.text(text),
        JsonValue::Array(items) if depth < NESTING_DEPTH_MAX => {
            let items: Vec<Value> = items.iter().map(|it| value_at(sink, it, depth + 1)).collect();
            sink.values.list(&items)
        }
        // Members are sorted by name.
        JsonValue::Array(_) | JsonValue::Object(_) => sink.values.other(&tree.to_string()),
    }
}

/// The JSON value that a text holds, or else the text.
pub(crate) fn value_of_text(sink: &mut Sink, text: &str) -> Value {
    match serde_json::from_str::<JsonValue>(text) {
        Ok(tree) => value(sink, &tree),
        Err(_) => sink.values.text(text),
    }
}
