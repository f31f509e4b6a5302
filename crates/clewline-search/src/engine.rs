//! The search that the Wing-Gong and just-in-time checkers share.
//!
//! Depth-first search over configurations. The operations that are left form linked lists in call
//! order, from which an operation is unlinked when it is linearized and into which it is put back
//! when the search retreats, so a step and its undoing cost a few writes. A graph search interns
//! states, so a snapshot of one is an id; a tree search has a single state, which it changes in
//! place and back.
//!
//! The candidates of a configuration are the operations left that were called before the frontier
//! (the operation left that returns first) returned. The just-in-time view of the same set: a
//! return forces its operation to be linearized, possibly after others that are open. What differs
//! between the algorithms is the order in which candidates are tried, and whether configurations
//! are remembered; see [`Strategy`].
//!
//! Source: J. M. Wing and C. Gong, "Testing and verifying concurrent objects", 1993; G. Lowe,
//! "Testing for linearizability", 2017, sections 3 and 4. Pending operations, which the latter
//! leaves out, are candidates from their call on and never a frontier: a history is explained when
//! every complete operation is.
//!
//! Of pending operations with the same label the one called first is tried, in every order
//! (`counts`, of the monitors); and none whose step changes nothing: the same can follow without.
//!
//! Three reductions for the just-in-time order (`docs/explanation/searches.md` has the proofs):
//!
//! * *Earliest first*: of candidates with equal call and return only the one that returns first is
//!   tried. If another of them can go first, the two can change places.
//! * *Eager reads*: a candidate that is allowed now and leaves every state unchanged is linearized
//!   at once, and nothing else is tried. It is not enough that it leaves *this* state unchanged.
//! * *Dead ends*: if a complete operation that is left is not allowed in the current state, and no
//!   operation called before it returned leads out of that state, nothing else is tried. Tested
//!   only after the first retreat.
//!
//! Hints of the source in which order operations took effect ([`Problem::order_hint`]) only change
//! the order in which candidates are tried: all are still tried, so a wrong hint costs time and
//! nothing else. If all hints are right, the first path is the witness. A pending operation without
//! a hint is tried after the others, so that one which took effect before them costs time.
//!
//! Cost: at most (complete operations) x 2^(operations open at a time) x (states) configurations;
//! each takes time and candidates in the number of operations open.
//!
//! Invariants, between any two lines of `run`:
//!
//! * `path` is an order that the specification allows from the initial state to `present`, and that
//!   real time does not contradict; `left` holds exactly the operations not on it.
//! * `frontier` counts the complete operations, in the order of returns, that lie before the first
//!   one left.
//! * bit `slot[o]` of `ahead` is set exactly for the complete operations on `path` that do not
//!   return before the frontier; `pending` counts the pending ones on it.
//! * every configuration in `entered` is on the current path, or dead. Those with a single
//!   candidate need not be in it: they lead to one that is, a few steps on.

use clewline_core::{
    Budget, Charge, Explanation, LabelId, Problem, Reason, Span, StateId, Verdict, Violation, Witness,
    sort_by_key,
};

use crate::{counts::PendingCounts, links::Links};

use super::{
    configurations::{self, Configurations},
    present::PresentState,
};
use crate::pace::{LOOK_WORK, Pace, STEP_WORK};

/// What distinguishes one search from another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strategy {
    /// Which candidate is tried first.
    pub(super) order: Order,
    /// Whether configurations are remembered.
    pub(super) memory: Memory,
}

/// Which candidate is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The one that was called first; every candidate is tried.
    Call,
    /// The one that returns first; the reductions apply.
    Return,
}

/// Whether configurations are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// No: a tree search, in little space, which undoes its steps.
    None,
    /// Yes: a graph search, which enters each configuration once.
    Entered,
}

/// Decides `problem`.
pub(super) fn search(problem: &Problem<'_>, budget: &Budget, strategy: Strategy) -> Verdict {
    let mut engine = match Engine::new(problem, budget, strategy) {
        Ok(engine) => engine,
        Err(reason) => return Verdict::Unknown(reason),
    };
    let found = engine.run();
    budget.visit(engine.configurations - engine.reported);
    match found {
        Ok(true) => Verdict::Holds(engine.witness()),
        Ok(false) => Verdict::Violated(engine.violation()),
        Err(reason) => Verdict::Unknown(reason),
    }
}

