//! Two frontiers: for queues, relaxed queues and channels, whatever values, peeks and pending
//! operations there are; and linearizations of queues with a capacity (`room`).
//!
//! # Idea
//!
//! A linearization of a queue is two chains. The *tail side* is the order of the enqs e₁, e₂, …;
//! the *head side* is the order of the deqs d₁, d₂, … with the peeks and the empties (a deq or peek
//! that found nothing) between them. dⱼ removes eⱼ. The search builds both chains from the front,
//! and places eⱼ when an operation of the head side is to find it, not when eⱼ returns. So it never
//! has to guess the order of enqs that nothing has looked at, and its configurations hold no
//! contents of the queue: only which operations are placed, and the value at the head.
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
//! # Moves
//!
//! A side's *deadline* is the first return among its complete operations that are left. No
//! operation of the side can be placed later, as the one with the deadline comes after it. The
//! *time* is the latest call of all placed operations, and the earliest time of the last operation
//! of the head side is at most that. Nothing is at the head at first, and after each deq. Then the
//! moves are
//!
//! * an empty that was called within the deadline of the head side, if also the time is then within
//!   the deadline of the tail side, whose next operation is not earlier than the empty;
//! * an enq that was called within both deadlines, because an operation of the head side will find
//!   it. It is tried only if some candidate of the head side has its value, or may have any (a
//!   pending deq).
//!
//! With a value at the head they are the deqs and peeks that returned it, and a pending deq, called
//! within the deadline of the head side. So the time is never later than the deadline of the head
//! side, and the earliest time of the last enq not later than either deadline. Hence that a move is
//! called in time is enough: its earliest time, the later one of its call and a time within the
//! deadline, is within the deadline as well. Only an empty couples the sides the other way round.
//!
//! When every complete operation of the head side is placed, the enqs that are left follow in the
//! order of their calls: each can be placed at its call, or at the time of the last enq if that is
//! later.
//!
//! # Channels
//!
//! A close is the last element of the tail side. The head side never removes it; a recv that found
//! the channel closed is a peek that found this element, and a recv that found nothing comes before
//! it, as before any other element. So a close becomes a move when such a peek wants it, and no
//! complete send is left. A send that was refused is later than the first close, and so is every
//! other close; nothing else is asked of either. They belong to the tail side, whose sends all come
//! before them, hence their returns are deadlines of that side. They are placed last, when the head
//! side is complete. If nothing was closed by then, the close that was called first closes the
//! channel after the sends that are left. For this each send must have been called before the first
//! return of the others, and so must that close. That does not depend on any choice: `run` checks
//! it at the start.
//!
//! # Relaxed queues
//!
//! In a queue that is out of order by at most k, an operation of the head side finds one of the
//! first k + 1 elements. The *window* holds those at the head whose enqs are placed and which are
//! not removed, with the number of times that each was overtaken; in a plain queue it holds one
//! element at most. Chains are as before, except that dⱼ removes some element of the window. An enq
//! is placed only for the next operation of the head side, which finds its element or that of an
//! enq placed after it; so each placed enq is still not later than the last operation of the head
//! side, and nothing above about times changes. Enqs whose elements are overtaken right away have
//! to be guessed; each is found again after k more removals at most.
//!
//! # What need not be tried
//!
//! * *Equals.* Of two candidates with the same role and value, the one that returns no later, if
//!   the time is then no later. Where the other comes first, they may change places: both were
//!   called in time for either place, the time is not later, and the one that is left longer
//!   returns later.
//! * *Peeks and empties that do not change the time* are placed at once, and nothing else is tried:
//!   in an order that places one later, it can be moved here, which changes no time and can only
//!   move the deadline of the head side.
//! * *Pending enqs* have no deadline. They are placed only for a complete operation with their
//!   value (in a relaxed queue, also where they may be overtaken), and a pending deq removes the
//!   element only after a peek has found it. If nothing but a pending deq finds the element, both
//!   may as well not have taken effect.
//! * *Pending operations that are equal* are used in the order of their calls, since of all of them
//!   the first can be placed earliest and none has a deadline. One candidate for each value is
//!   enough, and one pending deq, however many there are.
//! * *Configurations that were entered before.* What follows depends on which operations are left
//!   and on what is at the head; the time follows from the placed operations. The sets are compared
//!   by a hash of 128 bits. (Without pending deqs, even what is at the head follows from the sets.)
//!
//! Source: ours.
//!
//! Requires: a queue, relaxed queue or channel, in which every operation has a role, but for enqs
//! that found no room.
//!
//! Cost: a step takes time in the number k of operations open at a time. There are at most n · 4ᵏ
//! configurations without pending deqs; on natural histories, one to three for each operation.
//!
//! Invariants, between any two lines of `run`:
//!
//! * `trail` holds the placed operations, in the order of the list above; `frames` has one entry
//!   for each, with what was before it.
//! * `time` is the latest call in `trail`, and not later than the deadline of the head side.

