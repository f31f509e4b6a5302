//! The search for a sequentialization and a legal order at once.
//!
//! The legal order is built from left to right, as the specification allows. The order of each
//! class in the sequentialization lags behind: its place i can be filled as soon as i + k + 1
//! operations of the class have been placed, as any later operation would be more than k places
//! early there; and then it is. So a configuration is the set of placed operations, the state they
//! led to, and for each class the *window* of placed operations that have no place in the
//! sequentialization yet, at most k. Configurations are remembered.
//!
//! Classes are independent in the sequentialization: let each operation take effect at the latest
//! call up to it in the order of its class, which lies between its own call and return; sorted by
//! that moment, the classes are in one order that real time allows.
//!
//! Reductions, and why they lose nothing:
//! 1. An operation has at least as many places before it as operations of its class precede it, so
//!    it is not placed before as many, less k, have been. Likewise from behind: an operation past
//!    its deadline ends a branch.
//! 2. Of two operations of a window that could both be next in the sequentialization, one whose
//!    deadline and return are no later goes first: exchanging the two in an order where it does not
//!    is possible, since operations that follow the other follow it too.
//! 3. Of two equal operations of a class, one that was called and returned no later is placed
//!    first: exchange the two in both orders, or in the legal one if in the sequentialization they
//!    are that way round.
//! 4. No pending operation is placed last, as it can be left out: those after it in the
//!    sequentialization come one place earlier, and none comes too early, for they are before it in
//!    the legal order and it is not too early.
//! 5. A class with at most k + 1 operations bounds nothing.
//!
//! Classes may run ahead of each other without limit: all `enq` may come before all `deq`. A search
//! that does so without need gets lost, so it is first restricted to operations near the first one
//! that is left, in the order of calls, then less and less, until the restriction excluded nothing.
//!
//! Source: our own; the paper enumerates. Cost: configurations are at most (sets of placed
//! operations that rule 1 allows) times (orders of a window) times (states); for few states, that
//! is linear in the length of the history, and exponential in its width and in k.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
};

use clewline_core::{Automaton, Budget, LabelId, Problem, Reason, Span, StateId, sort_by_key};
use clewline_search::links::Links;

use super::{
    lag::{Job, arrange},
    relaxation::Relaxation,
    witness::QuasiWitness,
};
use clewline_search::pace::{LOOK_WORK, Pace, STEP_WORK};

// How many places from the first operation that is left others are placed at first.
const INITIAL_REACH_OPERATIONS: usize = 4;

/// By how many places each operation may be displaced.
#[derive(Clone, Debug)]
pub(super) struct Bounds<'r> {
    relaxation: &'r Relaxation,
    raised: Option<(usize, u32)>,
}

impl<'r> Bounds<'r> {
    /// The bounds of a relaxation.
    pub(super) fn new(relaxation: &'r Relaxation) -> Bounds<'r> {
        Bounds { relaxation, raised: None }
    }

    /// The same with another bound for the operation at one position.
    pub(super) fn raise(self, position: usize, bound: u32) -> Bounds<'r> {
        Bounds { raised: Some((position, bound)), ..self }
    }

    fn of(&self, position: usize, class: usize) -> u32 {
        match self.raised {
            Some((raised, bound)) if raised == position => bound,
            Some(_) | None => self.relaxation.factors[class],
        }
    }
}

/// The result of a search.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It found both orders.
    Found(QuasiWitness),
    /// There are none. The longest legal order that was met, as positions.
    Exhausted { longest: Vec<usize> },
}

/// Searches for two orders within `bounds`.
pub(super) fn search(problem: &Problem<'_>, bounds: &Bounds<'_>, budget: &Budget) -> Result<Outcome, Reason> {
    search_counted(problem, bounds, budget).0
}

