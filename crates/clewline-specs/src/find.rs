//! Finding a specification by the name that a user gave it.

use std::fmt;

use clewline_core::{ErasedSpec, NotFound};

use crate::{CATALOG, entry::Entry};

/// The specification called `name`, or `name:parameter`: `queue`, `queue:8`.
///
/// # Errors
///
/// If there is none of that name, or it does not take that parameter.
pub fn find(name: &str) -> Result<Box<dyn ErasedSpec>, SpecError> {
    let (name, parameter) = match name.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (name, None),
    };
    match CATALOG.find(name) {
        Some(entry) => (entry.build)(parameter)
            .map_err(|problem| SpecError::Parameter { specification: entry.name, problem }),
        None => Err(SpecError::Unknown(NotFound::new("specification", name, CATALOG.names()))),
    }
}

/// A name names no specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// No specification is called that.
    Unknown(NotFound),
    /// The specification exists, and does not take the parameter that was given.
    Parameter {
        /// The specification's name.
        specification: &'static str,
        /// What was expected and what was found.
        problem: String,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Unknown(error) => error.fmt(f),
            SpecError::Parameter { specification, problem } => write!(f, "`{specification}` {problem}"),
        }
    }
}

impl std::error::Error for SpecError {}

/// Whether every method of `mix` is one that the specification called `spec` has, and some may be drawn at all. Of
/// specifications that are not in the table, what they have is not known.
///
/// # Errors
///
/// If not. A name that is mistyped would otherwise keep a method from being called, and nobody would notice.
pub fn check_mix(spec: &str, mix: &[(String, u32)]) -> Result<(), MixError> {
    if let Some(entry) = entry(spec)
        && let Some((unknown, _)) = mix.iter().find(|(name, _)| entry.methods().all(|it| it != name))
    {
        return Err(MixError::Unknown { specification: entry.name, found: unknown.clone() });
    }
    if !mix.is_empty() && mix.iter().all(|it| it.1 == 0) { Err(MixError::Nothing) } else { Ok(()) }
}

/// The line of the table for `name`, whatever its parameter.
#[must_use]
pub fn entry(name: &str) -> Option<&'static Entry> {
    let bare = name.split(':').next().unwrap_or(name);
    CATALOG.find(bare)
}

/// Calls cannot be drawn as they should be mixed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MixError {
    /// The object has no such method.
    Unknown {
        /// The specification's name.
        specification: &'static str,
        /// The method that was named.
        found: String,
    },
    /// No method has a weight.
    Nothing,
}

impl fmt::Display for MixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MixError::Unknown { specification, found } => {
                let known: Vec<&str> = entry(specification).into_iter().flat_map(Entry::methods).collect();
                write!(f, "a {specification} has the operations {}; found `{found}`", known.join(", "))
            }
            MixError::Nothing => write!(f, "expected at least one weight above 0"),
        }
    }
}

impl std::error::Error for MixError {}