use std::collections::HashSet;

use clewline_core::{Budget, Charge, ObjectKind, Problem, Reason, RoleKind, Verdict, sort_by_key};
use clewline_monitor::{Columns, NONE};

use super::{
    backtracking::{Longest, add_move},
    found::{Found, Scope, as_far_as_allowed},
    room::Room,
    window::{Undo, Window},
};
use crate::{
    checker::Checker,
    links::{Links, positions_by_call, positions_by_return, random_bits},
    pace::{LOOK_WORK, Pace, STEP_WORK},
};

/// See the [module documentation](self).
#[derive(Debug)]
pub struct TwoFrontiers;

impl Checker for TwoFrontiers {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "for queues, also relaxed, and channels: orders enqs when they are found; equal values, peeks, pending operations"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        SCOPE.columns(problem).err()
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        match SCOPE.columns(problem) {
            Ok(columns) => decide_columns(problem, &columns, budget),
            Err(reason) => Verdict::Unknown(Reason::Refused(reason)),
        }
    }
}

/// Its name.
pub(super) const NAME: &str = "two-frontiers";

const SCOPE: Scope = Scope {
    name: NAME,
    objects: "queues and channels",
    knows: |it| matches!(it, ObjectKind::Queue | ObjectKind::QuasiQueue { .. } | ObjectKind::Channel),
};

/// Decides `problem`; `None` if it is refused.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    Some(decide_columns(problem, &SCOPE.columns(problem).ok()?, budget))
}

fn decide_columns(problem: &Problem<'_>, columns: &Columns, budget: &Budget) -> Verdict {
    search(columns, budget).map_or_else(Verdict::Unknown, |it| it.verdict(problem))
}

/// Searches a linearization of a queue, relaxed queue or channel, given by its columns.
///
/// # Errors
///
/// The limit that was hit, or that an operation is not one of such an object.
pub fn search(columns: &Columns, budget: &Budget) -> Result<Found, Reason> {
    SCOPE.check(columns)?;
    let mut search = Search::new(columns, None, budget);
    let found = search.run();
    budget.visit(search.configurations - search.reported);
    Ok(if found? {
        Found::Linearization(search.order(&search.trail))
    } else {
        Found::Longest(as_far_as_allowed(columns, search.order(search.longest.moves())))
    })
}

/// Searches a linearization of a queue with a capacity, given by its columns, in which an enq that
/// found no room is [`RoleKind::Absent`]. `None` if it found none: there may be one.
///
/// # Errors
///
/// The limit that was hit, or that an operation is not one of such a queue.
pub fn search_within(
    columns: &Columns,
    capacity: usize,
    budget: &Budget,
) -> Result<Option<Vec<u32>>, Reason> {
    let is_known = |at: usize| match columns.kinds[at] {
        RoleKind::RemoveUnknown | RoleKind::NoEffect => columns.is_pending(at),
        RoleKind::Remove | RoleKind::Observe | RoleKind::Empty | RoleKind::Absent => !columns.is_pending(at),
        RoleKind::Add => true,
        RoleKind::Replace => false,
    };
    if !(0..columns.len()).all(is_known) {
        return Err(Reason::Refused(format!("{NAME} judges queues only")));
    }
    let mut search = Search::new(columns, Some(Room::new(columns, capacity)), budget);
    let found = search.run();
    budget.visit(search.configurations - search.reported);
    Ok(found?.then(|| search.order_within()))
}

// A configuration with a single move is remembered only if the number of placed operations is a
// multiple of this: so at most as many steps are repeated.
const FORCED_STEPS_REPEATED_MAX: usize = 16;

