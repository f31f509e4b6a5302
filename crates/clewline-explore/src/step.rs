//! Steps: the next action of a task, with enough data to decide whether the order of two steps
//! matters.

use std::{
    fmt,
    ops::{Deref, DerefMut},
};

/// A thread or an actor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u8);

impl TaskId {
    /// The maximum number of tasks in one execution: 32 threads, and as many store buffers.
    pub const MAX: usize = 64;

    /// Most executions have at most this many tasks. What is known of more is looked at only where
    /// there are more.
    pub const USUAL_MAX: usize = 16;

    /// This id as an index into a slice.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// A value for each task that may exist, by its [index](TaskId::index).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PerTask<T>(pub [T; TaskId::MAX]);

impl<T: Default> Default for PerTask<T> {
    fn default() -> PerTask<T> {
        PerTask(std::array::from_fn(|_| T::default()))
    }
}

impl<T> Deref for PerTask<T> {
    type Target = [T; TaskId::MAX];

    #[inline(always)]
    fn deref(&self) -> &[T; TaskId::MAX] {
        &self.0
    }
}

impl<T> DerefMut for PerTask<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T; TaskId::MAX] {
        &mut self.0
    }
}

/// An object that several tasks can access: an atomic, a lock, a mailbox. Numbered in the order of
/// first use in an execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedId(pub u32);

impl SharedId {
    /// No shared object.
    pub const NONE: SharedId = SharedId(u32::MAX);
}

impl fmt::Debug for SharedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == SharedId::NONE { f.write_str("-") } else { write!(f, "x{}", self.0) }
    }
}

/// A set of tasks.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TaskSet(pub u64);

impl TaskSet {
    /// No task.
    pub const EMPTY: TaskSet = TaskSet(0);

    /// Only `task`.
    #[must_use]
    pub const fn only(task: TaskId) -> TaskSet {
        TaskSet(1 << task.0)
    }

    /// The first `n` tasks, of which there are at most [`TaskId::MAX`].
    #[inline]
    #[must_use]
    pub const fn all(n: usize) -> TaskSet {
        TaskSet(if n < TaskId::MAX { (1 << n) - 1 } else { u64::MAX })
    }

    /// Whether `task` is in it.
    #[must_use]
    pub const fn contains(self, task: TaskId) -> bool {
        self.0 >> task.0 & 1 == 1
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a task is in it whose number is not among the [usual](TaskId::USUAL_MAX) ones.
    #[inline]
    #[must_use]
    pub const fn has_many(self) -> bool {
        self.0 >> TaskId::USUAL_MAX != 0
    }

    /// The number of tasks.
    #[inline]
    #[must_use]
    pub const fn len(self) -> usize {
        // Not every processor has an instruction that counts bits, and usually it is not needed.
        if self.is_first() { self.0.trailing_ones() as usize } else { self.0.count_ones() as usize }
    }

    /// Whether the set consists of the tasks with the lowest numbers.
    #[inline]
    const fn is_first(self) -> bool {
        self.0 & self.0.wrapping_add(1) == 0
    }

    /// The tasks of `steps`, if these are in the order of tasks and no two belong to one task;
    /// otherwise empty.
    #[must_use]
    pub fn of_ordered(steps: &[Step]) -> TaskSet {
        let mut tasks = TaskSet::EMPTY;
        for step in steps {
            let task = TaskSet::only(step.task);
            if task.0 <= tasks.0 {
                return TaskSet::EMPTY;
            }
            tasks = tasks.union(task);
        }
        tasks
    }

    /// Adds `task`.
    pub fn insert(&mut self, task: TaskId) {
        self.0 |= 1 << task.0;
    }

    /// Removes `task`.
    pub fn remove(&mut self, task: TaskId) {
        self.0 &= !(1 << task.0);
    }

    /// The union of both sets.
    #[must_use]
    pub const fn union(self, other: TaskSet) -> TaskSet {
        TaskSet(self.0 | other.0)
    }

    /// The intersection of both sets.
    #[must_use]
    pub const fn intersection(self, other: TaskSet) -> TaskSet {
        TaskSet(self.0 & other.0)
    }

    /// The tasks in this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: TaskSet) -> TaskSet {
        TaskSet(self.0 & !other.0)
    }

