//! What a scheduler is asked, and what it may answer.

use std::fmt;

use crate::{Access, Step, TaskId, TaskSet};

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

/// Picks among enabled steps, across executions.
pub trait Scheduler {
    /// Starts another execution; `false` once there is nothing left to try.
    fn begin(&mut self) -> bool;

    /// Picks one of the enabled steps.
    fn choose(&mut self, point: &Point<'_>) -> Choice;

    /// Asked before [`choose`](Self::choose) if the tasks in `enabled` can move, and what all are about to do, whether they can or
    /// wait, has been shown at earlier points, but for `arrived`, which can. Answers who was chosen here before, if everything is as it was
    /// then; or who is chosen here, if that depends on the tasks alone. If neither, `choose` is asked.
    ///
    /// Requires: at every point at most one enabled step a task, in the order of tasks.
    fn again(&mut self, _enabled: TaskSet, _arrived: Option<&Step>) -> Option<TaskId> {
        None
    }

    /// [`executed`](Self::executed) and [`again`](Self::again) in one, asked if the task that made `executed` comes to `arrived` and
    /// could go on with it, and no step is a [flush](Access::Flush): most steps are like this.
    fn go_on(&mut self, executed: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.executed(executed);
        self.again(enabled, Some(arrived))
    }

    /// Picks a number below `n` (which is at least 1) for the task that is running.
    fn value(&mut self, n: u32) -> u32;

    /// The step that was chosen has been executed. Only now is it known whether an operation returned with it.
    fn executed(&mut self, _step: &Step) {}

    /// Nothing more comes of this execution, and this step was never made: its task waits, or somebody panicked. Said of each
    /// task that has not ended before [`end`](Self::end), and of those who wait after [`Choice::Redundant`].
    fn never_made(&mut self, _step: &Step) {}

    /// The execution has ended, after its last step was [`executed`](Self::executed).
    fn end(&mut self) {}

    /// Forgets everything: the next execution is the first.
    fn restart(&mut self);

    /// Whether parts of the space were left out that a larger bound would show.
    fn is_bounded(&self) -> bool {
        false
    }
}