// Of each configuration that is remembered: its hash and one more byte, in a table with some room.
const ENTERED_BYTES: usize = (size_of::<u128>() + 1) * 8 / 7;

// What is noted of the room with each operation.
const ROOM_WORDS: usize = 16;

// An odd number with as many ones as zeros, about.
const HASH_MULTIPLIER: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

// The lists of complete operations.
const TAIL: u32 = 0;
const HEAD: u32 = 1;

/// An operation to be placed, and the time after it.
#[derive(Clone, Copy)]
struct Move {
    at: u32,
    time: u32,
    // Where an operation of the head side finds its element; 0 for others.
    place: u32,
    // Whether it is an enq for whose element no candidate looks.
    is_passed: bool,
}

/// A place where a move was made: what was before it, and the moves that can be tried.
struct Frame {
    time: u32,
    undo: Undo,
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
    // The values of pending enqs.
    pending_values: Vec<u32>,
    time: u32,
    window: Window,
    // The element that closes a channel, if there is one, else `NONE`; and how many complete enqs,
    // other than closes, are left.
    closed: u32,
    enqs_left: usize,
    // Of a queue with a capacity.
    room: Option<Room>,
    trail: Vec<Move>,
    // The hash of the set of operations in `trail`.
    hash: u128,
    frames: Vec<Frame>,
    moves: Vec<Move>,
    // The values that candidates of the head side have, and by value the step in which it was
    // noted.
    wanted: Vec<u32>,
    wanted_in: Vec<u64>,
    // Hashes of the placed set and of what is at the head.
    entered: HashSet<u128>,
    longest: Longest<Move>,
    configurations: u64,
    reported: u64,
    pace: Pace,
    charge: Charge,
}

impl<'c> Search<'c> {
    fn new(columns: &'c Columns, room: Option<Room>, budget: &'c Budget) -> Self {
        let (count, values) = (columns.len(), columns.names.len());
        let factor = if let ObjectKind::QuasiQueue { factor } = columns.kind { factor as usize } else { 0 };
        let mut search = Search {
            columns,
            budget,
            by_call: Links::new(count, 2),
            by_return: Links::new(count, 2),
            pending: Links::new(count, values + 1),
            pending_values: Vec::new(),
            time: 0,
            window: Window::new(factor),
            closed: NONE,
            enqs_left: 0,
            room,
            trail: Vec::with_capacity(count),
            hash: 0,
            frames: Vec::with_capacity(count),
            moves: Vec::new(),
            wanted: Vec::new(),
            wanted_in: vec![0; values],
            entered: HashSet::new(),
            longest: Longest::new(),
            configurations: 0,
            reported: 0,
            pace: Pace::default(),
            charge: budget.charge(),
        };
        if columns.kind == ObjectKind::Channel {
            let closed = columns.names.iter().position(|&it| it == ObjectKind::CLOSED);
            search.closed = closed.map_or(NONE, |it| it as u32);
        }
        let by_call = positions_by_call(columns);
        for &at in &by_call {
            search.enqs_left += usize::from(search.is_owed(at) && search.is_enq(at));
            match (columns.kinds[at as usize], columns.is_pending(at as usize)) {
                (RoleKind::NoEffect, _) => (),
                (RoleKind::Add, true) => search.pending.push(columns.elements[at as usize], at),
                (_, true) => search.pending.push(values as u32, at),
                (_, false) => search.by_call.push(search.side(at), at),
            }
        }
        search.pending_values = (0..values as u32).filter(|&it| search.pending.first(it).is_some()).collect();
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
        if self.room.is_none() && !self.can_be_closed() {
            return Ok(false);
        }
        loop {
            let head_deadline = self.deadline(HEAD);
            let is_over = head_deadline.is_none() && !self.has_refused();
            if is_over && self.can_finish() {
                return Ok(true);
            }
            self.configurations += 1;
            self.pace.add(STEP_WORK);
            if self.pace.is_due(0, self.growth()) || self.budget.configurations() < self.configurations {
                self.check_budget()?;
            }
            if (is_over || !self.enter(head_deadline.unwrap_or(NONE))) && !self.retreat() {
                return Ok(false);
            }
        }
    }

    /// Whether enqs are left that found no room.
    fn has_refused(&self) -> bool {
        self.room.as_ref().is_some_and(Room::has_refused)
    }

