//! Fairness: a task that yields repeatedly lets those tasks run first that have not moved
//! meanwhile.
//!
//! Without fairness, a waiting loop that writes in each round could run forever while the task it
//! waits for never moves. Consider the window from one yield of a task to its next. The tasks that
//! were enabled during the whole window, or were disabled by the yielding task itself, and were not
//! chosen, get priority over it until they have made a step.
//!
//! Source: M. Musuvathi and S. Qadeer, "Fair stateless model checking", 2008.

use clewline_explore::{PerTask, TaskId, TaskSet};

/// The priorities and windows of the tasks that have yielded.
#[derive(Debug, Default)]
pub(super) struct Fairness {
    yielded: TaskSet,
    windows: PerTask<Window>,
    before: TaskSet,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    // Continuously enabled since the last yield.
    enabled: TaskSet,
    // Disabled by a step of this task.
    disabled: TaskSet,
    // Have made a step since.
    moved: TaskSet,
    // The tasks with priority.
    priority: TaskSet,
}

impl Fairness {
    pub(super) fn clear(&mut self) {
        self.yielded = TaskSet::EMPTY;
    }

    /// No task has yielded yet, so none is held back.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.yielded.is_empty()
    }

    /// `task`, which has [moved](Self::moved), yields, and the tasks in `enabled` could move.
    pub(super) fn yields(&mut self, task: TaskId, enabled: TaskSet) {
        let window = &mut self.windows[task.index()];
        let mut priority = TaskSet::EMPTY;
        if self.yielded.contains(task) {
            priority = window.enabled.union(window.disabled).without(window.moved).union(window.priority);
        }
        *window = Window { enabled, disabled: TaskSet::EMPTY, moved: TaskSet::EMPTY, priority };
        self.yielded.insert(task);
        self.before = enabled;
    }

    /// `task` has made a step, and the tasks in `enabled` can move now. Returns the tasks that need
    /// not wait for it any more.
    pub(super) fn moved(&mut self, task: TaskId, enabled: TaskSet) -> TaskSet {
        let mut freed = TaskSet::EMPTY;
        for other in self.yielded {
            let window = &mut self.windows[other.index()];
            window.moved.insert(task);
            if window.priority.contains(task) {
                window.priority.remove(task);
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

    /// The tasks of `enabled` that may move.
    pub(super) fn filter(&self, enabled: TaskSet) -> TaskSet {
        let is_held = |it: &TaskId| {
            self.yielded.contains(*it) && !self.windows[it.index()].priority.intersection(enabled).is_empty()
        };
        // Never all: no task waits for a task that has just moved, and only such a task begins to
        // wait. So there is no cycle.
        enabled.without(enabled.iter().filter(is_held).collect())
    }
}

#[cfg(test)]
mod tests;
