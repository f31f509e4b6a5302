//! Lookup of a specification by name.

use std::fmt;

use clewline_core::{ErasedSpec, MayFail, NotFound};

use crate::{CATALOG, entry::SpecificationEntry, loader::loader_of};

/// The specification called `name`, or `name:parameter`: `queue`, `queue:8`; or in the file `name`,
/// if a [loader](crate::set_loader) reads such files.
///
/// # Errors
///
/// If no specification has that name, or it does not accept that parameter.
pub fn find(name: &str) -> Result<Box<dyn ErasedSpec>, SpecError> {
    if let Some(loader) = loader_of(name) {
        return (loader.load)(name).map_err(SpecError::File);
    }
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

/// Why a name does not denote a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// No specification has that name.
    Unknown(NotFound),
    /// The specification does not accept the given parameter.
    Parameter {
        /// The specification's name.
        specification: &'static str,
        /// What was expected and what was found.
        problem: String,
    },
    /// The file has no specification: what is wrong with it, and where.
    File(String),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Unknown(error) => error.fmt(f),
            SpecError::File(problem) => f.write_str(problem),
            SpecError::Parameter { specification, problem } => write!(f, "`{specification}` {problem}"),
        }
    }
}

impl std::error::Error for SpecError {}

/// Checks that the specification called `spec` has every method of `mix`, and that some weight is
/// not 0. For specifications that are not in the catalog, or declare no operations, the methods are
/// not known and not checked.
///
/// # Errors
///
/// If not. Otherwise a mistyped method would silently never be called.
pub fn check_mix(spec: &str, mix: &[(String, u32)]) -> Result<(), MixError> {
    if let Some(entry) = entry(spec).filter(|it| !it.operations.is_empty())
        && let Some((unknown, _)) = mix.iter().find(|(name, _)| entry.methods().all(|it| it != name))
    {
        return Err(MixError::unknown(entry, unknown));
    }
    if !mix.is_empty() && mix.iter().all(|it| it.1 == 0) { Err(MixError::Nothing) } else { Ok(()) }
}

/// `may_fail` with the methods of the specification called `spec` by the names that reports use.
/// For specifications that are not in the catalog, it is as it is.
///
/// # Errors
///
/// If the specification has no such method.
pub fn resolve_failures(spec: &str, may_fail: &MayFail) -> Result<MayFail, MixError> {
    let Some(entry) = entry(spec).filter(|it| !it.operations.is_empty()) else { return Ok(may_fail.clone()) };
    let named = |name: &str| entry.operations.iter().find(|it| it.is_called(name));
    if let Some(unknown) = may_fail.methods().find(|it| named(it).is_none()) {
        return Err(MixError::unknown(entry, unknown));
    }
    Ok(may_fail.clone().rename(|it| named(it).map(|it| it.name.to_owned())))
}

/// The catalog entry for `name`, whatever its parameter.
#[must_use]
pub fn entry(name: &str) -> Option<&'static SpecificationEntry> {
    if let Some(loader) = loader_of(name) {
        return (loader.entry)(name);
    }
    let bare = name.split(':').next().unwrap_or(name);
    CATALOG.find(bare)
}

/// Why calls cannot be drawn with these weights.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MixError {
    /// The object has no such method.
    Unknown {
        /// The specification's name.
        specification: &'static str,
        /// The name that no method has.
        error: Box<NotFound>,
    },
    /// All weights are 0.
    Nothing,
}

impl MixError {
    fn unknown(entry: &'static SpecificationEntry, found: &str) -> MixError {
        let error = NotFound::new("operation", found, entry.methods());
        MixError::Unknown { specification: entry.name, error: Box::new(error) }
    }
}

impl fmt::Display for MixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MixError::Unknown { specification, error } => write!(f, "{specification}: {error}"),
            MixError::Nothing => write!(f, "expected at least one weight above 0"),
        }
    }
}

impl std::error::Error for MixError {}