/// One witness for each state in which `problem`, which has no pending operations, may end, at most
/// `most`; or why they are not known.
pub(super) fn final_state_witnesses(
    problem: &Problem<'_>,
    budget: &Budget,
    strategy: Strategy,
    most: usize,
) -> Result<Vec<Witness>, Verdict> {
    let mut engine = Engine::new(problem, budget, strategy).map_err(Verdict::Unknown)?;
    let found = engine.find_all(most);
    budget.visit(engine.configurations - engine.reported);
    match found {
        Ok(witnesses) if witnesses.is_empty() => Err(Verdict::Violated(engine.violation())),
        Ok(witnesses) => Ok(witnesses),
        Err(reason) => Err(Verdict::Unknown(reason)),
    }
}

// Of each operation, for the tables that are made before the search begins.
const BYTES_PER_OPERATION: usize = 96;

// Of consecutive configurations with a single candidate, a graph search remembers one in this many.
const FORCED_CONFIGS_PER_ENTRY: usize = 16;

// How many operations are examined for a dead end.
const DEAD_END_LOOKAHEAD_OPS: usize = 128;

struct Engine<'p> {
    problem: &'p Problem<'p>,
    budget: &'p Budget,
    strategy: Strategy,
    spans: &'p [Span],
    present: PresentState<'p>,
    labels: Vec<LabelId>,
    // Whether each operation leaves every state as it is.
    reads: Vec<bool>,
    // When each operation took effect, as its source says; empty if it does not.
    hints: Vec<i64>,
    // Complete operations in the order of their returns.
    by_return: Vec<u32>,
    slot: Vec<u32>,
    // The complete operations that are left, in call order; list 0.
    left: Links,
    pending: PendingCounts,
    frontier: usize,
    // The words of the current configuration's key: frontier and state, then `ahead`.
    key: Vec<u64>,
    frames: Vec<Frame>,
    // The candidates of all frames, one after the other.
    candidates: Vec<u32>,
    entered: Configurations,
    // For each label, the visit in which it was last met, and the candidate then.
    seen_label: Vec<(u64, usize)>,
    // For each label, the hints of its operations in ascending order, and how many of them are on
    // the path; empty without hints.
    label_hints: Vec<(Vec<i64>, usize)>,
    visit: u64,
    has_retreated: bool,
    configurations: u64,
    reported: u64,
    pace: Pace,
    charge: Charge,
    longest: Longest,
}

/// A configuration on the current path, and what has been tried from it.
#[derive(Clone, Copy, Debug)]
struct Frame {
    frontier: u32,
    // Its candidates are `candidates[start..]`, up to the next frame's.
    start: usize,
    next: usize,
    // After them come those pending operations that can be used next, from this place on.
    pending: usize,
    // Which outcome of the next candidate comes next.
    nth: u32,
    // The operation linearized last.
    chosen: u32,
}

