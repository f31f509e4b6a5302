//! Finding a specification by the name that a user gave it.

use std::fmt;

use clewline_core::Catalogued;

use crate::{CATALOG, Entry};

/// The specification called `name`, or `name:parameter`: `queue`, `queue:8`.
///
/// # Errors
///
/// If there is none of that name, or it does not take that parameter.
pub fn find(name: &str) -> Result<Box<dyn Catalogued>, SpecError> {
    let (name, parameter) = match name.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (name, None),
    };
    match CATALOG.find(name) {
        Some(entry) => (entry.build)(parameter)
            .map_err(|problem| SpecError::Parameter { specification: entry.name, problem }),
        None => Err(SpecError::Unknown { found: name.to_owned(), closest: closest(name, CATALOG.names()) }),
    }
}

/// A name names no specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// No specification is called that.
    Unknown {
        /// The name that was given.
        found: String,
        /// What may have been meant.
        closest: Option<&'static str>,
    },
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
            SpecError::Unknown { found, closest } => {
                write!(f, "no specification is called `{found}`")?;
                if let Some(name) = closest {
                    write!(f, "; did you mean `{name}`?")?;
                }
                let names: Vec<&str> = CATALOG.names().collect();
                write!(f, " (there are {})", names.join(", "))
            }
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

/// The one of `names` that `typed` was probably meant to be: at most a third of its letters away.
#[must_use]
pub fn closest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Nobody mistypes a name beyond this, and the distance takes quadratic time.
    if 64 < typed.len() {
        return None;
    }
    let typed = typed.to_lowercase().replace([' ', '_'], "-");
    let distances = names.map(|it| (distance(&typed, it), it));
    let (distance, name) = distances.min_by_key(|&(distance, _)| distance)?;
    (distance * 3 <= name.len()).then_some(name)
}

/// How many letters must be inserted, removed or replaced to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
