//! What operations take and answer, in tests that the attribute macro writes.

use std::fmt;

/// A type all of whose values an operation may be given.
///
/// Implement it for a small type of your own, and the attribute macro needs no `#[values(..)]` for it.
#[diagnostic::on_unimplemented(
    message = "nobody knows which values of `{Self}` to try",
    label = "write `#[values(1, 2)]` before this argument, with values of `{Self}`"
)]
pub trait Every: Sized {
    /// All its values, in the order in which they are tried.
    fn every() -> Vec<Self>;
}

impl Every for () {
    fn every() -> Vec<Self> {
        vec![()]
    }
}

impl Every for bool {
    fn every() -> Vec<Self> {
        vec![false, true]
    }
}

impl<T: Every> Every for Option<T> {
    fn every() -> Vec<Self> {
        std::iter::once(None).chain(T::every().into_iter().map(Some)).collect()
    }
}

/// An answer as it is written. Operations may answer references: these do not outlive the call, and this does.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer(String);

impl Answer {
    /// What `answer` looks like.
    pub fn of(answer: &impl fmt::Debug) -> Answer {
        Answer(format!("{answer:?}"))
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_there_once() {
        assert_eq!(<Option<Option<bool>>>::every(), [None, Some(None), Some(Some(false)), Some(Some(true))]);
        assert_eq!(format!("{:?}", Answer::of(&"a")), "\"a\"");
    }
}
