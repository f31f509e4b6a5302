//! Repetition: whether an execution comes back to where it was.
//!
//! An execution that reaches the same state twice, and on the way every task moved that could,
//! may go on like that forever although the scheduler is fair: a livelock. A task that waits in a
//! loop is the simplest case. The state is that of the whole program, with what its tasks keep in
//! registers, on their stacks and on the heap, so it is compared in a [replica](super::replica),
//! which is slow. This module finds the rounds for which that is worthwhile: at certain moments it
//! notes where all tasks are, and looks for an earlier moment at which they were at the same
//! places.
//!
//! Source: M. Musuvathi and S. Qadeer, "Fair stateless model checking", 2008, for what a livelock
//! is.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use clewline_explore::{Pick, TaskId, TaskSet};

/// The moments of an execution, and what was found out about earlier ones.
#[derive(Debug, Default)]
pub(super) struct Repetition {
    moments: Vec<Moment>,
    matches: u32,
    // In this execution, a replica was made of a round for which no local state was known.
    has_tried_unknown: bool,
    // In all executions: replicas that did not repeat.
    failures: u32,
    /// In all executions: the keys of rounds that repeat, and the tasks that need not move there.
    /// The random programs of the unit tests keep nothing on the heap, so one proof at the same
    /// places is enough for them.
    #[cfg(test)]
    pub(super) proven: Vec<(u64, TaskSet)>,
    // Schedules after which an execution went on although a round had ended: it must do so again.
    continued: HashSet<u64>,
    /// The round that repeats forever, if it was proven: how many steps it has, and its tasks.
    pub(super) round: Option<(usize, TaskSet)>,
}

#[derive(Clone, Copy, Debug)]
struct Moment {
    // Where all tasks are.
    key: u64,
    // The number of steps before.
    position: usize,
    // The task that arrived last, and its local state, if it was determined.
    local_state: Option<(TaskId, u64)>,
}

/// A part of the execution that begins and ends with all tasks at the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// The number of steps before.
    pub(super) position: usize,
    pub(super) tasks: TaskSet,
}

// Only the last moments are kept, and a round is at most this long.
const MOMENTS_MAX: usize = 256;
const ROUND_STEPS_MAX: usize = 1_000;
// After this number of replicas that did not repeat, no more are made: of rounds with unknown local
// states, and of others.
const UNKNOWN_STATE_REPLICAS_MAX: u32 = 16;
const FAILED_REPLICAS_MAX: u32 = 48;

impl Repetition {
    /// Another execution begins.
    pub(super) fn clear(&mut self) {
        self.moments.clear();
        (self.matches, self.has_tried_unknown, self.round) = (0, false, None);
    }

    /// The first moment of an execution: where all tasks are.
    pub(super) fn begin(&mut self, key: u64) {
        self.moments.push(Moment { key, position: 0, local_state: None });
    }

    /// Notes a moment: where all tasks are, and the local state of the task that arrived last, if
    /// known. Returns a round that ends here, in which all tasks of `live` moved, if it is
    /// worthwhile to look whether it repeats.
    pub(super) fn note(
        &mut self,
        key: u64,
        local_state: Option<(TaskId, u64)>,
        live: TaskSet,
        schedule: &[Pick],
    ) -> Option<Round> {
        let now = Moment { key, position: schedule.len(), local_state };
        let found = self.round(&now, live, schedule);
        if self.moments.len() == MOMENTS_MAX {
            // The first moment is that of the initial state.
            self.moments.remove(1);
        }
        self.moments.push(now);
        let (round, is_unknown) = found?;
        self.matches += 1;
        let failures_max = match is_unknown {
            true if std::mem::replace(&mut self.has_tried_unknown, true) => return None,
            true => UNKNOWN_STATE_REPLICAS_MAX,
            false if !is_sparse(self.matches) => return None,
            false => FAILED_REPLICAS_MAX,
        };
        let schedule = hash(schedule);
        if self.continued.contains(&schedule) {
            return None;
        }
        if failures_max <= self.failures {
            self.continued.insert(schedule);
            return None;
        }
        Some(round)
    }

    /// The round that ends now, and whether its local states are unknown.
    fn round(&self, now: &Moment, live: TaskSet, schedule: &[Pick]) -> Option<(Round, bool)> {
        let (mut tasks, mut position) = (TaskSet::EMPTY, now.position);
        let mut unknown = None;
        for earlier in self.moments.iter().rev().filter(|it| it.key == now.key) {
            if ROUND_STEPS_MAX < now.position - earlier.position {
                break;
            }
            for pick in &schedule[earlier.position..position] {
                match pick {
                    Pick::Task(task) => tasks.insert(*task),
                    // Another value may be chosen the next time.
                    Pick::Value(_) => return None,
                }
            }
            position = earlier.position;
            if tasks.is_empty() || !live.without(tasks).is_empty() {
                continue;
            }
            let round = Round { position, tasks };
            match (earlier.local_state, now.local_state) {
                (Some(one), Some(other)) if one == other => return Some((round, false)),
                (Some(_), Some(_)) => (),
                (None, _) | (_, None) => {
                    unknown.get_or_insert(round);
                }
            }
        }
        unknown.map(|it| (it, true))
    }

    /// Whether all tasks were at these places before.
    pub(super) fn was_at(&self, key: u64) -> bool {
        self.moments.iter().any(|it| it.key == key)
    }

    /// Whether a round may end here, if local states do not matter: then they should be known.
    pub(super) fn may_end_here(&self, key: u64, live: TaskSet, schedule: &[Pick]) -> bool {
        let now = Moment { key, position: schedule.len(), local_state: None };
        self.round(&now, live, schedule).is_some()
    }

    /// `round`, which ends after `schedule`, repeats forever or may not. That is found out for each
    /// execution anew: at the same places, what a task keeps on the heap may be different.
    pub(super) fn found(&mut self, round: &Round, schedule: &[Pick], repeats: bool) {
        if repeats {
            self.round = Some((schedule.len() - round.position, round.tasks));
        } else {
            self.failures += 1;
            self.continued.insert(hash(schedule));
        }
    }
}

fn hash(schedule: &[Pick]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for pick in schedule {
        let word = match pick {
            Pick::Task(task) => u64::from(task.0),
            Pick::Value(value) => u64::from(*value) << 8 | 0xff,
        };
        word.hash(&mut hasher);
    }
    hasher.finish()
}

/// Whether a replica is made at the `n`th occasion: seldom, once there were many.
fn is_sparse(n: u32) -> bool {
    let power = 1 << n.ilog2();
    n < 4 || n == power || n == power + power / 2
}

#[cfg(test)]
mod tests;
