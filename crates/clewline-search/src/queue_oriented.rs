//! The queue-oriented search: for queues in which values may have several copies.
//!
//! It removes one operation or two at a time from the history, from the front. A `deq → nil` that
//! nothing precedes goes by itself. Otherwise some `enq` that nothing precedes goes together with a
//! `deq` of its value that no other `deq` precedes: they are the first of their kind. What is left
//! has to respect that the `deq` came before all others: each of them is now called after every
//! `enq` that had returned before that `deq` was called (the *floor*).
//!
//! Which pair goes first rarely matters. If both are the first to return of all operations on their
//! value, and no `deq → nil` is in the way, then if any order works, one does that begins with them
//! (Lemma 12). Only otherwise all pairs are tried. Of those, two kinds are skipped that the paper
//! tries: an `enq` if another one of its value that nothing precedes returns no later, because the
//! two could change places; and a `deq` if another one of its value was called no later and returns
//! no later, for the same reason.
//!
//! Pending `enq`s need no special treatment: if one did not take effect, it may as well have taken
//! effect last. Pending `deq`s, which may have removed any element, and `peek`s are refused.
//!
//! Source: G. Lowe, "Testing for linearizability", 2017, section 5, figure 3. That the shift of
//! calls is one number for all, and what is skipped, are ours; so is the memory of what has been
//! tried.
//!
//! Cost: a step takes time in the number of operations open at a time, nothing else, and there are
//! about as many as operations, unless pairs have to be tried: then the set of removed operations
//! is remembered by a hash of 128 bits.
//!
//! Invariants, between any two lines of `run`:
//!
//! * `trail` holds the removed operations, in order; the lists hold the rest.
//! * The intervals of removed operations contained, at removal, the first return of those left: so
//!   among the `enq`s that return after the first return of one that is left, only those open at
//!   that time have been removed.

use std::collections::HashSet;

use clewline_core::{
    Budget, Charge, Explanation, ObjectKind, Problem, Reason, RoleKind, Verdict, Violation, Witness,
};
use clewline_monitor::{Columns, Interval, NONE, Unsupported};

use crate::{
    checker::Checker,
    links::{Links, positions_by_call, positions_by_return, random_bits},
    pace::{LOOK_WORK, Pace, STEP_WORK},
};

/// See the [module documentation](self).
#[derive(Debug)]
pub struct QueueOriented;

impl Checker for QueueOriented {
    fn name(&self) -> &str {
        "queue-oriented"
    }

