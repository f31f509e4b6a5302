//! Two frontiers: for queues, whatever values, peeks and pending operations there are.
//!
//! # Idea
//!
//! A linearization of a queue is two chains. The *tail side* is the order of the enqs e₁, e₂, …;
//! the *head side* is the order of the deqs d₁, d₂, … with the peeks and the empties (a deq or peek
//! that found nothing) between them. dⱼ removes eⱼ. The search builds both chains from the front,
//! and places eⱼ when an operation of the head side is to find it, not when eⱼ returns. So it never
//! has to guess the order of enqs that nothing has looked at, and its configurations hold no
//! contents of the queue: only which operations are placed, the times that both sides have reached,
//! and the value at the head.
//!
//! # Chains with times are linearizations
//!
//! Time is measured in gaps, as monitors do ([`Columns`]): an operation may take effect in the gaps
//! of its interval. Give each operation of two chains a gap of its interval, such that
//!
//! 1. times do not decrease along each chain;
//! 2. t(eⱼ) ≤ t(dⱼ), and dⱼ returned the value of eⱼ, or is pending;
//! 3. t(eⱼ) ≤ t(p) for a peek p between dⱼ₋₁ and dⱼ, and p returned the value of eⱼ;
//! 4. t(n) ≤ t(eⱼ) for an empty n between dⱼ₋₁ and dⱼ, and n comes before the peeks there.
//!
//! Every linearization gives such times. Conversely, list the operations position by position: the
//! empties between dⱼ₋₁ and dⱼ, then eⱼ, then the peeks, then dⱼ. Everything above only requires of
//! an operation that it is not earlier than operations before it in this list. So sorting the list
//! stably by time respects all of it, real time included, and is a linearization. For the same
//! reason the earliest times are found in one pass over the list, each from what was placed before:
//! two chains can be given times if and only if their earliest times are within the intervals.
//!
//! The *time of a side* is that of its last operation. That of the head side is kept at least that
//! of the tail side: whatever the head side places next is not earlier, by 2, 3 and 4.
//!
//! # Moves
//!
//! A side's *deadline* is the first return among its complete operations that are left. No
//! operation of the side can be placed later, as the one with the deadline is placed after it. So a
//! candidate is called no later than the deadline, and there are as many as operations open at a
//! time. Nothing is at the head at first, and after each deq. Then the moves are
//!
//! * an empty, if it is within the deadlines of *both* sides; both sides are then at its time;
//! * an enq, within both deadlines, because an operation of the head side will find it. It is tried
//!   only if some candidate of the head side has its value, or may have any (a pending deq).
//!
//! With a value at the head they are the deqs and peeks that returned it, and a pending deq. When
//! every complete operation of the head side is placed, the enqs that are left follow in the order
//! of their calls: the deadline of the tail side has not passed, so each can be placed at its call,
//! or at the time of its side if that is later.
//!
//! # What need not be tried
//!
//! * *Equals.* Of two candidates with the same role and value, the one that returns no later, if it
//!   can be placed no later. Where the other comes first, they may change places: each is then at a
//!   time at which the other was, after its own call, and before its own return.
//! * *Peeks and empties that change no time* are placed at once, and nothing else is tried: in an
//!   order that places one later, it can be moved here, which only lowers the times of others.
//! * *Pending enqs* have no deadline. They are placed only for a complete operation with their
//!   value, and a pending deq removes the element only after a peek has found it. If nothing but a
//!   pending deq finds the element, both may as well not have taken effect.
//! * *Pending operations that are equal* are used in the order of their calls, since of all of them
//!   the first can be placed earliest and none has a deadline. One candidate for each value is
//!   enough, and one pending deq, however many there are.
//! * *Configurations that were entered before.* What follows depends on which operations are left,
//!   on the two times and on what is at the head, nothing else. The sets are compared by a hash of
//!   128 bits.
//!
//! Source: ours.
//!
//! Requires: a queue without capacity, in which every operation has a role.
//!
//! Cost: a step takes time in the number k of operations open at a time. There are at most n · 4ᵏ
//! configurations up to their times; on natural histories, one to three for each operation.
//!
//! Invariants, between any two lines of `run`:
//!
//! * `trail` holds the placed operations, in the order of the list above; `frames` has one entry
//!   for each, with what was before it.
//! * `tail_time` ≤ `head_time`, and neither is later than the deadline of its side; `tail_time` is
//!   not later than the deadline of the head side.

use std::collections::HashSet;

use clewline_core::{
    Budget, Charge, Explanation, ObjectKind, OperationId, Problem, Reason, RoleKind, Verdict, Violation,
    Witness, sort_by_key,
};
use clewline_monitor::{Columns, NONE, Unsupported};

