//! The interface of schedulers.

use std::{fmt, sync::atomic::Ordering};

use crate::{
    part::Choices,
    step::{Access, SharedId, Step, TaskId, TaskSet},
};

/// A scheduling point: a choice between enabled steps.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The enabled steps. Not empty, and in an order that depends only on the execution so far.
    pub enabled: &'a [Step],
    /// The index of the enabled step that continues the task of the last step, if that task neither
    /// blocks nor yields. To choose another step is a preemption.
    pub running: Option<usize>,
    /// The next steps of tasks that have arrived at them since the last point and are blocked. They
    /// cannot be chosen, but belong to the execution so far.
    pub waiting: &'a [Step],
}

impl Point<'_> {
    /// Whether choosing `index` preempts a task that could continue. A flush is not a preemption:
    /// it does not run a task.
    #[must_use]
    pub fn is_preemption(&self, index: usize) -> bool {
        self.running.is_some_and(|it| it != index) && self.enabled[index].access != Access::Flush
    }
}

/// The decision of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Execute the enabled step with this index.
    Step(usize),
    /// Nothing new can follow: the execution may end in any way and is not visited.
    Redundant,
    /// End the execution here: what follows is not needed.
    Stop,
    /// The scheduler cannot explore such executions; the sentence says why. Nothing that was
    /// explored so far shows that anything holds.
    Refused(&'static str),
    /// The system behaved differently than at the previous visit of this point, under the same
    /// choices.
    Diverged(Box<Diverged>),
}

/// The system depends on something that the scheduler does not control: a clock, an address, a hash
/// with a random key, a static that keeps its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// The number of steps before it.
    pub step: usize,
    /// The steps that were enabled there before, and those of the tasks that arrived there and
    /// blocked. Empty if not known.
    pub expected: Vec<Step>,
    /// The same now. Empty if there are none: the execution has ended.
    pub found: Vec<Step>,
    /// The schedule comes from another exploration, which may have had more scheduling points.
    pub is_foreign: bool,
}

impl Diverged {
    /// The point after `step` steps is not the same as before.
    #[must_use]
    pub(crate) fn new(step: usize, expected: &[Step], point: &Point<'_>) -> Box<Diverged> {
        let found = [point.enabled, point.waiting].concat();
        Box::new(Diverged { step, expected: expected.to_vec(), found, is_foreign: false })
    }

    /// After `step` steps, `expected` was enabled before; the present steps are not known.
    pub(crate) fn unseen(step: usize, expected: &[Step]) -> Box<Diverged> {
        Box::new(Diverged { step, expected: expected.to_vec(), found: Vec::new(), is_foreign: false })
    }

    /// The first task whose next step is not the same as before, if a point shows it.
    #[must_use]
    pub fn task(&self) -> Option<TaskId> {
        if self.found.is_empty() {
            return None;
        }
        let differs = self.found.iter().find(|it| !self.expected.contains(it));
        differs.or_else(|| self.expected.iter().find(|it| !self.found.contains(it))).map(|it| it.task)
    }
}

impl fmt::Display for Diverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diverged { step, expected, found, .. } = self;
        if expected == found {
            // A value was chosen from another number of alternatives, or a step had another effect,
            // and the next point does not show it.
            return write!(f, "the same {step} steps did not do the same");
        }
        write!(f, "after the same {step} steps, the next were {expected:?} once and {found:?} now")
    }
}

/// Which execution of a scheduler begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The first one: the scheduler forgets all previous executions.
    Anew,
    /// One that differs from all previous executions.
    Next,
}

/// Chooses among enabled steps, over a sequence of executions.
///
/// To implement a scheduler: [`begin`](Self::begin) returns whether there is another execution;
/// [`choose`](Self::choose) and [`choose_value`](Self::choose_value) make the choices in it. The
/// other two methods have defaults. What only some schedulers can do is in optional traits:
/// [`FastPath`], and through it [`GraphPath`] and [`PartPath`].
///
/// For the same seed and settings, a scheduler makes the same choices: executions must be
/// reproducible.
pub trait Scheduler {
    /// Starts another execution. Returns `false` if nothing is left to try.
    fn begin(&mut self, begin: Begin) -> bool;

