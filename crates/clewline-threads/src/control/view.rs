//! Views: what a task knows of the other tasks, and the order of operations that follows.

use clewline_explore::{SharedId, TaskId};

use clewline_explore::VectorClock;

/// Of each task, how many of its intervals between releases or calls are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals {
    few: [u32; TaskId::USUAL_MAX],
    // Of the other tasks. A missing entry is 0.
    more: Vec<u32>,
}

impl Intervals {
    /// The last interval of `task`.
    #[must_use]
    pub fn of(&self, task: TaskId) -> u32 {
        match self.few.get(task.index()) {
            Some(time) => *time,
            None => self.more.get(task.index() - TaskId::USUAL_MAX).copied().unwrap_or(0),
        }
    }

    /// The last interval of each task, as far as it is not 0.
    #[must_use]
    pub fn all(&self) -> Vec<u32> {
        let mut all = [&self.few[..], &self.more].concat();
        all.truncate(all.iter().rposition(|it| *it != 0).map_or(0, |last| last + 1));
        all
    }
}

impl From<Vec<u32>> for Intervals {
    /// The last interval of each task; of the others, 0.
    fn from(all: Vec<u32>) -> Intervals {
        let mut intervals = Intervals::default();
        for (at, time) in all.into_iter().enumerate() {
            match intervals.few.get_mut(at) {
                Some(entry) => *entry = time,
                None => intervals.more.push(time),
            }
        }
        intervals
    }
}

/// A set of events that is closed under happens-before, and for each location the oldest store that
/// may still be read.
#[derive(Clone, Debug, Default)]
pub(in crate::control) struct View {
    clock: Intervals,
    // By the number of the location. A missing entry is 0: every store may be read.
    oldest_readable: Vec<u64>,
}

impl VectorClock for View {
    fn join(&mut self, other: &View) {
        for (mine, theirs) in self.clock.few.iter_mut().zip(&other.clock.few) {
            *mine = (*mine).max(*theirs);
        }
        if !other.clock.more.is_empty() {
            join_growing(&mut self.clock.more, &other.clock.more);
        }
        self.join_stores(&other.oldest_readable);
    }

    fn assign(&mut self, other: &View) {
        self.clock.few = other.clock.few;
        self.clock.more.clone_from(&other.clock.more);
        self.oldest_readable.clone_from(&other.oldest_readable);
    }

    fn tick(&mut self, task: TaskId) {
        match self.clock.few.get_mut(task.index()) {
            Some(count) => *count += 1,
            None => *entry(&mut self.clock.more, task.index() - TaskId::USUAL_MAX) += 1,
        }
    }
}

impl View {
    /// The same for stores only: adds nothing to happens-before.
    pub(super) fn join_stores(&mut self, oldest: &[u64]) {
        join_growing(&mut self.oldest_readable, oldest);
    }

    pub(super) fn stores(&self) -> &[u64] {
        &self.oldest_readable
    }

    /// The stamp of the oldest store of `location` that may be read.
    pub(super) fn oldest(&self, location: SharedId) -> u64 {
        self.oldest_readable.get(location.0 as usize).copied().unwrap_or(0)
    }

    /// Nothing older than `stamp` may be read from `location` any more.
    pub(super) fn saw(&mut self, location: SharedId, stamp: u64) {
        let oldest = entry(&mut self.oldest_readable, location.0 as usize);
        *oldest = (*oldest).max(stamp);
    }

    /// The last interval of `task` that it contains.
    pub(in crate::control) fn time(&self, task: TaskId) -> u32 {
        self.clock.of(task)
    }

    /// The last interval of each task that it contains.
    pub(in crate::control) fn into_times(self) -> Intervals {
        self.clock
    }
}

/// The entry at `at`, which is 0 if there was none.
#[inline]
fn entry<T: Clone + Default>(entries: &mut Vec<T>, at: usize) -> &mut T {
    if entries.len() <= at {
        entries.resize(at + 1, T::default());
    }
    &mut entries[at]
}

/// Makes each entry the maximum of both. A missing entry is 0.
#[inline]
fn join_growing<T: Copy + Default + Ord>(entries: &mut Vec<T>, other: &[T]) {
    if entries.len() < other.len() {
        entries.resize(other.len(), T::default());
    }
    for (mine, theirs) in entries.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// The place of an operation in happens-before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HappensBefore {
    /// The task that makes the call.
    pub task: TaskId,
    /// The interval between two releases or calls of that task in which the operation returned.
    pub returned: u32,
    /// Of each task, the last interval that happens before the call.
    pub known: Intervals,
}

impl Default for HappensBefore {
    fn default() -> HappensBefore {
        HappensBefore { task: TaskId(0), returned: 0, known: Intervals::default() }
    }
}

impl HappensBefore {
    /// Whether the return happens before the call of `other`.
    #[must_use]
    pub fn precedes(&self, other: &HappensBefore) -> bool {
        self.returned <= other.known.of(self.task)
    }
}
