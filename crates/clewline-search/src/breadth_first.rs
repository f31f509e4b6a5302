//! Breadth-first pass: all orders at once, from the first event to the last.
//!
//! A search looks for one order and stops. Where the question is what *could* have happened, every
//! order counts: this pass processes calls and returns in order and maintains all *configurations*,
//! each consisting of the set of open operations that have taken effect and a state of the object.
//! A return excludes those in which its operation has not taken effect; before that, each
//! configuration is extended by letting open operations take effect, the one that returns last of
//! them. Delaying an effect until the next return of an operation that comes later in the order
//! loses nothing, as no operation can observe it.
//!
//! One operation may be *queried*: it takes effect with every possible result, and a configuration
//! stores the result.
//!
//! One reduction: a complete operation that never changes the state takes effect as soon as it is
//! allowed.
//!
//! Source: the order of effects is that of G. Lowe, "Testing for linearizability", 2017, section 4
//! ("just-in-time"). Requires: at most [`OPEN_OPERATIONS_MAX`] operations open at a time that may
//! change the state. Cost: at most 2^(operations open) x (states) x (results) configurations for
//! each return, bounded by the budget.
//!
//! Invariants, between any two events:
//!
//! * every configuration belongs to an order of all operations that have returned, and of those
//!   whose bit is set, that real time and the specification allow; every such order leads to a
//!   configuration that differs from one of these at most by effects that could still be delayed,
//!   or by reads.
//! * no two configurations are equal; a slot that is free has its bit set in none.

use std::{collections::HashSet, fmt};

use clewline_core::{
    Automaton, Budget, Charge, End, LabelId, OperationId, Problem, Reason, ResultId, Shown, Span, StateId,
};

use crate::pace::{LOOK_WORK, Pace, STEP_WORK};

/// The most operations that may be open at a time.
pub const OPEN_OPERATIONS_MAX: usize = 128;

// States of no configuration are dropped when all states take more bytes than this, unless the
// budget allows less.
const STATES_BYTES_MAX: usize = 64 << 20;

// A set with a larger capacity than this is replaced, not cleared.
const REUSED_SET_CAPACITY_MAX: usize = 1 << 12;

/// A breadth-first pass over the operations of one problem.
pub struct BreadthFirst<'p> {
    budget: &'p Budget,
    spans: &'p [Span],
    automaton: Box<dyn Automaton + 'p>,
    labels: Vec<LabelId>,
    // The operation that may return any result.
    queried: Option<usize>,
    // By position: whether it takes effect as soon as it is allowed.
    is_eager: Vec<bool>,
    // By position: the bit of an operation that is open, or `NONE`.
    slot: Vec<u8>,
    free: Vec<u8>,
    open: Vec<usize>,
    configurations: Vec<Configuration>,
    // While operations take effect: the configurations met, and those still to be expanded.
    visited: HashSet<Configuration>,
    todo: Vec<Configuration>,
    made: u64,
    reported: u64,
    pace: Pace,
    forget_at: usize,
    charge: Charge,
}

const NONE: u8 = u8::MAX;

/// A configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    // A bit for each open operation that has taken effect.
    done: u128,
    state: StateId,
    // The result of the queried operation, if it has taken effect.
    result: Option<ResultId>,
}

/// The pending operations, by position, that may block: each blocks after some order of all
/// complete operations in which it has not taken effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedOperations {
    /// Other pending operations may have taken effect as well.
    pub after_pending: Vec<usize>,
    /// No pending operation has taken effect.
    pub after_complete: Vec<usize>,
}

impl fmt::Debug for BreadthFirst<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreadthFirst").field("queried", &self.queried).finish_non_exhaustive()
    }
}