    /// Whether there is room for the enqs that are left.
    fn can_finish(&self) -> bool {
        self.room.as_ref().is_none_or(|it| it.admits(self.columns, self.by_return.members(TAIL)))
    }

    /// Makes the first of the moves that can be made here, and remembers the others; false if there
    /// is none, or if they have all been tried.
    fn enter(&mut self, head_deadline: u32) -> bool {
        let start = self.moves.len();
        if self.deadline(HEAD).is_none() {
            // Then any enq can follow, until no refused ones are left.
            if !self.find_refused(start, NONE) {
                self.find_rest(start);
            }
        } else if !self.find_refused(start, head_deadline)
            && !self.find_head_moves(start, head_deadline)
            && self.window.has_room()
        {
            self.find_enqs(start, head_deadline);
        }
        let choices = self.moves.len() - start;
        let is_remembered = 1 < choices || self.trail.len().is_multiple_of(FORCED_STEPS_REPEATED_MAX);
        if choices == 0 || (is_remembered && !self.entered.insert(self.configuration())) {
            self.moves.truncate(start);
            return false;
        }
        if 1 < choices {
            // The earliest first, and then what has to return first.
            let columns = self.columns;
            let key = |it: &Move| (it.is_passed, it.time, columns.intervals[it.at as usize].right, it.at);
            self.moves[start..].sort_unstable_by_key(key);
        }
        let time = self.time;
        let undo = self.place(self.moves[start]);
        self.frames.push(Frame { time, undo, start, next: start + 1 });
        true
    }

    /// The moves of enqs that find no room; true if nothing else need be tried.
    fn find_refused(&mut self, start: usize, head_deadline: u32) -> bool {
        let is_next = head_deadline == NONE || self.window.is_empty();
        let Some(room) = self.room.as_ref().filter(|it| it.has_refused() && is_next) else { return false };
        let tail = room.tail();
        let deadline = self.deadline(TAIL).unwrap_or(NONE);
        let mut next = self.by_call.first(TAIL);
        while let Some(at) = next.filter(|&it| self.call(it) <= deadline) {
            next = self.by_call.after(at);
            self.pace.add(LOOK_WORK);
            let call = self.call(at);
            let can_come = |it: &Room| it.refusal_time(call).is_some();
            if self.is_enq(at) || !self.room.as_ref().is_some_and(can_come) {
                continue;
            }
            if call <= tail {
                self.only_move(start, self.move_to(at));
                return true;
            }
            self.add_move(start, self.move_to(at));
        }
        false
    }

    /// The moves of enqs when the head side is complete.
    fn find_rest(&mut self, start: usize) {
        let deadline = self.deadline(TAIL).unwrap_or(NONE);
        let mut next = self.by_call.first(TAIL);
        while let Some(at) = next.filter(|&it| self.call(it) <= deadline) {
            next = self.by_call.after(at);
            self.pace.add(LOOK_WORK);
            if self.is_enq(at) && self.has_room(deadline) {
                self.add_move(start, self.move_to(at));
            }
        }
    }

    /// Whether an enq that found no room, and is left, could not follow an empty.
    fn has_earlier_refusal(&self) -> bool {
        let Some(deadline) = self.room.as_ref().and_then(Room::refusal_deadline) else { return false };
        let mut called = self.by_call.members(TAIL).take_while(|&it| self.call(it) <= deadline);
        called.any(|it| !self.is_enq(it))
    }

    /// Whether there is room for another enq by this deadline of the tail side.
    fn has_room(&self, deadline: u32) -> bool {
        self.room.as_ref().is_none_or(|it| it.enq_time(0, deadline).is_some())
    }

