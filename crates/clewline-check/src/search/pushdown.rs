//! Pushdown: for stacks, whatever values, peeks and pending operations there are.
//!
//! # Idea
//!
//! What a stack does next depends on its top only. So a configuration is the set of operations that
//! are linearized, and the top: not what lies below. This is reachability in a pushdown automaton,
//! whose control states are sets of linearized operations, and which is decided without listing
//! contents of the stack, of which there are exponentially many.
//!
//! A *frame* begins with a push and is what happens while its element is inside. It is identified
//! by the set of operations that are linearized after the push and by the value, whatever lies
//! below: what can happen in it depends on nothing else. A frame has *callers*, the configurations
//! in which the push was made, and *exits*, the configurations after its element was popped. When a
//! frame has a new exit, each caller continues there; when it has a new caller, that one continues
//! at each exit that is known. So no part of a history is searched again because something below it
//! was ordered in another way.
//!
//! The history holds if a configuration is reached in which every complete operation is
//! linearized, in any frame.
//!
//! # Moves
//!
//! A candidate is an operation left that was called before the first return of those left. A push
//! begins a frame; a pop of the value on top leaves the frame; a peek of the value on top, and an
//! empty (a pop or peek that found nothing) in the frame of the empty stack, stay in it.
//!
//! # What need not be tried
//!
//! * *Equals.* Of candidates with the same role and value, only the one that returns first: where
//!   another one comes first, the two may change places.
//! * *Peeks and empties* that are allowed are linearized at once, and nothing else is tried: they
//!   change nothing, so in any order they may come now.
//! * *A pending push* is tried only right before a complete operation that finds its element. What
//!   comes between the push and the first operation that finds the element happens above it, and
//!   leaves nothing there: it may as well happen before the push. If a pending pop is the first to
//!   find the element, neither need take effect.
//! * *A pending pop* is tried only right before an operation that finds what lies below, or finds
//!   nothing. What comes between may as well happen before the pop, above the element that it
//!   removes. If no operation finds what lies below, the pop need not take effect.
//! * *Pending operations that are equal* are used in the order of their calls.
//! * *Configurations that were reached before.* What follows depends on the frame and on which
//!   operations are left, nothing else. Sets of pending operations are compared by a hash of 128
//!   bits.
//!
//! Source: ours; summaries of frames are those of T. Reps, S. Horwitz and M. Sagiv, "Precise
//! interprocedural dataflow analysis via graph reachability", 1995.
//!
//! Requires: a stack without capacity in which every operation has a role, and at most 64 complete
//! operations open at a time.
//!
//! Cost: there are at most n · 2ᵏ sets, for k operations open at a time without pending ones, and a
//! configuration for each set and frame that may be on top there; on natural histories, a few for
//! each operation. A step takes time in k.
//!
//! Invariants, between any two steps of `run`:
//!
//! * Every configuration in `reached` is allowed by the specification and by real time from the
//!   initial state, with each caller of its frame; those in `to_do` have not been continued.
//! * Every caller of a frame has been continued at every exit of it.

use std::collections::{HashMap, HashSet};

use clewline_core::{Budget, Charge, ObjectKind, Problem, Reason, RoleKind, Verdict};
use clewline_monitor::{Columns, NONE};

use super::{
    found::{Found, Scope},
    links::{positions_by_call, positions_by_return, random_bits},
};
use crate::{
    checker::Checker,
    pace::{LOOK_WORK, Pace, STEP_WORK},
};

/// See the [module documentation](self).
#[derive(Debug)]
pub struct Pushdown;

impl Checker for Pushdown {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "for stacks: remembers the top only; equal values, peeks, pending operations"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        timeline(problem).err()
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        decide(problem, budget)
            .unwrap_or_else(|| Verdict::Unknown(Reason::Refused(self.refuses(problem).unwrap_or_default())))
    }
}

/// Its name.
pub(super) const NAME: &str = "pushdown";

const SCOPE: Scope = Scope { name: NAME, objects: "stacks", knows: |it| it == ObjectKind::Stack };

/// Decides `problem`; `None` if it is refused.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    let (columns, timeline) = timeline(problem).ok()?;
    let found = Search::new(&columns, timeline, budget).found();
    Some(found.map_or_else(Verdict::Unknown, |it| it.verdict(problem)))
}

fn timeline(problem: &Problem<'_>) -> Result<(Columns, Timeline), String> {
    let columns = SCOPE.columns(problem)?;
    let timeline = Timeline::new(&columns)?;
    Ok((columns, timeline))
}

