//! What is said of tasks: how long they may run, what they attempt, what they wait for, what they did.

use clewline_explore::{Access, SharedId, Step, TaskId, TaskSet};

use crate::control::place::Place;

/// How long an execution may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After so many steps an execution is cut.
    pub steps: u32,
    /// After so many rounds in which those who spin saw nothing new, and nobody else could move, they are stuck.
    pub rounds: u32,
    /// So often each task may wake up from a condition variable or from `park` though nobody woke it.
    pub spurious: u32,
}

/// Where else tasks come to points. An exploration finds out as it goes whether that is needed; a schedule that was found
/// afterwards fits only there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// Where a lock is released, as if some task had tried one without waiting.
    pub releases: bool,
    /// Where the number of owners of an `Arc` changes, as if some task had looked at one.
    pub counts: bool,
}

impl Points {
    /// Each combination.
    pub const ALL: [Points; 4] = [
        Points { releases: false, counts: false },
        Points { releases: true, counts: false },
        Points { releases: false, counts: true },
        Points { releases: true, counts: true },
    ];
}

/// The limit that cut an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::steps`].
    Steps,
    /// Another task was started, and there are [as many as there may be](TaskId::MAX).
    Tasks,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 20_000, rounds: 1_000, spurious: 0 }
    }
}

/// What must hold of an object's level before a task can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Whatever.
    Nothing,
    /// So much, or more.
    AtLeast(i32),
    /// So much, or less.
    AtMost(i32),
}

impl Need {
    #[inline]
    pub(super) fn is_met(self, level: i32) -> bool {
        match self {
            Need::Nothing => true,
            Need::AtLeast(least) => least <= level,
            Need::AtMost(most) => level <= most,
        }
    }
}

/// What a task waits for besides its [`Need`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Nothing else.
    Met,
    /// Somebody must have woken it.
    Woken,
    /// The same, or its time is up.
    WokenOrLate,
    /// Its need need not be met: its time may be up.
    MetOrLate,
}

impl Until {
    /// Whether somebody wakes it.
    pub(super) const fn is_woken(self) -> bool {
        match self {
            Until::Woken | Until::WokenOrLate => true,
            Until::Met | Until::MetOrLate => false,
        }
    }

    /// Whether it waits for some time only. To let others run in the meantime is no preemption.
    pub(super) const fn is_brief(self) -> bool {
        match self {
            Until::WokenOrLate | Until::MetOrLate => true,
            Until::Met | Until::Woken => false,
        }
    }
}

/// A visible access that a task is about to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) access: Access,
    pub(crate) need: Need,
    pub(crate) until: Until,
    /// Tasks that must have ended.
    pub(crate) after: TaskSet,
}

impl Attempt {
    /// One that is never kept waiting.
    pub(crate) const fn new(access: Access) -> Attempt {
        Attempt { access, need: Need::Nothing, until: Until::Met, after: TaskSet::EMPTY }
    }

    pub(crate) const fn needing(self, need: Need) -> Attempt {
        Attempt { need, ..self }
    }

    pub(crate) const fn until(self, until: Until) -> Attempt {
        Attempt { until, ..self }
    }

    pub(crate) const fn after(self, task: TaskId) -> Attempt {
        Attempt { after: TaskSet::only(task), ..self }
    }
}

/// What a task is about to do, or waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Who.
    pub task: TaskId,
    /// What.
    pub access: Access,
    /// On which object.
    pub object: SharedId,
    /// Where in the source.
    pub place: Place,
    /// The operation that it was about to call, if it had not begun yet.
    pub operation: Option<usize>,
    /// Whether it runs round a loop that waits.
    pub spins: bool,
}

/// A step of an execution that is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What was done.
    pub step: Step,
    /// Where in the source.
    pub place: Place,
    /// What was read and written, in words: `3`, `3 -> 4`.
    pub detail: String,
}