    /// The moves of the head side; true if nothing else need be tried. Also notes which values its
    /// candidates have.
    fn find_head_moves(&mut self, start: usize, head_deadline: u32) -> bool {
        let both = head_deadline.min(self.deadline(TAIL).unwrap_or(NONE));
        self.wanted.clear();
        let mut next = self.by_call.first(HEAD);
        while let Some(at) = next.filter(|&it| self.call(it) <= head_deadline) {
            next = self.by_call.after(at);
            self.pace.add(LOOK_WORK);
            let (kind, value) = (self.columns.kinds[at as usize], self.columns.elements[at as usize]);
            let is_empty = kind == RoleKind::Empty;
            if !is_empty && self.wanted_in[value as usize] != self.configurations {
                self.wanted_in[value as usize] = self.configurations;
                self.wanted.push(value);
            }
            let place =
                if is_empty { self.window.is_empty().then_some(0) } else { self.window.place_of(value) };
            let Some(place) = place else { continue };
            let it = Move { place: place as u32, ..self.move_to(at) };
            if is_empty && both < it.time {
                continue;
            }
            let may_wait = is_empty && self.has_earlier_refusal();
            if kind != RoleKind::Remove && it.time == self.time && !may_wait {
                self.only_move(start, it);
                return true;
            }
            self.add_move(start, it);
        }
        if let Some(at) = self.pending_deq(head_deadline) {
            let it = self.move_to(at);
            let may_leave = |it: &usize| self.window.value(*it) != self.closed;
            let places: Vec<usize> = self.window.removable().filter(may_leave).collect();
            for place in places {
                self.add_move(start, Move { place: place as u32, ..it });
            }
        }
        false
    }

    /// The moves of the tail side.
    fn find_enqs(&mut self, start: usize, head_deadline: u32) {
        let tail_deadline = self.deadline(TAIL).unwrap_or(NONE);
        if !self.has_room(tail_deadline) {
            return;
        }
        let deadline = head_deadline.min(tail_deadline);
        let is_any_wanted = self.pending_deq(head_deadline).is_some();
        let mut next = self.by_call.first(TAIL);
        while let Some(at) = next.filter(|&it| self.call(it) <= deadline) {
            next = self.by_call.after(at);
            self.pace.add(LOOK_WORK);
            self.add_enq(start, at, is_any_wanted);
        }
        for place in 0..self.wanted.len() {
            let enq = self.pending.first(self.wanted[place]);
            if let Some(at) = enq.filter(|&it| self.call(it) <= deadline) {
                self.add_enq(start, at, false);
            }
        }
        if !self.window.has_more_room() {
            return;
        }
        for place in 0..self.pending_values.len() {
            let enq = self.pending.first(self.pending_values[place]);
            if let Some(at) = enq.filter(|&it| self.call(it) <= deadline) {
                self.add_enq(start, at, false);
            }
        }
    }

    /// Adds the move of an operation of the tail side, if the next operation of the head side may
    /// find its element, or overtake it.
    fn add_enq(&mut self, start: usize, at: u32, is_any_wanted: bool) {
        let value = self.columns.elements[at as usize];
        let is_wanted = || self.wanted_in[value as usize] == self.configurations;
        let (is_found, may_pass) = if self.is_enq(at) {
            ((is_any_wanted || is_wanted()) && self.window.shows(value), self.window.has_more_room())
        } else {
            (self.is_close(at) && self.enqs_left == 0 && is_wanted(), false)
        };
        if is_found || may_pass {
            self.add_move(start, Move { is_passed: !is_found, ..self.move_to(at) });
        }
    }

    fn move_to(&self, at: u32) -> Move {
        Move { at, time: self.time.max(self.call(at)), place: 0, is_passed: false }
    }

    fn only_move(&mut self, start: usize, it: Move) {
        self.moves.truncate(start);
        self.moves.push(it);
    }

    /// Adds a move, unless an equal operation is as good; removes those to which it is preferred.
    fn add_move(&mut self, start: usize, new: Move) {
        let columns = self.columns;
        // No operation finds the elements that are added when the head side is complete.
        let is_seen = self.deadline(HEAD).is_some();
        let element = |at: u32| if is_seen { columns.elements[at as usize] } else { 0 };
        let role = |it: Move| (columns.kinds[it.at as usize], element(it.at), it.place);
        let right = |it: Move| columns.intervals[it.at as usize].right;
        // While enqs are left that found no room, the time of the tail side matters as well.
        let tail = self.room.as_ref().filter(|it| it.has_refused()).map_or(NONE, Room::tail);
        let call = |it: Move| columns.intervals[it.at as usize].left.max(tail);
        let spares = |a: Move, b: Move| {
            a.time <= b.time && call(a) <= call(b) && right(a) <= right(b) && role(a) == role(b)
        };
        add_move(&mut self.moves, start, new, spares);
    }