/// Searches a linearization of a stack, given by its columns.
///
/// # Errors
///
/// The limit that was hit, or that an operation is not one of a stack, or too many are open.
pub fn search(columns: &Columns, budget: &Budget) -> Result<Found, Reason> {
    SCOPE.check(columns)?;
    Search::new(columns, Timeline::new(columns).map_err(Reason::Refused)?, budget).found()
}

// The frame of the empty stack.
const BOTTOM: u32 = 0;

// A set of complete operations has a bit for each that is open at a time.
const OPEN_OPERATIONS_MAX: usize = u64::BITS as usize;

/// When complete operations are candidates.
struct Timeline {
    // The complete operations in the order of their returns.
    by_return: Vec<u32>,
    // For each of these, the candidates while it is the first one left: `open[starts[it]..]`, in
    // the order of their returns.
    open: Vec<u32>,
    starts: Vec<usize>,
    // The bit of each operation.
    slots: Vec<u8>,
}

impl Timeline {
    fn new(columns: &Columns) -> Result<Timeline, String> {
        let by_call = positions_by_call(columns);
        let is_complete = |it: &u32| !columns.is_pending(*it as usize);
        let mut by_return = positions_by_return(columns, &by_call);
        by_return.retain(is_complete);
        let mut ranks = vec![NONE; columns.len()];
        (0..).zip(&by_return).for_each(|(rank, &at)| ranks[at as usize] = rank);
        let mut timeline = Timeline { by_return, open: Vec::new(), starts: vec![0], slots: Vec::new() };
        timeline.slots = vec![0; columns.len()];
        let mut called = by_call.into_iter().filter(is_complete).peekable();
        let mut free = u64::MAX;
        let mut now: Vec<u32> = Vec::new();
        for (rank, &first) in timeline.by_return.iter().enumerate() {
            let deadline = columns.intervals[first as usize].right;
            while let Some(at) = called.next_if(|&it| columns.intervals[it as usize].left <= deadline) {
                if now.len() == OPEN_OPERATIONS_MAX {
                    return Err(format!(
                        "{} takes at most {OPEN_OPERATIONS_MAX} operations open at a time",
                        NAME
                    ));
                }
                timeline.slots[at as usize] = free.trailing_zeros() as u8;
                free &= free - 1;
                now.push(at);
            }
            now.sort_unstable_by_key(|&it| ranks[it as usize]);
            timeline.open.extend(&now);
            timeline.starts.push(timeline.open.len());
            // The first of those left is the first that is open.
            debug_assert_eq!(now.first(), Some(&first), "it is the {rank}th to return");
            now.remove(0);
            free |= 1 << timeline.slots[first as usize];
        }
        Ok(timeline)
    }

    fn candidates(&self, rank: u32) -> std::ops::Range<usize> {
        self.starts[rank as usize]..self.starts[rank as usize + 1]
    }
}

/// A set of linearized operations.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Set {
    // All complete operations that return before this one, and those whose bits are set.
    rank: u32,
    ahead: u64,
    // The number of a set of pending operations.
    pending: u32,
    // Whether a pending pop came last, so that an operation has to find what it uncovered.
    is_uncovered: bool,
}

/// A configuration, and how it was reached.
struct Reached {
    frame: u32,
    set: Set,
    // The operation that led here, and the configuration before it in this frame; `NONE` at its
    // beginning.
    by: u32,
    before: u32,
    // If `by` is a pop: the push after `before`, and the configuration above, in which `by` popped.
    push: u32,
    above: u32,
}

/// What happens while an element is inside.
struct Frame {
    value: u32,
    // Whether a pending push began it, so that an operation has to find the element.
    is_unfound: bool,
    // The configuration in which it was begun first, and the push.
    first_caller: (u32, u32),
    // The last of its callers and exits: each knows the one before.
    caller: u32,
    exit: u32,
}

impl Frame {
    fn new(value: u32, is_unfound: bool, first_caller: (u32, u32)) -> Frame {
        Frame { value, is_unfound, first_caller, caller: NONE, exit: NONE }
    }
}

/// A configuration in which `push` begins a frame.
struct Caller {
    at: u32,
    push: u32,
    next: u32,
}

/// A configuration in which `pop` leaves the frame, and the set after it.
struct Exit {
    at: u32,
    pop: u32,
    set: Set,
    next: u32,
}

/// Sets of pending operations, each as one operation more than another set.
struct PendingSets {
    sets: Vec<(u32, u32, u128)>,
    numbers: HashMap<u128, u32>,
    // By value, and one for pops: the first one. By operation: the next one like it.
    first: Vec<u32>,
    next: Vec<u32>,
    // For a set and a value, the first one that is not in the set.
    left: HashMap<(u32, u32), u32>,
}

