//! The error for a short text with invalid syntax: an argument, a token.

use std::{borrow::Cow, error, fmt};

/// A text is not what was expected.
///
/// Files have errors of their own, which name lines and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    /// Where in the text.
    pub at: TextPlace,
    /// What was expected there.
    pub expected: Cow<'static, str>,
    /// What was found there.
    pub found: String,
}

/// Where in a text something else was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextPlace {
    /// It is the whole text.
    Whole,
    /// A part of a text of some kind: what is `before the colon` of a `replay token`.
    Part(&'static str, &'static str),
    /// A byte of a text of some kind, counting from 0.
    Character(&'static str, usize),
}

impl ParseError {
    /// The whole text is not what was expected.
    pub fn new(expected: impl Into<Cow<'static, str>>, found: &str) -> ParseError {
        ParseError { at: TextPlace::Whole, expected: expected.into(), found: found.to_owned() }
    }

    /// A part of a `kind` of text is not what was expected.
    #[must_use]
    pub fn in_part(
        kind: &'static str,
        part: &'static str,
        expected: &'static str,
        found: &str,
    ) -> ParseError {
        ParseError { at: TextPlace::Part(kind, part), expected: expected.into(), found: found.to_owned() }
    }

    /// `text`, which should be a `kind` of text, is not what was expected at byte `at`.
    #[must_use]
    pub fn at_character(kind: &'static str, text: &str, at: usize, expected: &'static str) -> ParseError {
        let found = text.get(at..).and_then(|it| it.chars().next()).map_or_else(String::new, String::from);
        ParseError { at: TextPlace::Character(kind, at), expected: expected.into(), found }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { at, expected, found } = self;
        match at {
            TextPlace::Whole => write!(f, "expected {expected}; found `{found}`"),
            TextPlace::Part(kind, part) => {
                write!(f, "not a {kind}: {part}, expected {expected}, found `{found}`")
            }
            TextPlace::Character(kind, at) => {
                write!(f, "not a {kind}: character {} should be {expected}", at + 1)
            }
        }
    }
}

impl error::Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::ParseError;

    #[test]
    fn errors_say_where_what_was_expected() {
        let whole = ParseError::new("a number from 1", "0");
        assert_eq!(whole.to_string(), "expected a number from 1; found `0`");
        let part = ParseError::in_part("token", "before the colon", "a number", "x");
        assert_eq!(part.to_string(), "not a token: before the colon, expected a number, found `x`");
        let character = ParseError::at_character("token", "aé", 1, "a letter");
        assert_eq!(character.to_string(), "not a token: character 2 should be a letter");
        assert_eq!(character.found, "é");
        assert_eq!(ParseError::at_character("token", "a", 1, "a letter").found, "");
    }
}
