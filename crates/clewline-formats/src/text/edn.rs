//! EDN, the notation of Jepsen's histories, read from a window of a file and written.
//!
//! Source: R. Hickey, "Extensible data notation" (edn-format), with the additions of Clojure's
//! printer (ratios, `##Inf`). Vectors and lists are lists, keywords are symbols. Values that a
//! history only compares (sets, maps, tagged values, characters, other numbers) are kept in one
//! canonical form: one space between members, which are sorted, and numbers as
//! [`number`](super::number) says.
//!
//! A window may end within a form. The reader then returns [`FormEnd::More`], and the form is read
//! again from its beginning when there is more.

mod token;
mod write;

use std::borrow::Cow;

use clewline_core::Value;

use self::token::{Atom, ends_token, numeral, short_integer};
pub(crate) use self::write::{write, write_name};
pub(crate) use super::quoted::write_text;
use super::{NESTING_DEPTH_MAX, Sink, TextError};

/// Why reading a form ended before the form did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FormEnd {
    /// The window ends here, but the file does not.
    More,
    /// This is no EDN, or not the expected kind of form.
    Fault(TextError),
}

impl From<TextError> for FormEnd {
    fn from(fault: TextError) -> Self {
        FormEnd::Fault(fault)
    }
}

/// Whether anything follows a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The file goes on.
    More,
    /// The file ends with the window.
    End,
}

/// A place in a window of EDN.
#[derive(Clone, Debug)]
pub(crate) struct Edn<'a> {
    text: &'a str,
    at: usize,
    tail: Tail,
}

/// The kind of the next form, by its first characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextForm {
    /// `(`, `[`, `{` and `#{`.
    Open,
    /// `)`, `]` and `}`.
    Close,
    /// Anything else.
    Form,
    /// There is none.
    End,
}

impl<'a> Edn<'a> {
    /// The beginning of `text`.
    pub(crate) fn new(text: &'a str, tail: Tail) -> Self {
        Edn { text, at: 0, tail }
    }

    /// The byte at which this is.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// An error here.
    #[cold]
    pub(crate) fn error(&self, expected: &str) -> FormEnd {
        self.error_at(expected, self.at)
    }

    /// An error at the byte `at`.
    #[cold]
    pub(crate) fn error_at(&self, expected: &str, at: usize) -> FormEnd {
        FormEnd::Fault(TextError::expected(expected, self.text, at, "file"))
    }

    /// The byte that comes next; `None` at the end of the file.
    pub(crate) fn byte(&self) -> Result<Option<u8>, FormEnd> {
        match (self.text.as_bytes().get(self.at), self.tail) {
            (Some(&byte), _) => Ok(Some(byte)),
            (None, Tail::End) => Ok(None),
            (None, Tail::More) => Err(FormEnd::More),
        }
    }

    /// Passes a byte that was looked at.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    /// Skips spaces, comments and discarded forms, and peeks at the next form.
    pub(crate) fn next(&mut self) -> Result<NextForm, FormEnd> {
        self.next_at(0)
    }

