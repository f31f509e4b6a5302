//! Types of the engine: limits, attempts, wait conditions, recorded steps.

use clewline_explore::{Access, SharedId, Step, TaskId, TaskSet};

use crate::control::place::Place;

/// How long an execution may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// An execution is cut after this many steps.
    pub steps: u32,
    /// How many times each task may wake spuriously from a condition variable or from `park`.
    pub spurious: u32,
}

/// Additional scheduling points. An exploration enables them when they are needed; a schedule found
/// after that can be replayed only with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraPoints {
    /// At the release of a lock, as if some task used `try_lock`.
    pub releases: bool,
    /// At changes of the reference count of an `Arc`, as if some task observed one.
    pub counts: bool,
    /// At accesses to cells, as if some task had made one: data races are detected. Without it they
    /// may be detected as well.
    pub races: bool,
}

impl ExtraPoints {
    /// Each combination that a replay needs.
    pub const ALL: [ExtraPoints; 4] = [
        ExtraPoints { releases: false, counts: false, races: false },
        ExtraPoints { releases: true, counts: false, races: false },
        ExtraPoints { releases: false, counts: true, races: false },
        ExtraPoints { releases: true, counts: true, races: false },
    ];
}

/// The limit that cut an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionLimit {
    /// [`Limits::steps`].
    Steps,
    /// Another task was started, and there are [as many as possible](TaskId::MAX) already.
    Tasks,
}

/// A place where an execution was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unended {
    /// Where the running task was.
    pub place: Place,
    /// Why it was cut.
    pub why: Excess,
}

/// What an execution had too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Steps.
    Steps,
    /// Steps in which nothing but waiting loops could move. They may count and give up, or never
    /// end.
    Waiting,
    /// Tasks.
    Tasks,
}

impl Excess {
    /// Each of them.
    pub const ALL: [Excess; 3] = [Excess::Steps, Excess::Waiting, Excess::Tasks];
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 20_000, spurious: 0 }
    }
}

/// The condition on an object's level under which a task can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// No condition.
    Nothing,
    /// At least this level.
    AtLeast(i32),
    /// At most this level.
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

/// What a task waits for in addition to its [`Need`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeCondition {
    /// Nothing else.
    Met,
    /// Another task must have woken it.
    Woken,
    /// The same, or a timeout.
    WokenOrTimeout,
    /// Its need is met, or a timeout.
    MetOrTimeout,
}

impl WakeCondition {
    /// Whether another task must wake it.
    pub(super) const fn is_woken(self) -> bool {
        match self {
            WakeCondition::Woken | WakeCondition::WokenOrTimeout => true,
            WakeCondition::Met | WakeCondition::MetOrTimeout => false,
        }
    }

    /// Whether the wait has a timeout. Switching to another task meanwhile is not a preemption.
    pub(super) const fn has_timeout(self) -> bool {
        match self {
            WakeCondition::WokenOrTimeout | WakeCondition::MetOrTimeout => true,
            WakeCondition::Met | WakeCondition::Woken => false,
        }
    }
}

/// A visible access that a task is about to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) access: Access,
    pub(crate) need: Need,
    pub(crate) until: WakeCondition,
    /// Tasks that must have ended.
    pub(crate) after: TaskSet,
}

impl Attempt {
    /// An access that never blocks.
    pub(crate) const fn new(access: Access) -> Attempt {
        Attempt { access, need: Need::Nothing, until: WakeCondition::Met, after: TaskSet::EMPTY }
    }

    pub(crate) const fn needing(self, need: Need) -> Attempt {
        Attempt { need, ..self }
    }

    pub(crate) const fn until(self, until: WakeCondition) -> Attempt {
        Attempt { until, ..self }
    }

    pub(crate) const fn after(self, task: TaskId) -> Attempt {
        Attempt { after: TaskSet::only(task), ..self }
    }
}

/// What a task is about to do or waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The task.
    pub task: TaskId,
    /// Its access.
    pub access: Access,
    /// The object it accesses.
    pub object: SharedId,
    /// The place in the source.
    pub place: Place,
    /// The operation it was about to call, if that had not begun yet.
    pub operation: Option<usize>,
    /// Whether it is in a waiting loop.
    pub spins: bool,
    /// The tasks that must end before it continues.
    pub after: TaskSet,
    /// The tasks that hold the object, if it is a lock. Known only where steps are recorded.
    pub holders: Vec<Holder>,
}

/// A task that holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The task.
    pub task: TaskId,
    /// Where it acquired the lock.
    pub place: Place,
}

/// A step of an execution that is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The step.
    pub step: Step,
    /// The place in the source.
    pub place: Place,
    /// How many bytes behind the beginning of its object the access begins. Fields may share a
    /// word.
    pub offset: u8,
    /// What was read and written: `3`, `3 -> 4`.
    pub detail: String,
    /// Whether it compares a word with a value, and sleeps until another thread wakes it.
    pub is_futex_wait: bool,
    /// Whether it is part of the round that repeats forever, in a livelock.
    pub repeats: bool,
    /// If it read an older store than the newest one.
    pub old_read: Option<OldRead>,
}

/// Which store a step read instead of a newer one. Steps are numbered from 1; 0: not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldRead {
    /// The step that made the store which was read.
    pub from: u32,
    /// The step that made the newest store.
    pub missed: u32,
}

impl Moment {
    /// A step of which nothing is known yet but where it was made.
    #[must_use]
    pub fn new(step: Step, place: Place) -> Moment {
        let detail = String::new();
        Moment { step, place, offset: 0, detail, is_futex_wait: false, repeats: false, old_read: None }
    }
}
