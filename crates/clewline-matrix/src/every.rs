//! Arguments and results of operations, in tests that the attribute macro generates.

use std::fmt;

/// A type whose values can all be enumerated as arguments.
///
/// Implement it for a small type of your own, and the attribute macro needs no `#[values(..)]` for
/// it.
#[diagnostic::on_unimplemented(
    message = "no values given for argument type `{Self}`",
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

/// A result as text. Operations may return references: these do not outlive the call, and this
/// does.
#[derive(Clone, PartialEq, Eq)]
pub struct ShownResult(String);

impl ShownResult {
    /// The `Debug` text of `result`.
    pub fn of(result: &impl fmt::Debug) -> ShownResult {
        ShownResult(format!("{result:?}"))
    }
}

impl fmt::Debug for ShownResult {
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
        assert_eq!(format!("{:?}", ShownResult::of(&"a")), "\"a\"");
    }
}