    /// Backtracks to where another move can be made, and makes it; false if there is none.
    fn retreat(&mut self) -> bool {
        self.longest.note(&self.trail);
        while let Some(frame) = self.frames.last_mut() {
            let place = frame.next;
            frame.next += 1;
            self.time = frame.time;
            self.window.undo(frame.undo);
            let placed = self.trail.pop().expect("one for each frame");
            self.put_back(placed.at);
            self.longest.take_back(self.trail.len());
            if let Some(&other) = self.moves.get(place) {
                let undo = self.place(other);
                self.frames.last_mut().expect("looked at").undo = undo;
                return true;
            }
            let frame = self.frames.pop().expect("looked at");
            self.moves.truncate(frame.start);
        }
        false
    }

    fn place(&mut self, it: Move) -> Undo {
        self.time = it.time;
        let (kind, head_deadline) = (self.columns.kinds[it.at as usize], self.deadline(HEAD));
        let call = self.call(it.at);
        if let Some(room) = &mut self.room {
            room.place(kind, call, it.time, head_deadline.unwrap_or(NONE));
        }
        self.trail.push(it);
        self.hash ^= random_bits(it.at);
        if self.is_owed(it.at) {
            self.enqs_left -= usize::from(self.is_enq(it.at));
            self.by_call.unlink(it.at);
            self.by_return.unlink(it.at);
        } else {
            self.pending.unlink(it.at);
        }
        match kind {
            RoleKind::Add if head_deadline.is_none() && self.room.is_some() => self.window.keep(),
            RoleKind::Add => self.window.add(self.columns.elements[it.at as usize], !self.is_owed(it.at)),
            RoleKind::Observe => self.window.find(it.place as usize),
            RoleKind::Remove | RoleKind::RemoveUnknown => self.window.remove(it.place as usize),
            RoleKind::Empty | RoleKind::Absent | RoleKind::Replace | RoleKind::NoEffect => self.window.keep(),
        }
    }

    fn put_back(&mut self, at: u32) {
        if let Some(room) = &mut self.room {
            room.put_back(self.columns.kinds[at as usize]);
        }
        self.hash ^= random_bits(at);
        if self.is_owed(at) {
            self.enqs_left += usize::from(self.is_enq(at));
            self.by_call.relink(at);
            self.by_return.relink(at);
        } else {
            self.pending.relink(at);
        }
    }

    fn configuration(&self) -> u128 {
        // The set is mixed first: its members have the same bits as the numbers of the window, and
        // an operation outside with its number at the head would count as one inside.
        let mix = |hash: u128, number: u32| (hash ^ random_bits(number)).wrapping_mul(HASH_MULTIPLIER);
        let tail_deadline = self.deadline(TAIL).unwrap_or(NONE);
        let room = self.room.as_ref().map_or(0, |it| it.key(tail_deadline));
        self.window.key().fold((self.hash ^ room).wrapping_mul(HASH_MULTIPLIER), mix)
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
        if matches!(self.columns.kinds[at as usize], RoleKind::Add | RoleKind::Absent) { TAIL } else { HEAD }
    }

    fn is_close(&self, at: u32) -> bool {
        self.columns.kinds[at as usize] == RoleKind::Add && self.columns.elements[at as usize] == self.closed
    }

    /// Whether it adds an element that can be removed.
    fn is_enq(&self, at: u32) -> bool {
        self.columns.kinds[at as usize] == RoleKind::Add && !self.is_close(at)
    }

    /// Whether a channel can be closed after its sends, as early as closes and refused sends need.
    fn can_be_closed(&self) -> bool {
        let (mut first_close, mut last_enq, mut deadline) = (NONE, 0, NONE);
        for at in 0..self.columns.len() as u32 {
            if self.is_close(at) {
                first_close = first_close.min(self.call(at));
            }
            if self.is_owed(at) && self.is_enq(at) {
                last_enq = last_enq.max(self.call(at));
            } else if self.is_owed(at) && self.side(at) == TAIL {
                deadline = deadline.min(self.columns.intervals[at as usize].right);
            }
        }
        deadline == NONE || last_enq.max(first_close) <= deadline
    }

    /// Whether it has to be placed: it is complete.
    fn is_owed(&self, at: u32) -> bool {
        !self.columns.is_pending(at as usize)
    }