impl PendingSets {
    fn new(columns: &Columns) -> PendingSets {
        let values = columns.names.len();
        let mut sets = PendingSets {
            sets: vec![(NONE, NONE, 0)],
            numbers: HashMap::from([(0, 0)]),
            first: vec![NONE; values + 1],
            next: vec![NONE; columns.len()],
            left: HashMap::new(),
        };
        for at in positions_by_call(columns).into_iter().rev() {
            let label = match columns.kinds[at as usize] {
                RoleKind::Add => columns.elements[at as usize],
                RoleKind::RemoveUnknown => values as u32,
                _ => continue,
            };
            if columns.is_pending(at as usize) {
                sets.next[at as usize] = std::mem::replace(&mut sets.first[label as usize], at);
            }
        }
        sets
    }

    fn with(&mut self, set: u32, at: u32) -> u32 {
        let hash = self.sets[set as usize].2 ^ random_bits(at);
        *self.numbers.entry(hash).or_insert_with(|| {
            self.sets.push((set, at, hash));
            self.sets.len() as u32 - 1
        })
    }

    /// The first operation with this label that is not in the set, or `NONE`.
    fn first_left(&mut self, columns: &Columns, set: u32, label: u32) -> u32 {
        if self.first[label as usize] == NONE || set == 0 {
            return self.first[label as usize];
        }
        if let Some(&known) = self.left.get(&(set, label)) {
            return known;
        }
        // Those with one label are in each set in the order of their calls.
        let is_like = |at: u32| match columns.kinds[at as usize] {
            RoleKind::Add => columns.elements[at as usize] == label,
            _ => label as usize == columns.names.len(),
        };
        let mut smaller = set;
        let left = loop {
            let (before, last, _) = self.sets[smaller as usize];
            match last {
                NONE => break self.first[label as usize],
                _ if is_like(last) => break self.next[last as usize],
                _ => smaller = before,
            }
        };
        self.left.insert((set, label), left);
        left
    }
}

struct Search<'c> {
    columns: &'c Columns,
    timeline: Timeline,
    budget: &'c Budget,
    pending: PendingSets,
    frames: Vec<Frame>,
    frame_numbers: HashMap<(Set, u32, bool), u32>,
    callers: Vec<Caller>,
    exits: Vec<Exit>,
    reached: Vec<Reached>,
    known: HashSet<(u32, Set)>,
    to_do: Vec<u32>,
    // The moves of one configuration.
    moves: Vec<u32>,
    // Where every complete operation is linearized, and where most are.
    end: Option<u32>,
    longest: (u32, u32),
    reported: u64,
    pace: Pace,
    charge: Charge,
}

impl<'c> Search<'c> {
    fn new(columns: &'c Columns, timeline: Timeline, budget: &'c Budget) -> Self {
        Search {
            columns,
            timeline,
            budget,
            pending: PendingSets::new(columns),
            frames: vec![Frame::new(NONE, false, (NONE, NONE))],
            frame_numbers: HashMap::new(),
            callers: Vec::new(),
            exits: Vec::new(),
            reached: Vec::new(),
            known: HashSet::new(),
            to_do: Vec::new(),
            moves: Vec::new(),
            end: None,
            longest: (0, 0),
            reported: 0,
            pace: Pace::default(),
            charge: budget.charge(),
        }
    }

    fn found(mut self) -> Result<Found, Reason> {
        let outcome = self.run();
        self.budget.visit(self.reached.len() as u64 - self.reported);
        outcome?;
        Ok(match self.end {
            Some(end) => Found::Linearization(self.order(end)),
            None => Found::Longest(self.order(self.longest.1)),
        })
    }

    fn run(&mut self) -> Result<(), Reason> {
        self.check_budget()?;
        let set = Set { rank: 0, ahead: 0, pending: 0, is_uncovered: false };
        self.reach(Reached { frame: BOTTOM, set, by: NONE, before: NONE, push: NONE, above: NONE });
        while self.end.is_none()
            && let Some(at) = self.to_do.pop()
        {
            self.pace.add(STEP_WORK);
            let is_over = self.budget.configurations() < self.reached.len() as u64;
            if is_over || self.pace.is_due(0, self.growth()) {
                self.check_budget()?;
            }
            self.find_moves(at);
            // The last that is reached is continued first.
            while let Some(operation) = self.moves.pop() {
                self.make(at, operation);
            }
        }
        Ok(())
    }

