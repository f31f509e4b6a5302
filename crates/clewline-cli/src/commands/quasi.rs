//! Quasi linearizability on the command line: the flags `--quasi` and `--reading` of several
//! commands.

use clewline_methods::{
    Quasi, QuasiReading,
    line_up::LineUpOptions,
    relaxed::{ElementCalls, QuasiQuery},
};
use clewline_report::render::text::shell_word;

use super::status::{Failure, print_note};

/// The requested factors, if any.
pub(super) fn parse(factors: Option<&str>, reading: Option<&str>) -> Result<Option<Quasi>, Failure> {
    let Some(factors) = factors else { return Ok(None) };
    let quasi: Quasi = factors.parse().map_err(|it| Failure::at("--quasi", it))?;
    let Some(reading) = reading else { return Ok(Some(quasi)) };
    let reading: QuasiReading = reading.parse().map_err(|it| Failure::at("--reading", it))?;
    Ok(Some(quasi.with_reading(reading)))
}

/// The requested factors; prints a warning about them, if there is one for that specification.
pub(super) fn parse_and_warn(
    factors: Option<&str>,
    reading: Option<&str>,
    spec: &str,
) -> Result<Option<Quasi>, Failure> {
    let Some(quasi) = parse(factors, reading)? else { return Ok(None) };
    warn(&quasi, spec)?;
    Ok(Some(quasi))
}

/// Prints a warning about the factors, if there is one for that specification.
fn warn(quasi: &Quasi, spec: &str) -> Result<(), Failure> {
    if let Some(warning) = quasi.warning(spec).map_err(|it| Failure::at("--quasi", it))? {
        print_note(warning);
    }
    Ok(())
}

/// Sets how explored histories are judged; prints a warning about the factors, if there is one.
/// Returns which calls insert and which remove, if generated matrices must have equal numbers of
/// both. `golden` is the implementation that the subject is compared with, if any.
pub(super) fn ask(
    query: &QuasiQuery<'_>,
    golden: Option<&str>,
    options: &mut LineUpOptions,
) -> Result<Option<ElementCalls>, Failure> {
    if let (None, Some(spec)) = (golden, query.spec) {
        warn(query.quasi, ElementCalls::plain(spec))?;
    }
    options.ask(query).map_err(|it| Failure::at("--quasi", it))
}

/// The flags as they are typed, each after a space.
pub(super) fn typed(factors: Option<&str>, reading: Option<&str>) -> String {
    let flags = [("--quasi", factors), ("--reading", reading)];
    let flag = |(name, value): (&str, Option<&str>)| Some(format!(" {name} {}", shell_word(value?)));
    flags.into_iter().filter_map(flag).collect()
}
