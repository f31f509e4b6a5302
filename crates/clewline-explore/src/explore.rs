//! The interface of a system that can be explored, and the exploration loop.

use std::ops::ControlFlow;

use clewline_core::{Reason, is_interrupted};

use crate::{
    coverage::{Coverage, Limit},
    scheduler::{Begin, Diverged, Scheduler},
};

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every operation returned.
    Full,
    /// Some operation is pending, and no task is enabled: a deadlock. Or those that are repeat
    /// themselves forever: a livelock.
    Stuck,
    /// A task panicked.
    Panicked,
    /// It exceeded the maximum length and was cut off; how it would have ended is not known.
    Cut,
    /// The scheduler pruned it: its continuations have all been explored.
    Redundant,
    /// The system detected that it needs more scheduling points; the exploration starts again.
    Restart,
    /// It behaved differently than before under the same choices.
    Diverged(Box<Diverged>),
    /// The scheduler cannot explore such executions; the sentence says why.
    Refused(&'static str),
}

/// A system that can be run from its initial state repeatedly, and whose only nondeterminism is the
/// scheduler's choices.
pub trait System {
    /// Runs one execution, from a fresh initial state to an end, asking `scheduler` at every
    /// choice.
    ///
    /// The system calls the scheduler from where it stands, not from an outer loop: a thread that
    /// is chosen to continue continues without a switch.
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending;
}

/// Runs `system` under `scheduler` until nothing is left to try, `executions_max` executions have
/// been run, `visit` breaks, or the process is interrupted.
///
/// The scheduler is reset first. `visit` is called for every execution that is not redundant, with
/// the number of executions so far.
pub fn explore<S: System + ?Sized>(
    system: &mut S,
    scheduler: &mut dyn Scheduler,
    executions_max: u64,
    mut visit: impl FnMut(&mut S, &Ending, u64) -> ControlFlow<()>,
) -> (Coverage, u64) {
    let (mut executions, mut cut, mut begin) = (0, 0, Begin::Anew);
    while executions < executions_max {
        if is_interrupted() {
            return (Coverage::Limited(Limit::Budget(Reason::Interrupted)), executions);
        }
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
            Ending::Refused(reason) => {
                return (Coverage::Limited(Limit::Other(reason.to_owned())), executions);
            }
            Ending::Cut => cut += 1,
            Ending::Full | Ending::Stuck | Ending::Panicked => (),
        }
        if visit(system, &ending, executions).is_break() {
            return (Coverage::Limited(Limit::Stopped), executions);
        }
    }
    // Only the scheduler knows whether anything is left to try.
    let is_left = scheduler.begin(begin);
    (
        if is_left { Coverage::Limited(Limit::Executions(executions_max)) } else { coverage_when_done(cut) },
        executions,
    )
}

/// The coverage if nothing is left to try.
fn coverage_when_done(cut: u64) -> Coverage {
    if cut == 0 { Coverage::Exhausted } else { Coverage::Limited(Limit::Cut(cut)) }
}

#[cfg(test)]
mod tests;