use super::links::{Links, positions_by_call, positions_by_return, random_bits};
use crate::checker::Checker;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct TwoFrontiers;

impl Checker for TwoFrontiers {
    fn name(&self) -> &str {
        "two-frontiers"
    }

    fn about(&self) -> &str {
        "for queues: orders enqs when they are found; equal values, peeks, pending operations"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        columns(problem).err()
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        match columns(problem) {
            Ok(columns) => decide_columns(problem, &columns, budget),
            Err(reason) => Verdict::Unknown(Reason::Refused(reason)),
        }
    }
}

/// Decides `problem`; `None` if it is refused.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    Some(decide_columns(problem, &columns(problem).ok()?, budget))
}

fn decide_columns(problem: &Problem<'_>, columns: &Columns, budget: &Budget) -> Verdict {
    let ids = |order: &[u32]| order.iter().map(|&at| problem.operations()[at as usize]).collect();
    match search(columns, budget) {
        Ok(Found::Linearization(order)) => Verdict::Holds(Witness { order: ids(&order) }),
        Ok(Found::Longest(prefix)) => {
            let next = first_left(problem, &prefix);
            let explanation = Explanation::Exhausted { prefix: ids(&prefix), next };
            Verdict::Violated(Violation::found(problem.operations().to_vec(), explanation))
        }
        Err(reason) => Verdict::Unknown(reason),
    }
}

/// What a search found, as positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A linearization.
    Linearization(Vec<u32>),
    /// There is none; this is how far the longest attempt came, up to what real time allows.
    Longest(Vec<u32>),
}

/// Searches a linearization of a queue, given by its columns.
///
/// # Errors
///
/// The limit that was hit, or that an operation is not one of a queue.
pub fn search(columns: &Columns, budget: &Budget) -> Result<Found, Reason> {
    if columns.kind != ObjectKind::Queue || unknown_operation(columns).is_some() {
        return Err(Reason::Refused("two-frontiers judges queues only".to_owned()));
    }
    let mut search = Search::new(columns, budget);
    let found = search.run();
    budget.visit(search.configurations - search.reported);
    Ok(if found? {
        Found::Linearization(search.order(&search.trail))
    } else {
        Found::Longest(search.prefix())
    })
}

/// The columns of a queue, or why this search does not support it.
fn columns(problem: &Problem<'_>) -> Result<Columns, String> {
    if problem.kind() != Some(ObjectKind::Queue) {
        return Err("two-frontiers judges queues without capacity only".to_owned());
    }
    let unknown = |at: usize| {
        let label = problem.operations().get(at).map_or("some operation".to_owned(), |&it| problem.label(it));
        Err(format!("two-frontiers does not know {label}"))
    };
    match Columns::with_copies(problem) {
        Ok(columns) => match unknown_operation(&columns) {
            Some(at) => unknown(at),
            None => Ok(columns),
        },
        Err(Unsupported::Unfit(at)) => unknown(at as usize),
        Err(_) => unknown(problem.len()),
    }
}

/// An operation that is not one of a queue, or whose result is known though it is pending, or not
/// known though it is complete.
fn unknown_operation(columns: &Columns) -> Option<usize> {
    (0..columns.len()).find(|&at| match columns.kinds[at] {
        RoleKind::Add | RoleKind::NoEffect => false,
        RoleKind::Remove | RoleKind::Observe | RoleKind::Empty => columns.is_pending(at),
        RoleKind::RemoveUnknown => !columns.is_pending(at),
        RoleKind::Absent | RoleKind::Replace => true,
    })
}

/// The complete operation not in `prefix` that returns first.
fn first_left(problem: &Problem<'_>, prefix: &[u32]) -> OperationId {
    let mut is_left: Vec<bool> = problem.spans().iter().map(|it| !it.is_pending()).collect();
    prefix.iter().for_each(|&it| is_left[it as usize] = false);
    let left = (0..problem.len()).filter(|&at| is_left[at]);
    let next = left.min_by_key(|&at| problem.spans()[at].end()).expect("an operation could not be placed");
    problem.operations()[next]
}

// How many steps are taken between two checks of the budget.
const BUDGET_CHECK_INTERVAL_STEPS: u64 = 1_024;

// A configuration with a single move is remembered only if the number of placed operations is a
// multiple of this: so at most as many steps are repeated.
const FORCED_STEPS_REPEATED_MAX: usize = 16;

// The lists of complete operations.
const TAIL: u32 = 0;
const HEAD: u32 = 1;

/// An operation to be placed, and when.
#[derive(Clone, Copy)]
struct Move {
    at: u32,
    time: u32,
}

