//! Fairness: a task that yields again and again lets those go first that have not moved in the meantime.
//!
//! Without it, a loop that waits and writes in each round could run for ever while the one it waits for never moves. From
//! one yield of a task to its next, those who were enabled all the time, or were kept from moving by the task itself, and
//! have not been chosen, go first from then on until they have made a step.
//!
//! Source: M. Musuvathi and S. Qadeer, "Fair stateless model checking", 2008.

use clewline_explore::{TaskId, TaskSet};

/// What is remembered of each task that has yielded.
#[derive(Debug, Default)]
pub(super) struct Fairness {
    yielded: TaskSet,
    windows: [Window; TaskId::MAX],
    before: TaskSet,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    // Enabled at every moment since the last yield.
    enabled: TaskSet,
    // Was enabled until this task made a step.
    disabled: TaskSet,
    // Has made a step since.
    moved: TaskSet,
    // Those that go first.
    first: TaskSet,
}

impl Fairness {
    pub(super) fn clear(&mut self) {
        self.yielded = TaskSet::EMPTY;
    }

    /// Nobody has yielded yet, so nobody is held back.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.yielded.is_empty()
    }

    /// `task`, which has [moved](Self::moved), comes to a point at which it yields, and `enabled` could move.
    pub(super) fn yields(&mut self, task: TaskId, enabled: TaskSet) {
        let window = &mut self.windows[task.index()];
        let mut first = TaskSet::EMPTY;
        if self.yielded.contains(task) {
            first = window.enabled.union(window.disabled).without(window.moved).union(window.first);
        }
        *window = Window { enabled, disabled: TaskSet::EMPTY, moved: TaskSet::EMPTY, first };
        self.yielded.insert(task);
        self.before = enabled;
    }

    /// `task` has made a step, and `enabled` can move now. Answers those that need not wait for it any more.
    pub(super) fn moved(&mut self, task: TaskId, enabled: TaskSet) -> TaskSet {
        let mut freed = TaskSet::EMPTY;
        for other in self.yielded {
            let window = &mut self.windows[other.index()];
            window.moved.insert(task);
            if window.first.contains(task) {
                window.first.remove(task);
                freed.insert(other);
            }
            window.enabled = window.enabled.intersection(enabled);
            if other == task {
                window.disabled = window.disabled.union(self.before.without(enabled));
            }
        }
        self.before = enabled;
        freed
    }

    /// Those of `enabled` that may move.
    pub(super) fn filter(&self, enabled: TaskSet) -> TaskSet {
        let is_held = |it: &TaskId| {
            self.yielded.contains(*it) && !self.windows[it.index()].first.intersection(enabled).is_empty()
        };
        // Never all: nobody waits for one who has just moved, and only such a one begins to wait. So there is no circle.
        enabled.without(enabled.iter().filter(is_held).collect())
    }
}

#[cfg(test)]
mod tests;