    /// The task with the lowest number.
    #[must_use]
    pub const fn first(self) -> Option<TaskId> {
        if self.0 == 0 { None } else { Some(TaskId(self.0.trailing_zeros() as u8)) }
    }

    /// The task at position `n`, if there are more than `n`.
    #[inline]
    #[must_use]
    pub fn nth(self, n: usize) -> Option<TaskId> {
        if self.is_first() {
            return (n < TaskId::MAX && self.0 >> n & 1 == 1).then_some(TaskId(n as u8));
        }
        self.iter().nth(n)
    }

    /// The tasks with lower numbers than `task`.
    #[must_use]
    pub const fn before(self, task: TaskId) -> TaskSet {
        TaskSet(self.0 & ((1 << task.0) - 1))
    }

    /// The tasks in ascending order.
    #[must_use]
    pub const fn iter(self) -> Tasks {
        Tasks(self.0)
    }
}

impl fmt::Debug for TaskSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl IntoIterator for TaskSet {
    type Item = TaskId;
    type IntoIter = Tasks;

    fn into_iter(self) -> Tasks {
        self.iter()
    }
}

impl FromIterator<TaskId> for TaskSet {
    fn from_iter<I: IntoIterator<Item = TaskId>>(tasks: I) -> Self {
        tasks.into_iter().fold(TaskSet::EMPTY, |set, it| set.union(TaskSet::only(it)))
    }
}

/// The members of a [`TaskSet`].
#[derive(Clone, Debug)]
pub struct Tasks(u64);

impl Iterator for Tasks {
    type Item = TaskId;

    fn next(&mut self) -> Option<TaskId> {
        let first = TaskSet(self.0).first()?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}

/// What a step does to the object that it accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// Nothing that other tasks can observe, except for an operation that is called or returns with
    /// it.
    Local,
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic read-modify-write: swap, compare-and-swap, fetch-and-add.
    Update,
    /// Blocks until the lock is free, and acquires it; or acquires one permit.
    Acquire,
    /// Blocks until no task holds the lock exclusively, and acquires it shared.
    AcquireShared,
    /// Acquires the lock if it is free.
    TryAcquire,
    /// Acquires the lock shared if no task holds it exclusively.
    TryAcquireShared,
    /// Releases the lock.
    Release,
    /// Releases a lock and waits for a notification.
    Wait,
    /// Notifies one waiting task, or all.
    Notify,
    /// A send to a channel, or a message that an actor receives.
    Send,
    /// A receive from a channel.
    Receive,
    /// Blocks until a task has ended.
    Join,
    /// Blocks until the task has a park token.
    Park,
    /// Gives a park token to a task.
    Unpark,
    /// Blocks until the waker of the task's future was called.
    Await,
    /// Calls the waker of a future.
    Wake,
    /// Lets other tasks run. Its order with any step matters.
    Yield,
    /// A fence. Its order with any step may matter.
    Fence,
    /// A store that enters the store buffer of its processor. Other tasks do not see it.
    Buffer,
    /// A buffered store that becomes visible: it leaves the store buffer of the processor.
    Flush,
}

impl Access {
    /// All kinds, in the order in which they are declared.
    pub const ALL: [Access; 22] = [
        Access::Local,
        Access::Read,
        Access::Write,
        Access::Update,
        Access::Acquire,
        Access::AcquireShared,
        Access::TryAcquire,
        Access::TryAcquireShared,
        Access::Release,
        Access::Wait,
        Access::Notify,
        Access::Send,
        Access::Receive,
        Access::Join,
        Access::Park,
        Access::Unpark,
        Access::Await,
        Access::Wake,
        Access::Yield,
        Access::Fence,
        Access::Buffer,
        Access::Flush,
    ];