impl<'p> Engine<'p> {
    fn new(problem: &'p Problem<'p>, budget: &'p Budget, strategy: Strategy) -> Result<Self, Reason> {
        budget.allow_memory(problem.len() * BYTES_PER_OPERATION)?;
        let spans = problem.spans();
        let present = match strategy.memory {
            Memory::None => PresentState::in_place(problem),
            Memory::Entered => PresentState::interned(problem),
        };
        budget.allow(0)?;
        let labels = present.labels().to_vec();
        let mut by_return: Vec<u32> =
            (0..spans.len() as u32).filter(|&it| !spans[it as usize].is_pending()).collect();
        by_return.sort_unstable_by_key(|&it| spans[it as usize].end());
        let mut by_call: Vec<u32> = (0..spans.len() as u32).collect();
        sort_by_key(&mut by_call, |it| spans[it as usize].call());
        budget.allow(0)?;
        // A pending read can always be left out: it changes nothing, and nothing depends on it.
        let reads: Vec<bool> = labels.iter().map(|&it| present.is_read(it)).collect();
        by_call.retain(|&at| !(spans[at as usize].is_pending() && reads[at as usize]));
        let labelled = labels.iter().map(|it| it.index() + 1).max().unwrap_or(0);
        let (pending, by_call): (Vec<u32>, Vec<u32>) =
            by_call.into_iter().partition(|&at| spans[at as usize].is_pending());
        let pending = PendingCounts::new(spans, &pending, &labels, labelled);
        let Slots { slot, complete } = Slots::new(spans, &by_call, &by_return);
        let words = complete.div_ceil(64);
        let mut left = Links::new(spans.len(), 1);
        by_call.iter().for_each(|&at| left.push(0, at));
        let seen_label = vec![(0, 0); labelled];
        // What has no hint comes after what has one.
        let hint = |at| problem.order_hint(at).unwrap_or(i64::MAX);
        let hints: Vec<i64> =
            if problem.has_order_hints() { (0..spans.len()).map(hint).collect() } else { Vec::new() };
        let label_hints = hints_of_labels(&labels, &hints, labelled);
        Ok(Engine {
            problem,
            budget,
            strategy,
            spans,
            present,
            labels,
            reads,
            hints,
            by_return,
            slot,
            left,
            frontier: 0,
            key: vec![0; 1 + words],
            frames: Vec::new(),
            candidates: Vec::new(),
            entered: Configurations::new(1 + words, pending.guards.clone()),
            pending,
            seen_label,
            label_hints,
            visit: 0,
            has_retreated: false,
            configurations: 0,
            reported: 0,
            pace: Pace::default(),
            charge: budget.charge(),
            longest: Longest::default(),
        })
    }

