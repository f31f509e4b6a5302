//! Sweeps: every order at once, from the first event to the last.
//!
//! A search looks for one order and stops. Where the question is what *could* have been, every order counts: this goes
//! through calls and returns as they happened and carries along all *standings*, each saying which of the open
//! operations have taken effect and what the object is like. A return rules out those in which its operation has not;
//! before that, each standing may be carried on by letting open operations take effect, the one that returns last of them.
//! To wait with an effect until the next return of an operation that comes later in the order loses nothing, as nobody
//! can tell.
//!
//! One operation may be *asked*: it takes effect with whatever it may answer, and a standing remembers the answer.
//!
//! One reduction: a complete operation that leaves every state as it is takes effect as soon as it is allowed.
//!
//! Source: the order of effects is that of G. Lowe, "Testing for linearizability", 2017, section 4 ("just-in-time").
//! Requires: at most [`MOST_OPEN`] operations open at a time that may change something.
//! Cost: at most 2^(operations open) x (states) x (answers) standings for each return, bounded by the budget.
//!
//! Invariants, between any two events:
//!
//! * every standing belongs to an order of all operations that have returned, and of those whose bit is set, that real
//!   time and the specification allow; every such order leads to a standing that differs from one of these at most by
//!   effects that could still wait, or by reads.
//! * no two standings are equal; a slot that is free has its bit set in none.

use std::collections::HashSet;

use clewline_core::{
    Automaton, Budget, Charge, End, LabelId, OperationId, Problem, Reason, ResultId, Span, StateId,
};

/// The most operations that may be open at a time.
pub(crate) const MOST_OPEN: usize = 128;

// How many standings are made between two looks at the budget.
const PATIENCE: u64 = 1_024;

// States that no standing is in are forgotten when all of them take more bytes than this, unless the budget allows less.
const STATE_BYTES: usize = 64 << 20;

// A set with more room than this is not worth clearing again and again.
const ROOMY: usize = 1 << 12;

/// A sweep over the operations of one problem.
pub(crate) struct Sweep<'p> {
    budget: &'p Budget,
    spans: &'p [Span],
    automaton: Box<dyn Automaton + 'p>,
    labels: Vec<LabelId>,
    // The operation that may answer as it likes.
    asked: Option<usize>,
    // By position: whether it takes effect as soon as it is allowed.
    is_eager: Vec<bool>,
    // By position: the bit of an operation that is open, or `NONE`.
    slot: Vec<u8>,
    free: Vec<u8>,
    open: Vec<usize>,
    standings: Vec<Standing>,
    // While operations take effect: what has been met, and what of it is still to go on.
    seen: HashSet<Standing>,
    todo: Vec<Standing>,
    made: u64,
    reported: u64,
    forget_at: usize,
    charge: Charge,
}

const NONE: u8 = u8::MAX;

/// How things may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Standing {
    // A bit for each open operation that has taken effect.
    done: u128,
    state: StateId,
    // What the operation that is asked answered, if it has taken effect.
    answer: Option<ResultId>,
}

/// The pending operations, by position, that wait rightly: each blocks after some order of all complete operations in
/// which it has taken no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Other pending operations may have taken effect as well.
    pub(crate) for_anyone: Vec<usize>,
    /// No pending operation has taken effect.
    pub(crate) for_complete: Vec<usize>,
}

