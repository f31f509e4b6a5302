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
//! by the push and the set of complete operations that are linearized after it, whatever lies
//! below: what can happen in it depends on nothing else. A frame has *callers*, the configurations
//! in which the push was made, and *exits*, the configurations after its element was popped. When a
//! frame has a new exit, each caller continues there; when it has a new caller, that one continues
//! at each exit that is known. So no part of a history is searched again because something below it
//! was ordered in another way.
//!
//! Nor is it searched again because other pending operations were used below it. A configuration
//! has the *use* of pending operations since its frame began, with the number of those that may
//! have been used before ([`uses`](crate::uses)), and a frame has *prefixes*, the uses
//! before it. What uses too many with each prefix is *parked* until the frame has another prefix.
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
//! * *A push that could come later.* If what comes right after a push X leaves its element on top
//!   again, uses no pending operation, and was called before X returned, then it may as well come
//!   before X. So X is followed by what finds its element, or by what has to come after X.
//! * *A pending push* is tried only right before a complete operation that finds its element. What
//!   comes between the push and the first operation that finds the element happens above it, and
//!   leaves nothing there: it may as well happen before the push. If a pending pop is the first to
//!   find the element, neither need take effect.
//! * *A pending pop* is tried only right before an operation that finds what lies below, or finds
//!   nothing. What comes between may as well happen before the pop, above the element that it
//!   removes. If no operation finds what lies below, the pop need not take effect.
//! * *Pending operations that are alike* are used in the order of their calls: they are counted.
//! * *Configurations that were reached before*, with a use as good: no more of any kind, and as
//!   many or more possible before. What follows depends on the frame, on which complete operations
//!   are left, and on the use, nothing else; and what may follow one use may follow a better one.
//!   In the same way a prefix of a frame is dropped if another one uses no more.
//!
//! None of these is in the way of another. Of all linearizations take those that use the fewest
//! pending operations, and of these one in which complete operations that are not pushes are as
//! early as possible, by the sum of their places. Each change above leaves that sum as it is or
//! makes it smaller; and a part of it is replaced only by one that uses as many.
//!
//! # The order of trying
//!
//! The last configuration reached is continued first. If one was reached before with another use,
//! it is put aside, and so is what was parked and has become possible: that is tried, what has most
//! operations first, when nothing else is left. On natural histories it rarely matters which of
//! several uses it was.
//!
//! Source: ours; summaries of frames are those of T. Reps, S. Horwitz and M. Sagiv, "Precise
//! interprocedural dataflow analysis via graph reachability", 1995.
//!
//! Requires: a stack without capacity in which every operation has a role, and at most 64 complete
//! operations open at a time.
//!
//! Cost: there are at most n · 2ᵏ sets, for k operations open at a time without pending ones, and a
//! configuration for each set and frame that may be on top there; on natural histories, a few for
//! each operation. A step takes time in k. Pending operations multiply that by the number of uses
//! none of which is as good as another, of which there may be exponentially many.
//!
//! Invariants, between any two steps of `run`:
//!
//! * Every configuration in `reached` is allowed by the specification and by real time from the
//!   initial state, with each caller of its frame; those in `to_do` have not been continued.
//! * Every caller of a frame has been continued at every exit of it, unless that is put aside or
//!   parked.
//! * Each configuration fits a prefix of its frame, and nothing that is parked does.

use std::collections::{BinaryHeap, HashMap};

use clewline_core::{Budget, Charge, ObjectKind, Problem, Reason, RoleKind, Verdict};
use clewline_monitor::{Columns, NONE};

