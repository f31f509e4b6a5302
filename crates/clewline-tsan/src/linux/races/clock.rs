//! Clocks: of each task, how many of its intervals happened before.

use clewline_explore::TaskId;
use clewline_threads::control::VectorClock as _;

use crate::linux::current_task::RuntimeCell;

/// Of each task, the last interval that happened before.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Clock(pub(super) [u32; TaskId::MAX]);

// Usually there are at most this many tasks.
const COMPARED_TASKS_MIN: usize = 4;
/// The number of tasks whose clocks are compared: `COMPARED_TASKS_MIN`, [`TaskId::USUAL_MAX`] or
/// [`TaskId::MAX`], as many as needed so far.
pub(super) static TASKS: RuntimeCell<usize> = RuntimeCell::new(COMPARED_TASKS_MIN);

/// The next larger number of tasks whose clocks are compared.
pub(super) fn more_tasks() -> usize {
    if TASKS.get() == COMPARED_TASKS_MIN { TaskId::USUAL_MAX } else { TaskId::MAX }
}

impl Clock {
    pub(super) const ZERO: Clock = Clock([0; TaskId::MAX]);

    /// The last interval of `task` that it contains.
    #[inline(always)]
    pub(super) fn time(&self, task: u8) -> u32 {
        self.0[usize::from(task)]
    }

    /// Becomes the clock of a task that has just begun, before everything else.
    #[inline(always)]
    pub(super) fn begin(&mut self, task: usize) {
        self.assign(&Clock::ZERO);
        self.0[task] = 1;
    }

    /// Calls `each` for the entries of `self` and `other` that may differ from 0.
    #[inline(always)]
    fn merge(&mut self, other: &Clock, each: impl Fn(&mut u32, u32)) {
        // A loop of constant length, which compilers turn into one vector instruction.
        #[inline(always)]
        fn first<const N: usize>(into: &mut Clock, other: &Clock, each: impl Fn(&mut u32, u32)) {
            for at in 0..N {
                each(&mut into.0[at], other.0[at]);
            }
        }
        match TASKS.get() {
            COMPARED_TASKS_MIN => first::<COMPARED_TASKS_MIN>(self, other, each),
            TaskId::USUAL_MAX => first::<{ TaskId::USUAL_MAX }>(self, other, each),
            _ => first::<{ TaskId::MAX }>(self, other, each),
        }
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::ZERO
    }
}

impl clewline_threads::control::VectorClock for Clock {
    #[inline(always)]
    fn join(&mut self, other: &Clock) {
        self.merge(other, |into, from| *into = (*into).max(from));
    }

    #[inline(always)]
    fn assign(&mut self, other: &Clock) {
        self.merge(other, |into, from| *into = from);
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