    /// Whether every complete operation can be linearized.
    fn run(&mut self) -> Result<bool, Reason> {
        self.check_budget()?;
        self.enter()?;
        while self.frontier < self.by_return.len() {
            if !self.descend()? && !self.retreat() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One witness for each final state.
    fn find_all(&mut self, most: usize) -> Result<Vec<Witness>, Reason> {
        self.check_budget()?;
        self.enter()?;
        let mut found: Vec<(Option<StateId>, Witness)> = Vec::new();
        loop {
            let is_end = self.frontier == self.by_return.len();
            if is_end && found.iter().all(|(state, _)| *state != self.present.id()) {
                if found.len() == most {
                    return Err(Reason::Refused(format!("it may end in more than {most} states")));
                }
                found.push((self.present.id(), self.witness()));
            }
            if (is_end || !self.descend()?) && !self.retreat() {
                return Ok(found.into_iter().map(|(_, witness)| witness).collect());
            }
        }
    }

    /// Enters the current configuration, unless it has been entered before.
    fn enter(&mut self) -> Result<bool, Reason> {
        self.pace.add(STEP_WORK);
        if self.pace.is_due(self.present.work(), self.present.growth())
            || self.budget.configurations() <= self.configurations
        {
            self.check_budget()?;
        }
        let start = self.candidates.len();
        let is_end = self.frontier == self.by_return.len();
        let pending = if is_end { usize::MAX } else { self.collect_candidates() };
        let has_pending = !is_end && self.pending.next(pending, self.deadline(self.frontier)).is_some();
        let has_choice = self.candidates.len() - start + usize::from(has_pending) != 1;
        if has_choice && self.has_retreated && self.strategy.order == Order::Return && self.is_dead_end() {
            self.candidates.truncate(start);
            return Ok(false);
        }
        // A configuration without a choice needs little memory to repeat; but a long path without
        // choice is not repeated.
        let is_worth_it = has_choice || self.frames.len().is_multiple_of(FORCED_CONFIGS_PER_ENTRY);
        if self.strategy.memory == Memory::Entered && is_worth_it && !self.remember()? {
            self.candidates.truncate(start);
            return Ok(false);
        }
        self.configurations += 1;
        let frontier = self.frontier as u32;
        self.frames.push(Frame { frontier, start, next: start, pending, nth: 0, chosen: 0 });
        self.longest.deepen(self.frames.len() - 1);
        Ok(true)
    }

    /// Whether some operation left is not allowed in the current state, and none leads out of it in
    /// time.
    fn is_dead_end(&mut self) -> bool {
        let mut deadline = u32::MAX;
        let mut next = self.first_left();
        let mut looked_at = 0;
        while let Some(at) = next.filter(|&at| self.spans[at].call() < deadline) {
            looked_at += 1;
            if looked_at == DEAD_END_LOOKAHEAD_OPS {
                return false;
            }
            next = self.left_after(at);
            match self.present.probe(self.labels[at]) {
                None => deadline = deadline.min(self.spans[at].end()),
                Some(outcome) if outcome.changes || outcome.has_more => return false,
                Some(_) => (),
            }
        }
        let mut place = 0;
        while let Some(at) = self.pending.next(place, deadline) {
            let outcome = self.present.probe(self.labels[at as usize]);
            if outcome.is_some_and(|it| it.changes || it.has_more) {
                return false;
            }
            place += 1;
        }
        deadline != u32::MAX
    }

    /// Remembers the current configuration; false if it was remembered before.
    fn remember(&mut self) -> Result<bool, Reason> {
        let state = self.present.id().expect("a search that remembers configurations interns states");
        self.key[0] = (self.frontier as u64 + 1) << 32 | u64::from(state.0);
        let hash = configurations::hash(&self.key);
        let growth = self.entered.growth(hash);
        if growth != 0 {
            self.budget.allow_memory(growth)?;
        }
        Ok(self.entered.insert(&self.key, &self.pending.used, hash))
    }

    /// Pushes the candidates of the current configuration, in the order in which to try them;
    /// returns the place of the first pending operation to try after that.
    fn collect_candidates(&mut self) -> usize {
        match self.strategy.order {
            Order::Call => {
                self.collect_by_call();
                usize::MAX
            }
            Order::Return => self.collect_by_return(),
        }
    }

    fn collect_by_call(&mut self) {
        let start = self.candidates.len();
        let deadline = self.deadline(self.frontier);
        let mut next = self.first_left();
        while let Some(at) = next.filter(|&at| self.spans[at].call() < deadline) {
            self.candidates.push(at as u32);
            next = self.left_after(at);
        }
        self.candidates.extend((0..).map_while(|place| self.pending.next(place, deadline)));
        let spans = self.spans;
        self.pace.add(LOOK_WORK * (self.candidates.len() - start) as u64);
        self.candidates[start..].sort_unstable_by_key(|&it| (spans[it as usize].call(), it));
        if !self.hints.is_empty() {
            self.candidates[start..].sort_by_key(|&it| self.hints[it as usize]);
        }
    }

    fn collect_by_return(&mut self) -> usize {
        self.visit += 1;
        let start = self.candidates.len();
        let deadline = self.deadline(self.frontier);
        let mut next = self.first_left();
        while let Some(at) = next.filter(|&at| self.spans[at].call() < deadline) {
            self.pace.add(LOOK_WORK);
            next = self.left_after(at);
            let label = self.labels[at];
            if self.reads[at] && self.present.probe(label).is_some() {
                self.candidates.truncate(start);
                self.candidates.push(at as u32);
                return usize::MAX;
            }
            // Of equal operations, the one that returns first.
            let (visit, place) = &mut self.seen_label[label.index()];
            if std::mem::replace(visit, self.visit) != self.visit {
                *place = self.candidates.len();
                self.candidates.push(at as u32);
            } else if self.spans[at].end() < self.spans[self.candidates[*place] as usize].end() {
                self.candidates[*place] = at as u32;
            }
        }
        let spans = self.spans;
        self.candidates[start..].sort_unstable_by_key(|&it| spans[it as usize].end());
        if !self.hints.is_empty() {
            self.sort_by_hints(start, deadline);
        }
        0
    }

    /// Sorts candidates by their hints, and puts the pending operation whose hint comes first in
    /// front, if it comes before all others.
    fn sort_by_hints(&mut self, start: usize, deadline: u32) {
        let mut candidates = self.candidates.split_off(start);
        candidates.sort_by_key(|&it| self.next_hint(it));
        let mut first = candidates.first().map_or(i64::MAX, |&it| self.next_hint(it));
        for place in 0.. {
            let Some(at) = self.pending.next(place, deadline) else { break };
            self.pace.add(LOOK_WORK);
            if self.next_hint(at) < first {
                first = self.next_hint(at);
                self.candidates.truncate(start);
                self.candidates.push(at);
            }
        }
        self.candidates.append(&mut candidates);
    }

    /// When the next operation with the label of this one took effect: equal operations change
    /// places, so that it has the next hint of their label.
    fn next_hint(&self, at: u32) -> i64 {
        let (hints, used) = &self.label_hints[self.labels[at as usize].index()];
        hints.get(*used).copied().unwrap_or(i64::MAX)
    }

    fn first_left(&self) -> Option<usize> {
        self.left.first(0).map(|it| it as usize)
    }

    fn left_after(&self, at: usize) -> Option<usize> {
        self.left.after(at as u32).map(|it| it as usize)
    }

    /// When the operation at this place in the order of returns returned.
    fn deadline(&self, frontier: usize) -> u32 {
        self.spans[self.by_return[frontier] as usize].end()
    }

    /// Tries the next candidate that leads to a configuration not entered before; false if there is
    /// none.
    fn descend(&mut self) -> Result<bool, Reason> {
        loop {
            let depth = self.frames.len() - 1;
            let Frame { frontier, next, pending, nth, .. } = self.frames[depth];
            let deadline = self.deadline(frontier as usize);
            let candidate = self.candidates.get(next).copied();
            let Some(at) = candidate.or_else(|| self.pending.next(pending, deadline)) else {
                return Ok(false);
            };
            let outcome = self.present.advance(self.labels[at as usize], nth);
            if outcome.is_some_and(|it| it.has_more) {
                self.frames[depth].nth += 1;
            } else if candidate.is_some() {
                (self.frames[depth].next, self.frames[depth].nth) = (next + 1, 0);
            } else {
                self.pace.add(LOOK_WORK);
                (self.frames[depth].pending, self.frames[depth].nth) = (pending + 1, 0);
            }
            let Some(outcome) = outcome else { continue };
            // With one less of those that never return the same can be done.
            if !outcome.changes && self.spans[at as usize].is_pending() {
                self.present.undo();
                continue;
            }
            self.frames[depth].chosen = at;
            self.linearize(at as usize);
            if self.enter()? {
                return Ok(true);
            }
            self.undo();
        }
    }

    /// Leaves the current configuration for good; false if it was the first one.
    fn retreat(&mut self) -> bool {
        self.has_retreated = true;
        self.longest.save(&self.frames);
        let Some(frame) = self.frames.pop() else { return false };
        self.candidates.truncate(frame.start);
        if self.frames.is_empty() {
            return false;
        }
        self.undo();
        true
    }

    /// Notes that the operation, whose step was made, is linearized.
    fn linearize(&mut self, at: usize) {
        if let Some((_, used)) = self.label_hints.get_mut(self.labels[at].index()) {
            *used += 1;
        }
        if self.spans[at].is_pending() {
            self.pending.take(at as u32);
            return;
        }
        self.left.unlink(at as u32);
        self.flip(at);
        while let Some(&next) = self.by_return.get(self.frontier)
            && self.is_ahead(next as usize)
        {
            self.flip(next as usize);
            self.frontier += 1;
        }
    }

    /// Undoes the choice of the last frame.
    fn undo(&mut self) {
        let Some(&Frame { frontier, chosen, .. }) = self.frames.last() else { return };
        while frontier as usize != self.frontier {
            self.frontier -= 1;
            self.flip(self.by_return[self.frontier] as usize);
        }
        if let Some((_, used)) = self.label_hints.get_mut(self.labels[chosen as usize].index()) {
            *used -= 1;
        }
        self.present.undo();
        if self.spans[chosen as usize].is_pending() {
            self.pending.give_back(chosen);
        } else {
            self.flip(chosen as usize);
            self.left.relink(chosen);
        }
    }

    fn is_ahead(&self, at: usize) -> bool {
        let slot = self.slot[at] as usize;
        self.key[1 + slot / 64] >> (slot % 64) & 1 == 1
    }

    fn flip(&mut self, at: usize) {
        let slot = self.slot[at] as usize;
        self.key[1 + slot / 64] ^= 1 << (slot % 64);
    }

    fn check_budget(&mut self) -> Result<(), Reason> {
        self.budget.visit(self.configurations - self.reported);
        self.reported = self.configurations;
        let linearized = self.longest.path.len().max(self.frames.len().saturating_sub(1));
        self.budget.reach(linearized, self.spans.len());
        let frames =
            self.frames.capacity() * size_of::<Frame>() + self.candidates.capacity() * size_of::<u32>();
        self.charge.set(self.entered.bytes() + self.present.bytes() + frames);
        let (work, growth) = (self.present.work(), self.present.growth());
        self.pace.check(self.budget, self.configurations + 1, work, growth)
    }

    fn witness(&self) -> Witness {
        let chosen = self.frames.iter().take(self.frames.len() - 1).map(|it| it.chosen);
        Witness { order: chosen.map(|at| self.problem.operations()[at as usize]).collect() }
    }

    fn violation(&self) -> Violation {
        let ids = self.problem.operations();
        let mut on_path = vec![false; self.spans.len()];
        self.longest.path.iter().for_each(|&at| on_path[at as usize] = true);
        let next = self.by_return.iter().find(|&&at| !on_path[at as usize]);
        let next = *next.expect("an order of all complete operations is a witness") as usize;
        let prefix = self.longest.path.iter().map(|&at| ids[at as usize]).collect();
        let explanation = Explanation::Exhausted { prefix, next: ids[next] };
        Violation::found(ids.to_vec(), explanation)
    }
}

/// The hints of the operations of each label, in ascending order; none without hints.
fn hints_of_labels(labels: &[LabelId], hints: &[i64], labelled: usize) -> Vec<(Vec<i64>, usize)> {
    let mut all = vec![(Vec::new(), 0); if hints.is_empty() { 0 } else { labelled }];
    labels.iter().zip(hints).for_each(|(label, hint)| all[label.index()].0.push(*hint));
    all.iter_mut().for_each(|it| it.0.sort_unstable());
    all
}

/// The bit of each complete operation in the set of a configuration.
struct Slots {
    slot: Vec<u32>,
    // How many bits there are: as many as operations are open at a time.
    complete: usize,
}

impl Slots {
    fn new(spans: &[Span], by_call: &[u32], by_return: &[u32]) -> Self {
        let mut slots = Slots { slot: vec![0; spans.len()], complete: 0 };
        let mut free: Vec<u32> = Vec::new();
        let mut returned = by_return.iter().peekable();
        for &at in by_call {
            while let Some(&over) =
                returned.next_if(|&&it| spans[it as usize].end() < spans[at as usize].call())
            {
                free.push(slots.slot[over as usize]);
            }
            slots.slot[at as usize] = free.pop().unwrap_or_else(|| {
                slots.complete += 1;
                slots.complete as u32 - 1
            });
        }
        slots
    }
}

/// The longest path so far, copied only when it is about to be left, and only where it changed.
#[derive(Debug, Default)]
struct Longest {
    path: Vec<u32>,
    // How many leading entries of `path` are still those of the current path.
    agreed: usize,
    is_growing: bool,
}

impl Longest {
    /// The current path has `len` operations.
    fn deepen(&mut self, len: usize) {
        self.is_growing |= self.path.len() < len;
    }

    /// The current path, whose last frame has chosen nothing, is about to lose its last operation.
    fn save(&mut self, frames: &[Frame]) {
        let len = frames.len() - 1;
        if std::mem::take(&mut self.is_growing) {
            self.path.truncate(self.agreed);
            self.path.extend(frames[self.agreed..len].iter().map(|it| it.chosen));
            self.agreed = len;
        }
        self.agreed = self.agreed.min(len.saturating_sub(1));
    }
}
