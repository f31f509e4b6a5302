//! `--quasi` and `--reading`, which several commands have.

use clewline_methods::{Quasi, QuasiReading};

use super::status::Failure;

/// What was asked for, if anything was.
pub(super) fn parse(factors: Option<&str>, reading: Option<&str>) -> Result<Option<Quasi>, Failure> {
    let Some(factors) = factors else { return Ok(None) };
    let quasi: Quasi = factors.parse().map_err(|it| Failure::at("--quasi", it))?;
    let Some(reading) = reading else { return Ok(Some(quasi)) };
    let reading: QuasiReading = reading.parse().map_err(|it| Failure::at("--reading", it))?;
    Ok(Some(quasi.with_reading(reading)))
}

/// What was asked for; says what should be known about it, for an object of that specification.
pub(super) fn parse_and_warn(
    factors: Option<&str>,
    reading: Option<&str>,
    spec: &str,
) -> Result<Option<Quasi>, Failure> {
    let Some(quasi) = parse(factors, reading)? else { return Ok(None) };
    warn(&quasi, spec)?;
    Ok(Some(quasi))
}

/// Says what should be known about what was asked, for an object of that specification.
pub(super) fn warn(quasi: &Quasi, spec: &str) -> Result<(), Failure> {
    if let Some(warning) = quasi.warning(spec).map_err(|it| Failure::at("--quasi", it))? {
        eprintln!("note: {warning}");
    }
    Ok(())
}