    fn about(&self) -> &str {
        "for queues: pairs each enq with its deq; no peek and no pending deq"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        columns(problem).err()
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        let columns = match columns(problem) {
            Ok(columns) => columns,
            Err(reason) => return Verdict::Unknown(Reason::Refused(reason)),
        };
        let mut search = Search::new(&columns, budget);
        let found = search.run();
        budget.visit(search.configurations - search.reported);
        let ids = |order: &[u32]| order.iter().map(|&at| problem.operations()[at as usize]).collect();
        match found {
            Ok(true) => Verdict::Holds(Witness { order: ids(&search.order(&search.trail)) }),
            Ok(false) => {
                let prefix = search.prefix();
                let next = problem.operations()[search.first_left(&prefix)];
                let explanation = Explanation::Exhausted { prefix: ids(&prefix), next };
                let core = problem.operations().to_vec();
                Verdict::Violated(Violation::found(core, explanation))
            }
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}

/// The columns of a queue, or why this search does not support it.
fn columns(problem: &Problem<'_>) -> Result<Columns, String> {
    if problem.kind() != Some(ObjectKind::Queue) {
        return Err("the queue-oriented search judges queues only".to_owned());
    }
    let label = |at: usize| problem.label(problem.operations()[at]);
    let refused = |at: usize, why: &str| Err(format!("the queue-oriented search {why} {}", label(at)));
    let columns = match Columns::with_copies(problem) {
        Ok(columns) => columns,
        Err(Unsupported::Unfit(at)) => return refused(at as usize, "does not know"),
        Err(_) => return Err("the queue-oriented search does not know some operation".to_owned()),
    };
    for (at, act) in columns.kinds.iter().enumerate() {
        match act {
            RoleKind::Add | RoleKind::Remove | RoleKind::Empty | RoleKind::NoEffect => (),
            RoleKind::Observe => return refused(at, "pairs each enq with one deq, and cannot place"),
            RoleKind::RemoveUnknown => {
                return refused(at, "has to know what each deq took, unlike the pending");
            }
            RoleKind::Absent | RoleKind::Replace => return refused(at, "does not know"),
        }
    }
    Ok(columns)
}

// Lists of operations of one kind.
const ENQ: u32 = 0;
const DEQ: u32 = 1;
const NIL: u32 = 2;

/// A place where several pairs can be tried.
struct Frame {
    // How many operations were removed.
    trail: usize,
    floor: u32,
    // Its pairs are `pairs[start..]`, up to the next frame's; this one comes next.
    start: usize,
    next: usize,
}

struct Search<'c> {
    columns: &'c Columns,
    budget: &'c Budget,
    // All, by their returns.
    by_return: Links,
    // The enqs by their returns; the deqs, empty ones included, together by theirs.
    kinds_by_return: Links,
    // The enqs, the deqs, and the empty deqs by their calls.
    kinds_by_call: Links,
    // For each value, its enqs and its deqs by their returns.
    values_by_return: Links,
    // All enqs by their returns, and by gap: how many return before it.
    enqs: Vec<u32>,
    enqs_before: Vec<u32>,
    is_taken: Vec<bool>,
    // No deq that is left was called before this gap.
    floor: u32,
    trail: Vec<u32>,
    // The hash of the set of operations in `trail`.
    hash: u128,
    frames: Vec<Frame>,
    pairs: Vec<(u32, u32)>,
    tried: HashSet<(u128, u32)>,
    longest: Vec<u32>,
    // How much of `longest` is also in `trail`.
    shared: usize,
    configurations: u64,
    reported: u64,
    pace: Pace,
    charge: Charge,
}

impl<'c> Search<'c> {
    fn new(columns: &'c Columns, budget: &'c Budget) -> Self {
        let count = columns.len();
        let mut search = Search {
            columns,
            budget,
            by_return: Links::new(count, 1),
            kinds_by_return: Links::new(count, 2),
            kinds_by_call: Links::new(count, 3),
            values_by_return: Links::new(count, 2 * columns.names.len()),
            enqs: Vec::new(),
            enqs_before: vec![0; columns.gaps() + 1],
            is_taken: vec![false; count],
            floor: 0,
            trail: Vec::with_capacity(count),
            hash: 0,
            frames: Vec::new(),
            pairs: Vec::new(),
            tried: HashSet::new(),
            longest: Vec::new(),
            shared: 0,
            configurations: 0,
            reported: 0,
            pace: Pace::default(),
            charge: budget.charge(),
        };
        let is_real = |at: &u32| columns.kinds[*at as usize] != RoleKind::NoEffect;
        let by_call = positions_by_call(columns);
        for at in by_call.iter().copied().filter(is_real) {
            search.kinds_by_call.push(search.kind(at), at);
        }
        for at in positions_by_return(columns, &by_call).into_iter().filter(is_real) {
            let kind = search.kind(at);
            search.by_return.push(0, at);
            search.kinds_by_return.push(kind.min(DEQ), at);
            if kind != NIL {
                search.values_by_return.push(2 * columns.elements[at as usize] + kind, at);
            }
            if kind == ENQ {
                search.enqs.push(at);
                search.enqs_before[columns.intervals[at as usize].right as usize + 1] += 1;
            }
        }
        for gap in 1..search.enqs_before.len() {
            search.enqs_before[gap] += search.enqs_before[gap - 1];
        }
        search
    }

