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

use clewline_core::{Datum, Value, Values};

use crate::value::{Dict, Freezing, Heap, Items, Val};

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
    Val::FrozenList(Arc::new(Items { is_canonical: true, items }))
}

/// A dict of canonical values; `None` if one cannot be a key.
pub(crate) fn dict(entries: Vec<(Val, Val)>) -> Option<Val> {
    let mut dict = Dict::default();
    for (key, value) in entries {
        dict.insert(key.key_hash()?, key, value);
    }
    // It is not canonical yet: its keys are sorted then.
    Heap::default().freeze(&Val::FrozenDict(Arc::new(dict)), &Freezing::STATE).ok()
}

/// `value`, which is frozen, in its canonical form; `None` if it holds a function.
pub(crate) fn canonical(value: &Val) -> Option<Val> {
    Heap::default().freeze(value, &Freezing::STATE).ok()
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
    if !written.starts_with('{') {
        return None;
    }
    let mut reader = Reader { rest: written };
    let value = reader.value(0)?;
    reader.skip();
    reader.rest.is_empty().then_some(value)
}

// As deep as the values of a script.
const DEPTH_MAX: usize = crate::value::VALUE_DEPTH_MAX;

/// A text of JSON or EDN.
struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ',']);
    }

    fn take(&mut self, sign: char) -> bool {
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Val> {
        self.skip();
        if DEPTH_MAX < depth {
            return None;
        }
        if self.take('{') {
            let mut entries = Vec::new();
            loop {
                self.skip();
                if self.take('}') {
                    return dict(entries);
                }
                let is_text = self.rest.starts_with('"');
                let key = self.value(depth + 1)?;
                // A colon of JSON follows its key at once; that of a keyword follows a space.
                if is_text {
                    self.take(':');
                }
                entries.push((key, self.value(depth + 1)?));
            }
        }
        if self.take('[') {
            let mut items = Vec::new();
            loop {
                self.skip();
                if self.take(']') {
                    return Some(list(items));
                }
                items.push(self.value(depth + 1)?);
            }
        }
        if self.take('"') {
            return self.text();
        }
        let end = self.rest.find([' ', ',', '}', ']', '\t', '\n', '\r']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "" => None,
            "true" => Some(Val::Bool(true)),
            "false" => Some(Val::Bool(false)),
            "null" | "nil" => Some(Val::None),
            _ => match (word.parse(), word.strip_prefix(':')) {
                (Ok(int), _) => Some(Val::Int(int)),
                (Err(_), Some(name)) => Some(Val::text(name)),
                (Err(_), None) => Some(Val::Other(word.into())),
            },
        }
    }

    /// The rest of a text, after its first quote.
    fn text(&mut self) -> Option<Val> {
        let mut text = String::new();
        let mut characters = self.rest.chars();
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => match characters.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => {
                        let digits: String = characters.by_ref().take(4).collect();
                        text.push(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)?);
                    }
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        self.rest = characters.as_str();
        Some(Val::Text(text.into()))
    }
}