    /// The operations that may come next, those to try first in front.
    fn find_moves(&mut self, at: u32) {
        let Reached { frame, set, before, .. } = self.reached[at as usize];
        let Frame { value, is_unfound, .. } = self.frames[frame as usize];
        let is_new = is_unfound && before == NONE;
        let columns = self.columns;
        let role = |it: u32| (columns.kinds[it as usize], columns.elements[it as usize]);
        let mut is_any_seeking = false;
        for place in self.timeline.candidates(set.rank) {
            self.pace.add(LOOK_WORK);
            let operation = self.timeline.open[place];
            if set.ahead >> self.timeline.slots[operation as usize] & 1 == 1 {
                continue;
            }
            let may_come = match role(operation) {
                (RoleKind::Add, _) => !set.is_uncovered && !is_new,
                (RoleKind::Remove, element) => element == value,
                (RoleKind::Observe, element) if element == value => return self.only_move(operation),
                (RoleKind::Empty, _) if frame == BOTTOM => return self.only_move(operation),
                _ => false,
            };
            is_any_seeking |= columns.kinds[operation as usize] != RoleKind::Add;
            if may_come && !self.moves.iter().any(|&it| role(it) == role(operation)) {
                self.moves.push(operation);
            }
        }
        if is_any_seeking && !is_new {
            self.find_pending_moves(frame, set);
        }
    }

    fn only_move(&mut self, operation: u32) {
        self.moves.clear();
        self.moves.push(operation);
    }

    /// A pending pop, and a pending push for each value that a candidate finds.
    fn find_pending_moves(&mut self, frame: u32, set: Set) {
        let columns = self.columns;
        let first = self.timeline.by_return[set.rank as usize];
        let deadline = columns.intervals[first as usize].right;
        let is_called = |it: u32| it != NONE && columns.intervals[it as usize].left <= deadline;
        let pop = self.pending.first_left(columns, set.pending, columns.names.len() as u32);
        if frame != BOTTOM && is_called(pop) {
            self.moves.push(pop);
        }
        if set.is_uncovered {
            return;
        }
        for place in self.timeline.candidates(set.rank) {
            let operation = self.timeline.open[place];
            let is_left = set.ahead >> self.timeline.slots[operation as usize] & 1 == 0;
            if is_left && matches!(columns.kinds[operation as usize], RoleKind::Remove | RoleKind::Observe) {
                let value = columns.elements[operation as usize];
                let push = self.pending.first_left(columns, set.pending, value);
                if is_called(push) && !self.moves.contains(&push) {
                    self.moves.push(push);
                }
            }
        }
    }

    /// Continues the configuration `at` with an operation.
    fn make(&mut self, at: u32, operation: u32) {
        let Reached { frame, set, .. } = self.reached[at as usize];
        let set = self.with(set, operation);
        match self.columns.kinds[operation as usize] {
            RoleKind::Add => self.begin_frame(at, operation, set),
            RoleKind::Remove | RoleKind::RemoveUnknown => self.leave_frame(at, operation, set),
            _ => self.reach(Reached { frame, set, by: operation, before: at, push: NONE, above: NONE }),
        }
    }

    /// The set with one operation more.
    fn with(&mut self, set: Set, operation: u32) -> Set {
        let Set { mut rank, mut ahead, pending, .. } = set;
        if self.columns.is_pending(operation as usize) {
            let is_uncovered = self.columns.kinds[operation as usize] == RoleKind::RemoveUnknown;
            return Set { pending: self.pending.with(pending, operation), is_uncovered, ..set };
        }
        ahead |= 1 << self.timeline.slots[operation as usize];
        while let Some(&first) = self.timeline.by_return.get(rank as usize) {
            let bit = 1 << self.timeline.slots[first as usize];
            if ahead & bit == 0 {
                break;
            }
            ahead &= !bit;
            rank += 1;
        }
        Set { rank, ahead, pending, is_uncovered: false }
    }

    fn begin_frame(&mut self, at: u32, push: u32, set: Set) {
        let value = self.columns.elements[push as usize];
        let is_unfound = self.columns.is_pending(push as usize);
        let fresh = self.frames.len() as u32;
        let frame = *self.frame_numbers.entry((set, value, is_unfound)).or_insert(fresh);
        if frame == fresh {
            self.frames.push(Frame::new(value, is_unfound, (at, push)));
        }
        let caller = self.callers.len() as u32;
        let next = std::mem::replace(&mut self.frames[frame as usize].caller, caller);
        self.callers.push(Caller { at, push, next });
        self.reach(Reached { frame, set, by: NONE, before: NONE, push: NONE, above: NONE });
        let mut exit = self.frames[frame as usize].exit;
        while let Some(&Exit { at: above, pop, set, next }) = self.exits.get(exit as usize) {
            let frame = self.reached[at as usize].frame;
            self.reach(Reached { frame, set, by: pop, before: at, push, above });
            exit = next;
        }
    }

