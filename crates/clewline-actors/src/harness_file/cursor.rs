//! A position in a line of a harness file.

use std::fmt;

/// A text is no harness file, or not one for this system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessFileError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What was expected, and what was found.
    pub message: String,
}

impl fmt::Display for HarnessFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for HarnessFileError {}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Place {
    /// An error at this place.
    pub(super) fn error(self, message: impl Into<String>) -> HarnessFileError {
        HarnessFileError { line: self.line, column: self.column, message: message.into() }
    }
}

/// The rest of a line. What is read is followed by spaces that are skipped.
pub(super) struct Cursor<'a> {
    line: usize,
    whole: &'a str,
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// At the beginning of a line, without its comment.
    pub(super) fn new(line: usize, text: &'a str) -> Cursor<'a> {
        let mut is_quoted = false;
        let comment = text.char_indices().find(|(_, it)| {
            is_quoted ^= *it == '"';
            *it == '#' && !is_quoted
        });
        let whole = comment.map_or(text, |(at, _)| &text[..at]).trim_end();
        Cursor { line, whole, rest: whole.trim_start() }
    }

    pub(super) fn place(&self) -> Place {
        let before = &self.whole[..self.whole.len() - self.rest.len()];
        Place { line: self.line, column: before.chars().count() + 1 }
    }

    pub(super) fn expected(&self, what: &str) -> HarnessFileError {
        let found =
            if self.rest.is_empty() { "the end of the line".to_owned() } else { format!("`{}`", self.rest) };
        self.place().error(format!("expected {what}, found {found}"))
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        skipped
    }

    /// Goes past `text`, if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest.starts_with(text);
        if is_next {
            self.skip(text.len());
        }
        is_next
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<(), HarnessFileError> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    pub(super) fn expect_end(&self) -> Result<(), HarnessFileError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// A name: letters, digits, `_` and `-`.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let is_in_name = |it: char| it.is_alphanumeric() || it == '_' || it == '-';
        let end = self.rest.find(|it| !is_in_name(it)).unwrap_or(self.rest.len());
        (0 < end).then(|| self.skip(end))
    }

    /// The next word, up to a space.
    pub(super) fn word(&mut self) -> &'a str {
        self.skip(self.rest.find(char::is_whitespace).unwrap_or(self.rest.len()))
    }

    pub(super) fn integer(&mut self) -> Result<i64, HarnessFileError> {
        let sign = usize::from(self.rest.starts_with('-'));
        let digits = self.rest[sign..].find(|it: char| !it.is_ascii_digit());
        let end = digits.map_or(self.rest.len(), |it| it + sign);
        let int = self.rest[..end].parse().map_err(|_| self.expected("an integer of 64 bits"))?;
        self.skip(end);
        Ok(int)
    }

    /// A text in double quotes, without escapes.
    pub(super) fn text(&mut self) -> Result<String, HarnessFileError> {
        let end = self.rest.get(1..).and_then(|it| it.find('"'));
        let end = end.ok_or_else(|| self.expected("a text that ends with `\"`"))?;
        let text = self.rest[1..=end].to_owned();
        self.skip(end + 2);
        Ok(text)
    }
}
