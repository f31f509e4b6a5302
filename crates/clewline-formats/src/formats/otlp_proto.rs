//! OpenTelemetry traces as protocol buffers: what the collector's file exporter writes with
//! `format: proto`, and the body of a request of OTLP.
//!
//! The file exporter writes the length of each message before it, in four bytes, the highest first.
//! A file that is one message has no length. The two differ in their first byte: a message begins
//! with the tag of its first field, 10, which as the highest byte of a length would be 160 MiB.
//!
//! Each message becomes the tree that OTLP's JSON has, so that spans mean what they mean there.
//! Fields that are not needed are skipped. An error has the number of its message as its line, and
//! names its byte.

use std::io::{self, Read, Write};

use clewline_core::{Recording, visible};
use serde_json::{Map, Number, Value as JsonValue};

use super::otlp::Spans;
use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    text::{FORM_BYTES_MAX, NESTING_DEPTH_MAX},
    wire::{Bytes, Field, Wire, WireError},
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &OtlpProto;

struct OtlpProto;

// The tag of `resource_spans` in a message, and of `scope_spans` in one of these.
const RESOURCE_SPANS_TAG: u8 = 0x0a;
const SCOPE_SPANS_TAG: u8 = 0x12;

impl Format for OtlpProto {
    fn name(&self) -> &'static str {
        "otlp-proto"
    }

    fn about(&self) -> &'static str {
        "OpenTelemetry traces in protobuf: spans are operations (reading only)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["proto", "pb", "binpb"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: false, pending: true, objects: Objects::Named, ids: true, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        match head.split_first_chunk() {
            // Of texts, too, some begin with a line end: `scope_spans` has a tag that none has.
            Some(_) if head[0] == RESOURCE_SPANS_TAG => begins_with_spans(head) == Some(true),
            Some((length, message)) => {
                let length = u32::from_be_bytes(*length) as usize;
                let message = &message[..length.min(message.len())];
                length <= FORM_BYTES_MAX && !message.is_empty() && begins_with_spans(message) != Some(false)
            }
            None => false,
        }
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut spans = Spans::new(options);
        let mut messages = Messages { input, read: 0, buffer: Vec::new() };
        for number in 1.. {
            let outcome = messages.next().and_then(|message| message.map(tree).transpose());
            let located = |error: WireError| {
                let message = format!("byte {}: {}", error.at, visible(&error.message));
                ReadError { read: spans.len(), ..ReadError::in_line(number, message) }
            };
            let Some(tree) = outcome.map_err(located)? else { break };
            let read = spans.len();
            spans
                .batch(number, &tree)
                .map_err(|it| ReadError { read, ..ReadError::in_line(number, visible(&it).to_string()) })?;
            (options.progress)(messages.read);
        }
        spans.finish()
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        Err(WriteError::CannotHold("traces are only read".to_owned()))
    }
}

/// Whether a message that begins with `head` has spans of a scope; `None` if more of it is needed
/// to know.
fn begins_with_spans(head: &[u8]) -> Option<bool> {
    let mut rest = Bytes { bytes: head, at: 0 };
    // Of the tag and the length of the first field, and then of those in it.
    let mut limit = u64::MAX;
    let mut is_first = true;
    loop {
        let &tag = rest.bytes.first()?;
        let is_known = if is_first { tag == RESOURCE_SPANS_TAG } else { [0x0a, 0x12, 0x1a].contains(&tag) };
        rest = Bytes { bytes: &rest.bytes[1..], at: rest.at + 1 };
        if rest.bytes.is_empty() {
            return if is_known { None } else { Some(false) };
        }
        let Ok(length) = rest.varint("a length") else { return Some(false) };
        let end = rest.at.saturating_add(length);
        if !is_known || limit < end {
            return Some(false);
        }
        if is_first {
            (limit, is_first) = (end, false);
        } else if tag == SCOPE_SPANS_TAG {
            return Some(true);
        } else {
            let skipped = usize::try_from(length).ok()?;
            rest = Bytes { bytes: rest.bytes.get(skipped..)?, at: end };
        }
        // Without scopes there are no spans.
        if limit <= rest.at {
            return Some(false);
        }
    }
}

/// The messages of an input.
struct Messages<'a> {
    input: &'a mut dyn Read,
    // How many bytes were read.
    read: u64,
    buffer: Vec<u8>,
}

impl Messages<'_> {
    fn next(&mut self) -> Result<Option<Bytes<'_>>, WireError> {
        let begin = self.read;
        self.fill(4)?;
        let Some(length) = self.buffer.first_chunk() else {
            let found = self.buffer.len();
            if found == 0 {
                return Ok(None);
            }
            let message = format!("expected a length of 4 bytes, found {found} until the end of the file");
            return Err(WireError::new(begin, message));
        };
        let length = u64::from(u32::from_be_bytes(*length));
        if begin == 0 && self.buffer[0] == RESOURCE_SPANS_TAG {
            let first = std::mem::take(&mut self.buffer);
            self.fill(FORM_BYTES_MAX as u64)?;
            if self.buffer.len() == FORM_BYTES_MAX {
                return Err(WireError::new(
                    0,
                    format!("this message is longer than {} MiB", FORM_BYTES_MAX >> 20),
                ));
            }
            self.buffer.splice(..0, first);
            return Ok(Some(Bytes { bytes: &self.buffer, at: 0 }));
        }
        if (FORM_BYTES_MAX as u64) < length {
            let most = FORM_BYTES_MAX >> 20;
            let message = format!("expected the length of a message of at most {most} MiB, found {length}");
            return Err(WireError::new(begin, message));
        }
        let at = self.read;
        self.fill(length)?;
        let found = self.buffer.len();
        if (found as u64) < length {
            let message = format!("expected {length} bytes, found {found} until the end of the file");
            return Err(WireError::new(at, message));
        }
        Ok(Some(Bytes { bytes: &self.buffer, at }))
    }

    /// Replaces the buffer by the next bytes, fewer at the end of the input.
    fn fill(&mut self, length: u64) -> Result<(), WireError> {
        self.buffer.clear();
        let read: io::Result<usize> = Read::take(&mut *self.input, length).read_to_end(&mut self.buffer);
        read.map_err(|error| WireError::new(self.read, format!("cannot be read: {error}")))?;
        self.read += self.buffer.len() as u64;
        Ok(())
    }
}