    /// Whether everything can be removed.
    fn run(&mut self) -> Result<bool, Reason> {
        self.check_budget()?;
        while let Some(first_deq) = self.kinds_by_return.first(DEQ) {
            self.configurations += 1;
            if self.budget.configurations() < self.configurations {
                self.check_budget()?;
            }
            self.spend(STEP_WORK)?;
            if !self.advance(first_deq) && !self.branch(first_deq)? && !self.retreat() {
                return Ok(false);
            }
        }
        // Enqs alone can be put in order (Lemma 7).
        Ok(true)
    }

    /// Removes what may safely go first, if there is something.
    fn advance(&mut self, first_deq: u32) -> bool {
        let first_return = self.first_return();
        // Nothing precedes it (Lemma 8).
        if let Some(at) = self.kinds_by_call.first(NIL).filter(|&it| self.deq_begin(it) <= first_return) {
            self.take(at);
            return true;
        }
        let deq_return = self.interval(first_deq).right;
        let mut next = self.kinds_by_call.first(DEQ);
        while let Some(deq) = next.filter(|&it| self.deq_begin(it) <= deq_return) {
            self.pace.add(LOOK_WORK);
            next = self.kinds_by_call.after(deq);
            let value = 2 * self.columns.elements[deq as usize];
            if self.values_by_return.first(value + DEQ) == Some(deq)
                && let Some(enq) = self.values_by_return.first(value + ENQ)
                && self.interval(enq).left <= first_return
                && !self.has_conflict(deq)
            {
                self.take_pair(enq, deq);
                return true;
            }
        }
        false
    }

    /// Removes the first of all pairs that may go first, and remembers the others; false if there
    /// is none, or if they have all been tried.
    fn branch(&mut self, first_deq: u32) -> Result<bool, Reason> {
        let start = self.pairs.len();
        let first_return = self.first_return();
        let deq_return = self.interval(first_deq).right;
        let mut next = self.kinds_by_call.first(DEQ);
        while let Some(deq) = next.filter(|&it| self.deq_begin(it) <= deq_return) {
            next = self.kinds_by_call.after(deq);
            let value = self.columns.elements[deq as usize];
            // Another one called no later: the list is in the order of calls.
            let is_better = |&(_, other): &(u32, u32)| {
                self.columns.elements[other as usize] == value
                    && self.interval(other).right <= self.interval(deq).right
            };
            let is_known = self.pairs[start..].iter().any(is_better);
            self.spend(LOOK_WORK * (self.pairs.len() - start) as u64)?;
            if is_known {
                continue;
            }
            if let Some(enq) = self.first_enq(value, first_return) {
                self.pairs.push((enq, deq));
            }
        }
        // A configuration without a choice need not be remembered.
        let is_choice = start + 1 < self.pairs.len();
        if self.pairs.len() == start || (is_choice && !self.tried.insert((self.hash, self.floor))) {
            self.pairs.truncate(start);
            return Ok(false);
        }
        self.frames.push(Frame { trail: self.trail.len(), floor: self.floor, start, next: start + 1 });
        let (enq, deq) = self.pairs[start];
        self.take_pair(enq, deq);
        Ok(true)
    }

    /// Of the enqs of `value` that nothing precedes, the one that returns first.
    fn first_enq(&mut self, value: u32, first_return: u32) -> Option<u32> {
        let mut best: Option<u32> = None;
        let mut next = self.kinds_by_call.first(ENQ);
        while let Some(enq) = next.filter(|&it| self.interval(it).left <= first_return) {
            self.pace.add(LOOK_WORK);
            next = self.kinds_by_call.after(enq);
            let is_better = |it| self.interval(enq).right < self.interval(it).right;
            if self.columns.elements[enq as usize] == value && best.is_none_or(is_better) {
                best = Some(enq);
            }
        }
        best
    }

