//! The state of the scheduler: the present graph, those to which it returns, and the present
//! execution.

use super::{
    events::{Alternative, EventId, Events},
    run::Run,
    steps::Traces,
};
use crate::scheduler::{Choice, Diverged};

/// See the [module documentation](super).
#[derive(Debug, Default)]
pub struct Graph {
    // Whether loads may return older stores. If not, only `traces` is used.
    pub(super) is_weak: bool,
    pub(super) traces: Traces,
    pub(super) events: Events,
    // How many accesses of an execution may take another store than the newest, and whether graphs
    // with more were left out.
    pub(super) stale_max: Option<u32>,
    pub(super) is_bounded: bool,
    // The events below this number are not varied any more.
    pub(super) base: usize,
    // The graphs before each revisit that led to the present one, and their bases.
    pub(super) kept: Vec<(Events, usize)>,
    pub(super) run: Run,
    // The read that was revisited last, if the present graph results from that, and how.
    pub(super) revisited: Option<(EventId, Alternative)>,
    // Why the exploration cannot continue. Reported at the next point, if necessary of the next
    // execution.
    pub(super) problem: Option<Choice>,
}

impl Graph {
    /// The graph of the last execution, in a form that does not depend on the order in which its
    /// events were added or executed: for each task, its events with the stores that they read; and
    /// the stores of each location in modification order. Stores are named by task and index.
    #[must_use]
    pub fn canonical(&self) -> Vec<u32> {
        // What waits for a lock has not been executed.
        self.events.canonical(|it| self.run.is_done(it))
    }

    pub(super) fn fail(&mut self, problem: Choice) {
        self.problem.get_or_insert(problem);
    }

    /// The execution is not that of the graph.
    pub(super) fn diverged(&mut self) {
        let divergence = self.divergence();
        self.fail(divergence);
    }

    pub(super) fn divergence(&self) -> Choice {
        Choice::Diverged(Diverged::unseen(self.run.steps(), &[]))
    }
}
