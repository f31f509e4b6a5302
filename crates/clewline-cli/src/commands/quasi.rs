//! The flags `--quasi` and `--reading`, shared by several commands.

use clewline_methods::{Quasi, QuasiReading};

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
pub(super) fn warn(quasi: &Quasi, spec: &str) -> Result<(), Failure> {
    if let Some(warning) = quasi.warning(spec).map_err(|it| Failure::at("--quasi", it))? {
        print_note(warning);
    }
    Ok(())
}