    /// Backtracks to where another pair can be tried, and removes it; false if there is none.
    fn retreat(&mut self) -> bool {
        if self.longest.len() < self.trail.len() {
            self.longest.truncate(self.shared);
            self.longest.extend_from_slice(&self.trail[self.shared..]);
            self.shared = self.trail.len();
        }
        while let Some(frame) = self.frames.last_mut() {
            let (trail, floor, place) = (frame.trail, frame.floor, frame.next);
            frame.next += 1;
            while trail < self.trail.len() {
                let at = self.trail.pop().expect("longer than the frame's");
                self.put_back(at);
            }
            self.shared = self.shared.min(trail);
            self.floor = floor;
            if let Some(&(enq, deq)) = self.pairs.get(place) {
                self.take_pair(enq, deq);
                return true;
            }
            let frame = self.frames.pop().expect("looked at");
            self.pairs.truncate(frame.start);
        }
        false
    }

    /// Whether an empty deq conflicts with `deq` (Definition 11): an enq had returned before `deq`
    /// was called, but neither before some other deq nor before an empty one.
    fn has_conflict(&self, deq: u32) -> bool {
        let Some(end) = self.last_enq_before(self.deq_begin(deq)) else { return false };
        let begins_by = |list| self.kinds_by_call.first(list).is_some_and(|it| self.deq_begin(it) <= end);
        begins_by(DEQ) && begins_by(NIL)
    }

    /// The last gap before `gap` in which an enq returns that is left.
    fn last_enq_before(&self, gap: u32) -> Option<u32> {
        let first = self.kinds_by_return.first(ENQ)?;
        if gap <= self.interval(first).right {
            return None;
        }
        let returned = &self.enqs[..self.enqs_before[gap as usize] as usize];
        // By the invariants, few of those after `first` have been removed.
        let last = returned.iter().rev().find(|&&it| !self.is_taken[it as usize])?;
        Some(self.interval(*last).right)
    }

    fn take_pair(&mut self, enq: u32, deq: u32) {
        let begin = self.deq_begin(deq);
        self.take(enq);
        // The others come after `deq`, so after everything that came before it.
        if let Some(end) = self.last_enq_before(begin) {
            self.floor = self.floor.max(end + 1);
        }
        self.take(deq);
    }

    fn take(&mut self, at: u32) {
        self.is_taken[at as usize] = true;
        self.hash ^= random_bits(at);
        self.by_return.unlink(at);
        self.kinds_by_return.unlink(at);
        self.kinds_by_call.unlink(at);
        self.values_by_return.unlink(at);
        self.trail.push(at);
    }

    fn put_back(&mut self, at: u32) {
        self.is_taken[at as usize] = false;
        self.hash ^= random_bits(at);
        self.by_return.relink(at);
        self.kinds_by_return.relink(at);
        self.kinds_by_call.relink(at);
        self.values_by_return.relink(at);
    }

    /// Whether it took effect: not a pending enq of a value that was never found.
    fn is_real(&self, at: u32) -> bool {
        self.columns.kinds[at as usize] != RoleKind::NoEffect
    }

    fn kind(&self, at: u32) -> u32 {
        match self.columns.kinds[at as usize] {
            RoleKind::Add => ENQ,
            RoleKind::Empty => NIL,
            RoleKind::Remove
            | RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => DEQ,
        }
    }

    fn interval(&self, at: u32) -> Interval {
        self.columns.intervals[at as usize]
    }

    /// The first gap in which a deq, empty or not, may be placed.
    fn deq_begin(&self, at: u32) -> u32 {
        self.interval(at).left.max(self.floor)
    }

    /// The gap in which the first of those left returns.
    fn first_return(&self) -> u32 {
        self.by_return.first(0).map_or(NONE, |it| self.interval(it).right)
    }

    /// Counts work, and checks the budget after much of it.
    fn spend(&mut self, work: u64) -> Result<(), Reason> {
        self.pace.add(work);
        let growth = self.growth();
        if self.pace.is_due(0, growth) { self.check_budget() } else { Ok(()) }
    }