    /// Chooses one of the enabled steps.
    fn choose(&mut self, point: &Point<'_>) -> Choice;

    /// Chooses a number below `n` (which is at least 1) for the task that is running.
    fn choose_value(&mut self, n: u32) -> u32;

    /// Whether executions were left out that a larger bound would include.
    fn is_bounded(&self) -> bool {
        false
    }

    /// The scheduler itself, if it implements the fast path. Returns the same in every execution.
    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        None
    }
}

/// An optional extension of a scheduler: it follows an execution step by step. It is notified of
/// every step, which partial-order reductions need. Where it knows its next choice, the enabled
/// steps need not be collected and passed to `choose`.
///
/// All methods have defaults, with which nothing is recorded and every point is passed to `choose`.
pub trait FastPath: Scheduler {
    /// An execution begins. If it is not `is_timed`, histories do not depend on the order of calls
    /// and returns: which operations precede others follows from the order of other steps. Returns
    /// whether the scheduler knows what depends on a store buffer. If not, each step is ordered
    /// with all others where there are store buffers.
    fn on_begin(&mut self, _is_timed: bool) -> bool {
        false
    }

    /// The chosen step has been executed. Only now is it known whether an operation returned with
    /// it.
    fn on_step(&mut self, _step: &Step) {}

    /// The execution has ended and this step was never executed: its task is blocked, or another
    /// task panicked. Called for each task that has not ended when the execution ends, and for the
    /// blocked tasks after [`Choice::Redundant`].
    fn abandoned(&mut self, _step: &Step) {}

    /// Whether `step` is not chosen before the running operation returns, however long it is
    /// enabled. An execution that never chooses it is fair nevertheless.
    fn refuses(&mut self, _step: &Step) -> bool {
        false
    }

    /// Chooses what interrupts an operation that could go on, a timeout or a cancellation: a number
    /// below `n`, where 0 is nothing.
    fn choose_interruption(&mut self, n: u32) -> u32 {
        self.choose_value(n)
    }

    /// Called before [`choose`](Scheduler::choose) if exactly the tasks in `enabled` are enabled,
    /// and the next steps of all tasks, enabled or blocked, have been shown at earlier points,
    /// except for `arrived`, which is enabled. Returns the task that was chosen here before, if
    /// everything is the same as then; or the task to choose, if that depends only on the tasks.
    /// Returns `None` if neither applies; then `choose` is called.
    ///
    /// Requires: at every point each task has at most one enabled step, and the steps are in the
    /// order of tasks.
    fn replay_choice(&mut self, _enabled: TaskSet, _arrived: Option<&Step>) -> Option<TaskId> {
        None
    }

    /// [`on_step`](Self::on_step) and [`replay_choice`](Self::replay_choice) in one call. Called if
    /// the task that executed `made` arrives at `arrived` and could continue with it, and no step
    /// is a [flush](Access::Flush): this is the case for most steps.
    fn replay_step(&mut self, made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.on_step(made);
        self.replay_choice(enabled, Some(arrived))
    }

    /// The scheduler itself, if it explores execution graphs. Returns the same in every execution.
    fn graph(&mut self) -> Option<&mut dyn GraphPath> {
        None
    }

    /// The scheduler itself, if its executions can be divided by their choices. Returns the same in
    /// every execution.
    fn parts(&mut self) -> Option<&mut dyn PartPath> {
        None
    }
}

/// An optional extension of a scheduler whose executions can be divided by their choices: into the
/// nodes of a tree, or into rounds of such nodes.
pub trait PartPath {
    /// The number of the round of this execution, if it goes in [rounds](crate::Division).
    fn round(&self) -> u32 {
        0
    }

    /// The nodes that the executions of [`Part::Children`](crate::Part) have shown, each with the
    /// logarithm of an estimate of the number of executions below it.
    fn take_children(&mut self) -> Vec<(Choices, f64)>;
}

/// The number of the round of this execution; 0 if the scheduler has no rounds.
pub fn round_of(scheduler: &mut dyn Scheduler) -> u32 {
    scheduler.fast_path().and_then(FastPath::parts).map_or(0, |it| it.round())
}

