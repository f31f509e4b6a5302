//! One schedule that is known, once.

use crate::{Choice, Diverged, Pick, Point, Schedule, Scheduler};

/// See the [module documentation](self).
///
/// Where the schedule ends before the execution does, whoever runs goes on.
#[derive(Clone, Debug)]
pub struct Replay {
    schedule: Schedule,
    at: usize,
    steps: usize,
    is_done: bool,
    is_wrong: bool,
    preemptions: usize,
}

impl Replay {
    /// That schedule.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        Replay { schedule, at: 0, steps: 0, is_done: false, is_wrong: false, preemptions: 0 }
    }

    /// How often a task was interrupted that could have gone on.
    #[must_use]
    pub fn preemptions(&self) -> usize {
        self.preemptions
    }

    /// Whether all of the schedule was used, and nothing else was asked for.
    #[must_use]
    pub fn is_faithful(&self) -> bool {
        !self.is_wrong && self.at == self.schedule.0.len()
    }
}

impl Scheduler for Replay {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.is_done, true)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let pick = self.schedule.0.get(self.at).copied();
        let index = match pick {
            None => {
                self.is_wrong = true;
                Some(point.running.unwrap_or(0))
            }
            Some(Pick::Task(task)) => point.enabled.iter().position(|it| it.task == task),
            Some(Pick::Value(_)) => None,
        };
        let Some(index) = index else {
            self.is_wrong = true;
            let mut diverged = Diverged::new(self.steps, &[], point);
            diverged.is_foreign = true;
            return Choice::Diverged(diverged);
        };
        self.at += usize::from(pick.is_some());
        self.steps += 1;
        self.preemptions += usize::from(point.is_preemption(index));
        Choice::Step(index)
    }

    fn value(&mut self, n: u32) -> u32 {
        match self.schedule.0.get(self.at) {
            Some(&Pick::Value(value)) if value < n => {
                self.at += 1;
                value
            }
            _ => {
                self.is_wrong = true;
                0
            }
        }
    }

    fn restart(&mut self) {
        *self = Replay::new(std::mem::take(&mut self.schedule));
    }
}