    /// How many bytes more the next step may take while a table grows.
    fn growth(&self) -> usize {
        let is_full = self.tried.len() == self.tried.capacity();
        if is_full { 2 * self.tried.capacity() * size_of::<(u128, u32)>() } else { 0 }
    }

    fn check_budget(&mut self) -> Result<(), Reason> {
        self.budget.visit(self.configurations - self.reported);
        self.reported = self.configurations;
        let words = 12 * self.columns.len() + 4 * self.columns.names.len() + 2 * self.pairs.capacity();
        let tried = 2 * self.tried.capacity() * size_of::<(u128, u32)>();
        let frames = self.frames.capacity() * size_of::<Frame>();
        self.charge.set(words * size_of::<u32>() + tried + frames);
        let growth = self.growth();
        self.pace.check(self.budget, self.configurations, 0, growth)
    }

    /// The order that the removal of `trail` stands for, with all enqs that are needed.
    ///
    /// The enqs come in the order of their removal, then the others as they were called; the deqs
    /// in the order of their removal, each as early as its own enq and the enqs that had returned
    /// before it was called allow (Lemma 10).
    fn order(&self, trail: &[u32]) -> Vec<u32> {
        let mut enqs: Vec<u32> = trail.iter().copied().filter(|&it| self.kind(it) == ENQ).collect();
        let mut is_in = vec![false; self.columns.len()];
        enqs.iter().for_each(|&it| is_in[it as usize] = true);
        let is_other = |it: &u32| self.is_real(*it) && self.kind(*it) == ENQ && !is_in[*it as usize];
        enqs.extend(positions_by_call(self.columns).into_iter().filter(is_other));
        // By gap: how many enqs have to be inside because one of them returned before it.
        let mut needed = vec![0_u32; self.columns.gaps() + 1];
        for (place, &enq) in (1..).zip(&enqs) {
            let entry = &mut needed[self.interval(enq).right as usize + 1];
            *entry = place.max(*entry);
        }
        for gap in 1..needed.len() {
            needed[gap] = needed[gap].max(needed[gap - 1]);
        }
        let mut order: Vec<u32> = Vec::with_capacity(self.columns.len());
        let (mut put, mut gone) = (0, 0);
        for &deq in trail.iter().filter(|&&it| self.kind(it) != ENQ) {
            gone += usize::from(self.kind(deq) == DEQ);
            let until = gone.max(needed[self.interval(deq).left as usize] as usize);
            while put < until {
                order.push(enqs[put]);
                put += 1;
            }
            order.push(deq);
        }
        order.extend_from_slice(&enqs[put..]);
        order
    }

    /// The longest order found, as far as real time allows.
    fn prefix(&self) -> Vec<u32> {
        let mut order = self.order(&self.longest);
        let mut is_left: Vec<bool> = (0..self.columns.len() as u32).map(|it| self.is_real(it)).collect();
        let by_return = positions_by_return(self.columns, &positions_by_call(self.columns));
        let mut first = 0;
        for place in 0..order.len() {
            while !is_left[by_return[first] as usize] {
                first += 1;
            }
            if self.interval(by_return[first]).right < self.interval(order[place]).left {
                order.truncate(place);
                break;
            }
            is_left[order[place] as usize] = false;
        }
        order
    }

    /// The position of the complete operation not in `prefix` that returns first.
    fn first_left(&self, prefix: &[u32]) -> usize {
        let mut is_in = vec![false; self.columns.len()];
        prefix.iter().for_each(|&it| is_in[it as usize] = true);
        let is_left = |&at: &usize| !is_in[at] && !self.columns.is_pending(at);
        let by_return = |&at: &usize| self.columns.intervals[at].right;
        (0..self.columns.len()).filter(is_left).min_by_key(by_return).expect("a complete deq is left")
    }
}
