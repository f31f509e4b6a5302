//! Kinds of violations, by their names.

use std::str::FromStr;

use clewline_core::ParseError;

/// A kind of violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violate {
    /// Two operations of one method exchange their results.
    Swap,
    /// An operation returns what an earlier operation of the same method returned.
    Stale,
    /// An operation that had an effect is removed from the history.
    Lost,
    /// A result occurs twice: a later operation of the same method returns it again.
    Duplicate,
    /// An operation returns a value that no operation put there.
    Invented,
}

impl Violate {
    /// Every kind.
    pub const ALL: [Violate; 5] =
        [Violate::Swap, Violate::Stale, Violate::Lost, Violate::Duplicate, Violate::Invented];

    /// The name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Violate::Swap => "swap",
            Violate::Stale => "stale",
            Violate::Lost => "lost",
            Violate::Duplicate => "duplicate",
            Violate::Invented => "invented",
        }
    }
}

impl FromStr for Violate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Violate::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| {
            let known = Violate::ALL.map(Violate::name).join(", ");
            ParseError::new(format!("one of {known}"), text)
        })
    }
}
