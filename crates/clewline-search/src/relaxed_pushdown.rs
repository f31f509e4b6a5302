//! Relaxed pushdown: for stacks out of order by a bound, without pending operations.
//!
//! # Idea
//!
//! What a stack out of order by at most k does next depends on the first k + 1 elements, and on how
//! often each was overtaken: its *window*. So a configuration is the set of operations that are
//! linearized, and the window: not what lies below. As in `pushdown`, this is reachability in a
//! pushdown automaton. Its stack holds what lies below the window, its control states are sets with
//! windows.
//!
//! A *frame* begins when a push moves the last element of a full window out of it, and is what
//! happens until a removal moves that element back. It is identified by the set and the window with
//! which it begins: what can happen in it depends on nothing else, not even on the element below.
//! It has *callers*, the configurations in which the push was made, each with its element, and
//! *exits*, the configurations after the removal. Each caller continues at each exit.
//!
//! The history holds if a configuration is reached in which every operation is linearized, in any
//! frame.
//!
//! # What need not be tried
//!
//! * *Equals.* Of candidates with the same role and value, only the one that returns first: where
//!   another one comes first, the two may change places.
//! * *Peeks and empties* that are allowed are linearized at once, and nothing else is tried: they
//!   change nothing, so in any order they may come now.
//! * *The second of two neighbours with the same value*, if it was overtaken at most once more than
//!   the first: with the first removed, what is left has the same values, and nothing was overtaken
//!   more often. What may follow then may also follow if all elements were overtaken less often.
//! * *Configurations that were reached before.*
//!
//! Source: ours.
//!
//! Requires: a relaxed stack in which every operation has a role, and none is pending, and at most
//! 64 operations open at a time.
//!
//! Cost: with k operations open at a time, a configuration for each of n · 2ᵏ sets, each window
//! that is possible there, and each frame that may hold it.
//!
//! Invariants, between any two steps of `run`:
//!
//! * Every configuration in `reached` is allowed by the specification and by real time from the
//!   initial state, with each caller of its frame; those in `to_do` have not been continued.
//! * Every caller of a frame has been continued at every exit of it.
//! * The window of a frame other than the first is full.

use std::collections::HashMap;

use clewline_core::{Budget, Charge, ObjectKind, Problem, Reason, RoleKind, Verdict};
use clewline_monitor::{Columns, NONE};

use super::{
    found::{Found, Scope},
    pushdown::{Set, Timeline},
};
use crate::{
    checker::Checker,
    pace::{LOOK_WORK, Pace, STEP_WORK},
};

/// See the [module documentation](self).
#[derive(Debug)]
pub struct RelaxedPushdown;

impl Checker for RelaxedPushdown {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "for relaxed stacks: remembers what may be removed next only; equal values, peeks"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        prepared(problem).err()
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        decide(problem, budget)
            .unwrap_or_else(|| Verdict::Unknown(Reason::Refused(self.refuses(problem).unwrap_or_default())))
    }
}

/// Its name.
pub(super) const NAME: &str = "relaxed-pushdown";

const SCOPE: Scope =
    Scope { name: NAME, objects: "relaxed stacks", knows: |it| matches!(it, ObjectKind::QuasiStack { .. }) };

/// Decides `problem`; `None` if it is refused.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    let (columns, timeline) = prepared(problem).ok()?;
    let found = RelaxedSearch::new(&columns, timeline, budget).found();
    Some(found.map_or_else(Verdict::Unknown, |it| it.verdict(problem)))
}

fn prepared(problem: &Problem<'_>) -> Result<(Columns, Timeline), String> {
    let columns = SCOPE.columns(problem)?;
    let timeline = timeline(&columns)?;
    Ok((columns, timeline))
}

fn timeline(columns: &Columns) -> Result<Timeline, String> {
    if (0..columns.len()).any(|at| columns.is_pending(at)) {
        return Err(format!("{NAME} takes no pending operations"));
    }
    Timeline::new(columns)
}

/// Searches a linearization of a relaxed stack, given by its columns.
///
/// # Errors
///
/// The limit that was hit, or that an operation is not one of a relaxed stack, or is pending, or
/// too many are open.
pub fn search(columns: &Columns, budget: &Budget) -> Result<Found, Reason> {
    SCOPE.check(columns)?;
    RelaxedSearch::new(columns, timeline(columns).map_err(Reason::Refused)?, budget).found()
}

// The frame in which nothing is below the window.
const BOTTOM: u32 = 0;

/// An element, and how often it was overtaken.
type Waiting = (u32, u32);

/// The first elements of a stack, the top first.
type Window = Box<[Waiting]>;

/// A configuration, and how it was reached.
#[derive(Clone, Copy)]
struct Reached {
    frame: u32,
    set: Set,
    window: u32,
    // The operation that led here, and the configuration before it in this frame; `NONE` at its
    // beginning.
    by: u32,
    before: u32,
    // If `by` moved an element back into the window: the push after `before`, and the configuration
    // in which it removed another.
    push: u32,
    above: u32,
}