    /// Its name, in a word or two.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Access::Local => "local step",
            Access::Read => "load",
            Access::Write | Access::Buffer => "store",
            Access::Update => "update",
            Access::Acquire => "lock",
            Access::AcquireShared => "lock shared",
            Access::TryAcquire => "try lock",
            Access::TryAcquireShared => "try lock shared",
            Access::Release => "unlock",
            Access::Wait => "wait",
            Access::Notify => "notify",
            Access::Send => "send",
            Access::Receive => "receive",
            Access::Join => "join",
            Access::Park => "park",
            Access::Unpark => "unpark",
            Access::Await => "await",
            Access::Wake => "wake",
            Access::Yield => "yield",
            Access::Fence => "fence",
            Access::Flush => "flush",
        }
    }

    /// Whether two such accesses of one object commute.
    #[must_use]
    pub const fn is_shared(self) -> bool {
        matches!(self, Access::Read | Access::AcquireShared | Access::TryAcquireShared | Access::Join)
    }

    /// Whether a task that makes it may hold the object afterwards.
    #[must_use]
    pub const fn is_acquire(self) -> bool {
        matches!(
            self,
            Access::Acquire | Access::AcquireShared | Access::TryAcquire | Access::TryAcquireShared
        )
    }
}

/// An action that a task can execute next, or has executed.
///
/// A step of a thread is a visible access and everything that follows up to the next one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The task that executes it: the thread, or the actor that receives.
    pub task: TaskId,
    /// The task that caused it: the sender of a message; for a task that was started by another
    /// one, the first in that chain.
    pub cause: Option<TaskId>,
    /// What it does to `object`.
    pub access: Access,
    /// Whether an operation is called right before it.
    pub calls: bool,
    /// Whether an operation returns right after it. Not known before the step has been executed.
    pub returns: bool,
    /// The object that it accesses.
    pub object: SharedId,
    /// Tasks that have ended and that it had to wait for. A store buffer has ended while it is
    /// empty.
    pub after: TaskSet,
    /// Tasks that it started or woke up. Not known before the step has been executed.
    pub wakes: TaskSet,
    /// A lock that it released besides its access of `object`. Not known before the step has been
    /// executed.
    pub frees: SharedId,
    /// Whether its task yields after it, or panics: its order with any step matters. Not known
    /// before the step has been executed.
    pub yields: bool,
}

impl Step {
    /// A step of `task` without effects that are not yet known.
    #[must_use]
    pub const fn new(task: TaskId, access: Access, object: SharedId) -> Step {
        Step {
            task,
            cause: None,
            access,
            calls: false,
            returns: false,
            object,
            after: TaskSet::EMPTY,
            wakes: TaskSet::EMPTY,
            frees: SharedId::NONE,
            yields: false,
        }
    }

    /// Whether both steps are equal in everything that is known before they are executed.
    #[inline]
    #[must_use]
    pub fn is_begun_like(&self, other: &Step) -> bool {
        // No short circuit: a branch after each comparison takes longer than the next comparison.
        (self.task == other.task)
            & (self.cause == other.cause)
            & (self.access == other.access)
            & (self.calls == other.calls)
            & (self.object == other.object)
            & (self.after == other.after)
    }

    /// Whether values can depend on the order of the two: they are of one task, or access the same
    /// object and one changes it.
    #[must_use]
    pub fn conflicts(&self, other: &Step) -> bool {
        self.task == other.task
            || (self.object == other.object
                && self.object != SharedId::NONE
                && !(self.access.is_shared() && other.access.is_shared())
                && self.access != Access::Buffer
                && other.access != Access::Buffer)
            || self.is_ordered()
            || other.is_ordered()
    }

    /// Whether its order with any step matters. A fence that waits for a store buffer does nothing
    /// else.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.yields || self.access == Access::Yield || (self.access == Access::Fence && self.after.is_empty())
    }

    /// Whether a history can depend on the order of the two: they [conflict](Self::conflicts), or
    /// one returns where the other calls. Two calls have no order in a history, and neither have
    /// two returns.
    #[must_use]
    pub fn is_dependent(&self, other: &Step) -> bool {
        self.conflicts(other) || (self.returns && other.calls) || (self.calls && other.returns)
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (call, ret) = (if self.calls { "[" } else { "" }, if self.returns { "]" } else { "" });
        write!(f, "{call}{:?} {:?} {:?}{ret}", self.task, self.access, self.object)
    }
}

#[cfg(test)]
mod tests;
