//! An operation as a report writes it, `deq() → 3`, and texts that came from outside.

use std::{borrow::Cow, fmt};

/// An operation as a report writes it, in parts. Displays as the whole: `put(1, 2) → true`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The method: `put`.
    pub method: String,
    /// What follows it: `(1, 2)`.
    pub arguments: String,
    /// What it returned; `?` while it is pending, and `None` if it returned nothing.
    pub ret: Option<String>,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown { method, arguments, ret } = self;
        write!(f, "{}{}", visible(method), visible(arguments))?;
        ret.as_ref().map_or(Ok(()), |it| write!(f, " → {}", visible(it)))
    }
}

/// `text` in one line, with every character escaped that a terminal, a log or a page would obey
/// instead of showing it: control characters, line ends, and those that change the direction of
/// writing. Names and values that were recorded can hold any of them.
///
/// ```
/// use clewline_core::visible;
///
/// assert_eq!(visible("queue 1"), "queue 1");
/// assert_eq!(visible("q\n::error::\u{1b}[2J"), r"q\n::error::\u{1b}[2J");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_obeyed) else { return Cow::Borrowed(text) };
    let (plain, rest) = text.split_at(first);
    let mut shown = plain.to_owned();
    for it in rest.chars() {
        if is_obeyed(it) {
            shown.extend(it.escape_debug());
        } else {
            shown.push(it);
        }
    }
    Cow::Owned(shown)
}

fn is_obeyed(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