impl<'p> BreadthFirst<'p> {
    /// At the first event.
    pub fn new(
        problem: &'p Problem<'p>,
        budget: &'p Budget,
        queried: Option<OperationId>,
    ) -> BreadthFirst<'p> {
        let spans = problem.spans();
        let mut automaton = problem.automaton();
        let labels = automaton.labels().to_vec();
        let is_eager = |at: usize| !spans[at].is_pending() && automaton.is_read(labels[at]);
        let is_eager = (0..spans.len()).map(is_eager).collect();
        let state = automaton.initial();
        BreadthFirst {
            budget,
            spans,
            automaton,
            labels,
            queried: queried.and_then(|it| problem.position(it)),
            is_eager,
            slot: vec![NONE; spans.len()],
            free: (0..OPEN_OPERATIONS_MAX as u8).rev().collect(),
            open: Vec::new(),
            configurations: vec![Configuration { done: 0, state, result: None }],
            visited: HashSet::new(),
            todo: Vec::new(),
            made: 0,
            reported: 0,
            pace: Pace::default(),
            forget_at: STATES_BYTES_MAX.min(budget.memory() / 4),
            charge: budget.charge(),
        }
    }

    /// Every result that the queried operation may return if it returns after the last event, in
    /// the form of a report, each once: short ones first.
    ///
    /// # Errors
    ///
    /// If they are not known, and why.
    pub fn possible_results(mut self) -> Result<Vec<Shown>, Reason> {
        let swept = self.run().and_then(|()| match self.queried {
            Some(queried) => self.linearize(queried),
            None => Ok(()),
        });
        self.report();
        swept?;
        let Some(queried) = self.queried else { return Ok(Vec::new()) };
        let mut results: Vec<ResultId> = self.configurations.iter().filter_map(|it| it.result).collect();
        results.sort_unstable();
        results.dedup();
        let show = |result: ResultId| self.automaton.show(self.labels[queried], result);
        Ok(sorted_by_length(results.into_iter().map(show).collect()))
    }

    /// Which pending operations may block; `None` if the complete ones cannot be ordered.
    ///
    /// # Errors
    ///
    /// If they are not known, and why.
    pub fn blocked(mut self) -> Result<Option<BlockedOperations>, Reason> {
        let swept = self.run().and_then(|()| self.expand_all());
        self.report();
        swept?;
        if self.configurations.is_empty() {
            return Ok(None);
        }
        let mut waiting = BlockedOperations { after_pending: Vec::new(), after_complete: Vec::new() };
        for at in (0..self.spans.len()).filter(|&at| self.spans[at].is_pending()) {
            let (automaton, label) = (&mut self.automaton, self.labels[at]);
            let bit = bit(self.slot[at]);
            let mut waits =
                |it: &Configuration| it.done & bit == 0 && automaton.step(it.state, label, 0).is_none();
            if self.configurations.iter().any(&mut waits) {
                waiting.after_pending.push(at);
            }
            // A complete operation is no longer open, so a bit that is set is that of a pending
            // operation.
            if self.configurations.iter().filter(|it| it.done == 0).any(&mut waits) {
                waiting.after_complete.push(at);
            }
        }
        Ok(Some(waiting))
    }

    /// Processes all events.
    fn run(&mut self) -> Result<(), Reason> {
        let calls = (0..self.spans.len()).map(|at| (self.spans[at].call(), at, End::Call));
        let returns =
            (0..self.spans.len()).filter_map(|at| self.spans[at].ret().map(|ret| (ret, at, End::Return)));
        let mut events: Vec<(u32, usize, End)> = calls.chain(returns).collect();
        events.sort_unstable_by_key(|&(rank, ..)| rank);
        for (_, at, end) in events {
            match end {
                End::Call => self.open(at)?,
                End::Return => {
                    self.linearize(at)?;
                    self.close(at);
                    self.forget();
                }
            }
        }
        self.check_budget()
    }

    fn open(&mut self, at: usize) -> Result<(), Reason> {
        // Whether a pending operation that changes nothing took effect makes no difference, unless
        // it is queried.
        let is_idle = self.spans[at].is_pending() && self.automaton.is_read(self.labels[at]);
        if is_idle && self.queried != Some(at) {
            return Ok(());
        }
        let too_many =
            || Reason::Refused(format!("more than {OPEN_OPERATIONS_MAX} operations are open at a time"));
        self.slot[at] = self.free.pop().ok_or_else(too_many)?;
        self.open.push(at);
        Ok(())
    }

    fn close(&mut self, at: usize) {
        let bit = bit(self.slot[at]);
        // The bit is set in all of them, so they stay different.
        self.configurations.iter_mut().for_each(|it| it.done &= !bit);
        self.open.retain(|&it| it != at);
        self.free.push(std::mem::replace(&mut self.slot[at], NONE));
    }

    /// Keeps the configurations in which the operation at `last` has taken effect, after others if
    /// necessary.
    fn linearize(&mut self, last: usize) -> Result<(), Reason> {
        let bit = bit(self.slot[last]);
        self.start_expansion();
        let mut arrived: Vec<Configuration> = Vec::new();
        while let Some(configuration) = self.todo.pop() {
            if configuration.done & bit != 0 {
                arrived.push(configuration);
            } else {
                self.expand(configuration)?;
            }
        }
        self.configurations = arrived;
        Ok(())
    }

    /// Adds the configurations to which open operations lead after the last event.
    fn expand_all(&mut self) -> Result<(), Reason> {
        self.start_expansion();
        let mut arrived: Vec<Configuration> = Vec::new();
        while let Some(configuration) = self.todo.pop() {
            arrived.push(configuration);
            self.expand(configuration)?;
        }
        self.configurations = arrived;
        Ok(())
    }

    /// Puts all configurations on the list of those to be expanded.
    fn start_expansion(&mut self) {
        if REUSED_SET_CAPACITY_MAX < self.visited.capacity() {
            self.visited = HashSet::new();
        }
        self.visited.clear();
        std::mem::take(&mut self.configurations).into_iter().for_each(|it| self.enqueue(it));
    }

    /// Lets each open operation take effect next.
    fn expand(&mut self, configuration: Configuration) -> Result<(), Reason> {
        self.count()?;
        for place in 0..self.open.len() {
            self.successors(configuration, self.open[place])?.into_iter().for_each(|it| self.enqueue(it));
        }
        Ok(())
    }

    /// Puts a configuration on the list, after the reads that are allowed in it, unless it was met
    /// before.
    fn enqueue(&mut self, mut configuration: Configuration) {
        for &at in &self.open {
            let bit = bit(self.slot[at]);
            let is_due = self.is_eager[at] && configuration.done & bit == 0;
            if is_due && self.automaton.step(configuration.state, self.labels[at], 0).is_some() {
                configuration.done |= bit;
            }
        }
        if self.visited.insert(configuration) {
            self.todo.push(configuration);
        }
    }

    /// The configurations after the operation at `at` takes effect next, unless it has.
    fn successors(&mut self, configuration: Configuration, at: usize) -> Result<Vec<Configuration>, Reason> {
        let bit = bit(self.slot[at]);
        if configuration.done & bit != 0 {
            return Ok(Vec::new());
        }
        let done = configuration.done | bit;
        if self.queried == Some(at) {
            let silent =
                || Reason::Refused("the specification does not list its possible results".to_owned());
            let results = self.automaton.results(configuration.state, self.labels[at]).ok_or_else(silent)?;
            let next = results.into_iter();
            return Ok(next
                .map(|it| Configuration { done, state: it.state, result: Some(it.result) })
                .collect());
        }
        let mut all = Vec::new();
        let mut nth = 0;
        while let Some(outcome) = self.automaton.step(configuration.state, self.labels[at], nth) {
            all.push(Configuration { done, state: outcome.state, ..configuration });
            if !outcome.has_more {
                break;
            }
            nth += 1;
        }
        Ok(all)
    }

    fn count(&mut self) -> Result<(), Reason> {
        self.made += 1;
        // Each successor is compared with all open operations.
        self.pace.add(STEP_WORK + LOOK_WORK * (self.open.len() * self.open.len()) as u64);
        let growth = self.growth();
        let is_due =
            self.pace.is_due(self.automaton.work(), growth) || self.budget.configurations() < self.made;
        if is_due { self.check_budget() } else { Ok(()) }
    }

    /// How many bytes more the next expansion may take while a table grows.
    fn growth(&self) -> usize {
        let room = self.visited.capacity() - self.visited.len();
        let visited = if room < self.open.len() { 2 * self.visited.capacity() } else { 0 };
        self.automaton.growth().max(visited * size_of::<Configuration>())
    }

    fn check_budget(&mut self) -> Result<(), Reason> {
        self.report();
        // Each is held in `visited`, and in one list or another.
        let configurations = 2 * self.visited.capacity() * size_of::<Configuration>();
        self.charge.set(self.automaton.bytes() + configurations);
        let (work, growth) = (self.automaton.work(), self.growth());
        self.pace.check(self.budget, self.made, work, growth)
    }

    fn report(&mut self) {
        self.budget.visit(self.made - self.reported);
        self.reported = self.made;
    }

    fn forget(&mut self) {
        if self.forget_at < self.automaton.bytes() {
            let mut states: Vec<&mut StateId> =
                self.configurations.iter_mut().map(|it| &mut it.state).collect();
            self.automaton.forget_all_but(&mut states);
            let bytes = self.automaton.bytes();
            let most = (self.budget.memory() / 10 * 9).max(bytes + bytes / 4);
            self.forget_at = self.forget_at.max(2 * bytes).min(most);
        }
    }
}

/// Each once, those with short texts first, so that numbers ascend.
pub fn sorted_by_length(mut all: Vec<Shown>) -> Vec<Shown> {
    all.sort_by_cached_key(|it| {
        let text = it.to_string();
        (text.chars().count(), text)
    });
    all.dedup();
    all
}

/// The bit of a slot; 0 if the operation has none.
fn bit(slot: u8) -> u128 {
    1_u128.checked_shl(u32::from(slot)).unwrap_or(0)
}