/// A place where a move was made: what was before it, and the moves that can be tried.
struct Frame {
    tail_time: u32,
    head_time: u32,
    head_value: u32,
    is_head_unfound: bool,
    // Its moves are `moves[start..]`, up to the next frame's; this one comes next.
    start: usize,
    next: usize,
}

struct Search<'c> {
    columns: &'c Columns,
    budget: &'c Budget,
    // The complete operations of each side that are left.
    by_call: Links,
    by_return: Links,
    // The pending operations that are left, by their calls: a list of enqs for each value, and then
    // one of deqs.
    pending: Links,
    tail_time: u32,
    head_time: u32,
    // The value at the head if its enq is placed, else `NONE`.
    head_value: u32,
    // Whether a pending enq put it there, and no peek has found it.
    is_head_unfound: bool,
    trail: Vec<Move>,
    // The hash of the set of operations in `trail`.
    hash: u128,
    frames: Vec<Frame>,
    moves: Vec<Move>,
    // The values that candidates of the head side have, and by value the step in which it was
    // noted.
    wanted: Vec<u32>,
    wanted_in: Vec<u64>,
    // The hash of the placed set and of the value at the head, and the two times.
    entered: HashSet<([u64; 2], [u32; 2])>,
    longest: Vec<Move>,
    // How much of `longest` is also in `trail`.
    shared: usize,
    configurations: u64,
    reported: u64,
    charge: Charge,
}

impl<'c> Search<'c> {
    fn new(columns: &'c Columns, budget: &'c Budget) -> Self {
        let (count, values) = (columns.len(), columns.names.len());
        let mut search = Search {
            columns,
            budget,
            by_call: Links::new(count, 2),
            by_return: Links::new(count, 2),
            pending: Links::new(count, values + 1),
            tail_time: 0,
            head_time: 0,
            head_value: NONE,
            is_head_unfound: false,
            trail: Vec::with_capacity(count),
            hash: 0,
            frames: Vec::with_capacity(count),
            moves: Vec::new(),
            wanted: Vec::new(),
            wanted_in: vec![0; values],
            entered: HashSet::new(),
            longest: Vec::new(),
            shared: 0,
            configurations: 0,
            reported: 0,
            charge: budget.charge(),
        };
        let by_call = positions_by_call(columns);
        for &at in &by_call {
            match (columns.kinds[at as usize], columns.is_pending(at as usize)) {
                (RoleKind::NoEffect, _) => (),
                (RoleKind::Add, true) => search.pending.push(columns.elements[at as usize], at),
                (_, true) => search.pending.push(values as u32, at),
                (_, false) => search.by_call.push(search.side(at), at),
            }
        }
        for at in positions_by_return(columns, &by_call) {
            if search.is_owed(at) {
                search.by_return.push(search.side(at), at);
            }
        }
        search
    }

