//! What can be explored, and the loop.

use std::ops::ControlFlow;

use crate::{Diverged, Scheduler};

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

/// How much of the space was seen. A limit that was hit is never reported as success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Everything the scheduler offers to try.
    Exhausted,
    /// The scheduler had nothing left to try, but some executions were cut.
    Cut(u64),
    /// The visitor had seen enough, or the limit on executions was reached.
    Limited,
    /// The system is not deterministic: what was seen says little.
    Diverged(Box<Diverged>),
}

/// Runs `system` under `scheduler` until there is nothing left to try, `executions_max` have been run, or `visit` breaks.
///
/// `visit` sees every execution that is not redundant, with the number of executions so far.
pub fn explore<S: System + ?Sized>(
    system: &mut S,
    scheduler: &mut dyn Scheduler,
    executions_max: u64,
    mut visit: impl FnMut(&mut S, &Ending, u64) -> ControlFlow<()>,
) -> (Coverage, u64) {
    let (mut executions, mut cut) = (0, 0);
    while executions < executions_max {
        if !scheduler.begin() {
            return (if cut == 0 { Coverage::Exhausted } else { Coverage::Cut(cut) }, executions);
        }
        let ending = system.run(scheduler);
        scheduler.end();
        executions += 1;
        match ending {
            Ending::Redundant => continue,
            Ending::Restart => {
                scheduler.restart();
                (executions, cut) = (0, 0);
                continue;
            }
            Ending::Diverged(diverged) => return (Coverage::Diverged(diverged), executions),
            Ending::Cut => cut += 1,
            Ending::Full | Ending::Stuck | Ending::Panicked => (),
        }
        if visit(system, &ending, executions).is_break() {
            return (Coverage::Limited, executions);
        }
    }
    // Whether anything is left, only the scheduler knows.
    let is_done = !scheduler.begin();
    match (is_done, cut) {
        (true, 0) => (Coverage::Exhausted, executions),
        (true, cut) => (Coverage::Cut(cut), executions),
        (false, _) => (Coverage::Limited, executions),
    }
}

#[cfg(test)]
mod tests;