    fn next_at(&mut self, depth: u32) -> Result<NextForm, FormEnd> {
        let bytes = self.text.as_bytes();
        loop {
            while let Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | 0x0b | 0x0c) = bytes.get(self.at) {
                self.at += 1;
            }
            return Ok(match self.byte()? {
                None => NextForm::End,
                Some(b';') => {
                    self.comment()?;
                    continue;
                }
                Some(b'#') => match self.after()? {
                    Some(b'_') => {
                        let depth = self.deeper(depth)?;
                        self.at += 2;
                        self.skip_at(depth)?;
                        continue;
                    }
                    Some(b'{') => NextForm::Open,
                    Some(_) | None => NextForm::Form,
                },
                Some(b'(' | b'[' | b'{') => NextForm::Open,
                Some(b')' | b']' | b'}') => NextForm::Close,
                Some(_) => NextForm::Form,
            });
        }
    }

    /// The byte after the one that comes next.
    fn after(&self) -> Result<Option<u8>, FormEnd> {
        match (self.text.as_bytes().get(self.at + 1), self.tail) {
            (Some(&byte), _) => Ok(Some(byte)),
            (None, Tail::End) => Ok(None),
            (None, Tail::More) => Err(FormEnd::More),
        }
    }

    fn comment(&mut self) -> Result<(), FormEnd> {
        match (memchr::memchr(b'\n', &self.text.as_bytes()[self.at..]), self.tail) {
            (Some(end), _) => self.at += end + 1,
            (None, Tail::End) => self.at = self.text.len(),
            (None, Tail::More) => return Err(FormEnd::More),
        }
        Ok(())
    }

    /// Whether a form follows, in a bracket that `close` closes. Consumes the bracket if not.
    pub(crate) fn inside(&mut self, close: u8) -> Result<bool, FormEnd> {
        self.inside_at(close, 0)
    }

    fn inside_at(&mut self, close: u8, depth: u32) -> Result<bool, FormEnd> {
        match self.next_at(depth)? {
            NextForm::Open | NextForm::Form => Ok(true),
            NextForm::Close if self.byte()? == Some(close) => {
                self.at += 1;
                Ok(false)
            }
            NextForm::Close | NextForm::End => Err(self.error(&format!("`{}`", char::from(close)))),
        }
    }

    /// The keyword that comes next, without its colon; `None`, and nothing is consumed, if it is
    /// another form.
    pub(crate) fn keyword(&mut self) -> Result<Option<&'a str>, FormEnd> {
        self.next()?;
        if self.byte()? != Some(b':') {
            return Ok(None);
        }
        let start = self.at;
        self.at += 1;
        let name = self.token()?;
        if name.is_empty() {
            return Err(self.error_at("a keyword", start));
        }
        Ok(Some(name))
    }

    /// Any form.
    pub(crate) fn value(&mut self, sink: &mut Sink) -> Result<Value, FormEnd> {
        self.value_at(sink, 0)
    }

    fn value_at(&mut self, sink: &mut Sink, depth: u32) -> Result<Value, FormEnd> {
        self.next_at(depth)?;
        let close = match self.byte()? {
            Some(b'(') => b')',
            Some(b'[') => b']',
            Some(b':') => {
                let name = self.keyword()?.unwrap_or_default();
                return Ok(sink.values.symbol(name));
            }
            Some(b'"') => {
                let text = self.string()?;
                return Ok(sink.values.text(&text));
            }
            Some(b'#' | b'{' | b'\\') => {
                let mut written = String::new();
                self.canonical(&mut written, depth)?;
                return Ok(sink.values.other(&written));
            }
            _ => {
                return Ok(match self.atom()? {
                    Atom::Nil => Value::NIL,
                    Atom::Bool(truth) => Value::bool(truth),
                    Atom::Int(int) => sink.values.int(int),
                    Atom::Other(written) => sink.values.other(&written),
                });
            }
        };
        let depth = self.deeper(depth)?;
        self.at += 1;
        let base = sink.items.len();
        while self.inside_at(close, depth)? {
            let item = self.value_at(sink, depth)?;
            sink.items.push(item);
        }
        let list = sink.values.list(&sink.items[base..]);
        sink.items.truncate(base);
        Ok(list)
    }

    /// Skips any form, which must be well formed.
    pub(crate) fn skip(&mut self) -> Result<(), FormEnd> {
        self.skip_at(0)
    }

    fn skip_at(&mut self, depth: u32) -> Result<(), FormEnd> {
        self.next_at(depth)?;
        let close = match self.byte()? {
            Some(b'(') => b')',
            Some(b'[') => b']',
            Some(b'{') => b'}',
            Some(b'#') => {
                let depth = self.deeper(depth)?;
                return match self.tag()? {
                    Tag::Set => self.members(b'}', depth).map(|_| ()),
                    Tag::Number => self.token().map(|_| ()),
                    Tag::Named(_) => self.skip_at(depth),
                };
            }
            Some(b':') => return self.keyword().map(|_| ()),
            Some(b'"') => return self.string().map(|_| ()),
            Some(b'\\') => return self.character().map(|_| ()),
            _ => return self.atom().map(|_| ()),
        };
        let depth = self.deeper(depth)?;
        let start = self.at;
        self.at += 1;
        let members = self.members(close, depth)?;
        if close == b'}' && members % 2 == 1 {
            return Err(self.error_at("a map with a value for each key", start));
        }
        Ok(())
    }

    fn members(&mut self, close: u8, depth: u32) -> Result<usize, FormEnd> {
        let mut members = 0;
        while self.inside_at(close, depth)? {
            self.skip_at(depth)?;
            members += 1;
        }
        Ok(members)
    }

    /// Any form in its one written form.
    fn canonical(&mut self, out: &mut String, depth: u32) -> Result<(), FormEnd> {
        self.next_at(depth)?;
        match self.byte()? {
            Some(b'(') => self.canonical_list(b')', out, depth)?,
            Some(b'[') => self.canonical_list(b']', out, depth)?,
            Some(b'{') => {
                let start = self.at;
                let depth = self.deeper(depth)?;
                self.at += 1;
                let mut members = Vec::new();
                while self.inside_at(b'}', depth)? {
                    let mut member = String::new();
                    self.canonical(&mut member, depth)?;
                    if !self.inside_at(b'}', depth)? {
                        return Err(self.error_at("a map with a value for each key", start));
                    }
                    member.push(' ');
                    self.canonical(&mut member, depth)?;
                    members.push(member);
                }
                write_sorted("{", members, out);
            }
            Some(b'#') => {
                let depth = self.deeper(depth)?;
                match self.tag()? {
                    Tag::Set => {
                        let mut members = Vec::new();
                        while self.inside_at(b'}', depth)? {
                            let mut member = String::new();
                            self.canonical(&mut member, depth)?;
                            members.push(member);
                        }
                        write_sorted("#{", members, out);
                    }
                    Tag::Number => {
                        out.push_str("##");
                        out.push_str(self.token()?);
                    }
                    Tag::Named(name) => {
                        out.push('#');
                        out.push_str(name);
                        out.push(' ');
                        self.canonical(out, depth)?;
                    }
                }
            }
            Some(b':') => {
                out.push(':');
                out.push_str(self.keyword()?.unwrap_or_default());
            }
            Some(b'"') => write_text(&self.string()?, out),
            Some(b'\\') => out.push_str(self.character()?),
            _ => match self.atom()? {
                Atom::Nil => out.push_str("nil"),
                Atom::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
                Atom::Int(int) => out.push_str(&int.to_string()),
                Atom::Other(written) => out.push_str(&written),
            },
        }
        Ok(())
    }

    fn canonical_list(&mut self, close: u8, out: &mut String, depth: u32) -> Result<(), FormEnd> {
        let depth = self.deeper(depth)?;
        self.at += 1;
        out.push('[');
        let mut first = true;
        while self.inside_at(close, depth)? {
            if !std::mem::take(&mut first) {
                out.push(' ');
            }
            self.canonical(out, depth)?;
        }
        out.push(']');
        Ok(())
    }

    /// Skips the tag before a map, if there is one: a record prints as `#name{…}`.
    pub(crate) fn record(&mut self) -> Result<(), FormEnd> {
        if self.byte()? == Some(b'#') && self.after()? != Some(b'{') {
            let start = self.at;
            match self.tag()? {
                Tag::Named(_) => self.next()?,
                Tag::Set | Tag::Number => return Err(self.error_at("`{`", start)),
            };
        }
        Ok(())
    }

    /// The nesting depth inside the form that begins here.
    fn deeper(&self, depth: u32) -> Result<u32, FormEnd> {
        if depth == NESTING_DEPTH_MAX {
            let message = format!("brackets nest deeper than {NESTING_DEPTH_MAX}");
            return Err(FormEnd::Fault(TextError { at: self.at, message }));
        }
        Ok(depth + 1)
    }

    /// Everything up to the next delimiter.
    fn token(&mut self) -> Result<&'a str, FormEnd> {
        let bytes = &self.text.as_bytes()[self.at..];
        let length = bytes.iter().position(|&it| ends_token(it));
        let length = match (length, self.tail) {
            (Some(length), _) => length,
            (None, Tail::End) => bytes.len(),
            (None, Tail::More) => return Err(FormEnd::More),
        };
        let token = &self.text[self.at..self.at + length];
        self.at += length;
        Ok(token)
    }

    /// A `#` and the form that it introduces.
    fn tag(&mut self) -> Result<Tag<'a>, FormEnd> {
        let start = self.at;
        match self.after()? {
            Some(b'{') => {
                self.at += 2;
                Ok(Tag::Set)
            }
            Some(b'#') => {
                self.at += 2;
                Ok(Tag::Number)
            }
            _ => {
                self.at += 1;
                let name = self.token()?;
                if !name.starts_with(char::is_alphabetic) {
                    return Err(self.error_at("a form", start));
                }
                Ok(Tag::Named(name))
            }
        }
    }

    /// A character, as it is written; this is at its backslash.
    fn character(&mut self) -> Result<&'a str, FormEnd> {
        let start = self.at;
        self.at += 1;
        // The first one may be a delimiter: `\(`.
        match (self.text[self.at..].chars().next(), self.tail) {
            (Some(first), _) if !first.is_whitespace() => self.at += first.len_utf8(),
            (None, Tail::More) => return Err(FormEnd::More),
            (Some(_) | None, _) => return Err(self.error("a character")),
        }
        self.token()?;
        Ok(&self.text[start..self.at])
    }

    /// A number, a word or a symbol.
    fn atom(&mut self) -> Result<Atom<'a>, FormEnd> {
        let start = self.at;
        let token = self.token()?;
        if let Some(int) = short_integer(token) {
            return Ok(Atom::Int(int));
        }
        let unsigned = token.strip_prefix(['-', '+']).unwrap_or(token);
        if unsigned.starts_with(|it: char| it.is_ascii_digit()) {
            return numeral(token, unsigned).ok_or_else(|| self.error_at("a number", start));
        }
        Ok(match token {
            "nil" => Atom::Nil,
            "true" => Atom::Bool(true),
            "false" => Atom::Bool(false),
            _ if token.starts_with(|it: char| it.is_alphabetic() || "*+!-_?$%&=<>./".contains(it)) => {
                Atom::Other(token.into())
            }
            _ => return Err(self.error_at("a form", start)),
        })
    }

    /// A text; this is at its opening quote.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, FormEnd> {
        let start = self.at + 1;
        self.at = start;
        self.plain()?;
        if self.text.as_bytes()[self.at] == b'"' {
            self.at += 1;
            return Ok(self.text[start..self.at - 1].into());
        }
        let mut text = self.text[start..self.at].to_owned();
        loop {
            if self.text.as_bytes()[self.at] == b'"' {
                self.at += 1;
                return Ok(text.into());
            }
            text.push(self.escape()?);
            let plain = self.at;
            self.plain()?;
            text.push_str(&self.text[plain..self.at]);
        }
    }

    /// Goes to the next quote or backslash.
    fn plain(&mut self) -> Result<(), FormEnd> {
        match memchr::memchr2(b'"', b'\\', &self.text.as_bytes()[self.at..]) {
            Some(length) => {
                self.at += length;
                Ok(())
            }
            None if self.tail == Tail::More => Err(FormEnd::More),
            None => {
                self.at = self.text.len();
                Err(self.error("`\"` at the end of the text"))
            }
        }
    }

    /// One escape; this is at its backslash.
    fn escape(&mut self) -> Result<char, FormEnd> {
        let escape = self.after()?;
        self.at += 1;
        let plain = match escape {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            Some(_) | None => return Err(self.error("one of `\"\\bfnrtu` after a backslash")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// Four hexadecimal digits, or twice four for a pair of surrogates; this is at the `u`.
    fn unicode(&mut self) -> Result<char, FormEnd> {
        let start = self.at - 1;
        let unit = self.hex()?;
        let code = match unit {
            0xD800..=0xDBFF if self.byte()? == Some(b'\\') && self.after()? == Some(b'u') => {
                self.at += 1;
                let low = self.hex()?;
                if !matches!(low, 0xDC00..=0xDFFF) {
                    return Err(self.error_at("two surrogates, high and low", start));
                }
                0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
            }
            _ => unit,
        };
        char::from_u32(code).ok_or_else(|| self.error_at("two surrogates, high and low", start))
    }

    fn hex(&mut self) -> Result<u32, FormEnd> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.byte()?.and_then(|it| char::from(it).to_digit(16));
            code = code << 4 | digit.ok_or_else(|| self.error("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(code)
    }
}

enum Tag<'a> {
    // `#{`
    Set,
    // `##`, as in `##Inf`
    Number,
    Named(&'a str),
}

fn write_sorted(open: &str, mut members: Vec<String>, out: &mut String) {
    members.sort();
    out.push_str(open);
    out.push_str(&members.join(" "));
    out.push('}');
}

#[cfg(test)]
mod tests;
