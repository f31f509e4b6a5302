//! Subjects, found by their names.

use std::fmt;

use clewline_core::NotFound;

use crate::{
    entry::FoundSubject,
    explorable::{FoundExplorable, explorables},
};

/// Every variant of every structure, in the order of the table.
pub fn subjects() -> impl Iterator<Item = FoundSubject> {
    let entries = crate::structures::STRUCTURES.iter();
    #[cfg(feature = "crates")]
    let entries = entries.chain(crate::crates::CRATES);
    entries.flat_map(|entry| entry.variants.iter().map(move |variant| FoundSubject { entry, variant }))
}

/// The subject called `name`: `NAME` or `NAME:VARIANT`.
///
/// # Errors
///
/// If there is none of that name.
pub fn find(name: &str) -> Result<FoundSubject, UnknownSubject> {
    subjects().find(|it| it.name() == name).ok_or_else(|| UnknownSubject::new(name))
}

/// No subject of that name can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownSubject {
    /// There is none.
    NotFound(NotFound),
    /// It has no specification, and can only be explored.
    OnlyExplored(String),
}

impl UnknownSubject {
    fn new(found: &str) -> UnknownSubject {
        if explorables().any(|it| it.name() == found) {
            return UnknownSubject::OnlyExplored(found.to_owned());
        }
        let names = subjects().map(|it| it.name()).chain(explorables().map(|it| it.name()));
        let more = if cfg!(feature = "crates") { "" } else { "; published crates need the feature `crates`" };
        let hint = format!("`clewline subjects` lists them{more}");
        UnknownSubject::NotFound(NotFound::new("subject", found, names).with_hint(hint))
    }
}

impl fmt::Display for UnknownSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownSubject::NotFound(error) => error.fmt(f),
            UnknownSubject::OnlyExplored(name) => {
                write!(f, "`{name}` can only be explored: it has no specification")
            }
        }
    }
}

impl std::error::Error for UnknownSubject {}

/// The subject called `name`: `NAME` or `NAME:VARIANT`.
///
/// # Errors
///
/// If there is none of that name.
pub fn find_explorable(name: &str) -> Result<FoundExplorable, UnknownSubject> {
    explorables().find(|it| it.name() == name).ok_or_else(|| UnknownSubject::new(name))
}
