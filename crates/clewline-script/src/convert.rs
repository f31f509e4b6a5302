//! Values of histories as values of scripts, and back.
//!
//! | in a history | in a script |
//! |---|---|
//! | null, or nothing | `None` |
//! | true, false, an integer of 64 bits, a text | the same |
//! | a keyword of EDN | its name, a text |
//! | a list | a list |
//! | an object of JSON, a map of EDN | a dict |
//! | another number | a value that is only compared |

use std::sync::Arc;

use clewline_core::{Datum, Value, Values, Written};

use crate::value::{Dict, Freezing, Heap, Items, Purpose, Val};

/// The value of a script, frozen and canonical, for a value of a history.
pub(crate) fn to_script(values: &Values, value: Value) -> Val {
    match values.get(value) {
        Datum::Absent | Datum::Nil => Val::None,
        Datum::Bool(truth) => Val::Bool(truth),
        Datum::Int(int) => Val::Int(int),
        Datum::Text(text) | Datum::Symbol(text) => Val::text(text),
        Datum::List(items) => list(items.iter().map(|it| to_script(values, *it)).collect()),
        Datum::Other(written) => object(written).unwrap_or_else(|| Val::Other(written.into())),
    }
}

/// A frozen list of canonical values.
pub(crate) fn list(items: Vec<Val>) -> Val {
    Val::FrozenList(Arc::new(Items::canonical(items)))
}

/// A dict of canonical values; `None` if one cannot be a key.
pub(crate) fn dict(entries: Vec<(Val, Val)>) -> Option<Val> {
    let mut dict = Dict::default();
    for (key, value) in entries {
        dict.insert(key.key_hash()?, key, value);
    }
    // It is not canonical yet: its keys are sorted then.
    canonical(&Val::FrozenDict(Arc::new(dict)))
}

/// `value`, which is frozen, in its canonical form; `None` if it holds a function.
pub(crate) fn canonical(value: &Val) -> Option<Val> {
    Heap::default().freeze(value, &Freezing { purpose: Purpose::State, unknown: None }, &mut 0).ok()
}

/// The value of a history that needs no table, for a frozen value of a script.
pub(crate) fn to_history(value: &Val) -> Value {
    let mut values = Values::new();
    let stored = store(value, &mut values);
    values.share(stored)
}

fn store(value: &Val, values: &mut Values) -> Value {
    match value {
        Val::Bool(truth) => Value::bool(*truth),
        Val::Int(int) => values.int(*int),
        Val::Text(text) => values.text(text),
        Val::Other(written) => values.other(written),
        Val::Tuple(items) => store_all(items, values),
        Val::FrozenList(list) => store_all(&list.items, values),
        Val::FrozenDict(_) => {
            let mut written = String::new();
            write_json(value, &mut written);
            values.other(&written)
        }
        _ => Value::NIL,
    }
}

fn store_all(items: &[Val], values: &mut Values) -> Value {
    let items: Vec<Value> = items.iter().map(|it| store(it, values)).collect();
    values.list(&items)
}

/// Writes a value as JSON, without spaces. Keys that are not texts are written as texts.
fn write_json(value: &Val, out: &mut String) {
    let each = |items: &[Val], out: &mut String| {
        out.push('[');
        for (place, item) in items.iter().enumerate() {
            out.push_str(if place == 0 { "" } else { "," });
            write_json(item, out);
        }
        out.push(']');
    };
    match value {
        Val::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Val::Int(int) => out.push_str(&int.to_string()),
        Val::Text(text) => write_text(text, out),
        Val::Other(written) => out.push_str(written),
        Val::Tuple(items) => each(items, out),
        Val::FrozenList(list) => each(&list.items, out),
        Val::FrozenDict(dict) => {
            out.push('{');
            for (place, entry) in dict.entries.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { "," });
                match &entry.key {
                    Val::Text(text) => write_text(text, out),
                    key => {
                        let mut written = String::new();
                        write_json(key, &mut written);
                        write_text(&written, out);
                    }
                }
                out.push(':');
                write_json(&entry.value, out);
            }
            out.push('}');
        }
        _ => out.push_str("null"),
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            it if (it as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", it as u32)),
            it => out.push(it),
        }
    }
    out.push('"');
}

/// The dict that `written`, an object of JSON or a map of EDN, stands for.
fn object(written: &str) -> Option<Val> {
    match Written::parse(written)? {
        map @ Written::Map(_) => taken(map),
        _ => None,
    }
}

fn taken(written: Written) -> Option<Val> {
    Some(match written {
        Written::Nil => Val::None,
        Written::Bool(truth) => Val::Bool(truth),
        Written::Int(int) => Val::Int(int),
        Written::Text(text) => Val::Text(text.into()),
        Written::Word(word) => Val::Other(word.into()),
        Written::List(items) => list(items.into_iter().map(taken).collect::<Option<_>>()?),
        Written::Map(entries) => {
            let entry = |(key, value)| Some((taken(key)?, taken(value)?));
            dict(entries.into_iter().map(entry).collect::<Option<_>>()?)?
        }
    })
}
