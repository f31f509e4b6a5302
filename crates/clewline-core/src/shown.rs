//! An operation as a report writes it, `deq() → 3`, and texts that came from outside.

use std::{borrow::Cow, fmt};

/// An operation as a report writes it, in parts. Displays as the whole: `put(1, 2) → true`.
///
/// Reports are made of the parts; nothing is read from the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The method: `put`.
    pub method: String,
    /// What follows it: `(1, 2)`.
    pub arguments: ShownArguments,
    /// What it returned; `None` if it returned nothing.
    pub ret: Option<ShownReturn>,
}

/// What follows the method of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownArguments {
    /// `(1, 2)`.
    List(Vec<String>),
    /// Nothing, or fields: ` { key: 1 }`.
    Other(String),
}

/// What an operation returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownReturn {
    /// `?`: it has not returned.
    Pending,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// `[1, 2]`.
    List(Vec<String>),
    /// Anything else, as it is written.
    Other(String),
}

impl Shown {
    /// An operation of which there are only texts: its call, and what it returned, which is empty
    /// if it returned nothing, and `None` if it is pending.
    ///
    /// This is the only place where texts are read. It cannot be avoided: of a type of a user there
    /// is nothing but what `Debug` writes, and a program in another process sends texts.
    #[must_use]
    pub fn of_texts(call: &str, ret: Option<&str>) -> Shown {
        let (method, arguments) = call.split_at(call.find(['(', ' ']).unwrap_or(call.len()));
        let list = arguments.strip_prefix('(').and_then(|it| it.strip_suffix(')')).and_then(items);
        let ret = match ret {
            None => Some(ShownReturn::Pending),
            Some("") => None,
            Some(text) => Some(ShownReturn::of_text(text)),
        };
        Shown {
            method: method.to_owned(),
            arguments: list.map_or_else(|| ShownArguments::Other(arguments.to_owned()), ShownArguments::List),
            ret,
        }
    }

    /// The call alone: `put(1, 2)`.
    #[must_use]
    pub fn call(&self) -> String {
        format!("{}{}", visible(&self.method), self.arguments)
    }

    /// The arguments of the call, if they are a list.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        match &self.arguments {
            ShownArguments::List(all) => all,
            ShownArguments::Other(_) => &[],
        }
    }
}

impl ShownReturn {
    /// A result of which there is only a text. See [`Shown::of_texts`].
    #[must_use]
    pub fn of_text(text: &str) -> ShownReturn {
        let int = || text.parse().ok().filter(|it: &i64| it.to_string() == text);
        let list = || text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).and_then(items);
        match text {
            "null" => ShownReturn::Null,
            "true" | "false" => ShownReturn::Bool(text == "true"),
            _ => int()
                .map(ShownReturn::Int)
                .or_else(|| list().map(ShownReturn::List))
                .unwrap_or_else(|| ShownReturn::Other(text.to_owned())),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", visible(&self.method), self.arguments)?;
        self.ret.as_ref().map_or(Ok(()), |it| write!(f, " → {it}"))
    }
}

impl fmt::Display for ShownArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShownArguments::List(all) => write!(f, "({})", visible(&all.join(SEPARATOR))),
            ShownArguments::Other(text) => f.write_str(&visible(text)),
        }
    }
}

impl fmt::Display for ShownReturn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShownReturn::Pending => f.write_str("?"),
            ShownReturn::Null => f.write_str("null"),
            ShownReturn::Bool(truth) => write!(f, "{truth}"),
            ShownReturn::Int(int) => write!(f, "{int}"),
            ShownReturn::List(all) => write!(f, "[{}]", visible(&all.join(SEPARATOR))),
            ShownReturn::Other(text) => f.write_str(&visible(text)),
        }
    }
}

const SEPARATOR: &str = ", ";