    /// Whether the complete operations of the head side can all be placed.
    fn run(&mut self) -> Result<bool, Reason> {
        self.check_budget()?;
        while let Some(head_deadline) = self.deadline(HEAD) {
            self.configurations += 1;
            if self.configurations.is_multiple_of(BUDGET_CHECK_INTERVAL_STEPS)
                || self.budget.configurations() < self.configurations
            {
                self.check_budget()?;
            }
            if !self.enter(head_deadline) && !self.retreat() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the first of the moves that can be made here, and remembers the others; false if there
    /// is none, or if they have all been tried.
    fn enter(&mut self, head_deadline: u32) -> bool {
        let start = self.moves.len();
        if self.head_value == NONE {
            self.find_empties_and_enqs(start, head_deadline);
        } else {
            self.find_deqs_and_peeks(start, head_deadline);
        }
        let choices = self.moves.len() - start;
        let is_remembered = 1 < choices || self.trail.len().is_multiple_of(FORCED_STEPS_REPEATED_MAX);
        if choices == 0 || (is_remembered && !self.entered.insert(self.configuration())) {
            self.moves.truncate(start);
            return false;
        }
        if 1 < choices {
            let Search { columns, head_time, .. } = *self;
            // The earliest first, and then what has to return first.
            let key = |it: &Move| (it.time.max(head_time), columns.intervals[it.at as usize].right, it.at);
            self.moves[start..].sort_unstable_by_key(key);
        }
        let Search { tail_time, head_time, head_value, is_head_unfound, .. } = *self;
        let next = start + 1;
        self.frames.push(Frame { tail_time, head_time, head_value, is_head_unfound, start, next });
        self.place(self.moves[start]);
        true
    }

    /// The moves where nothing is at the head.
    fn find_empties_and_enqs(&mut self, start: usize, head_deadline: u32) {
        let deadline = head_deadline.min(self.deadline(TAIL).unwrap_or(NONE));
        self.wanted.clear();
        let mut next = self.by_call.first(HEAD);
        while let Some(at) = next.filter(|&it| self.call(it) <= head_deadline) {
            next = self.by_call.after(at);
            if self.columns.kinds[at as usize] == RoleKind::Empty {
                let time = self.head_time.max(self.call(at));
                if time == self.tail_time {
                    return self.only_move(start, Move { at, time });
                }
                if time <= deadline {
                    self.add_move(start, Move { at, time });
                }
            } else {
                let value = self.columns.elements[at as usize];
                if self.wanted_in[value as usize] != self.configurations {
                    self.wanted_in[value as usize] = self.configurations;
                    self.wanted.push(value);
                }
            }
        }
        let is_any_wanted = self.pending_deq(head_deadline).is_some();
        let mut next = self.by_call.first(TAIL);
        while let Some(at) = next.filter(|&it| self.call(it) <= deadline) {
            next = self.by_call.after(at);
            let value = self.columns.elements[at as usize];
            if is_any_wanted || self.wanted_in[value as usize] == self.configurations {
                self.add_move(start, Move { at, time: self.tail_time.max(self.call(at)) });
            }
        }
        for place in 0..self.wanted.len() {
            let enq = self.pending.first(self.wanted[place]);
            if let Some(at) = enq.filter(|&it| self.call(it) <= deadline) {
                self.add_move(start, Move { at, time: self.tail_time.max(self.call(at)) });
            }
        }
    }

    /// The moves where a value is at the head.
    fn find_deqs_and_peeks(&mut self, start: usize, head_deadline: u32) {
        let mut next = self.by_call.first(HEAD);
        while let Some(at) = next.filter(|&it| self.call(it) <= head_deadline) {
            next = self.by_call.after(at);
            let kind = self.columns.kinds[at as usize];
            if kind == RoleKind::Empty || self.columns.elements[at as usize] != self.head_value {
                continue;
            }
            let time = self.head_time.max(self.call(at));
            if kind == RoleKind::Observe && time == self.head_time {
                return self.only_move(start, Move { at, time });
            }
            self.add_move(start, Move { at, time });
        }
        if let Some(at) = self.pending_deq(head_deadline).filter(|_| !self.is_head_unfound) {
            self.add_move(start, Move { at, time: self.head_time.max(self.call(at)) });
        }
    }

    fn only_move(&mut self, start: usize, it: Move) {
        self.moves.truncate(start);
        self.moves.push(it);
    }

    /// Adds a move, unless an equal operation is as good; removes those to which it is preferred.
    fn add_move(&mut self, start: usize, new: Move) {
        let columns = self.columns;
        let role = |it: Move| (columns.kinds[it.at as usize], columns.elements[it.at as usize]);
        let right = |it: Move| columns.intervals[it.at as usize].right;
        let spares = |a: Move, b: Move| a.time <= b.time && right(a) <= right(b) && role(a) == role(b);
        let mut place = start;
        while let Some(&old) = self.moves.get(place) {
            if spares(old, new) {
                return;
            }
            if spares(new, old) {
                self.moves.swap_remove(place);
            } else {
                place += 1;
            }
        }
        self.moves.push(new);
    }

    /// Backtracks to where another move can be made, and makes it; false if there is none.
    fn retreat(&mut self) -> bool {
        if self.longest.len() < self.trail.len() {
            self.longest.truncate(self.shared);
            self.longest.extend_from_slice(&self.trail[self.shared..]);
            self.shared = self.trail.len();
        }
        while let Some(frame) = self.frames.last_mut() {
            let place = frame.next;
            frame.next += 1;
            (self.tail_time, self.head_time) = (frame.tail_time, frame.head_time);
            (self.head_value, self.is_head_unfound) = (frame.head_value, frame.is_head_unfound);
            let placed = self.trail.pop().expect("one for each frame");
            self.put_back(placed.at);
            self.shared = self.shared.min(self.trail.len());
            if let Some(&other) = self.moves.get(place) {
                self.place(other);
                return true;
            }
            let frame = self.frames.pop().expect("looked at");
            self.moves.truncate(frame.start);
        }
        false
    }

    fn place(&mut self, it: Move) {
        match self.columns.kinds[it.at as usize] {
            RoleKind::Add => {
                self.tail_time = it.time;
                self.head_time = self.head_time.max(it.time);
                self.head_value = self.columns.elements[it.at as usize];
                self.is_head_unfound = !self.is_owed(it.at);
            }
            RoleKind::Empty => (self.tail_time, self.head_time) = (it.time, it.time),
            RoleKind::Observe => (self.head_time, self.is_head_unfound) = (it.time, false),
            RoleKind::Remove
            | RoleKind::RemoveUnknown
            | RoleKind::Absent
            | RoleKind::Replace
            | RoleKind::NoEffect => {
                self.head_time = it.time;
                (self.head_value, self.is_head_unfound) = (NONE, false);
            }
        }
        self.trail.push(it);
        self.hash ^= random_bits(it.at);
        if self.is_owed(it.at) {
            self.by_call.unlink(it.at);
            self.by_return.unlink(it.at);
        } else {
            self.pending.unlink(it.at);
        }
    }

    fn put_back(&mut self, at: u32) {
        self.hash ^= random_bits(at);
        if self.is_owed(at) {
            self.by_call.relink(at);
            self.by_return.relink(at);
        } else {
            self.pending.relink(at);
        }
    }

    fn configuration(&self) -> ([u64; 2], [u32; 2]) {
        // The numbers that stand for what is at the head are greater than those of operations.
        let head = self.head_value.wrapping_add(1) << 1 | u32::from(self.is_head_unfound);
        let set = self.hash ^ random_bits(NONE - head);
        ([(set >> 64) as u64, set as u64], [self.tail_time, self.head_time])
    }

    /// The first pending deq that is left, if it was called in time.
    fn pending_deq(&self, deadline: u32) -> Option<u32> {
        self.pending.first(self.columns.names.len() as u32).filter(|&it| self.call(it) <= deadline)
    }

    /// The first return of the complete operations of a side that are left.
    fn deadline(&self, side: u32) -> Option<u32> {
        self.by_return.first(side).map(|it| self.columns.intervals[it as usize].right)
    }

    fn call(&self, at: u32) -> u32 {
        self.columns.intervals[at as usize].left
    }

    fn side(&self, at: u32) -> u32 {
        if self.columns.kinds[at as usize] == RoleKind::Add { TAIL } else { HEAD }
    }

    /// Whether it has to be placed: it is complete.
    fn is_owed(&self, at: u32) -> bool {
        !self.columns.is_pending(at as usize)
    }

    fn check_budget(&mut self) -> Result<(), Reason> {
        self.budget.visit(self.configurations - self.reported);
        self.reported = self.configurations;
        let words = 6 * self.columns.len() + 4 * self.columns.names.len();
        let moves = self.trail.capacity() + self.moves.capacity() + self.longest.capacity();
        let frames = self.frames.capacity() * size_of::<Frame>();
        // One more byte for each place of the table.
        let entered = self.entered.capacity() * 8 / 7 * (size_of::<([u64; 2], [u32; 2])>() + 1);
        self.charge.set(words * size_of::<u32>() + moves * size_of::<Move>() + frames + entered);
        self.budget.allow(self.configurations)
    }

    /// The order that `trail` stands for, with the complete enqs that are left.
    fn order(&self, trail: &[Move]) -> Vec<u32> {
        let mut is_placed = vec![false; self.columns.len()];
        let mut all: Vec<Move> = Vec::with_capacity(self.columns.len());
        let mut tail_time = 0;
        for &it in trail {
            is_placed[it.at as usize] = true;
            if matches!(self.columns.kinds[it.at as usize], RoleKind::Add | RoleKind::Empty) {
                tail_time = it.time;
            }
            all.push(it);
        }
        for at in positions_by_call(self.columns) {
            if self.side(at) == TAIL && self.is_owed(at) && !is_placed[at as usize] {
                all.push(Move { at, time: self.call(at).max(tail_time) });
            }
        }
        sort_by_key(&mut all, |it| it.time);
        all.into_iter().map(|it| it.at).collect()
    }

    /// The longest order found, as far as real time allows.
    fn prefix(&self) -> Vec<u32> {
        let mut order = self.order(&self.longest);
        let mut is_left: Vec<bool> = (0..self.columns.len() as u32).map(|it| self.is_owed(it)).collect();
        let mut by_return = positions_by_return(self.columns, &positions_by_call(self.columns));
        by_return.retain(|&it| is_left[it as usize]);
        let mut first = 0;
        for place in 0..order.len() {
            while by_return.get(first).is_some_and(|&it| !is_left[it as usize]) {
                first += 1;
            }
            let Some(&owed) = by_return.get(first) else { break };
            if self.columns.intervals[owed as usize].right < self.call(order[place]) {
                order.truncate(place);
                break;
            }
            is_left[order[place] as usize] = false;
        }
        order
    }
}