/// An atomic access under a memory model in which a load may return any of several stores.
pub struct AtomicStep<'a> {
    /// The task that makes it.
    pub task: TaskId,
    /// The atomic.
    pub object: SharedId,
    /// A read, a write, or an update.
    pub access: Access,
    /// Its ordering.
    pub order: Ordering,
    /// The ordering of an update that only reads.
    pub failure: Ordering,
    /// The number of stores to the object so far, including its initial value. They are numbered in
    /// modification order.
    pub stores: usize,
    /// Whether the access, an update, writes if it reads the store with this number.
    pub writes: &'a mut dyn FnMut(usize) -> bool,
}

impl fmt::Debug for AtomicStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AtomicStep { task, access, object, order, .. } = self;
        write!(f, "{task:?} {access:?} {object:?} {order:?}")
    }
}

/// An optional extension of a scheduler that explores execution graphs: it chooses which store each
/// load reads and where each store comes in modification order, and is notified of everything that
/// these choices depend on.
///
/// A system that supports it lets a task that yields continue, and takes a task for waiting only
/// because of what the task itself has read.
pub trait GraphPath {
    /// Called at the beginning of each execution, after [`Scheduler::begin`], if stores are chosen
    /// in it, and in at most `stale_max` accesses not the newest, if that is bounded. Otherwise the
    /// scheduler explores the orders of steps, and the other methods are not called.
    fn chooses_stores(&mut self, stale_max: Option<u32>);

    /// `task` begins, after everything that the tasks in `after` have done so far.
    fn on_start(&mut self, task: TaskId, after: TaskSet);

    /// `by` starts `task`, which begins after everything that `by` has done so far. No other task
    /// starts tasks: their numbers follow from what one task has done.
    fn on_spawn(&mut self, by: TaskId, task: TaskId);

    /// `task` goes on after `others`, which have ended.
    fn on_join(&mut self, task: TaskId, others: TaskSet);

    /// The step of `task` is an access that no choice depends on.
    fn on_plain_access(&mut self, task: TaskId);

    /// Whether everything that tasks have done so far happens before what `task` does next.
    fn knows_all(&self, task: TaskId) -> bool;

    /// Chooses the store that a read or an update reads, or the store after which a write comes in
    /// modification order: [`Choice::Step`] has a number below `stores`. Of an access to another
    /// object than an atomic, only [`access`](AtomicStep::access) counts.
    fn choose_store(&mut self, access: AtomicStep<'_>) -> Choice;

    /// Chooses a number below `n` for `task`, which may not have made a step yet.
    fn choose_value_of(&mut self, task: TaskId, n: u32) -> u32;

    /// `task` releases `object`, if that is a lock that it holds.
    fn on_release(&mut self, task: TaskId, object: SharedId);

    /// `by` wakes `task`, which waits.
    fn on_wake(&mut self, by: TaskId, task: TaskId);

    /// The execution ends, and the task of `step` waits for a lock.
    fn on_blocked(&mut self, step: &Step);

    /// A fence of `task`.
    fn on_fence(&mut self, task: TaskId, order: Ordering);

    /// Whether the next step was executed before, also if its task waits in a loop.
    fn is_replaying(&self) -> bool;

    /// Whether `task`, which waits in a loop that reads `objects`, has read the last store to each
    /// of them. If not, it waits only because it has read an old store, and other executions show
    /// what comes after the loop.
    fn has_read_last(&self, task: TaskId, objects: &[SharedId]) -> bool;
}

/// Calls `run` with the fast path of `scheduler`, or with a default one if it has none. A system
/// then has one object to call, without a check at each step.
pub fn with_fast_path<R>(scheduler: &mut dyn Scheduler, run: impl FnOnce(&mut dyn FastPath) -> R) -> R {
    match scheduler.fast_path() {
        Some(fast) => run(fast),
        None => run(&mut WithoutFastPath(scheduler)),
    }
}

/// A scheduler without a fast path: every point is passed to `choose`.
struct WithoutFastPath<'a>(&'a mut dyn Scheduler);

impl Scheduler for WithoutFastPath<'_> {
    fn begin(&mut self, begin: Begin) -> bool {
        self.0.begin(begin)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.0.choose(point)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.0.choose_value(n)
    }

    fn is_bounded(&self) -> bool {
        self.0.is_bounded()
    }
}

impl FastPath for WithoutFastPath<'_> {}