/// What happens while an element is below the window: the last of its callers and exits, each of
/// which knows the one before, and its first caller.
#[derive(Clone, Copy)]
struct Frame {
    caller: u32,
    exit: u32,
    first: u32,
}

/// A configuration in which `push` moves an element out of the window.
#[derive(Clone, Copy)]
struct Caller {
    at: u32,
    push: u32,
    below: Waiting,
    next: u32,
}

/// A configuration in which `pop` leaves the frame, and what is after it.
#[derive(Clone, Copy)]
struct Exit {
    at: u32,
    pop: u32,
    set: Set,
    window: u32,
    next: u32,
}

struct RelaxedSearch<'c> {
    columns: &'c Columns,
    timeline: Timeline,
    budget: &'c Budget,
    factor: usize,
    windows: Vec<Window>,
    window_numbers: HashMap<Window, u32>,
    frames: Vec<Frame>,
    frame_numbers: HashMap<(Set, u32), u32>,
    callers: Vec<Caller>,
    exits: Vec<Exit>,
    reached: Vec<Reached>,
    known: HashMap<(u32, Set, u32), ()>,
    to_do: Vec<u32>,
    // The moves of one configuration: operations, and the places of what they remove.
    moves: Vec<(u32, usize)>,
    // Where every operation is linearized, and where most are.
    end: Option<u32>,
    longest: (u32, u32),
    reported: u64,
    pace: Pace,
    charge: Charge,
}