/// A message of traces: the fields that are read, with their names in JSON.
type Schema = &'static [(u64, &'static str, Kind)];

/// What a field holds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Bool,
    Int,
    Double,
    Binary,
    Time,
    One(fn() -> Schema),
    Many(fn() -> Schema),
}

const TRACES: Schema = &[(1, "resourceSpans", Kind::Many(|| RESOURCE_SPANS))];
const RESOURCE_SPANS: Schema =
    &[(1, "resource", Kind::One(|| RESOURCE)), (2, "scopeSpans", Kind::Many(|| SCOPE_SPANS))];
const RESOURCE: Schema = &[(1, "attributes", Kind::Many(|| KEY_VALUE))];
const SCOPE_SPANS: Schema = &[(1, "scope", Kind::One(|| SCOPE)), (2, "spans", Kind::Many(|| SPAN))];
const SCOPE: Schema = &[(3, "attributes", Kind::Many(|| KEY_VALUE))];
const SPAN: Schema = &[
    (5, "name", Kind::Text),
    (7, "startTimeUnixNano", Kind::Time),
    (8, "endTimeUnixNano", Kind::Time),
    (9, "attributes", Kind::Many(|| KEY_VALUE)),
    (15, "status", Kind::One(|| STATUS)),
];
const STATUS: Schema = &[(3, "code", Kind::Int)];
const KEY_VALUE: Schema = &[(1, "key", Kind::Text), (2, "value", Kind::One(|| VALUE))];
const VALUE: Schema = &[
    (1, "stringValue", Kind::Text),
    (2, "boolValue", Kind::Bool),
    (3, "intValue", Kind::Int),
    (4, "doubleValue", Kind::Double),
    (5, "arrayValue", Kind::One(|| ARRAY)),
    (6, "kvlistValue", Kind::One(|| MEMBERS)),
    (7, "bytesValue", Kind::Binary),
];
const ARRAY: Schema = &[(1, "values", Kind::Many(|| VALUE))];
const MEMBERS: Schema = &[(1, "values", Kind::Many(|| KEY_VALUE))];

/// The tree of a message, as OTLP's JSON has it.
fn tree(message: Bytes<'_>) -> Result<JsonValue, WireError> {
    object(message, TRACES, 0)
}

fn object(mut message: Bytes<'_>, schema: Schema, depth: u32) -> Result<JsonValue, WireError> {
    if NESTING_DEPTH_MAX < depth {
        let why = format!("expected messages nested at most {NESTING_DEPTH_MAX} deep");
        return Err(WireError::new(message.at, why));
    }
    let mut members = Map::new();
    while let Some(field) = message.next_field()? {
        let Some(&(_, name, kind)) = schema.iter().find(|it| it.0 == field.number) else { continue };
        if let (Kind::Many(schema), Wire::Bytes(inner)) = (kind, field.value) {
            let element = object(inner, schema(), depth + 1)?;
            if let JsonValue::Array(list) =
                members.entry(name).or_insert_with(|| JsonValue::Array(Vec::new()))
            {
                list.push(element);
            }
        } else {
            members.insert(name.to_owned(), scalar(field, name, kind, depth)?);
        }
    }
    Ok(JsonValue::Object(members))
}

fn scalar(field: Field<'_>, name: &str, kind: Kind, depth: u32) -> Result<JsonValue, WireError> {
    Ok(match (kind, field.value) {
        (Kind::Text, Wire::Bytes(text)) => JsonValue::from(text.text()?),
        (Kind::Bool, Wire::Varint(truth)) => JsonValue::from(truth != 0),
        (Kind::Int, Wire::Varint(int)) => JsonValue::from(int.cast_signed()),
        (Kind::Double, Wire::Fixed64(bits)) => double(f64::from_bits(bits)),
        (Kind::Binary, Wire::Bytes(bytes)) => JsonValue::from(base64(bytes.bytes)),
        (Kind::Time, Wire::Fixed64(time)) => JsonValue::from(time),
        (Kind::One(schema), Wire::Bytes(inner)) => object(inner, schema(), depth + 1)?,
        _ => {
            let why = format!("expected the field {} of traces, `{name}`, found another type", field.number);
            return Err(WireError::new(field.at, why));
        }
    })
}

/// A number as the collector writes it in JSON: an integer where it is one.
fn double(number: f64) -> JsonValue {
    const EXACT_INTEGER_MAX: f64 = (1_u64 << 53) as f64;
    if number.fract() == 0.0 && number.abs() <= EXACT_INTEGER_MAX {
        return JsonValue::from(number as i64);
    }
    Number::from_f64(number).map_or_else(|| JsonValue::from(number.to_string()), JsonValue::Number)
}

/// Bytes as JSON has them.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_padding = chunk.len() < digit;
            let at = (bits >> (18 - 6 * digit)) as usize & 63;
            text.push(if is_padding { '=' } else { char::from(DIGITS[at]) });
        }
    }
    text
}
