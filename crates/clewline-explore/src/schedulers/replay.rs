//! Replays one given schedule, once.

use crate::{
    schedule::{Pick, Schedule},
    scheduler::{Begin, Choice, Diverged, Point, Scheduler},
};

/// See the [module documentation](self).
///
/// If the schedule ends before the execution does, the running task continues.
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
    /// A scheduler that replays `schedule`.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        Replay { schedule, at: 0, steps: 0, is_done: false, is_wrong: false, preemptions: 0 }
    }

    /// The number of preemptions.
    #[must_use]
    pub fn preemptions(&self) -> usize {
        self.preemptions
    }

    /// Whether the whole schedule was used, and no other choice was needed.
    #[must_use]
    pub fn is_faithful(&self) -> bool {
        !self.is_wrong && self.at == self.schedule.0.len()
    }
}

impl Scheduler for Replay {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            *self = Replay::new(std::mem::take(&mut self.schedule));
        }
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

    fn choose_value(&mut self, n: u32) -> u32 {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, SharedId, Step, TaskId};

    /// Replays `token` in a system where tasks 0 and 1 are always enabled; the one that ran last is
    /// the running one, and after two steps a number below `n` is drawn. Returns the choices and
    /// the replay.
    fn follow(token: &str, steps: usize, n: u32) -> (Vec<Option<usize>>, u32, Replay) {
        let enabled = [0, 1].map(|it| Step::new(TaskId(it), Access::Write, SharedId(0)));
        let mut replay = Replay::new(token.parse().unwrap());
        assert!(replay.begin(Begin::Next));
        let (mut chosen, mut running, mut value) = (Vec::new(), None, u32::MAX);
        for step in 0..steps {
            let choice = replay.choose(&Point { enabled: &enabled, running, waiting: &[] });
            running = if let Choice::Step(index) = choice { Some(index) } else { None };
            chosen.push(running);
            if step == 1 {
                value = replay.choose_value(n);
            }
        }
        assert!(!replay.begin(Begin::Next), "there is one execution");
        (chosen, value, replay)
    }

    #[test]
    fn a_replay_follows_the_whole_token() {
        let (chosen, value, replay) = follow("ab=2a", 3, 3);
        assert_eq!((chosen, value), (vec![Some(0), Some(1), Some(0)], 2));
        assert_eq!((replay.is_faithful(), replay.preemptions()), (true, 2));
    }

    #[test]
    fn a_replay_shorter_or_longer_than_its_token_is_not_faithful() {
        let is_faithful = |token: &str, steps: usize, n: u32| follow(token, steps, n).2.is_faithful();
        assert!(is_faithful("ab=2a", 3, 3));
        // The execution ends too early, or continues after the token.
        assert!(!is_faithful("ab=2ab", 3, 3));
        assert!(!is_faithful("ab=2", 3, 3));
        // A value that is missing, or too large.
        assert!(!is_faithful("aba", 3, 3));
        assert!(!is_faithful("ab=2a", 3, 2));
        assert_eq!(follow("ab=2a", 2, 2).1, 0);
        // A value where a step has to be chosen, and a task that is not enabled.
        assert!(!is_faithful("a=1=2a", 2, 3));
        assert!(!is_faithful("ac=2a", 2, 3));
    }

    #[test]
    fn after_the_token_the_running_task_continues() {
        assert_eq!(follow("ab=0", 4, 1).0, [Some(0), Some(1), Some(1), Some(1)]);
    }

    #[test]
    fn a_token_of_another_exploration_is_distinguished_from_nondeterminism() {
        let enabled = [Step::new(TaskId(0), Access::Write, SharedId(0))];
        let mut replay = Replay::new("b".parse().unwrap());
        let choice = replay.choose(&Point { enabled: &enabled, running: None, waiting: &[] });
        assert!(matches!(choice, Choice::Diverged(it) if it.is_foreign));
    }
}