/// The same, and how many configurations were visited.
pub(super) fn search_counted(
    problem: &Problem<'_>,
    bounds: &Bounds<'_>,
    budget: &Budget,
) -> (Result<Outcome, Reason>, u64) {
    let instance = Instance::new(problem, bounds);
    let mut reach = INITIAL_REACH_OPERATIONS
        + 2 * instance.classes.iter().filter_map(|it| it.widest).max().unwrap_or(0) as usize;
    let mut search = Search::new(problem, instance, budget);
    let mut found = search.run(reach);
    while search.kept_out && matches!(found, Ok(false)) {
        reach = reach.saturating_mul(2);
        found = search.run(reach);
    }
    let visited = search.visited;
    budget.visit(visited);
    let outcome = match found {
        Ok(true) => Ok(Outcome::Found(search.witness(problem))),
        Ok(false) => {
            Ok(Outcome::Exhausted { longest: search.longest.iter().map(|&it| it as usize).collect() })
        }
        Err(reason) => Err(reason),
    };
    (outcome, visited)
}

/// The input of a search. Operations are named by position.
struct Instance {
    spans: Vec<Span>,
    // The class of each operation; those without one are a class that bounds nothing.
    class: Vec<usize>,
    bound: Vec<u32>,
    // How many of its class precede it.
    before: Vec<u32>,
    // How many of its class do not follow it; itself among them.
    not_after: Vec<u32>,
    // How many complete ones of its class were called before it, if it is complete itself.
    rank: Vec<u32>,
    classes: Vec<Class>,
}

struct Class {
    // The complete operations in the order of their calls.
    complete: Vec<u32>,
    // The greatest bound, if the class bounds anything (rule 5).
    widest: Option<u32>,
}

impl Instance {
    fn new(problem: &Problem<'_>, bounds: &Bounds<'_>) -> Instance {
        let spans = problem.spans().to_vec();
        let n_classes = bounds.relaxation.factors.len();
        let class: Vec<usize> = bounds.relaxation.class_of.iter().map(|it| it.unwrap_or(n_classes)).collect();
        let mut instance = Instance {
            bound: vec![0; spans.len()],
            before: vec![0; spans.len()],
            not_after: vec![0; spans.len()],
            rank: vec![0; spans.len()],
            classes: Vec::new(),
            spans,
            class,
        };
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); n_classes + 1];
        (0..instance.spans.len()).for_each(|at| members[instance.class[at]].push(at));
        for (number, mut members) in members.into_iter().enumerate() {
            sort_by_key(&mut members, |at| instance.spans[at].call());
            let calls: Vec<u32> = members.iter().map(|&at| instance.spans[at].call()).collect();
            let mut ends: Vec<u32> = members.iter().map(|&at| instance.spans[at].end()).collect();
            ends.sort_unstable();
            let most = members.len().saturating_sub(1) as u32;
            let mut complete = Vec::new();
            for &at in &members {
                let span = instance.spans[at];
                instance.before[at] = ends.partition_point(|&it| it < span.call()) as u32;
                instance.not_after[at] = calls.partition_point(|&it| it < span.end()) as u32;
                instance.bound[at] = if number < n_classes { bounds.of(at, number).min(most) } else { most };
                if !span.is_pending() {
                    instance.rank[at] = complete.len() as u32;
                    complete.push(at as u32);
                }
            }
            let is_bounded = members.iter().any(|&at| instance.bound[at] < most);
            let widest = members.iter().map(|&at| instance.bound[at]).max().filter(|_| is_bounded);
            instance.classes.push(Class { complete, widest });
        }
        instance
    }
}

/// The progress of a class.
#[derive(Default)]
struct Progress {
    placed: u32,
    complete: u32,
    // In the order of their places; empty if the class bounds nothing.
    window: Vec<u32>,
    // The class's order in the sequentialization so far.
    sequentialized: Vec<u32>,
}

/// An operation is placed and, if a place in the sequentialization is due, one operation gets it.
#[derive(Clone, Copy)]
struct Move {
    operation: u32,
    next_sequentialized: Option<u32>,
    state: StateId,
}

struct Frame {
    // The move that led here; none at the root.
    made: Option<Move>,
    // Where its own moves begin on the common stack.
    start: usize,
}