    fn leave_frame(&mut self, above: u32, pop: u32, set: Set) {
        let frame = self.reached[above as usize].frame;
        let exit = self.exits.len() as u32;
        let next = std::mem::replace(&mut self.frames[frame as usize].exit, exit);
        self.exits.push(Exit { at: above, pop, set, next });
        let mut caller = self.frames[frame as usize].caller;
        while let Some(&Caller { at, push, next }) = self.callers.get(caller as usize) {
            let frame = self.reached[at as usize].frame;
            self.reach(Reached { frame, set, by: pop, before: at, push, above });
            caller = next;
        }
    }

    /// Notes a configuration, unless it was reached before.
    fn reach(&mut self, new: Reached) {
        self.pace.add(LOOK_WORK);
        if !self.known.insert((new.frame, new.set)) {
            return;
        }
        let at = self.reached.len() as u32;
        let linearized = new.set.rank + new.set.ahead.count_ones();
        if new.set.rank as usize == self.timeline.by_return.len() {
            self.end = self.end.or(Some(at));
        }
        if self.longest.0 < linearized {
            self.longest = (linearized, at);
        }
        self.reached.push(new);
        self.to_do.push(at);
    }

    /// The operations that lead to a configuration, in order.
    fn order(&self, at: u32) -> Vec<u32> {
        enum Task {
            // All that leads there, or what leads there from the beginning of its frame.
            All(u32),
            Within(u32),
            Operation(u32),
        }
        let mut order = Vec::with_capacity(self.columns.len());
        let mut tasks = vec![Task::All(at)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Operation(operation) => order.push(operation),
                Task::All(at) => {
                    tasks.push(Task::Within(at));
                    let frame = self.reached[at as usize].frame;
                    if frame != BOTTOM {
                        let (at, push) = self.frames[frame as usize].first_caller;
                        tasks.extend([Task::Operation(push), Task::All(at)]);
                    }
                }
                Task::Within(at) => {
                    let Reached { by, before, push, above, .. } = self.reached[at as usize];
                    if before == NONE {
                        continue;
                    }
                    tasks.push(Task::Operation(by));
                    if push != NONE {
                        tasks.extend([Task::Within(above), Task::Operation(push)]);
                    }
                    tasks.push(Task::Within(before));
                }
            }
        }
        order
    }

    /// How many bytes more the next step may take while a table grows.
    fn growth(&self) -> usize {
        let reached = if self.reached.len() == self.reached.capacity() { self.reached.capacity() } else { 0 };
        let known = if self.known.len() == self.known.capacity() { self.known.capacity() } else { 0 };
        2 * (reached * size_of::<Reached>() + known * KNOWN_BYTES)
    }

    fn check_budget(&mut self) -> Result<(), Reason> {
        let configurations = self.reached.len() as u64;
        self.budget.visit(configurations - self.reported);
        self.reported = configurations;
        self.budget.reach(self.longest.0 as usize, self.columns.len());
        let words = 6 * self.columns.len() + self.columns.names.len() + self.timeline.open.len();
        let frames = self.frames.capacity() * (size_of::<Frame>() + FRAME_NUMBER_BYTES);
        let links = self.callers.capacity() * size_of::<Caller>() + self.exits.capacity() * size_of::<Exit>();
        let reached = self.reached.capacity() * size_of::<Reached>() + self.known.capacity() * KNOWN_BYTES;
        let pending = self.pending.sets.capacity() * PENDING_SET_BYTES
            + self.pending.left.capacity() * size_of::<(u32, u32, u32)>();
        self.charge.set(words * size_of::<u32>() + frames + links + reached + pending);
        let growth = self.growth();
        self.pace.check(self.budget, configurations, 0, growth)
    }
}

// Of entries of hash tables: one more byte each, in a table with some room.
const KNOWN_BYTES: usize = (size_of::<(u32, Set)>() + 1) * 8 / 7;
const FRAME_NUMBER_BYTES: usize = (size_of::<(Set, u32, bool, u32)>() + 1) * 8 / 7;
const PENDING_SET_BYTES: usize = size_of::<(u32, u32, u128)>() + (size_of::<(u128, u32)>() + 1) * 8 / 7;
