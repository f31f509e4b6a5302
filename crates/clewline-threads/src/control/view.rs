//! Views: what a task knows of the other tasks, and the order of operations that follows.

use clewline_explore::{SharedId, TaskId};

use clewline_explore::VectorClock;

/// A set of events that is closed under happens-before, and for each location the oldest store that
/// may still be read.
#[derive(Clone, Debug, Default)]
pub(in crate::control) struct View {
    // Of each task, how many of its intervals between releases or calls it contains.
    clock: [u32; TaskId::MAX],
    // By the number of the location. A missing entry is 0: every store may be read.
    oldest_readable: Vec<u64>,
}

impl VectorClock for View {
    fn join(&mut self, other: &View) {
        for (mine, theirs) in self.clock.iter_mut().zip(&other.clock) {
            *mine = (*mine).max(*theirs);
        }
        self.join_stores(&other.oldest_readable);
    }

    fn assign(&mut self, other: &View) {
        self.clone_from(other);
    }

    fn tick(&mut self, task: TaskId) {
        self.clock[task.index()] += 1;
    }
}

impl View {
    /// The same for stores only: adds nothing to happens-before.
    pub(super) fn join_stores(&mut self, oldest: &[u64]) {
        if self.oldest_readable.len() < oldest.len() {
            self.oldest_readable.resize(oldest.len(), 0);
        }
        for (mine, theirs) in self.oldest_readable.iter_mut().zip(oldest) {
            *mine = (*mine).max(*theirs);
        }
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
        let at = location.0 as usize;
        if self.oldest_readable.len() <= at {
            self.oldest_readable.resize(at + 1, 0);
        }
        self.oldest_readable[at] = self.oldest_readable[at].max(stamp);
    }

    /// The last interval of `task` that it contains.
    pub(in crate::control) fn time(&self, task: TaskId) -> u32 {
        self.clock[task.index()]
    }

    /// The last interval of each task that it contains.
    pub(in crate::control) fn times(&self) -> [u32; TaskId::MAX] {
        self.clock
    }
}

/// The place of an operation in happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HappensBefore {
    /// The task that makes the call.
    pub task: TaskId,
    /// The interval between two releases or calls of that task in which the operation returned.
    pub returned: u32,
    /// Of each task, the last interval that happens before the call.
    pub known: [u32; TaskId::MAX],
}

impl Default for HappensBefore {
    fn default() -> HappensBefore {
        HappensBefore { task: TaskId(0), returned: 0, known: [0; TaskId::MAX] }
    }
}

impl HappensBefore {
    /// Whether the return happens before the call of `other`.
    #[must_use]
    pub fn precedes(&self, other: &HappensBefore) -> bool {
        self.returned <= other.known[self.task.index()]
    }
}
