//! Recorded executions, one after the other, for callers that judge them in their own way.

use std::fmt;

use clewline_matrix::{RunResult, Session};
use clewline_threads::RunEnding;

use super::{drive::inputs, plan::Stress};
use crate::error::Error;

/// The executions of a stress test, as they are recorded: endless, unless one gets stuck, which is
/// then the last.
pub struct Recorded<'s> {
    stress: &'s Stress,
    // None once a run got stuck.
    session: Option<Box<dyn Session>>,
    run: u64,
}

impl fmt::Debug for Recorded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded")
            .field("stress", &self.stress.name)
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}

impl Stress {
    /// Records executions on request, and judges none of them.
    ///
    /// # Errors
    ///
    /// If the threads cannot be started.
    pub fn recorded(&self) -> Result<Recorded<'_>, Error> {
        let session = self.testable.session(&self.settings())?;
        Ok(Recorded { stress: self, session: Some(session), run: 0 })
    }
}

impl Iterator for Recorded<'_> {
    type Item = RunResult;

    fn next(&mut self) -> Option<RunResult> {
        let session = self.session.as_mut()?;
        let drawn = session.draw(&inputs(self.stress, self.run));
        session.launch(drawn);
        let took = session.wait();
        self.run += 1;
        if matches!(took.ending, RunEnding::Stuck(..)) {
            self.session = None;
        }
        Some(took)
    }
}
