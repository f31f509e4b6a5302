//! Counts all histories of a matrix of a program.

use std::time::Duration;

use clewline_core::CodecError;
use clewline_explore::{Coverage, Limit};
use clewline_methods::{
    census::{Census, Counting, Enumerate, Readings, count},
    line_up::{Matrix, Options},
    relaxed::Quasi,
};
use clewline_remote::RunOptions;

use super::{error::Error, program::Program, session::OutputMode};

/// What is counted.
#[derive(Clone, Debug)]
pub struct CensusRequest {
    /// The calls.
    pub matrix: Matrix,
    /// The name of the specification.
    pub plain: String,
    /// The specification of the relaxed reading, with its factor.
    pub relaxed: String,
    /// The factors of the displacement reading.
    pub factors: String,
    /// The factors with which permutations are enumerated.
    pub enumerated: String,
    /// The most executions.
    pub executions_max: u64,
    /// The time limit.
    pub time: Option<Duration>,
}

impl CensusRequest {
    /// The criteria for histories.
    ///
    /// # Errors
    ///
    /// If the factors are invalid.
    pub fn readings(&self) -> Result<Readings, CodecError> {
        let factors = |text: &str| text.parse::<Quasi>().map_err(|it| CodecError(it.to_string()));
        Ok(Readings {
            plain: self.plain.clone(),
            relaxed: self.relaxed.clone(),
            factors: factors(&self.factors)?,
            enumerated: factors(&self.enumerated)?,
        })
    }
}

impl Program {
    /// Counts all histories of a matrix.
    ///
    /// # Errors
    ///
    /// If it cannot be counted.
    pub fn census(&self, asked: &CensusRequest, enumeration: &mut dyn Enumerate) -> Result<Census, Error> {
        let no_count = |misfit: CodecError| Error::Killed { how: misfit.to_string() };
        let options =
            Options { executions_max: asked.executions_max, time: asked.time, ..Options::default() };
        let readings = asked.readings().map_err(no_count)?;
        let session = self.start(&[], &RunOptions::default(), OutputMode::Captured)?;
        let counted =
            count(&**session.remote(), &asked.matrix, &readings, Counting::Distinct, &options, enumeration);
        session.finish()?;
        let counted = counted.map_err(no_count)?;
        // A count that differs from run to run is not meaningful.
        let diverged = match &counted.coverage {
            Coverage::Limited(Limit::Diverged(diverged)) => Some(format!("diverged: {diverged}")),
            Coverage::Exhausted | Coverage::Limited(_) => None,
        };
        Ok(Census { unknown: counted.unknown.clone().or(diverged), ..counted })
    }
}