impl<'c> RelaxedSearch<'c> {
    fn new(columns: &'c Columns, timeline: Timeline, budget: &'c Budget) -> Self {
        let factor = if let ObjectKind::QuasiStack { factor } = columns.kind { factor as usize } else { 0 };
        RelaxedSearch {
            columns,
            timeline,
            budget,
            factor,
            windows: Vec::new(),
            window_numbers: HashMap::new(),
            frames: vec![Frame { caller: NONE, exit: NONE, first: NONE }],
            frame_numbers: HashMap::new(),
            callers: Vec::new(),
            exits: Vec::new(),
            reached: Vec::new(),
            known: HashMap::new(),
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
        let window = self.number(Box::default());
        self.note(first_of(BOTTOM, Set::default(), window));
        while self.end.is_none() {
            self.pace.add(STEP_WORK);
            let is_over = self.budget.configurations() < self.reached.len() as u64;
            if is_over || self.pace.is_due(0, self.growth()) {
                self.check_budget()?;
            }
            let Some(at) = self.to_do.pop() else { break };
            self.find_moves(at);
            // The last that is reached is continued first.
            while let Some((operation, place)) = self.moves.pop() {
                self.make(at, operation, place);
            }
        }
        Ok(())
    }

    /// The operations that may come next, those to try first in front.
    fn find_moves(&mut self, at: u32) {
        let Reached { set, window, .. } = self.reached[at as usize];
        let columns = self.columns;
        let role = |it: u32| (columns.kinds[it as usize], columns.elements[it as usize]);
        let window = &self.windows[window as usize];
        for number in self.timeline.candidates(set.rank) {
            self.pace.add(LOOK_WORK);
            let operation = self.timeline.open[number];
            let is_alike = |it: &(u32, usize)| role(it.0) == role(operation);
            if set.has(&self.timeline, operation) || self.moves.iter().any(is_alike) {
                continue;
            }
            match role(operation) {
                (RoleKind::Add, _) => self.moves.push((operation, 0)),
                (RoleKind::Remove, value) => {
                    self.moves.extend(places(window, self.factor, value).map(|it| (operation, it)));
                }
                (RoleKind::Observe, value) if places(window, self.factor, value).next().is_some() => {
                    self.moves.clear();
                    return self.moves.push((operation, 0));
                }
                (RoleKind::Empty, _) if window.is_empty() => {
                    self.moves.clear();
                    return self.moves.push((operation, 0));
                }
                _ => (),
            }
        }
    }

    /// Continues the configuration `at` with an operation, which removes the element at `place` if
    /// it removes one.
    fn make(&mut self, at: u32, operation: u32, place: usize) {
        let Reached { frame, set, window, .. } = self.reached[at as usize];
        let set = self.timeline.with(set, operation);
        let mut elements = self.windows[window as usize].to_vec();
        match self.columns.kinds[operation as usize] {
            RoleKind::Add => {
                elements.insert(0, (self.columns.elements[operation as usize], 0));
                if self.factor + 1 < elements.len() {
                    let below = elements.remove(self.factor + 1);
                    let window = self.number(elements.into_boxed_slice());
                    return self.begin_frame(at, operation, set, (window, below));
                }
            }
            RoleKind::Remove => {
                elements[..place].iter_mut().for_each(|it| it.1 += 1);
                elements.remove(place);
                if frame != BOTTOM {
                    let window = self.number(elements.into_boxed_slice());
                    return self.leave_frame(at, operation, set, window);
                }
            }
            _ => (),
        }
        let window = self.number(elements.into_boxed_slice());
        self.note(Reached { by: operation, before: at, ..first_of(frame, set, window) });
    }

    fn begin_frame(&mut self, at: u32, push: u32, set: Set, (window, below): (u32, Waiting)) {
        let (fresh, number) = (self.frames.len() as u32, self.callers.len() as u32);
        let frame = *self.frame_numbers.entry((set, window)).or_insert(fresh);
        if frame == fresh {
            self.frames.push(Frame { caller: NONE, exit: NONE, first: number });
        }
        let next = std::mem::replace(&mut self.frames[frame as usize].caller, number);
        let caller = Caller { at, push, below, next };
        self.callers.push(caller);
        self.note(first_of(frame, set, window));
        let mut exit = self.frames[frame as usize].exit;
        while let Some(&it) = self.exits.get(exit as usize) {
            self.come_back(caller, it);
            exit = it.next;
        }
    }

    fn leave_frame(&mut self, above: u32, pop: u32, set: Set, window: u32) {
        let frame = self.reached[above as usize].frame;
        let number = self.exits.len() as u32;
        let next = std::mem::replace(&mut self.frames[frame as usize].exit, number);
        let exit = Exit { at: above, pop, set, window, next };
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
        let Caller { at, push, below, .. } = caller;
        let mut elements = self.windows[exit.window as usize].to_vec();
        elements.push(below);
        let window = self.number(elements.into_boxed_slice());
        let frame = self.reached[at as usize].frame;
        let first = first_of(frame, exit.set, window);
        self.note(Reached { by: exit.pop, before: at, push, above: exit.at, ..first });
    }

    /// Notes a configuration, unless it was reached before.
    fn note(&mut self, new: Reached) {
        self.pace.add(LOOK_WORK);
        if self.known.insert((new.frame, new.set, new.window), ()).is_some() {
            return;
        }
        let at = self.reached.len() as u32;
        if new.set.rank as usize == self.timeline.by_return.len() {
            self.end = self.end.or(Some(at));
        }
        let linearized = new.set.len();
        if self.longest.0 < linearized {
            self.longest = (linearized, at);
        }
        self.reached.push(new);
        self.to_do.push(at);
    }

    fn number(&mut self, window: Window) -> u32 {
        if let Some(&number) = self.window_numbers.get(&window) {
            return number;
        }
        let number = self.windows.len() as u32;
        self.windows.push(window.clone());
        self.window_numbers.insert(window, number);
        number
    }

    /// The operations that lead to a configuration, in order.
    fn order(&self, at: u32) -> Vec<u32> {
        enum Part {
            // What leads there from the beginning of its frame.
            Within(u32),
            Operation(u32),
        }
        let mut parts = vec![Part::Within(at)];
        // The first caller of a frame is in a frame that began before.
        let mut frame = self.frames[self.reached[at as usize].frame as usize];
        while let Some(&Caller { at, push, .. }) = self.callers.get(frame.first as usize) {
            parts.extend([Part::Operation(push), Part::Within(at)]);
            frame = self.frames[self.reached[at as usize].frame as usize];
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
        let words = 8 * self.columns.len() + self.timeline.open.len();
        let frames =
            self.frames.capacity() * size_of::<Frame>() + self.frame_numbers.capacity() * FRAME_BYTES;
        let links = self.callers.capacity() * size_of::<Caller>() + self.exits.capacity() * size_of::<Exit>();
        let reached = self.reached.capacity() * size_of::<Reached>() + self.known.capacity() * KNOWN_BYTES;
        let window = 2 * (self.factor + 1) * size_of::<Waiting>() + 3 * size_of::<Window>();
        let bytes = words * size_of::<u32>() + frames + links + reached + self.windows.capacity() * window;
        self.charge.set(bytes);
        let growth = self.growth();
        self.pace.check(self.budget, configurations, 0, growth)
    }
}

/// The configuration in which a frame begins.
fn first_of(frame: u32, set: Set, window: u32) -> Reached {
    Reached { frame, set, window, by: NONE, before: NONE, push: NONE, above: NONE }
}

/// Where an operation may find this value.
fn places(window: &[Waiting], factor: usize, value: u32) -> impl Iterator<Item = usize> + '_ {
    let blocked = window.iter().position(|it| it.1 as usize == factor);
    let end = blocked.map_or(window.len(), |it| it + 1).min(factor + 1);
    (0..end).filter(move |&place| {
        let is_second = || {
            let before = place.checked_sub(1).map(|it| window[it]);
            before.is_some_and(|it| it.0 == value && window[place].1 <= it.1 + 1)
        };
        window[place].0 == value && !is_second()
    })
}

// Of entries of hash tables: one more byte each, in a table with some room.
const KNOWN_BYTES: usize = (size_of::<(u32, Set, u32)>() + 1) * 8 / 7;
const FRAME_BYTES: usize = (size_of::<(Set, u32, u32)>() + 1) * 8 / 7;
