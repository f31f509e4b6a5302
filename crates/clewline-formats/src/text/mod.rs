//! Notations that several formats share, and positions in them.

pub(crate) mod blocks;
pub(crate) mod edn;
pub(crate) mod edn_stream;
pub(crate) mod json;
pub(crate) mod number;
pub(crate) mod objects;
mod quoted;
#[cfg(feature = "files")]
pub(crate) mod tree;

use clewline_core::{NotFound, Value, Values, visible};

use crate::ReadError;

/// How deep brackets may nest, in any notation. Recursion is bounded by this.
pub(crate) const NESTING_DEPTH_MAX: u32 = 64;

/// The maximum length of one line, or of one form that spans several: an input is never held as a
/// whole.
pub(crate) const FORM_BYTES_MAX: usize = 64 << 20;

/// An error at a place in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextError {
    /// The byte at which it stands.
    pub at: usize,
    /// The expected and the found text.
    pub message: String,
}

impl TextError {
    /// At byte `at` of `text`, which is a `what`, another text was expected.
    #[cold]
    pub(crate) fn expected(expected: &str, text: &str, at: usize, what: &str) -> TextError {
        TextError { at, message: format!("expected {expected}, found {}", found(text, at, what)) }
    }

    /// This error, with the question whether one of `names` was meant by `found`.
    #[cold]
    pub(crate) fn suggesting(mut self, found: &str, names: &[&str]) -> TextError {
        self.message.push_str(&suggestion(found, names));
        self
    }

    /// This error in a text that begins at the beginning of `line`.
    #[cold]
    pub(crate) fn in_line(self, text: &str, line: usize) -> ReadError {
        let column = 1 + text.get(..self.at).unwrap_or(text).chars().count();
        ReadError { line, column, message: self.message, read: 0 }
    }
}

/// The text at byte `at` of `text`, shortened; at its end, the end of `what`.
pub(crate) fn found(text: &str, at: usize, what: &str) -> String {
    const FOUND_CHARS_MAX: usize = 24;
    let rest = text.get(at..).unwrap_or_default();
    let mut chars = rest.chars();
    let Some(first) = chars.next() else {
        return format!("the end of the {what}");
    };
    let is_keyword = first == ':' && rest[1..].starts_with(|it| !is_delimiter(it));
    let ends: fn(char) -> bool = match first {
        '"' => |it| it == '"',
        it if is_delimiter(it) && !is_keyword => |_| true,
        _ => is_delimiter,
    };
    let mut shown = String::from('`');
    push_visibly(first, &mut shown);
    for (length, next) in (1..).zip(chars) {
        let last = ends(next);
        if last && first != '"' {
            break;
        }
        if length == FOUND_CHARS_MAX {
            shown.push('…');
            break;
        }
        push_visibly(next, &mut shown);
        if last {
            break;
        }
    }
    shown.push('`');
    shown
}

/// The beginning of `text`, on one line.
pub(crate) fn shown_in_one_line(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 120;
    let mut shown = String::new();
    text.chars().take(SHOWN_CHARS_MAX).for_each(|it| push_visibly(it, &mut shown));
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// Whether `found` may be a misspelt `name`: few characters differ, or one begins with the other.
pub(crate) fn is_near(found: &str, name: &str) -> bool {
    let is_part = 2 <= found.len() && (found.starts_with(name) || name.starts_with(found));
    is_part || NotFound::new("name", found, [name]).closest().is_some()
}

/// The question whether one of `names` was meant by `found`, if one is near.
pub(crate) fn suggestion(found: &str, names: &[&str]) -> String {
    match NotFound::new("name", found, names.iter().copied()).closest() {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

/// A value as an error shows it.
pub(crate) fn brief(values: &Values, value: Value) -> String {
    shown_in_one_line(&values.show(value).to_string())
}

fn push_visibly(it: char, shown: &mut String) {
    shown.push_str(&visible(it.encode_utf8(&mut [0; 4])));
}

fn is_delimiter(it: char) -> bool {
    it.is_whitespace() || "{}[](),:;\"".contains(it)
}

/// Where parsed values go.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    /// Every text, list and large number.
    pub values: Values,
    // Items of the lists that are open, outermost first.
    pub(crate) items: Vec<Value>,
}
