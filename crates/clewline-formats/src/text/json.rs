//! JSON (RFC 8259), read from one line and written.
//!
//! Integers of 64 bits are integers and arrays are lists. Values that a history only compares,
//! other numbers and objects, are kept in one canonical form: no spaces, members sorted by name,
//! numbers as [`number`] says.
//!
//! Cost: one pass over the bytes; nothing is allocated except for escapes and for values that are
//! kept.

mod write;

use std::borrow::Cow;

use clewline_core::Value;

pub(crate) use self::write::write;
pub(crate) use super::quoted::write_text;
use super::{NESTING_DEPTH_MAX, Sink, TextError, number};

/// The initial state that `text` is: an object is the list of its members, each a name and a value.
///
/// # Errors
///
/// If it is no JSON, and no plain text either.
pub(crate) fn initial_state(text: &str, sink: &mut Sink) -> Result<Value, TextError> {
    let mut json = Json::new(text);
    match json.state(sink) {
        Ok(state) if json.peek().is_none() => Ok(state),
        Ok(_) | Err(_) if !text.trim_start().starts_with(['{', '[', '"']) => Ok(sink.values.text(text)),
        Ok(_) => Err(json.error("the end of the initial state")),
        Err(error) => Err(error),
    }
}

/// A place in a line of JSON.
#[derive(Clone, Debug)]
pub(crate) struct Json<'a> {
    text: &'a str,
    at: usize,
}

/// The kind of a value, where an integer or a text is expected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Scalar<'a> {
    /// An integer of 64 bits.
    Int(i64),
    /// A text.
    Text(Cow<'a, str>),
}