    /// How many bytes more the next step may take while a table grows.
    fn growth(&self) -> usize {
        let is_full = self.entered.len() == self.entered.capacity();
        if is_full { 2 * self.entered.capacity() * ENTERED_BYTES } else { 0 }
    }

    fn check_budget(&mut self) -> Result<(), Reason> {
        self.budget.visit(self.configurations - self.reported);
        self.reported = self.configurations;
        self.budget.reach(self.longest.moves().len(), self.columns.len());
        let room = if self.room.is_some() { ROOM_WORDS } else { 0 };
        let words = (6 + room) * self.columns.len() + 4 * self.columns.names.len();
        let moves = self.trail.capacity() + self.moves.capacity() + self.longest.capacity();
        let frames = self.frames.capacity() * size_of::<Frame>();
        let entered = self.entered.capacity() * ENTERED_BYTES;
        self.charge.set(words * size_of::<u32>() + moves * size_of::<Move>() + frames + entered);
        let growth = self.growth();
        self.pace.check(self.budget, self.configurations, 0, growth)
    }

    /// The order that `trail` and the enqs that are left stand for, in a queue with a capacity.
    fn order_within(&self) -> Vec<u32> {
        let placed = self.trail.iter().map(|it| it.at).chain(self.by_return.members(TAIL));
        self.room.as_ref().map_or_else(Vec::new, |it| it.order(self.columns, placed))
    }

    /// The order that `trail` stands for, with the complete operations of the tail side that are
    /// left: by earliest times.
    fn order(&self, trail: &[Move]) -> Vec<u32> {
        let mut is_placed = vec![false; self.columns.len()];
        // Operations and their times.
        let mut all: Vec<(u32, u32)> = Vec::with_capacity(self.columns.len());
        let (mut tail, mut head) = (0, 0);
        for &Move { at, .. } in trail {
            is_placed[at as usize] = true;
            let kind = self.columns.kinds[at as usize];
            if kind == RoleKind::Add {
                tail = self.call(at).max(tail);
                all.push((at, tail));
                continue;
            }
            head = self.call(at).max(tail).max(head);
            all.push((at, head));
            if kind == RoleKind::Empty {
                tail = head;
            }
        }
        let mut by_call = positions_by_call(self.columns);
        by_call.retain(|&it| self.side(it) == TAIL && !is_placed[it as usize]);
        for &at in by_call.iter().filter(|&&it| self.is_owed(it) && self.is_enq(it)) {
            tail = self.call(at).max(tail);
            all.push((at, tail));
        }
        // Closes, and what found the channel closed: they come after the first close.
        by_call.retain(|&it| !self.is_enq(it));
        let mut is_closed = trail.iter().any(|it| self.is_close(it.at));
        if let Some(at) = by_call.iter().copied().find(|&it| self.is_close(it))
            && !is_closed
            && by_call.iter().any(|&it| self.is_owed(it))
        {
            tail = self.call(at).max(tail);
            all.push((at, tail));
            by_call.retain(|&it| it != at);
            is_closed = true;
        }
        by_call.retain(|&it| is_closed && self.is_owed(it));
        all.extend(by_call.into_iter().map(|at| (at, self.call(at).max(tail))));
        sort_by_key(&mut all, |it| it.1);
        all.into_iter().map(|it| it.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use clewline_core::{GeneratorConfig, ValueDomain};

    use super::*;

    /// Operation n adds the value with number n.
    #[test]
    fn a_value_at_the_head_is_no_placed_operation() {
        let plan = GeneratorConfig {
            operations: 8,
            mix: vec![("enq".to_owned(), 1)],
            values: ValueDomain::Distinct,
            ..GeneratorConfig::default()
        };
        let specification = clewline_specs::find("queue").expect("it is built in");
        let case = specification.load(specification.generate(&plan)).expect("its own history");
        let columns = SCOPE.columns(&case.problems()[0]).expect("a queue");
        let budget = Budget::unlimited();
        let mut search = Search::new(&columns, None, &budget);
        let mut seen = HashSet::new();
        for at in 0..columns.len() as u32 {
            let undo = search.place(search.move_to(at));
            seen.insert(search.configuration());
            search.window.undo(undo);
            search.trail.pop();
            search.put_back(at);
        }
        assert_eq!(seen.len(), 8);
    }
}
