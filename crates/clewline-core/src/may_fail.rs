//! Relaxed failures: results that an operation may return without having had an effect.
//!
//! Many lock-free structures fail now and then although they need not: a ring reports *full* or
//! *empty* while another operation is in flight, a thief has to retry. Such a result is not
//! linearizable, and masks every other bug. [`MayFail`] names the results that are accepted, always
//! or while another operation overlaps.
//!
//! An operation with such a result has one more transition, which leaves every state as it is. If
//! the specification's own transition with that result changes nothing either, the operation
//! constrains nothing, and is left out of the problem; otherwise it may have had an effect or not.
//! [`MayFailHistory`](crate::MayFailHistory) does that, before anything is judged.

use std::{fmt, str::FromStr};

use crate::parse_error::ParseError;

/// The results that may be returned with no effect: `deq=null,enq=false`.
///
/// Read from text: a method and a result each. The result is written as reports write it; `*` in
/// it stands for any text, `null` for `None` as well. `:always` after it allows the result at any
/// time, `:overlapping`, the default, while another operation on the object overlaps.
///
/// ```
/// use clewline_core::{FailsWhen, MayFail};
///
/// let may_fail: MayFail = "deq=null,push=Err(*):always".parse()?;
/// assert_eq!(may_fail.when("deq", Some("null")), Some(FailsWhen::Overlapping));
/// assert_eq!(may_fail.when("push", Some("Err(Full(3))")), Some(FailsWhen::Always));
/// assert_eq!(may_fail.when("deq", Some("3")), None);
/// # Ok::<(), clewline_core::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MayFail {
    failures: Vec<Failure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    method: String,
    result: String,
    when: FailsWhen,
}

/// When an operation may fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailsWhen {
    /// While another operation on the same object overlaps it.
    #[default]
    Overlapping,
    /// At any time.
    Always,
}

impl FailsWhen {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FailsWhen::Overlapping => "overlapping",
            FailsWhen::Always => "always",
        }
    }

    fn words(self) -> &'static str {
        match self {
            FailsWhen::Overlapping => "while an operation overlaps",
            FailsWhen::Always => "at any time",
        }
    }
}

impl MayFail {
    /// No operation may fail.
    #[must_use]
    pub fn new() -> MayFail {
        MayFail::default()
    }

    /// Also allows `method` to return `result`.
    #[must_use]
    pub fn and(mut self, method: &str, result: &str, when: FailsWhen) -> MayFail {
        let (method, result) = (method.to_owned(), result.to_owned());
        self.failures.push(Failure { method, result, when });
        self
    }

    /// Also allows the results of `other`.
    #[must_use]
    pub fn also(mut self, other: MayFail) -> MayFail {
        self.failures.extend(other.failures);
        self
    }

    /// Whether no operation may fail.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.failures.is_empty()
    }

    /// The methods that may fail.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.failures.iter().map(|it| it.method.as_str())
    }

    /// The same results of methods with other names.
    #[must_use]
    pub fn rename(mut self, name: impl Fn(&str) -> Option<String>) -> MayFail {
        for failure in &mut self.failures {
            if let Some(name) = name(&failure.method) {
                failure.method = name;
            }
        }
        self
    }

    /// When `method` may return `result` with no effect, both as reports write them; `None` if
    /// never.
    #[must_use]
    pub fn when(&self, method: &str, result: Option<&str>) -> Option<FailsWhen> {
        let result = canonical(result.unwrap_or_default());
        let is_it = |it: &&Failure| is_same_name(&it.method, method) && fits(canonical(&it.result), result);
        let mut when = self.failures.iter().filter(is_it).map(|it| it.when);
        let first = when.next()?;
        Some(if when.any(|it| it == FailsWhen::Always) { FailsWhen::Always } else { first })
    }

    /// Whether `method` may fail, whatever it returns then.
    #[must_use]
    pub fn names(&self, method: &str) -> bool {
        self.failures.iter().any(|it| is_same_name(&it.method, method))
    }

    /// In words: `` `deq` may return null while an operation overlaps ``.
    #[must_use]
    pub fn sentence(&self) -> String {
        let group = |when: FailsWhen| {
            let these = self.failures.iter().filter(|it| it.when == when);
            let these: Vec<String> =
                these.map(|it| format!("`{}` may return {}", it.method, it.result)).collect();
            (!these.is_empty()).then(|| format!("{} {}", these.join(" and "), when.words()))
        };
        let groups: Vec<String> =
            [FailsWhen::Overlapping, FailsWhen::Always].into_iter().filter_map(group).collect();
        groups.join(", and ")
    }
}