struct Search<'p> {
    instance: Instance,
    automaton: Box<dyn Automaton + 'p>,
    labels: Vec<LabelId>,
    budget: &'p Budget,
    // Not placed yet. Complete operations of each class by call, then pending ones of each class by
    // call.
    by_call: Links,
    // Complete operations of each class by return.
    by_return: Links,
    is_placed: Vec<bool>,
    // Place in the legal order, within the class.
    place: Vec<u32>,
    progress: Vec<Progress>,
    legal: Vec<u32>,
    complete_left: usize,
    moves: Vec<Move>,
    seen: HashSet<Box<[u32]>, BuildHasherDefault<WordHasher>>,
    key: Vec<u32>,
    bytes: usize,
    visited: u64,
    longest: Vec<u32>,
    // The first position that is too far from the first operation that is left, and whether that
    // excluded any.
    reach: usize,
    kept_out: bool,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem<'_>, instance: Instance, budget: &'p Budget) -> Search<'p> {
        let (n, n_classes) = (instance.spans.len(), instance.classes.len());
        let automaton = problem.automaton();
        let labels = automaton.labels().to_vec();
        let mut order: Vec<usize> = (0..n).collect();
        let mut by_call = Links::new(n, 2 * n_classes);
        sort_by_key(&mut order, |at| instance.spans[at].call());
        for &at in &order {
            let list = if instance.spans[at].is_pending() { n_classes } else { 0 } + instance.class[at];
            by_call.push(list as u32, at as u32);
        }
        let mut by_return = Links::new(n, n_classes);
        order.retain(|&at| !instance.spans[at].is_pending());
        sort_by_key(&mut order, |at| instance.spans[at].end());
        order.iter().for_each(|&at| by_return.push(instance.class[at] as u32, at as u32));
        Search {
            automaton,
            labels,
            budget,
            by_call,
            by_return,
            is_placed: vec![false; n],
            place: vec![0; n],
            progress: (0..n_classes).map(|_| Progress::default()).collect(),
            legal: Vec::with_capacity(n),
            complete_left: order.len(),
            moves: Vec::new(),
            seen: HashSet::default(),
            key: Vec::new(),
            bytes: 0,
            visited: 0,
            longest: Vec::new(),
            reach: 0,
            kept_out: false,
            instance,
        }
    }

    /// Whether both orders exist; if so they are the placed and the sequentialized operations.
    fn run(&mut self, reach: usize) -> Result<bool, Reason> {
        self.reach = reach;
        self.kept_out = false;
        self.seen.clear();
        self.bytes = 0;
        let mut charge = self.budget.charge();
        let initial = self.automaton.initial();
        self.budget.allow(0)?;
        if self.complete_left == 0 {
            return Ok(true);
        }
        let mut pace = Pace::default();
        let mut frames = vec![Frame { made: None, start: 0 }];
        self.extend(initial);
        while let Some(frame) = frames.last() {
            let Some(made) = (frame.start < self.moves.len()).then(|| self.moves.pop()).flatten() else {
                if let Some(made) = frame.made {
                    self.undo(made);
                }
                frames.pop();
                continue;
            };
            self.make(made);
            // The last key is about as long as that of this move.
            pace.add(STEP_WORK + self.key.len() as u64);
            if pace.is_due(self.automaton.work(), self.growth()) {
                charge.set(self.bytes + self.automaton.bytes());
                pace.check(self.budget, self.visited, self.automaton.work(), self.growth())?;
            }
            if self.complete_left == 0 {
                if self.sequentialize_windows() {
                    return Ok(true);
                }
                self.undo(made);
                continue;
            }
            if !self.is_feasible(made) || !self.is_new(made.state) {
                self.undo(made);
                continue;
            }
            self.visited += 1;
            if self.budget.configurations() < self.visited {
                self.budget.allow(self.visited)?;
            }
            // Copied only once a branch ends, as most are longer than the one before by one.
            let start = self.moves.len();
            pace.add(LOOK_WORK * self.extend(made.state));
            if self.moves.len() == start && self.longest.len() < self.legal.len() {
                self.longest.clone_from(&self.legal);
            }
            frames.push(Frame { made: Some(made), start });
        }
        Ok(false)
    }

    /// How many bytes more the next move may take while a table grows.
    fn growth(&self) -> usize {
        let is_full = self.seen.len() == self.seen.capacity();
        let seen = if is_full { 2 * self.seen.capacity() * size_of::<Box<[u32]>>() } else { 0 };
        self.automaton.growth().max(seen)
    }

    fn make(&mut self, made: Move) {
        let at = made.operation as usize;
        let class = self.instance.class[at];
        let progress = &mut self.progress[class];
        self.place[at] = progress.placed;
        progress.placed += 1;
        self.is_placed[at] = true;
        self.legal.push(made.operation);
        self.by_call.unlink(at as u32);
        if !self.instance.spans[at].is_pending() {
            self.by_return.unlink(at as u32);
            progress.complete += 1;
            self.complete_left -= 1;
        }
        if self.instance.classes[class].widest.is_some() {
            progress.window.push(made.operation);
        }
        if let Some(sequentialized) = made.next_sequentialized {
            progress.window.retain(|&it| it != sequentialized);
            progress.sequentialized.push(sequentialized);
        }
    }

    fn undo(&mut self, made: Move) {
        let at = made.operation as usize;
        let class = self.instance.class[at];
        let progress = &mut self.progress[class];
        if let Some(sequentialized) = made.next_sequentialized {
            progress.sequentialized.pop();
            let place = &self.place;
            let index =
                progress.window.partition_point(|&it| place[it as usize] < place[sequentialized as usize]);
            progress.window.insert(index, sequentialized);
        }
        if self.instance.classes[class].widest.is_some() {
            progress.window.pop();
        }
        if !self.instance.spans[at].is_pending() {
            self.by_return.relink(at as u32);
            progress.complete -= 1;
            self.complete_left += 1;
        }
        self.by_call.relink(at as u32);
        self.legal.pop();
        self.is_placed[at] = false;
        progress.placed -= 1;
    }

    /// Whether the remaining operations of the class, and of its window, can still get a place in
    /// time (rule 1).
    fn is_feasible(&self, made: Move) -> bool {
        let instance = &self.instance;
        let class = instance.class[made.operation as usize];
        let Some(widest) = instance.classes[class].widest else { return true };
        let progress = &self.progress[class];
        for (more, at) in members(&self.by_return, class).take(widest as usize + 2).enumerate() {
            if instance.not_after[at] + widest < progress.placed + more as u32 + 1 {
                return false;
            }
        }
        let sequentialized = progress.sequentialized.len();
        progress.window.iter().all(|&waiting| {
            let waiting = waiting as usize;
            let latest = (self.place[waiting] + instance.bound[waiting]) as usize;
            // Operations that precede it and are not placed yet come before it.
            let mut first = members(&self.by_return, class);
            let room = latest.checked_sub(sequentialized);
            room.is_some_and(|room| {
                first.nth(room).is_none_or(|at| !instance.spans[at].precedes(instance.spans[waiting]))
            })
        })
    }

    /// Whether this configuration is met for the first time.
    fn is_new(&mut self, state: StateId) -> bool {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.push(state.0);
        let n_classes = self.instance.classes.len();
        for (number, (class, progress)) in self.instance.classes.iter().zip(&self.progress).enumerate() {
            // The complete ones: all before the first that is left, and some later ones.
            let first = members(&self.by_call, number).next();
            let first = first.map_or(class.complete.len(), |at| self.instance.rank[at] as usize);
            let mut later = progress.complete as usize - first;
            key.extend([first as u32, later as u32]);
            let mut rank = first + 1;
            while 0 < later {
                if self.is_placed[class.complete[rank] as usize] {
                    key.push(rank as u32);
                    later -= 1;
                }
                rank += 1;
            }
            // The pending ones that are left determine which have been placed.
            key.push(progress.placed - progress.complete);
            if progress.complete < progress.placed {
                key.extend(members(&self.by_call, n_classes + number).map(|at| at as u32));
            }
            key.push(progress.window.len() as u32);
            key.extend(progress.window.iter().flat_map(|&it| [it, self.place[it as usize]]));
        }
        let is_new = !self.seen.contains(&key[..]);
        if is_new {
            self.bytes += size_of_val(&key[..]) + 3 * size_of::<usize>();
            self.seen.insert(key.clone().into_boxed_slice());
        }
        self.key = key;
        is_new
    }

    /// Pushes the moves from here, the best last. Returns how many operations were looked at.
    fn extend(&mut self, state: StateId) -> u64 {
        let mut candidates: Vec<usize> = Vec::new();
        let n_classes = self.instance.classes.len();
        let looked_at: u64 = (0..2 * n_classes).map(|list| self.add_candidates(list, &mut candidates)).sum();
        let first = (0..n_classes).filter_map(|it| members(&self.by_call, it).next()).min().unwrap_or(0);
        let count = candidates.len();
        candidates.retain(|&at| at < first.saturating_add(self.reach));
        self.kept_out |= candidates.len() < count;
        // Those that return first have the least choice.
        candidates.sort_by_key(|&at| std::cmp::Reverse((self.instance.spans[at].end(), at)));
        let mut next_sequentialized: Vec<Option<u32>> = Vec::new();
        for at in candidates {
            next_sequentialized.clear();
            self.next_in_sequentialization(at, &mut next_sequentialized);
            if next_sequentialized.is_empty() {
                continue;
            }
            let operation = at as u32;
            let mut nth = 0;
            while let Some(outcome) = self.automaton.step(state, self.labels[at], nth) {
                let moves = next_sequentialized.iter().rev().map(|&it| Move {
                    operation,
                    next_sequentialized: it,
                    state: outcome.state,
                });
                self.moves.extend(moves);
                nth += 1;
            }
        }
        looked_at
    }

    /// Adds the members of a list that may be placed next (rules 1 and 3). Returns how many
    /// operations were looked at.
    fn add_candidates(&self, list: usize, candidates: &mut Vec<usize>) -> u64 {
        let instance = &self.instance;
        let class = list % instance.classes.len();
        let widest = instance.classes[class].widest;
        let placed = self.progress[class].placed;
        let first = candidates.len();
        let mut looked_at = 0;
        for at in members(&self.by_call, list) {
            looked_at += 1 + (candidates.len() - first) as u64;
            if widest.is_some_and(|widest| placed + widest < instance.before[at]) {
                break;
            }
            let is_early = widest.is_some() && placed + instance.bound[at] < instance.before[at];
            // Members of a list come in the order of their calls.
            let is_better = |&other: &usize| {
                self.labels[other] == self.labels[at]
                    && (widest.is_none()
                        || instance.bound[other] == instance.bound[at]
                            && instance.spans[other].end() <= instance.spans[at].end())
            };
            if !is_early && !candidates[first..].iter().any(is_better) {
                candidates.push(at);
            }
        }
        looked_at
    }

    /// The candidates for the next place in the sequentialization if `next` is placed: none yet, or
    /// the operations of the window that rule 2 leaves, the one with the earliest deadline in
    /// front.
    fn next_in_sequentialization(&self, next: usize, next_sequentialized: &mut Vec<Option<u32>>) {
        let instance = &self.instance;
        let class = instance.class[next];
        let progress = &self.progress[class];
        let place = progress.sequentialized.len() as u32;
        let is_due =
            instance.classes[class].widest.is_some_and(|widest| place + widest < progress.placed + 1);
        if !is_due {
            next_sequentialized.push(None);
            return;
        }
        let left = members(&self.by_return, class).find(|&at| at != next);
        let window = || progress.window.iter().map(|&it| it as usize).chain([next]);
        let ends = window().chain(left).map(|at| instance.spans[at].end());
        let first_end = ends.min().expect("the window has `next`");
        let at_place = |at: usize| if at == next { progress.placed } else { self.place[at] };
        let due = |at: usize| at_place(at) + instance.bound[at];
        let is_ready =
            |&at: &usize| instance.spans[at].call() < first_end && at_place(at) <= place + instance.bound[at];
        let mut ready: Vec<usize> = window().filter(is_ready).collect();
        ready.sort_by_key(|&at| (due(at), instance.spans[at].end()));
        let mut least_end = None;
        for at in ready {
            let end = instance.spans[at].end();
            if least_end.is_none_or(|least| end < least) {
                least_end = Some(end);
                next_sequentialized.push(Some(at as u32));
            }
        }
        // An operation that is due now has to go now.
        if next_sequentialized.len() > 1 && window().any(|at| due(at) == place) {
            next_sequentialized.retain(|it| it.is_some_and(|at| due(at as usize) == place));
        }
    }

    /// Sequentializes the rest of every window, if that is possible.
    fn sequentialize_windows(&mut self) -> bool {
        let mut rests: Vec<Vec<u32>> = Vec::new();
        for (class, progress) in self.instance.classes.iter().zip(&self.progress) {
            let rest = match class.widest {
                Some(_) => arrange(
                    self.jobs(&progress.window, |at| self.instance.bound[at]),
                    progress.sequentialized.len(),
                ),
                None => Some(Vec::new()),
            };
            let Some(rest) = rest else { return false };
            rests.push(rest);
        }
        self.progress.iter_mut().zip(rests).for_each(|(progress, rest)| progress.sequentialized.extend(rest));
        true
    }

    fn jobs(&self, operations: &[u32], bound: impl Fn(usize) -> u32) -> Vec<Job> {
        let job = |&it: &u32| {
            let at = it as usize;
            Job::around(it, self.instance.spans[at], self.place[at], bound(at))
        };
        operations.iter().map(job).collect()
    }

    /// The orders that were found. Only classes that bound nothing remain to be ordered.
    fn witness(mut self, problem: &Problem<'_>) -> QuasiWitness {
        let n_classes = self.instance.classes.len() - 1;
        let mut moments: Vec<(u32, usize, usize)> = Vec::new();
        let mut late: Vec<Option<i32>> = vec![None; problem.len()];
        for class in 0..=n_classes {
            let sequentialized = match self.instance.classes[class].widest {
                Some(_) => std::mem::take(&mut self.progress[class].sequentialized),
                None => self.sequentialize_unbounded(class),
            };
            let mut latest = 0;
            for (place, at) in sequentialized.into_iter().map(|it| it as usize).enumerate() {
                latest = latest.max(self.instance.spans[at].call());
                moments.push((latest, class, at));
                late[at] = (class < n_classes).then(|| place as i32 - self.place[at].cast_signed());
            }
        }
        // Stable: operations of a class with one moment stay in their order.
        moments.sort_by_key(|&(moment, class, _)| (moment, class));
        let id = |at: usize| problem.operations()[at];
        QuasiWitness {
            sequentialization: moments.iter().map(|&(.., at)| id(at)).collect(),
            legal: self.legal.iter().map(|&it| id(it as usize)).collect(),
            displacement: moments.iter().filter_map(|&(.., at)| Some((id(at), late[at]?))).collect(),
        }
    }

    /// An order of a class that bounds nothing: with as little displacement as its legal order
    /// allows, or, if no displacement is counted, that of the calls.
    fn sequentialize_unbounded(&self, class: usize) -> Vec<u32> {
        let mut members: Vec<u32> =
            self.legal.iter().copied().filter(|&it| self.instance.class[it as usize] == class).collect();
        if class + 1 == self.instance.classes.len() {
            sort_by_key(&mut members, |it| self.instance.spans[it as usize].call());
            return members;
        }
        let bounds = 0..=members.len() as u32;
        let arranged = bounds.into_iter().find_map(|bound| arrange(self.jobs(&members, |_| bound), 0));
        arranged.expect("within the length of the class, every order will do")
    }
}

/// The operations of a list, in order.
fn members(links: &Links, list: usize) -> impl Iterator<Item = usize> {
    links.members(list as u32).map(|it| it as usize)
}

/// A hash of words, for keys that no attacker chooses.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        let hash = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        hash ^ (hash >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(size_of::<u64>()) {
            let mut word = [0; size_of::<u64>()];
            word[..chunk.len()].copy_from_slice(chunk);
            let word = u64::from_le_bytes(word);
            self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }
}