/// The items of a list that `Debug` wrote, without its brackets. `None` if it is not one: brackets
/// do not match, or an item is empty.
fn items(inside: &str) -> Option<Vec<String>> {
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let mut items = Vec::new();
    let (mut open, mut start, mut at) = (0_usize, 0, 0);
    while let Some(char) = inside[at..].chars().next() {
        match char {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.checked_sub(1)?,
            _ if open == 0 && inside[at..].starts_with(SEPARATOR) => {
                items.push(&inside[start..at]);
                start = at + SEPARATOR.len();
            }
            _ => (),
        }
        at += quoted_len(&inside[at..]).unwrap_or(char.len_utf8());
    }
    items.push(&inside[start..]);
    let is_list = open == 0 && items.iter().all(|it| !it.is_empty());
    is_list.then(|| items.into_iter().map(str::to_owned).collect())
}

/// The length of the text or the character, in quotes, with which `rest` begins. An apostrophe that
/// no character follows in quotes is one.
fn quoted_len(rest: &str) -> Option<usize> {
    let quote = rest.chars().next().filter(|it| ['"', '\''].contains(it))?;
    let mut is_escaped = false;
    let ends = |&(_, it): &(usize, char)| {
        let ends = it == quote && !is_escaped;
        is_escaped = it == '\\' && !is_escaped;
        ends
    };
    let (end, _) = rest.char_indices().skip(1).find(ends)?;
    let inside = &rest[1..end];
    let is_char = inside.starts_with('\\') || inside.chars().count() == 1;
    (quote == '"' || is_char).then_some(end + 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(call: &str, ret: Option<&str>, arguments: &[&str], expected: Option<ShownReturn>) {
        let shown = Shown::of_texts(call, ret);
        assert_eq!((shown.arguments(), &shown.ret), (&owned(arguments)[..], &expected), "{call}");
        let whole = match ret {
            None => format!("{call} → ?"),
            Some("") => call.to_owned(),
            Some(ret) => format!("{call} → {ret}"),
        };
        assert_eq!((shown.call(), shown.to_string()), (call.to_owned(), whole));
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&it| it.to_owned()).collect()
    }

    fn other(text: &str) -> Option<ShownReturn> {
        Some(ShownReturn::Other(text.to_owned()))
    }

    #[test]
    fn calls_are_divided_into_method_and_arguments() {
        check("Pop", None, &[], Some(ShownReturn::Pending));
        check("put(1, 2)", Some("true"), &["1", "2"], Some(ShownReturn::Bool(true)));
        check("Put(Key { a: 1, b: 2 }, [3, 4])", Some(""), &["Key { a: 1, b: 2 }", "[3, 4]"], None);
        check("Put { key: 1 }", Some("Some(3)"), &[], other("Some(3)"));
        check("deq()", Some("null"), &[], Some(ShownReturn::Null));
        // What is no list is not taken for one.
        for odd in ["put(1)(2)", "put(], 1)", "put(, 1)", "put(1", "put(')', 1", "put(\"a, 1)"] {
            assert_eq!(Shown::of_texts(odd, Some("")).to_string(), odd);
        }
    }

    #[test]
    fn quotes_hold_anything() {
        check("get(\"a → b, c\", 1)", Some("\"c → d\""), &["\"a → b, c\"", "1"], other("\"c → d\""));
        check("put(\"\\\" → \", 1)", Some(""), &["\"\\\" → \"", "1"], None);
        check("Put('\"')", Some("true"), &["'\"'"], Some(ShownReturn::Bool(true)));
        check("Put('\\'', ',', '(')", Some("7"), &["'\\''", "','", "'('"], Some(ShownReturn::Int(7)));
        // An apostrophe of a type that writes words.
        check("Say(it's, fine)", Some(""), &["it's", "fine"], None);
    }

    #[test]
    fn results_are_what_they_are() {
        let list = owned(&["1", "(2, 3)", "\"a, b\""]);
        check("read()", Some("[1, (2, 3), \"a, b\"]"), &[], Some(ShownReturn::List(list)));
        check("read()", Some("[]"), &[], Some(ShownReturn::List(Vec::new())));
        check("read()", Some("-3"), &[], Some(ShownReturn::Int(-3)));
        // Written otherwise than we would.
        for odd in ["+3", "007", "9999999999999999999", "[1,2]x", "[1, ]", "[1], [2]"] {
            check("read()", Some(odd), &[], other(odd));
        }
    }
}
