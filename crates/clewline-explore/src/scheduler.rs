//! What a scheduler is asked, and what it may answer.

use std::fmt;

use crate::step::{Access, Step, TaskId, TaskSet};

/// A moment at which there is a choice.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// What could be done next. Not empty, and in an order that depends only on what was done since the beginning.
    pub enabled: &'a [Step],
    /// Which of them goes on with the task that made the last step, if that task neither waits nor yields. To take
    /// another one is a preemption.
    pub running: Option<usize>,
    /// What those are about to do who have come to it since the last point and cannot: they wait. No choice, but part of what was
    /// done so far.
    pub waiting: &'a [Step],
}

impl Point<'_> {
    /// Whether taking `index` interrupts a task that could go on. A flush does not: it is no task that takes a turn.
    #[must_use]
    pub fn is_preemption(&self, index: usize) -> bool {
        self.running.is_some_and(|it| it != index) && self.enabled[index].access != Access::Flush
    }
}

/// What a scheduler answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This one of the enabled steps.
    Step(usize),
    /// Nothing new can come from here: end the execution in any way, nobody will look at it.
    Redundant,
    /// End the execution here; what cannot be told from the history so far is not asked for.
    Stop,
    /// The system did something else than when it was last here, though the same was chosen.
    Diverged(Box<Diverged>),
}

/// Something decides differently that no scheduler controls: a clock, an address, a hash with a random key, a static that
/// keeps its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// After how many steps.
    pub step: usize,
    /// What was enabled there before, and what somebody came to there who waited. Empty if that is not known.
    pub expected: Vec<Step>,
    /// What is so now. Empty if nothing is: the execution has ended.
    pub found: Vec<Step>,
    /// What was chosen comes from another exploration, which perhaps had more points.
    pub is_foreign: bool,
}

impl Diverged {
    /// At a point after so many steps, which was another one before.
    #[must_use]
    pub(crate) fn new(step: usize, expected: &[Step], point: &Point<'_>) -> Box<Diverged> {
        let found = [point.enabled, point.waiting].concat();
        Box::new(Diverged { step, expected: expected.to_vec(), found, is_foreign: false })
    }

    /// After so many steps, where `expected` was enabled before; no point shows what is there now.
    pub(crate) fn unseen(step: usize, expected: &[Step]) -> Box<Diverged> {
        Box::new(Diverged { step, expected: expected.to_vec(), found: Vec::new(), is_foreign: false })
    }

    /// The first task whose next step is not what it was, if it is at a point that shows it.
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
            // A number was drawn from others, or a step had another effect, and what follows does not show it.
            return write!(f, "the same {step} steps did not do the same");
        }
        write!(f, "after the same {step} steps, the next were {expected:?} once and {found:?} now")
    }
}

/// Where the executions of a scheduler begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Everything is forgotten: the next execution is the first.
    Anew,
    /// The next execution is another than those before it.
    Next,
}

/// Picks among enabled steps, across executions.
///
/// To write one: say in [`begin`](Self::begin) whether there is another execution, and in [`choose`](Self::choose) and
/// [`choose_value`](Self::choose_value) what happens in it. The other two methods may stay as they are.
pub trait Scheduler {
    /// Starts another execution; `false` once there is nothing left to try.
    fn begin(&mut self, begin: Begin) -> bool;

    /// Picks one of the enabled steps.
    fn choose(&mut self, point: &Point<'_>) -> Choice;

    /// Picks a number below `n` (which is at least 1) for the task that is running.
    fn choose_value(&mut self, n: u32) -> u32;

    /// Whether parts of the space were left out that a larger bound would show.
    fn is_bounded(&self) -> bool {
        false
    }

    /// The scheduler itself, if it follows executions step by step. The same in every execution.
    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        None
    }
}

/// What a scheduler may do besides: follow an execution step by step. It is told of every step, which reductions need, and where
/// it knows what comes next it need not be shown what is enabled.
///
/// Each method may stay as it is: then nothing is remembered, and every point is shown.
pub trait FastPath: Scheduler {
    /// The step that was chosen has been executed. Only now is it known whether an operation returned with it.
    fn on_step(&mut self, _step: &Step) {}

    /// Nothing more comes of this execution, and this step was never executed: its task waits, or another task panicked. Called for
    /// each task that has not ended when the execution ends, and for those that wait after [`Choice::Redundant`].
    fn abandoned(&mut self, _step: &Step) {}

    /// Asked before [`choose`](Scheduler::choose) if the tasks in `enabled` can move, and what all tasks are about to do, whether
    /// they can or wait, has been shown at earlier points, except for `arrived`, which can. Returns the task that was chosen here
    /// before, if everything is as it was then; or the task that is chosen here, if that depends on the tasks alone. If neither,
    /// `choose` is asked.
    ///
    /// Requires: at every point at most one enabled step a task, in the order of tasks.
    fn replay_choice(&mut self, _enabled: TaskSet, _arrived: Option<&Step>) -> Option<TaskId> {
        None
    }

    /// [`on_step`](Self::on_step) and [`replay_choice`](Self::replay_choice) in one, asked if the task that executed `made` comes to
    /// `arrived` and could go on with it, and no step is a [flush](Access::Flush): most steps are like this.
    fn replay_step(&mut self, made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.on_step(made);
        self.replay_choice(enabled, Some(arrived))
    }
}

/// Calls `run` with the fast path of `scheduler`, or with one that does nothing if it has none. So a system asks one object, and
/// asks it directly.
pub fn with_fast_path<R>(scheduler: &mut dyn Scheduler, run: impl FnOnce(&mut dyn FastPath) -> R) -> R {
    match scheduler.fast_path() {
        Some(fast) => run(fast),
        None => run(&mut WithoutFastPath(scheduler)),
    }
}

/// A scheduler that is shown every point.
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
