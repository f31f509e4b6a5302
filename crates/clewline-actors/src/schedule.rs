//! Schedules of messages: the choices of one execution, and their replay.
//!
//! The enabled steps are listed in an order that depends only on the steps before, so a choice is
//! an index in that list.

use std::fmt;

use crate::execution::Execution;

/// What was picked in one execution, in order: enough to see it again.
pub type MessageSchedule = clewline_explore::Schedule<u32>;

impl Execution {
    /// What was picked to come where this is.
    #[must_use]
    pub fn schedule(&self) -> MessageSchedule {
        let picks = self.events().iter().enumerate().map(|(at, event)| {
            let place = self.enabled_before(at).iter().position(|it| *it == event.step);
            place.expect("what happened was enabled") as u32
        });
        clewline_explore::Schedule(picks.collect())
    }

    /// Undoes all steps, and then executes `schedule`.
    ///
    /// # Errors
    ///
    /// If a chosen step is not enabled.
    pub fn replay(&mut self, schedule: &MessageSchedule) -> Result<(), ScheduleMismatch> {
        self.rewind();
        for (step, &pick) in schedule.0.iter().enumerate() {
            let enabled = self.enabled().len();
            if enabled <= pick as usize {
                return Err(ScheduleMismatch { step, pick, enabled });
            }
            self.take(pick as usize);
        }
        Ok(())
    }
}

/// A schedule that does not fit: it belongs to another system, or to an earlier version of this
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduleMismatch {
    /// The number of steps executed before.
    pub step: usize,
    /// The index chosen, from 0.
    pub pick: u32,
    /// The number of enabled steps.
    pub enabled: usize,
}

impl fmt::Display for ScheduleMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScheduleMismatch { step, pick, enabled } = self;
        write!(
            f,
            "the schedule does not fit this system: step {} takes number {} of what can happen, which is {enabled}",
            step + 1,
            pick + 1
        )
    }
}

impl std::error::Error for ScheduleMismatch {}

#[cfg(test)]
mod tests;
