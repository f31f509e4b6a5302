//! Traces in protobuf: requests, each behind its length in four bytes, as the collector's file
//! exporter writes them. They become the trees that they are in JSON.
//!
//! Source: OpenTelemetry protocol 1, `trace.proto`, `resource.proto` and `common.proto`, whose
//! numbers the fields have here. Other fields are skipped.

use std::io::Read;

use serde_json::{Map, Value as JsonValue};

use crate::ReadError;

// A longer message is no request.
const REQUEST_MAX_BYTES: usize = 16 << 20;
// Messages inside each other.
const DEPTH_MAX: usize = 40;

/// A field of a message: its number, its name in JSON, and what it holds.
type Field = (u64, &'static str, Kind);

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Bool,
    Int,
    Double,
    One(&'static [Field]),
    Many(&'static [Field]),
}

static REQUEST: [Field; 1] = [(1, "resourceSpans", Kind::Many(&RESOURCE_SPANS))];
static RESOURCE_SPANS: [Field; 2] =
    [(1, "resource", Kind::One(&RESOURCE)), (2, "scopeSpans", Kind::Many(&SCOPE_SPANS))];
static RESOURCE: [Field; 1] = [(1, "attributes", Kind::Many(&KEY_VALUE))];
static SCOPE_SPANS: [Field; 2] = [(1, "scope", Kind::One(&SCOPE)), (2, "spans", Kind::Many(&SPAN))];
static SCOPE: [Field; 1] = [(3, "attributes", Kind::Many(&KEY_VALUE))];
static SPAN: [Field; 5] = [
    (5, "name", Kind::Text),
    (7, "startTimeUnixNano", Kind::Int),
    (8, "endTimeUnixNano", Kind::Int),
    (9, "attributes", Kind::Many(&KEY_VALUE)),
    (15, "status", Kind::One(&STATUS)),
];
static STATUS: [Field; 1] = [(3, "code", Kind::Int)];
static KEY_VALUE: [Field; 2] = [(1, "key", Kind::Text), (2, "value", Kind::One(&ANY_VALUE))];
static ANY_VALUE: [Field; 6] = [
    (1, "stringValue", Kind::Text),
    (2, "boolValue", Kind::Bool),
    (3, "intValue", Kind::Int),
    (4, "doubleValue", Kind::Double),
    (5, "arrayValue", Kind::One(&ARRAY)),
    (6, "kvlistValue", Kind::One(&KEY_VALUES)),
];
static ARRAY: [Field; 1] = [(1, "values", Kind::Many(&ANY_VALUE))];
static KEY_VALUES: [Field; 1] = [(1, "values", Kind::Many(&KEY_VALUE))];

/// Whether a file that begins so has requests in protobuf. No text begins with such a byte.
pub(super) fn recognises(head: &[u8]) -> bool {
    let size = head.first_chunk().map_or(0, |it| u32::from_be_bytes(*it) as usize);
    // The first field of a request is its first.
    (1..=REQUEST_MAX_BYTES).contains(&size) && head.get(4) == Some(&0x0a)
}

/// Whether requests begin with such a byte.
pub(super) fn is_first(byte: u8) -> bool {
    usize::from(byte) <= REQUEST_MAX_BYTES >> 24
}

/// Calls `each` with the number of each request, from 1, and its tree.
pub(super) fn for_each_request(
    input: &mut dyn Read,
    progress: &(dyn Fn(u64) + Sync),
    mut each: impl FnMut(usize, &JsonValue) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut read = 0;
    for number in 1.. {
        let wrong = |message: String| ReadError::in_line(number, message);
        let mut next = |size: usize| {
            let mut bytes = Vec::new();
            let more = Read::take(&mut *input, size as u64).read_to_end(&mut bytes);
            more.map(|_| bytes).map_err(|error| wrong(format!("cannot be read: {error}")))
        };
        let head = next(4)?;
        if head.is_empty() {
            break;
        }
        let Ok(head) = <[u8; 4]>::try_from(head.as_slice()) else {
            return Err(wrong("expected the length of a request, found the end of the file".to_owned()));
        };
        let size = u32::from_be_bytes(head) as usize;
        if REQUEST_MAX_BYTES < size {
            let most = REQUEST_MAX_BYTES >> 20;
            return Err(wrong(format!("expected a request of at most {most} MiB, found {size} bytes")));
        }
        let bytes = next(size)?;
        if bytes.len() < size {
            let found = bytes.len();
            return Err(wrong(format!("expected a request of {size} bytes, found only {found} of them")));
        }
        each(number, &tree(&bytes, &REQUEST, 0).map_err(wrong)?)?;
        read += 4 + size as u64;
        progress(read);
    }
    Ok(())
}

/// What a field holds in the notation of protobuf.
enum Payload<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The message in `bytes` as a tree.
fn tree(bytes: &[u8], fields: &[Field], depth: usize) -> Result<JsonValue, String> {
    if DEPTH_MAX < depth {
        return Err(format!("messages are nested more than {DEPTH_MAX} levels deep"));
    }
    let mut object = Map::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let key = varint(&mut rest)?;
        let payload = match key & 7 {
            0 => Payload::Number(varint(&mut rest)?),
            1 => {
                Payload::Number(take(&mut rest, 8)?.iter().rev().fold(0, |all, it| all << 8 | u64::from(*it)))
            }
            2 => {
                let size = varint(&mut rest)?;
                Payload::Bytes(take(&mut rest, usize::try_from(size).unwrap_or(usize::MAX))?)
            }
            5 => {
                Payload::Number(take(&mut rest, 4)?.iter().rev().fold(0, |all, it| all << 8 | u64::from(*it)))
            }
            other => return Err(format!("expected a field of protobuf, found one of the wire type {other}")),
        };
        let Some((_, name, kind)) = fields.iter().find(|it| it.0 == key >> 3) else { continue };
        let value = match (kind, payload) {
            (Kind::Text, Payload::Bytes(text)) => {
                let text = std::str::from_utf8(text).map_err(|_| format!("`{name}`: expected UTF-8"))?;
                JsonValue::from(text)
            }
            (Kind::Bool, Payload::Number(number)) => JsonValue::from(number != 0),
            (Kind::Int, Payload::Number(number)) => JsonValue::from(number.cast_signed()),
            (Kind::Double, Payload::Number(number)) => JsonValue::from(f64::from_bits(number)),
            (Kind::One(fields) | Kind::Many(fields), Payload::Bytes(bytes)) => {
                tree(bytes, fields, depth + 1)?
            }
            _ => return Err(format!("`{name}`: expected another wire type, found {}", key & 7)),
        };
        match (kind, object.get_mut(*name)) {
            (Kind::Many(_), Some(JsonValue::Array(all))) => all.push(value),
            (Kind::Many(_), _) => _ = object.insert((*name).to_owned(), JsonValue::Array(vec![value])),
            _ => _ = object.insert((*name).to_owned(), value),
        }
    }
    Ok(JsonValue::Object(object))
}

/// The next bytes, so many.
fn take<'b>(rest: &mut &'b [u8], count: usize) -> Result<&'b [u8], String> {
    let missing = || format!("expected {count} bytes of a field, found {}", rest.len());
    let (taken, after) = rest.split_at_checked(count).ok_or_else(missing)?;
    *rest = after;
    Ok(taken)
}

/// The next number of variable length.
fn varint(rest: &mut &[u8]) -> Result<u64, String> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("expected a number of 64 bits, found a longer one".to_owned())
}