use super::found::{Found, Scope};
use crate::{
    checker::Checker,
    links::{positions_by_call, positions_by_return},
    pace::{LOOK_WORK, Pace, STEP_WORK},
    uses::{NOTHING, Uses},
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
pub(super) struct Timeline {
    // The complete operations in the order of their returns.
    pub(super) by_return: Vec<u32>,
    // For each of these, the candidates while it is the first one left: `open[starts[it]..]`, in
    // the order of their returns.
    pub(super) open: Vec<u32>,
    starts: Vec<usize>,
    // The bit of each operation.
    slots: Vec<u8>,
}

impl Timeline {
    pub(super) fn new(columns: &Columns) -> Result<Timeline, String> {
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

    pub(super) fn candidates(&self, rank: u32) -> std::ops::Range<usize> {
        self.starts[rank as usize]..self.starts[rank as usize + 1]
    }

    /// The set with one complete operation more.
    pub(super) fn with(&self, set: Set, operation: u32) -> Set {
        let Set { mut rank, mut ahead, .. } = set;
        ahead |= 1 << self.slots[operation as usize];
        while let Some(&first) = self.by_return.get(rank as usize) {
            let bit = 1 << self.slots[first as usize];
            if ahead & bit == 0 {
                break;
            }
            ahead &= !bit;
            rank += 1;
        }
        Set { rank, ahead, is_uncovered: false }
    }
}

/// A set of linearized operations, but for the pending ones.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Set {
    // All complete operations that return before this one, and those whose bits are set.
    pub(super) rank: u32,
    ahead: u64,
    // Whether a pending pop came last, so that an operation has to find what it uncovered.
    is_uncovered: bool,
}

impl Set {
    /// Whether a candidate is in it.
    pub(super) fn has(self, timeline: &Timeline, operation: u32) -> bool {
        self.ahead >> timeline.slots[operation as usize] & 1 == 1
    }

    /// How many operations are in it.
    pub(super) fn len(self) -> u32 {
        self.rank + self.ahead.count_ones()
    }
}

/// A configuration, and how it was reached. A pending operation stands for one like it.
#[derive(Clone, Copy)]
struct Reached {
    frame: u32,
    set: Set,
    // The pending operations that were used in this frame.
    uses: u32,
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
    // What began it; `NONE` if the stack is empty.
    push: u32,
    // The last of its callers and exits, and of the frames that begin in it: each knows the one
    // before.
    caller: u32,
    exit: u32,
    inner: u32,
    // None of which uses as little as another, and what fits none of them.
    prefixes: Vec<Prefix>,
    parked: Vec<Parked>,
}

impl Frame {
    fn new(push: u32) -> Frame {
        Frame { push, caller: NONE, exit: NONE, inner: NONE, prefixes: Vec::new(), parked: Vec::new() }
    }
}

/// The pending operations that were used before a frame began: there is a caller, and the prefix of
/// its frame.
#[derive(Clone, Copy)]
struct Prefix {
    uses: u32,
    caller: u32,
    outer: u32,
}

/// A configuration in which `push` begins a frame, and the use with it.
#[derive(Clone, Copy)]
struct Caller {
    at: u32,
    push: u32,
    uses: u32,
    frame: u32,
    // Of the callers of `frame`, and of those in the frame of `at`.
    next: u32,
    next_inner: u32,
}

/// A configuration in which `pop` leaves the frame, and the set and the use after it.
#[derive(Clone, Copy)]
struct Exit {
    at: u32,
    pop: u32,
    set: Set,
    uses: u32,
    next: u32,
}

/// What has to be done yet.
#[derive(Clone, Copy)]
enum Task {
    Note(Reached),
    // Continues a configuration with a pending operation.
    Make(u32, u32),
    // Hands a prefix on to the frames that begin in a frame.
    HandOn(u32, u32),
}

/// What fits no prefix, and the use that it has.
struct Parked {
    task: Task,
    uses: u32,
}

struct Search<'c> {
    columns: &'c Columns,
    timeline: Timeline,
    budget: &'c Budget,
    uses: Uses,
    // Up to each rank, the last call of those that return before.
    last_calls: Vec<u32>,
    frames: Vec<Frame>,
    frame_numbers: HashMap<(Set, u32), u32>,
    callers: Vec<Caller>,
    exits: Vec<Exit>,
    reached: Vec<Reached>,
    // The last configuration with each frame and set, and for each the one before.
    known: HashMap<(u32, Set), u32>,
    before: Vec<u32>,
    to_do: Vec<u32>,
    // What was put aside, with the rank it has.
    later: BinaryHeap<(u32, u32)>,
    tasks: Vec<Task>,
    // How many are parked, and how many prefixes there are.
    parked: usize,
    prefixes: usize,
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
        let mut last_calls = vec![0];
        for &at in &timeline.by_return {
            last_calls.push(columns.intervals[at as usize].left.max(*last_calls.last().unwrap_or(&0)));
        }
        let mut bottom = Frame::new(NONE);
        bottom.prefixes.push(Prefix { uses: NOTHING, caller: NONE, outer: NONE });
        Search {
            columns,
            timeline,
            budget,
            uses: Uses::new(columns),
            last_calls,
            frames: vec![bottom],
            frame_numbers: HashMap::new(),
            callers: Vec::new(),
            exits: Vec::new(),
            reached: Vec::new(),
            known: HashMap::new(),
            before: Vec::new(),
            to_do: Vec::new(),
            later: BinaryHeap::new(),
            tasks: Vec::new(),
            parked: 0,
            prefixes: 1,
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
        let set = Set { rank: 0, ahead: 0, is_uncovered: false };
        self.note(first_of(BOTTOM, set), false);
        while self.end.is_none() {
            self.pace.add(STEP_WORK);
            let is_over = self.budget.configurations() < self.reached.len() as u64;
            if is_over || self.pace.is_due(0, self.growth()) {
                self.check_budget()?;
            }
            if let Some(at) = self.to_do.pop() {
                self.find_moves(at);
                // The last that is reached is continued first.
                while let Some(operation) = self.moves.pop() {
                    self.make(at, operation);
                }
            } else if let Some((_, task)) = self.later.pop() {
                self.resume(self.tasks[task as usize]);
            } else {
                break;
            }
        }
        Ok(())
    }

    fn resume(&mut self, task: Task) {
        match task {
            Task::Note(new) => self.note(new, true),
            Task::Make(at, operation) => self.make(at, operation),
            Task::HandOn(frame, prefix) => {
                let mut inner = self.frames[frame as usize].inner;
                while let Some(&Caller { next_inner, .. }) = self.callers.get(inner as usize) {
                    self.hand_on(inner, prefix);
                    inner = next_inner;
                }
            }
        }
    }

    fn put_aside(&mut self, task: Task) {
        let rank = match task {
            Task::Note(new) => new.set.rank,
            Task::Make(at, _) => self.reached[at as usize].set.rank,
            Task::HandOn(frame, prefix) => {
                let Prefix { caller, .. } = self.frames[frame as usize].prefixes[prefix as usize];
                self.reached[self.callers[caller as usize].at as usize].set.rank
            }
        };
        self.later.push((rank, self.tasks.len() as u32));
        self.tasks.push(task);
    }

    /// The operations that may come next, those to try first in front.
    fn find_moves(&mut self, at: u32) {
        let Reached { frame, set, before, .. } = self.reached[at as usize];
        let push = self.frames[frame as usize].push;
        let columns = self.columns;
        let value = if push == NONE { NONE } else { columns.elements[push as usize] };
        // An operation has to find the element of a pending push.
        let is_new = before == NONE && push != NONE && columns.is_pending(push as usize);
        let role = |it: u32| (columns.kinds[it as usize], columns.elements[it as usize]);
        let mut is_any_seeking = false;
        for place in self.timeline.candidates(set.rank) {
            self.pace.add(LOOK_WORK);
            let operation = self.timeline.open[place];
            if set.has(&self.timeline, operation) {
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
        let deadline = self.deadline(set);
        let is_called = |it: &u32| columns.intervals[*it as usize].left <= deadline;
        if frame != BOTTOM {
            self.moves.extend(self.uses.first(None).filter(is_called));
        }
        if set.is_uncovered {
            return;
        }
        for place in self.timeline.candidates(set.rank) {
            let operation = self.timeline.open[place];
            let is_left = !set.has(&self.timeline, operation);
            if is_left && matches!(columns.kinds[operation as usize], RoleKind::Remove | RoleKind::Observe) {
                let push = self.uses.first(Some(columns.elements[operation as usize])).filter(is_called);
                if push.is_some_and(|it| !self.moves.contains(&it)) {
                    self.moves.extend(push);
                }
            }
        }
    }

    /// The first return of the operations that are left.
    fn deadline(&self, set: Set) -> u32 {
        self.columns.intervals[self.timeline.by_return[set.rank as usize] as usize].right
    }

    /// Continues the configuration `at` with an operation, or one like it if it is pending.
    fn make(&mut self, at: u32, operation: u32) {
        let Reached { frame, set, uses, .. } = self.reached[at as usize];
        let kind = self.columns.kinds[operation as usize];
        let (set, uses) = if self.columns.is_pending(operation as usize) {
            let deadline = self.deadline(set);
            let Some(uses) = self.uses.and(self.columns, uses, operation, deadline) else { return };
            if !self.fits(frame, uses) {
                return self.park(frame, Task::Make(at, operation), uses);
            }
            (Set { is_uncovered: kind == RoleKind::RemoveUnknown, ..set }, uses)
        } else {
            (self.timeline.with(set, operation), uses)
        };
        match kind {
            RoleKind::Add => self.begin_frame(at, operation, set, uses),
            RoleKind::Remove | RoleKind::RemoveUnknown => self.leave_frame(at, operation, set, uses),
            _ => {
                let new = Reached { set, uses, by: operation, before: at, ..first_of(frame, set) };
                self.note(new, false);
            }
        }
    }

    fn begin_frame(&mut self, at: u32, push: u32, set: Set, uses: u32) {
        let fresh = self.frames.len() as u32;
        let frame = *self.frame_numbers.entry((set, push)).or_insert(fresh);
        if frame == fresh {
            self.frames.push(Frame::new(push));
        }
        let outer = self.reached[at as usize].frame;
        let number = self.callers.len() as u32;
        let next = std::mem::replace(&mut self.frames[frame as usize].caller, number);
        let next_inner = std::mem::replace(&mut self.frames[outer as usize].inner, number);
        let caller = Caller { at, push, uses, frame, next, next_inner };
        self.callers.push(caller);
        for place in 0..self.frames[outer as usize].prefixes.len() {
            self.hand_on(number, place as u32);
        }
        self.note(first_of(frame, set), false);
        let mut exit = self.frames[frame as usize].exit;
        while let Some(&it) = self.exits.get(exit as usize) {
            self.come_back(caller, it);
            exit = it.next;
        }
    }

    fn leave_frame(&mut self, above: u32, pop: u32, set: Set, uses: u32) {
        let frame = self.reached[above as usize].frame;
        let number = self.exits.len() as u32;
        let next = std::mem::replace(&mut self.frames[frame as usize].exit, number);
        let exit = Exit { at: above, pop, set, uses, next };
        self.exits.push(exit);
        let mut caller = self.frames[frame as usize].caller;
        while let Some(&it) = self.callers.get(caller as usize) {
            self.come_back(it, exit);
            caller = it.next;
        }
    }

    /// Continues a caller of a frame at an exit of it.
    fn come_back(&mut self, caller: Caller, exit: Exit) {
        self.pace.add(LOOK_WORK);
        let Caller { at, push, .. } = caller;
        let Reached { frame, uses: uses_before, before, .. } = self.reached[at as usize];
        let Some(uses) = self.uses.join(caller.uses, exit.uses) else { return };
        if before == NONE && uses == uses_before && self.might_come_before(exit.set, frame) {
            return;
        }
        self.note(
            Reached { frame, set: exit.set, uses, by: exit.pop, before: at, push, above: exit.at },
            false,
        );
    }

    /// Whether all operations of a set were called before the push of a frame returned.
    fn might_come_before(&self, set: Set, frame: u32) -> bool {
        let push = self.frames[frame as usize].push;
        if push == NONE {
            return false;
        }
        let end = self.columns.intervals[push as usize].right;
        let is_called = |at: u32| self.columns.intervals[at as usize].left <= end;
        self.last_calls[set.rank as usize] <= end
            && (set.ahead == 0
                || self.timeline.open[self.timeline.candidates(set.rank)]
                    .iter()
                    .all(|&it| set.ahead >> self.timeline.slots[it as usize] & 1 == 0 || is_called(it)))
    }

    /// Notes a configuration, unless it was reached before with a use as good.
    fn note(&mut self, new: Reached, is_resumed: bool) {
        self.pace.add(LOOK_WORK);
        if !self.fits(new.frame, new.uses) {
            return self.park(new.frame, Task::Note(new), new.uses);
        }
        let last = self.known.get(&(new.frame, new.set)).copied().unwrap_or(NONE);
        let mut known = last;
        while let Some(it) = self.reached.get(known as usize) {
            if self.uses.is_as_good(it.uses, new.uses) {
                return;
            }
            known = self.before[known as usize];
        }
        if last != NONE && !is_resumed {
            return self.put_aside(Task::Note(new));
        }
        let at = self.reached.len() as u32;
        self.known.insert((new.frame, new.set), at);
        self.before.push(last);
        let linearized = new.set.len();
        if new.set.rank as usize == self.timeline.by_return.len() {
            self.end = self.end.or(Some(at));
        }
        if self.longest.0 < linearized {
            self.longest = (linearized, at);
        }
        self.reached.push(new);
        self.to_do.push(at);
    }

    /// Whether a use in a frame is possible after some prefix of it.
    fn fits(&self, frame: u32, uses: u32) -> bool {
        uses == NOTHING || self.frames[frame as usize].prefixes.iter().any(|it| self.uses.fits(it.uses, uses))
    }

    fn park(&mut self, frame: u32, task: Task, uses: u32) {
        self.parked += 1;
        self.frames[frame as usize].parked.push(Parked { task, uses });
    }

    /// Gives the frame that a caller begins the prefix with what is used before it.
    fn hand_on(&mut self, caller: u32, place: u32) {
        let Caller { at, uses, frame, .. } = self.callers[caller as usize];
        let outer = &self.frames[self.reached[at as usize].frame as usize];
        let Some(uses) = self.uses.join(outer.prefixes[place as usize].uses, uses) else { return };
        let Search { frames, uses: all, .. } = self;
        let inner = &mut frames[frame as usize];
        if inner.prefixes.iter().any(|it| all.is_as_little(it.uses, uses)) {
            return;
        }
        let number = inner.prefixes.len() as u32;
        inner.prefixes.push(Prefix { uses, caller, outer: place });
        self.prefixes += 1;
        let (ready, parked) = std::mem::take(&mut inner.parked)
            .into_iter()
            .partition::<Vec<_>, _>(|it| all.fits(uses, it.uses));
        inner.parked = parked;
        self.parked -= ready.len();
        let is_handed_on = inner.inner != NONE;
        ready.into_iter().for_each(|it| self.put_aside(it.task));
        if is_handed_on {
            self.put_aside(Task::HandOn(frame, number));
        }
    }

    /// The operations that lead to a configuration, in order.
    fn order(&self, at: u32) -> Vec<u32> {
        enum Part {
            // What leads there from the beginning of its frame.
            Within(u32),
            Operation(u32),
        }
        let mut parts = vec![Part::Within(at)];
        let Reached { frame, uses, .. } = self.reached[at as usize];
        let prefixes = &self.frames[frame as usize].prefixes;
        let fitting = prefixes.iter().find(|it| self.uses.fits(it.uses, uses));
        let mut prefix = *fitting.expect("each configuration fits a prefix");
        while let Some(&Caller { at, push, .. }) = self.callers.get(prefix.caller as usize) {
            parts.extend([Part::Operation(push), Part::Within(at)]);
            let outer = self.reached[at as usize].frame;
            prefix = self.frames[outer as usize].prefixes[prefix.outer as usize];
        }
        let mut order = Vec::with_capacity(self.columns.len());
        while let Some(part) = parts.pop() {
            match part {
                Part::Operation(operation) => order.push(operation),
                Part::Within(at) => {
                    let Reached { by, before, push, above, .. } = self.reached[at as usize];
                    if before == NONE {
                        continue;
                    }
                    parts.push(Part::Operation(by));
                    if push != NONE {
                        parts.extend([Part::Within(above), Part::Operation(push)]);
                    }
                    parts.push(Part::Within(before));
                }
            }
        }
        self.uses.resolve(self.columns, &mut order);
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
        let words = 8 * self.columns.len() + self.columns.names.len() + self.timeline.open.len();
        let frames = self.frames.capacity() * (size_of::<Frame>() + FRAME_NUMBER_BYTES);
        let links = self.callers.capacity() * size_of::<Caller>() + self.exits.capacity() * size_of::<Exit>();
        let reached = self.reached.capacity() * (size_of::<Reached>() + size_of::<u32>())
            + self.known.capacity() * KNOWN_BYTES;
        let later = self.tasks.capacity() * (size_of::<Task>() + size_of::<(u32, u32)>())
            + 2 * self.parked * size_of::<Parked>()
            + 2 * self.prefixes * size_of::<Prefix>();
        let bytes = words * size_of::<u32>() + frames + links + reached + later + self.uses.bytes();
        self.charge.set(bytes);
        let growth = self.growth();
        self.pace.check(self.budget, configurations, 0, growth)
    }
}

/// The configuration in which a frame begins.
fn first_of(frame: u32, set: Set) -> Reached {
    Reached { frame, set, uses: NOTHING, by: NONE, before: NONE, push: NONE, above: NONE }
}

// Of entries of hash tables: one more byte each, in a table with some room.
const KNOWN_BYTES: usize = (size_of::<(u32, Set, u32)>() + 1) * 8 / 7;
const FRAME_NUMBER_BYTES: usize = (size_of::<(Set, u32, u32)>() + 1) * 8 / 7;
