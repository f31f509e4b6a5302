//! Schedules of messages: what was picked in one execution, and how a walk goes along it.
//!
//! What can happen next is offered in an order that depends on nothing but what happened before, so a pick is a place in that
//! order.

use std::fmt;

use crate::execution::Execution;

/// What was picked in one execution, in order: enough to see it again.
pub type Schedule = clewline_explore::Schedule<u32>;

impl Execution {
    /// What was picked to come where this is.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        let picks = self.events().iter().enumerate().map(|(at, event)| {
            let place = self.enabled_before(at).iter().position(|it| *it == event.receive);
            place.expect("what happened was enabled") as u32
        });
        clewline_explore::Schedule(picks.collect())
    }

    /// Goes back to the beginning, and then along `schedule`.
    ///
    /// # Errors
    ///
    /// If something was picked that cannot happen there.
    pub fn replay(&mut self, schedule: &Schedule) -> Result<(), ScheduleMismatch> {
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

/// A schedule of another system, or of this one as it was before it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduleMismatch {
    /// After how many steps.
    pub step: usize,
    /// Which place was picked, counted from 0.
    pub pick: u32,
    /// How many there are.
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