/// Case and separators do not count: `TryPush`, `try-push` and `try_push` are one method.
fn is_same_name(one: &str, other: &str) -> bool {
    let letters = |it: &'_ str| -> Vec<char> {
        it.chars().filter(|it| !matches!(it, '-' | '_')).flat_map(char::to_lowercase).collect()
    };
    one == other || letters(one) == letters(other)
}

/// `None` is null, and `()` is nothing.
fn canonical(result: &str) -> &str {
    match result.trim() {
        "None" => "null",
        "()" => "",
        other => other.strip_prefix("Some(").and_then(|it| it.strip_suffix(')')).unwrap_or(other),
    }
}

/// Whether `text` is `pattern`, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    (0..=rest.len()).any(|at| rest.is_char_boundary(at) && fits(after, &rest[at..]))
}

impl FromStr for MayFail {
    type Err = ParseError;

    /// Reads `deq=null,enq=false:always`.
    fn from_str(text: &str) -> Result<MayFail, ParseError> {
        let mut may_fail = MayFail::new();
        for item in items(text) {
            let expected = "a method and a result that it may return with no effect, such as `deq=null`";
            let error = || ParseError::new(expected, item);
            let (method, result) = item.split_once('=').ok_or_else(error)?;
            let (result, when) = match result.rsplit_once(':') {
                Some((result, "always")) => (result, FailsWhen::Always),
                Some((result, "overlapping")) => (result, FailsWhen::Overlapping),
                _ => (result, FailsWhen::default()),
            };
            let (method, result) = (method.trim(), result.trim());
            let is_name = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
            if method.is_empty() || !method.chars().all(is_name) || result.is_empty() {
                return Err(error());
            }
            may_fail = may_fail.and(method, result, when);
        }
        Ok(may_fail)
    }
}

/// The parts between commas outside of brackets and quotes.
fn items(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut depth, mut in_text) = (Vec::new(), 0, 0_i32, false);
    for (at, it) in text.char_indices() {
        match it {
            '"' => in_text = !in_text,
            '(' | '[' | '{' if !in_text => depth += 1,
            ')' | ']' | '}' if !in_text => depth -= 1,
            ',' if !in_text && depth == 0 => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => (),
        }
    }
    items.push(text[start..].trim());
    items
}

impl fmt::Display for MayFail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Failure { method, result, when }) in self.failures.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{method}={result}")?;
            if *when == FailsWhen::Always {
                write!(f, ":{}", when.name())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_read_as_they_are_written() {
        for text in ["deq=null", "deq=null,enq=false:always", "push=Err(Full(1, 2)),pop=\"a,b\""] {
            assert_eq!(text.parse::<MayFail>().unwrap().to_string(), text);
        }
        let spaced: MayFail = " deq = null:overlapping , enq=a::b".parse().unwrap();
        assert_eq!(spaced.to_string(), "deq=null,enq=a::b");
        for wrong in ["", "deq", "=null", "deq=", "deq=:always", "deq=null,", "de q=null"] {
            let error = wrong.parse::<MayFail>().unwrap_err().to_string();
            assert!(error.contains("such as `deq=null`"), "{wrong}: {error}");
        }
    }

    #[test]
    fn names_and_results_are_compared_as_people_write_them() {
        let may_fail: MayFail = "try-push=Err(*),pop=null".parse().unwrap();
        for (method, result, is_it) in [
            ("TryPush", Some("Err(Full)"), true),
            ("try_push", Some("Err(3)"), true),
            ("try_push", Some("Ok(3)"), false),
            ("try_push", None, false),
            ("pop", Some("None"), true),
            ("pop", Some("Some(3)"), false),
            ("pops", Some("null"), false),
        ] {
            assert_eq!(may_fail.when(method, result).is_some(), is_it, "{method} {result:?}");
        }
        let twice: MayFail = "pop=null,pop=*:always".parse().unwrap();
        assert_eq!(twice.when("pop", Some("null")), Some(FailsWhen::Always));
    }

    #[test]
    fn failures_are_said_in_words() {
        let may_fail: MayFail = "deq=null,enq=false,steal=Retry:always".parse().unwrap();
        assert_eq!(
            may_fail.sentence(),
            "`deq` may return null and `enq` may return false while an operation overlaps, and `steal` may return Retry at any time"
        );
    }
}
