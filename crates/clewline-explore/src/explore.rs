//! What can be explored, and the loop.

use std::ops::ControlFlow;

use crate::{
    coverage::{Coverage, Limit},
    scheduler::{Begin, Diverged, Scheduler},
};

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every operation returned.
    Full,
    /// Nothing can move, and some call is pending.
    Stuck,
    /// A task panicked.
    Panicked,
    /// It was longer than allowed, and nobody knows how it would have ended.
    Cut,
    /// The scheduler had seen all that could come of it.
    Redundant,
    /// The system found out that it needs more points at which to ask; the exploration begins again.
    Restart,
    /// It did something else than before, though the same was chosen.
    Diverged(Box<Diverged>),
}

/// Something that can be run from its initial state again and again, and whose only nondeterminism is what it asks.
pub trait System {
    /// Runs one execution, from a fresh initial state to an end, asking `scheduler` whenever there is a choice.
    ///
    /// The system asks where it stands, and not from a loop outside: a thread that is to go on simply goes on.
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending;
}

/// Runs `system` under `scheduler` until there is nothing left to try, `executions_max` have been run, or `visit` breaks.
///
/// The scheduler begins anew. `visit` sees every execution that is not redundant, with the number of executions so far.
pub fn explore<S: System + ?Sized>(
    system: &mut S,
    scheduler: &mut dyn Scheduler,
    executions_max: u64,
    mut visit: impl FnMut(&mut S, &Ending, u64) -> ControlFlow<()>,
) -> (Coverage, u64) {
    let (mut executions, mut cut, mut begin) = (0, 0, Begin::Anew);
    while executions < executions_max {
        if !scheduler.begin(begin) {
            return (coverage_when_done(cut), executions);
        }
        let ending = system.run(scheduler);
        (executions, begin) = (executions + 1, Begin::Next);
        match ending {
            Ending::Redundant => continue,
            Ending::Restart => {
                (executions, cut, begin) = (0, 0, Begin::Anew);
                continue;
            }
            Ending::Diverged(diverged) => return (Coverage::Limited(Limit::Diverged(diverged)), executions),
            Ending::Cut => cut += 1,
            Ending::Full | Ending::Stuck | Ending::Panicked => (),
        }
        if visit(system, &ending, executions).is_break() {
            return (Coverage::Limited(Limit::Stopped), executions);
        }
    }
    // Whether anything is left, only the scheduler knows.
    let is_left = scheduler.begin(begin);
    (
        if is_left { Coverage::Limited(Limit::Schedules(executions_max)) } else { coverage_when_done(cut) },
        executions,
    )
}

/// How much was seen if nothing is left to try.
fn coverage_when_done(cut: u64) -> Coverage {
    if cut == 0 { Coverage::Exhausted } else { Coverage::Limited(Limit::Cut(cut)) }
}

#[cfg(test)]
mod tests;