impl<'p> Sweep<'p> {
    /// At the first event.
    pub(crate) fn new(problem: &'p Problem<'p>, budget: &'p Budget, asked: Option<OperationId>) -> Sweep<'p> {
        let spans = problem.spans();
        let mut automaton = problem.automaton();
        let labels = automaton.labels().to_vec();
        let is_eager = |at: usize| !spans[at].is_pending() && automaton.is_read(labels[at]);
        let is_eager = (0..spans.len()).map(is_eager).collect();
        let state = automaton.initial();
        Sweep {
            budget,
            spans,
            automaton,
            labels,
            asked: asked.and_then(|it| problem.position(it)),
            is_eager,
            slot: vec![NONE; spans.len()],
            free: (0..MOST_OPEN as u8).rev().collect(),
            open: Vec::new(),
            standings: vec![Standing { done: 0, state, answer: None }],
            seen: HashSet::new(),
            todo: Vec::new(),
            made: 0,
            reported: 0,
            forget_at: STATE_BYTES.min(budget.memory() / 4),
            charge: budget.charge(),
        }
    }

    /// Every answer that the operation which is asked may give if it returns after the last event, as a report writes
    /// the operation, each once: short ones first.
    ///
    /// # Errors
    ///
    /// Why they are not known.
    pub(crate) fn answers(mut self) -> Result<Vec<String>, Reason> {
        let swept = self.sweep().and_then(|()| match self.asked {
            Some(asked) => self.force(asked),
            None => Ok(()),
        });
        self.report();
        swept?;
        let Some(asked) = self.asked else { return Ok(Vec::new()) };
        let mut answers: Vec<ResultId> = self.standings.iter().filter_map(|it| it.answer).collect();
        answers.sort_unstable();
        answers.dedup();
        let show = |answer: ResultId| self.automaton.show(self.labels[asked], answer);
        Ok(in_order(answers.into_iter().map(show).collect()))
    }

    /// Which pending operations wait rightly; `None` if the complete ones cannot be ordered.
    ///
    /// # Errors
    ///
    /// Why they are not known.
    pub(crate) fn waiting(mut self) -> Result<Option<Waiting>, Reason> {
        let swept = self.sweep().and_then(|()| self.carry_on());
        self.report();
        swept?;
        if self.standings.is_empty() {
            return Ok(None);
        }
        let mut waiting = Waiting { for_anyone: Vec::new(), for_complete: Vec::new() };
        for at in (0..self.spans.len()).filter(|&at| self.spans[at].is_pending()) {
            let (automaton, label) = (&mut self.automaton, self.labels[at]);
            let bit = bit(self.slot[at]);
            let mut waits =
                |it: &Standing| it.done & bit == 0 && automaton.step(it.state, label, 0).is_none();
            if self.standings.iter().any(&mut waits) {
                waiting.for_anyone.push(at);
            }
            // What is complete is no longer open, so a bit that is set is that of a pending operation.
            if self.standings.iter().filter(|it| it.done == 0).any(&mut waits) {
                waiting.for_complete.push(at);
            }
        }
        Ok(Some(waiting))
    }

    /// Goes through all events.
    fn sweep(&mut self) -> Result<(), Reason> {
        let calls = (0..self.spans.len()).map(|at| (self.spans[at].call(), at, End::Call));
        let returns =
            (0..self.spans.len()).filter_map(|at| self.spans[at].ret().map(|ret| (ret, at, End::Return)));
        let mut events: Vec<(u32, usize, End)> = calls.chain(returns).collect();
        events.sort_unstable_by_key(|&(rank, ..)| rank);
        for (_, at, end) in events {
            match end {
                End::Call => self.open(at)?,
                End::Return => {
                    self.force(at)?;
                    self.close(at);
                    self.forget();
                }
            }
        }
        self.look_at_budget()
    }

    fn open(&mut self, at: usize) -> Result<(), Reason> {
        // Whether a pending operation that changes nothing took effect makes no difference, unless it is asked.
        let is_idle = self.spans[at].is_pending() && self.automaton.is_read(self.labels[at]);
        if is_idle && self.asked != Some(at) {
            return Ok(());
        }
        let too_many = || Reason::Refused(format!("more than {MOST_OPEN} operations are open at a time"));
        self.slot[at] = self.free.pop().ok_or_else(too_many)?;
        self.open.push(at);
        Ok(())
    }

    fn close(&mut self, at: usize) {
        let bit = bit(self.slot[at]);
        // It is set in all of them, so they stay different.
        self.standings.iter_mut().for_each(|it| it.done &= !bit);
        self.open.retain(|&it| it != at);
        self.free.push(std::mem::replace(&mut self.slot[at], NONE));
    }

    /// Leaves the standings in which the operation at `last` has taken effect, after others if need be.
    fn force(&mut self, last: usize) -> Result<(), Reason> {
        let bit = bit(self.slot[last]);
        self.begin();
        let mut arrived: Vec<Standing> = Vec::new();
        while let Some(standing) = self.todo.pop() {
            if standing.done & bit != 0 {
                arrived.push(standing);
            } else {
                self.go_on(standing)?;
            }
        }
        self.standings = arrived;
        Ok(())
    }

    /// Adds the standings to which open operations lead after the last event.
    fn carry_on(&mut self) -> Result<(), Reason> {
        self.begin();
        let mut arrived: Vec<Standing> = Vec::new();
        while let Some(standing) = self.todo.pop() {
            arrived.push(standing);
            self.go_on(standing)?;
        }
        self.standings = arrived;
        Ok(())
    }

    /// Puts all standings on the list of those to go on from.
    fn begin(&mut self) {
        if ROOMY < self.seen.capacity() {
            self.seen = HashSet::new();
        }
        self.seen.clear();
        std::mem::take(&mut self.standings).into_iter().for_each(|it| self.meet(it));
    }

    /// Lets each open operation take effect next.
    fn go_on(&mut self, standing: Standing) -> Result<(), Reason> {
        self.count()?;
        for place in 0..self.open.len() {
            self.after(standing, self.open[place])?.into_iter().for_each(|it| self.meet(it));
        }
        Ok(())
    }

    /// Puts a standing on the list, after the reads that are allowed in it, unless it was met before.
    fn meet(&mut self, mut standing: Standing) {
        for &at in &self.open {
            let bit = bit(self.slot[at]);
            let is_due = self.is_eager[at] && standing.done & bit == 0;
            if is_due && self.automaton.step(standing.state, self.labels[at], 0).is_some() {
                standing.done |= bit;
            }
        }
        if self.seen.insert(standing) {
            self.todo.push(standing);
        }
    }

    /// Where it leads if the operation at `at` takes effect next, unless it has.
    fn after(&mut self, standing: Standing, at: usize) -> Result<Vec<Standing>, Reason> {
        let bit = bit(self.slot[at]);
        if standing.done & bit != 0 {
            return Ok(Vec::new());
        }
        let done = standing.done | bit;
        if self.asked == Some(at) {
            let silent = || Reason::Refused("the specification does not list what it may answer".to_owned());
            let answers = self.automaton.results(standing.state, self.labels[at]).ok_or_else(silent)?;
            let next = answers.into_iter();
            return Ok(next.map(|it| Standing { done, state: it.state, answer: Some(it.result) }).collect());
        }
        let mut all = Vec::new();
        let mut nth = 0;
        while let Some(outcome) = self.automaton.step(standing.state, self.labels[at], nth) {
            all.push(Standing { done, state: outcome.state, ..standing });
            if !outcome.has_more {
                break;
            }
            nth += 1;
        }
        Ok(all)
    }

    fn count(&mut self) -> Result<(), Reason> {
        self.made += 1;
        let is_due = self.made.is_multiple_of(PATIENCE) || self.budget.configurations() < self.made;
        if is_due { self.look_at_budget() } else { Ok(()) }
    }

    fn look_at_budget(&mut self) -> Result<(), Reason> {
        self.report();
        // Each is held in what has been seen, and in one list or another.
        let standings = 2 * self.seen.capacity() * size_of::<Standing>();
        self.charge.set(self.automaton.bytes() + standings);
        self.budget.allow(self.made)
    }

    fn report(&mut self) {
        self.budget.visit(self.made - self.reported);
        self.reported = self.made;
    }

    fn forget(&mut self) {
        if self.forget_at < self.automaton.bytes() {
            let mut states: Vec<&mut StateId> = self.standings.iter_mut().map(|it| &mut it.state).collect();
            self.automaton.forget_all_but(&mut states);
            self.forget_at = self.forget_at.max(2 * self.automaton.bytes());
        }
    }
}

/// Each text once, short ones first, so that numbers ascend.
pub(crate) fn in_order(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_by_cached_key(|it| (it.chars().count(), it.clone()));
    texts.dedup();
    texts
}

/// The bit of a slot; none if the operation has none.
fn bit(slot: u8) -> u128 {
    1_u128.checked_shl(u32::from(slot)).unwrap_or(0)
}
