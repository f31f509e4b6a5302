//! Clocks: of each task, how many of its intervals happened before.

use clewline_explore::TaskId;
use clewline_threads::control::VectorClock as _;

use crate::linux::current_task::RuntimeCell;

/// Of each task, the last interval that happened before.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(super) struct Clock(pub(super) [u32; TaskId::MAX]);

// Usually there are at most this many tasks, and only their clocks are compared.
pub(super) const TASKS_MIN: usize = 4;
// The number of tasks whose clocks are compared: once there were more than `TASKS_MIN`, the
// maximum.
pub(super) static TASKS: RuntimeCell<usize> = RuntimeCell::new(TASKS_MIN);

#[inline(always)]
fn tasks() -> usize {
    if TASKS.get() == TASKS_MIN { TASKS_MIN } else { TaskId::MAX }
}

impl Clock {
    pub(super) const ZERO: Clock = Clock([0; TaskId::MAX]);

    /// The last interval of `task` that it contains.
    #[inline(always)]
    pub(super) fn time(&self, task: u8) -> u32 {
        self.0[usize::from(task)]
    }

    /// The clock of a task that has just begun, before everything else.
    pub(super) fn first(task: usize) -> Clock {
        let mut clock = Clock::ZERO;
        clock.0[task] = 1;
        clock
    }
}

impl clewline_threads::control::VectorClock for Clock {
    #[inline(always)]
    fn join(&mut self, other: &Clock) {
        let n = tasks();
        self.0[..n].iter_mut().zip(&other.0).for_each(|(into, from)| *into = (*into).max(*from));
    }

    #[inline(always)]
    fn assign(&mut self, other: &Clock) {
        let n = tasks();
        self.0[..n].copy_from_slice(&other.0[..n]);
    }

    #[inline(always)]
    fn tick(&mut self, task: TaskId) {
        self.0[task.index()] += 1;
    }
}

/// What tasks have released at an object, for those who acquire it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Released {
    /// Whether a task has: otherwise the clock means nothing.
    pub(super) is_set: bool,
    pub(super) clock: Clock,
}

impl Released {
    #[inline(always)]
    pub(super) fn acquire(&self, clock: &mut Clock) {
        if self.is_set {
            clock.join(&self.clock);
        }
    }

    #[inline(always)]
    pub(super) fn release(&mut self, clock: &Clock) {
        if self.is_set {
            self.clock.join(clock);
        } else {
            self.replace(clock);
        }
    }

    #[inline(always)]
    pub(super) fn replace(&mut self, clock: &Clock) {
        self.is_set = true;
        self.clock.assign(clock);
    }
}
