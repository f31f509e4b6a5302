//! An operation as a report writes it: `deq() → 3`.

use std::fmt;

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
        write!(f, "{method}{arguments}")?;
        ret.as_ref().map_or(Ok(()), |it| write!(f, " → {it}"))
    }
}