impl<'a> Json<'a> {
    /// The beginning of `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        Json { text, at: 0 }
    }

    /// The byte at which this is.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The bytes that have not been consumed.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Consumes this number of bytes.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The byte that comes next, after spaces.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Passes `byte`, if it comes next.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    /// An error here.
    #[cold]
    pub(crate) fn error(&self, expected: &str) -> TextError {
        TextError::expected(expected, self.text, self.at, "line")
    }

    /// The name of the next member of an object of which `read` have been read; `None` at its end.
    #[inline]
    pub(crate) fn member(&mut self, read: usize) -> Result<Option<Cow<'a, str>>, TextError> {
        if self.take(b'}') {
            return Ok(None);
        }
        if 0 < read && !self.take(b',') {
            return Err(self.error("`,` or `}`"));
        }
        if self.peek() != Some(b'"') {
            return Err(self.error("the name of a member, in double quotes"));
        }
        let name = self.string()?;
        if !self.take(b':') {
            return Err(self.error("`:`"));
        }
        Ok(Some(name))
    }

    /// An integer or a text; other expected values are in `expected`.
    #[inline]
    pub(crate) fn scalar(&mut self, expected: &str) -> Result<Scalar<'a>, TextError> {
        match self.peek() {
            Some(b'"') => Ok(Scalar::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(Scalar::Int(self.integer(expected)?)),
            _ => Err(self.error(expected)),
        }
    }

    /// An integer of 64 bits.
    #[inline]
    pub(crate) fn integer(&mut self, expected: &str) -> Result<i64, TextError> {
        let next = self.peek();
        match self.short_integer() {
            Some(int) => Ok(int),
            None => self.other_integer(next, expected),
        }
    }

    /// An integer that is not a short one; its first byte is `next`.
    fn other_integer(&mut self, next: Option<u8>, expected: &str) -> Result<i64, TextError> {
        if !matches!(next, Some(b'-' | b'0'..=b'9')) {
            return Err(self.error(expected));
        }
        let start = self.at;
        match self.number()? {
            Number::Int(int) => Ok(int),
            Number::Decimal => Err(TextError::expected(expected, self.text, start, "line")),
            Number::Large => {
                Err(TextError::expected(&format!("{expected}, of at most 64 bits"), self.text, start, "line"))
            }
        }
    }

    /// Consumes the word `null`, if it comes next.
    #[inline]
    pub(crate) fn null(&mut self) -> Result<bool, TextError> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        self.word("null")?;
        Ok(true)
    }

    /// An initial state, as [`initial_state`] reads it.
    pub(crate) fn state(&mut self, sink: &mut Sink) -> Result<Value, TextError> {
        if self.peek() != Some(b'{') {
            return self.value(sink);
        }
        self.take(b'{');
        let mut members = Vec::new();
        while let Some(name) = self.member(members.len())? {
            let pair = [sink.values.text(&name), self.value(sink)?];
            members.push(sink.values.list(&pair));
        }
        Ok(sink.values.list(&members))
    }

    /// Any value.
    pub(crate) fn value(&mut self, sink: &mut Sink) -> Result<Value, TextError> {
        self.value_at(sink, 0)
    }

    fn value_at(&mut self, sink: &mut Sink, depth: u32) -> Result<Value, TextError> {
        let next = self.peek();
        if let Some(int) = self.short_integer() {
            return Ok(sink.values.int(int));
        }
        match next {
            Some(b'-' | b'0'..=b'9') => {
                let start = self.at;
                Ok(match self.number()? {
                    Number::Int(int) => sink.values.int(int),
                    Number::Large | Number::Decimal => match number::json(&self.text[start..self.at]) {
                        number::JsonNumber::Int(int) => sink.values.int(int),
                        number::JsonNumber::Other(form) => sink.values.other(&form),
                    },
                })
            }
            Some(b'"') => Ok(sink.values.text(&self.string()?)),
            Some(b't') => self.word("true").map(|()| Value::TRUE),
            Some(b'f') => self.word("false").map(|()| Value::FALSE),
            Some(b'n') => self.word("null").map(|()| Value::NIL),
            Some(b'[') => {
                let depth = self.deeper(depth)?;
                let base = sink.items.len();
                while self.item(sink.items.len() - base)? {
                    let item = self.value_at(sink, depth)?;
                    sink.items.push(item);
                }
                let list = sink.values.list(&sink.items[base..]);
                sink.items.truncate(base);
                Ok(list)
            }
            Some(b'{') => {
                let mut written = String::new();
                self.canonical(&mut written, depth)?;
                Ok(sink.values.other(&written))
            }
            _ => Err(self.error("a value")),
        }
    }

    /// Skips any value, which must be well formed.
    pub(crate) fn skip(&mut self) -> Result<(), TextError> {
        self.skip_at(0)
    }

    fn skip_at(&mut self, depth: u32) -> Result<(), TextError> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number().map(|_| ()),
            Some(b'"') => self.string().map(|_| ()),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'[') => {
                let depth = self.deeper(depth)?;
                let mut read = 0;
                while self.item(read)? {
                    self.skip_at(depth)?;
                    read += 1;
                }
                Ok(())
            }
            Some(b'{') => {
                let depth = self.deeper(depth)?;
                let mut read = 0;
                while self.member(read)?.is_some() {
                    self.skip_at(depth)?;
                    read += 1;
                }
                Ok(())
            }
            _ => Err(self.error("a value")),
        }
    }

    /// Any value in its one written form.
    fn canonical(&mut self, out: &mut String, depth: u32) -> Result<(), TextError> {
        match self.peek() {
            Some(b'{') => {
                let depth = self.deeper(depth)?;
                let mut members: Vec<(Cow<'a, str>, String)> = Vec::new();
                while let Some(name) = self.member(members.len())? {
                    let mut written = String::new();
                    self.canonical(&mut written, depth)?;
                    members.push((name, written));
                }
                members.sort();
                for (place, (name, written)) in members.iter().enumerate() {
                    out.push(if place == 0 { '{' } else { ',' });
                    write_text(name, out);
                    out.push(':');
                    out.push_str(written);
                }
                out.push_str(if members.is_empty() { "{}" } else { "}" });
            }
            Some(b'[') => {
                let depth = self.deeper(depth)?;
                out.push('[');
                let mut read = 0;
                while self.item(read)? {
                    if 0 < read {
                        out.push(',');
                    }
                    self.canonical(out, depth)?;
                    read += 1;
                }
                out.push(']');
            }
            Some(b'"') => write_text(&self.string()?, out),
            Some(b'-' | b'0'..=b'9') => {
                let start = self.at;
                match self.number()? {
                    Number::Int(int) => out.push_str(&int.to_string()),
                    Number::Large | Number::Decimal => match number::json(&self.text[start..self.at]) {
                        number::JsonNumber::Int(int) => out.push_str(&int.to_string()),
                        number::JsonNumber::Other(form) => out.push_str(&form),
                    },
                }
            }
            _ => {
                let start = self.at;
                self.skip_at(depth)?;
                out.push_str(&self.text[start..self.at]);
            }
        }
        Ok(())
    }

    /// Consumes an opening bracket; returns the depth inside it.
    fn deeper(&mut self, depth: u32) -> Result<u32, TextError> {
        if depth == NESTING_DEPTH_MAX {
            let message = format!("brackets nest deeper than {NESTING_DEPTH_MAX}");
            return Err(TextError { at: self.at, message });
        }
        self.at += 1;
        Ok(depth + 1)
    }

    /// Whether an array of which `read` items have been read continues.
    fn item(&mut self, read: usize) -> Result<bool, TextError> {
        if read == 0 {
            return Ok(!self.take(b']'));
        }
        if self.take(b',') {
            return Ok(true);
        }
        if self.take(b']') {
            return Ok(false);
        }
        Err(self.error("`,` or `]`"))
    }

    fn word(&mut self, word: &str) -> Result<(), TextError> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.error("a value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// An integer without a sign and of few digits, if one comes next: nearly every number is one.
    #[inline]
    fn short_integer(&mut self) -> Option<i64> {
        let rest = self.rest();
        let (mut int, mut length) = (0, 0);
        while let Some(&digit @ b'0'..=b'9') = rest.get(length) {
            if length == SHORT_INTEGER_DIGITS_MAX {
                return None;
            }
            int = 10 * int + i64::from(digit - b'0');
            length += 1;
        }
        let is_whole = !matches!(rest.get(length), Some(b'.' | b'e' | b'E'));
        let has_leading_zero = rest.first() == Some(&b'0') && 1 < length;
        (0 < length && is_whole && !has_leading_zero).then(|| {
            self.at += length;
            int
        })
    }

    /// A number; this is at its first character.
    fn number(&mut self) -> Result<Number, TextError> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let negative = bytes.get(start) == Some(&b'-');
        let first = start + usize::from(negative);
        let mut int: i64 = 0;
        let mut at = first;
        while let Some(&digit @ b'0'..=b'9') = bytes.get(at) {
            int = int.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            at += 1;
        }
        self.at = at;
        if at == first {
            return Err(self.error("a digit"));
        }
        if bytes[first] == b'0' && first + 1 < at {
            return Err(TextError::expected("a number without leading zeros", self.text, start, "line"));
        }
        if !matches!(bytes.get(at), Some(b'.' | b'e' | b'E')) {
            if at - first <= SHORT_INTEGER_DIGITS_MAX {
                return Ok(Number::Int(if negative { -int } else { int }));
            }
            return Ok(self.text[start..at].parse().map_or(Number::Large, Number::Int));
        }
        if bytes[self.at] == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = bytes.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(Number::Decimal)
    }

    fn digits(&mut self) -> Result<(), TextError> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        while let Some(b'0'..=b'9') = bytes.get(self.at) {
            self.at += 1;
        }
        if self.at == start { Err(self.error("a digit")) } else { Ok(()) }
    }

    /// A text; this is at its opening quote.
    #[inline]
    fn string(&mut self) -> Result<Cow<'a, str>, TextError> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let ends = |&it: &u8| matches!(it, b'"' | b'\\' | 0..0x20);
        self.at = bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length);
        match bytes.get(self.at) {
            Some(b'"') => {
                let plain = &self.text[start..self.at];
                self.at += 1;
                Ok(Cow::Borrowed(plain))
            }
            Some(b'\\') => self.escaped(start).map(Cow::Owned),
            Some(_) | None => Err(self.error("`\"` at the end of the text")),
        }
    }

    /// The rest of a text that began at `start`, from its first escape on.
    fn escaped(&mut self, start: usize) -> Result<String, TextError> {
        let bytes = self.text.as_bytes();
        let mut text = String::new();
        let mut plain = start;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    text.push_str(&self.text[plain..self.at]);
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    text.push_str(&self.text[plain..self.at]);
                    text.push(self.escape()?);
                    plain = self.at;
                }
                Some(0x20..) => self.at += 1,
                Some(_) | None => return Err(self.error("`\"` at the end of the text")),
            }
        }
    }

    /// One escape; this is at its backslash.
    fn escape(&mut self) -> Result<char, TextError> {
        let start = self.at;
        self.at += 2;
        Ok(match self.text.as_bytes().get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = self.hex()?;
                let pair = matches!(unit, 0xD800..=0xDBFF)
                    && self.text.as_bytes().get(self.at..self.at + 2) == Some(br"\u");
                let code = if pair {
                    self.at += 2;
                    let low = self.hex()?;
                    if !matches!(low, 0xDC00..=0xDFFF) {
                        return Err(self.lone(start));
                    }
                    0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
                } else {
                    unit
                };
                char::from_u32(code).ok_or_else(|| self.lone(start))?
            }
            Some(_) | None => {
                self.at = start + 1;
                return Err(self.error("one of `\"\\/bfnrtu` after a backslash"));
            }
        })
    }

    fn hex(&mut self) -> Result<u32, TextError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.text.as_bytes().get(self.at).and_then(|&it| char::from(it).to_digit(16));
            code = code << 4 | digit.ok_or_else(|| self.error("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(code)
    }

    #[cold]
    fn lone(&self, start: usize) -> TextError {
        TextError::expected("two surrogates, high and low", self.text, start, "line")
    }
}

// Up to this number of digits nothing overflows.
const SHORT_INTEGER_DIGITS_MAX: usize = 18;

enum Number {
    Int(i64),
    // An integer of more than 64 bits.
    Large,
    Decimal,
}

#[cfg(test)]
mod tests;
