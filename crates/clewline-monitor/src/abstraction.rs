//! Objects with few states, of which one or two are distinguished: refutes what no search does.
//!
//! # Idea
//!
//! An operation that never returns may take effect at any later time, so a search has to try every
//! set of those that may have done so. What most of them wrote does not matter to a read that
//! returned too late: it only matters whether the register held *that* value. So let one state, or
//! two, be distinguished from all others: each in a class of its own, and the others in one class.
//! An operation may lead from a class to another if it leads from a state of the one to a state of
//! the other. Then each linearization of the history is one of the classes as well; and if there is
//! none of the classes, the history has none.
//!
//! Pending operations that lead from the same classes to the same ones are alike then, and counted.
//! A configuration is the set of open operations that took effect, the class, and how many pending
//! operations of each sort were used; of two that differ in these numbers only, the smaller is
//! enough. So there are few configurations, however many operations are pending.
//!
//! That there is a linearization of the classes says nothing.
//!
//! Requires: few states, and at most 64 complete operations open at a time. Source: ours. Cost: the
//! operations times the configurations, for each state; exponential in the number of operations
//! open at a time in the worst case.

use std::collections::HashMap;

use clewline_core::{Automaton, Budget, Charge, LabelId, Problem, Reason, Span, StateId};

use crate::columns::{Interval, gaps};

/// The most states that an object may have.
const STATES_MAX: usize = 64;
/// One class for each state that is distinguished, of which there are at most two, and one for all
/// others.
const CLASSES: usize = 3;
/// The most sorts of pending operations.
const SORTS_MAX: usize = 16;
// About a millisecond.
const CONFIGURATIONS_PER_LOOK: u64 = 1 << 12;

/// An object with few states, and its operations in time.
#[derive(Debug)]
pub struct Abstraction {
    states: States,
    timeline: Timeline,
}

impl Abstraction {
    /// Of the object and the operations of `problem`; `None` if it has too many states.
    #[must_use]
    pub fn new(problem: &Problem<'_>) -> Option<Abstraction> {
        Some(Abstraction { states: States::new(problem)?, timeline: Timeline::new(problem.spans()) })
    }

    /// Whether some state, or two, by themselves show that there is no linearization. If not, that
    /// says nothing; also if it was not found within this number of configurations.
    ///
    /// # Errors
    ///
    /// If the budget does not allow more.
    pub fn refutes(&self, configurations: u64, budget: &Budget) -> Result<bool, Reason> {
        let mut work = Work { visited: 0, most: configurations, budget, charge: budget.charge() };
        let is_refuted = self.states.partitions().find_map(|classes| {
            let effects = self.states.effects(&classes);
            let found = Pass::new(&self.timeline, &effects, classes[0]).run(&mut work);
            (found != Ok(false) || work.is_over()).then_some(found)
        });
        budget.visit(work.visited % CONFIGURATIONS_PER_LOOK);
        is_refuted.unwrap_or(Ok(false))
    }
}

/// The states of an object, and what its operations do.
#[derive(Debug)]
struct States {
    count: usize,
    // By label: steps from a state to another.
    steps: HashMap<LabelId, Vec<(usize, usize)>>,
    labels: Vec<LabelId>,
}

impl States {
    /// All states to which operations of `problem` lead; `None` if there are too many.
    fn new(problem: &Problem<'_>) -> Option<States> {
        let mut automaton = problem.automaton();
        let labels = automaton.labels().to_vec();
        let mut distinct = labels.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let mut all = vec![automaton.initial()];
        let mut numbers = HashMap::from([(all[0], 0)]);
        let mut steps: HashMap<LabelId, Vec<(usize, usize)>> = HashMap::new();
        let mut from = 0;
        while from < all.len() {
            for &label in &distinct {
                for to in successors(&mut *automaton, all[from], label) {
                    let next = all.len();
                    let to = *numbers.entry(to).or_insert_with(|| {
                        all.push(to);
                        next
                    });
                    steps.entry(label).or_default().push((from, to));
                }
                if STATES_MAX < all.len() {
                    return None;
                }
            }
            from += 1;
        }
        Some(States { count: all.len(), steps, labels })
    }

    /// Ways to tell states apart: the class of each. First each by itself, then each two.
    fn partitions(&self) -> impl Iterator<Item = Vec<u8>> {
        let classes = |one: usize, other: usize| {
            let class = |state| if state == one { 1 } else { u8::from(state == other) * 2 };
            (0..self.count).map(class).collect()
        };
        let ones = (0..self.count).map(move |one| classes(one, one));
        let pairs = (0..self.count).flat_map(move |one| (0..one).map(move |other| classes(one, other)));
        ones.chain(pairs)
    }

    /// What each operation does to classes.
    fn effects(&self, classes: &[u8]) -> Vec<Effect> {
        let of_label = |steps: &Vec<(usize, usize)>| {
            let mut effect = Effect::default();
            for &(from, to) in steps {
                effect.to[classes[from] as usize] |= 1 << classes[to];
            }
            effect
        };
        let effects: HashMap<LabelId, Effect> =
            self.steps.iter().map(|(&label, steps)| (label, of_label(steps))).collect();
        self.labels.iter().map(|it| effects.get(it).copied().unwrap_or_default()).collect()
    }
}

fn successors(automaton: &mut dyn Automaton, state: StateId, label: LabelId) -> Vec<StateId> {
    let mut all = Vec::new();
    while let Some(it) = automaton.step(state, label, all.len() as u32) {
        all.push(it.state);
        if !it.has_more {
            break;
        }
    }
    all
}

/// To which classes an operation may lead, by the class before it: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Effect {
    to: [u8; CLASSES],
}

impl Effect {
    /// The classes to which it may lead from this one.
    fn after(self, class: u8) -> impl Iterator<Item = u8> {
        let to = self.to[class as usize];
        (0..CLASSES as u8).filter(move |it| to >> it & 1 != 0)
    }

    /// Whether it leads from this class to the same one only.
    fn stays_in(self, class: u8) -> bool {
        self.to[class as usize] == 1 << class
    }

    /// Whether it never leads to another class.
    fn never_leaves(self) -> bool {
        (0..CLASSES as u8).all(|it| self.to[it as usize] == 0 || self.stays_in(it))
    }
}

/// The operations in time.
#[derive(Debug)]
struct Timeline {
    intervals: Vec<Interval>,
    by_call: Vec<u32>,
    // Complete operations only.
    by_return: Vec<u32>,
    last: u32,
}

impl Timeline {
    fn new(spans: &[Span]) -> Timeline {
        let (intervals, last) = gaps(spans);
        let mut by_call: Vec<u32> = (0..spans.len() as u32).collect();
        let mut by_return: Vec<u32> =
            by_call.iter().copied().filter(|&at| intervals[at as usize].right != last).collect();
        by_call.sort_by_key(|&at| intervals[at as usize].left);
        by_return.sort_by_key(|&at| intervals[at as usize].right);
        Timeline { intervals, by_call, by_return, last }
    }

    fn interval(&self, at: u32) -> Interval {
        self.intervals[at as usize]
    }
}

/// The configurations that were visited, and may be.
struct Work<'b> {
    visited: u64,
    most: u64,
    budget: &'b Budget,
    charge: Charge,
}

impl Work<'_> {
    /// Counts a configuration of those that take `bytes`.
    fn visit(&mut self, bytes: impl FnOnce() -> usize) -> Result<(), Reason> {
        self.visited += 1;
        if self.visited.is_multiple_of(CONFIGURATIONS_PER_LOOK) {
            self.charge.set(bytes());
            self.budget.visit(CONFIGURATIONS_PER_LOOK);
            self.budget.allow(self.visited)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.most < self.visited
    }
}

/// What has happened up to some moment, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Configuration {
    // A bit for each open operation that has taken effect.
    done: u64,
    class: u8,
    used: Used,
}

/// How many pending operations of each sort have taken effect.
type Used = [u16; SORTS_MAX];

fn is_at_most(less: &Used, more: &Used) -> bool {
    less.iter().zip(more).all(|(less, more)| less <= more)
}

/// A complete operation that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    right: u32,
    bit: u64,
    effect: Effect,
}

/// Passes through time with all configurations.
struct Pass<'t> {
    timeline: &'t Timeline,
    effects: &'t [Effect],
    // In the order of their returns.
    open: Vec<Open>,
    // Sorts of pending operations, and how many of each have begun.
    pending: Vec<(Effect, u16)>,
    configurations: Vec<Configuration>,
    // Within a gap: the smallest numbers that were met, and what is still to be expanded.
    met: HashMap<(u64, u8), Vec<Used>>,
    todo: Vec<Configuration>,
    // How many are in `met`.
    kept: usize,
}

impl<'t> Pass<'t> {
    fn new(timeline: &'t Timeline, effects: &'t [Effect], initial: u8) -> Self {
        let start = Configuration { done: 0, class: initial, used: [0; SORTS_MAX] };
        Pass {
            timeline,
            effects,
            open: Vec::new(),
            pending: Vec::new(),
            configurations: vec![start],
            met: HashMap::new(),
            todo: Vec::new(),
            kept: 0,
        }
    }

    /// The memory that configurations take.
    fn bytes(&self) -> usize {
        let listed = self.configurations.capacity() + self.todo.capacity();
        let met = self.met.capacity() * (size_of::<((u64, u8), Vec<Used>)>() + 1);
        listed * size_of::<Configuration>() + met + self.kept * size_of::<Used>()
    }

    /// Whether no configuration is left at the end of some gap; false also if there are too many.
    fn run(mut self, work: &mut Work<'_>) -> Result<bool, Reason> {
        let timeline = self.timeline;
        let mut calls = timeline.by_call.iter().peekable();
        let mut returns = timeline.by_return.iter().peekable();
        while let Some(&&next) = returns.peek() {
            let gap = timeline.interval(next).right;
            while let Some(&at) = calls.next_if(|&&it| timeline.interval(it).left <= gap) {
                if !self.call(at) {
                    return Ok(false);
                }
            }
            while returns.next_if(|&&it| timeline.interval(it).right == gap).is_some() {}
            self.end(gap, work)?;
            if work.is_over() {
                return Ok(false);
            }
            if self.configurations.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Notes a call; false if too many operations are open, or pending.
    fn call(&mut self, at: u32) -> bool {
        let effect = self.effects[at as usize];
        let Interval { right, .. } = self.timeline.interval(at);
        if right == self.timeline.last {
            return self.add_pending(effect);
        }
        let taken = self.open.iter().fold(0, |bits, it| bits | it.bit);
        if taken == u64::MAX {
            return false;
        }
        let place = self.open.partition_point(|it| it.right <= right);
        self.open.insert(place, Open { right, bit: 1 << taken.trailing_ones(), effect });
        true
    }

    fn add_pending(&mut self, effect: Effect) -> bool {
        // Whether what changes nothing took effect makes no difference.
        if effect.never_leaves() {
            return true;
        }
        match self.pending.iter_mut().find(|it| it.0 == effect) {
            Some((_, count)) => *count += 1,
            None => self.pending.push((effect, 1)),
        }
        self.pending.len() <= SORTS_MAX && self.pending.iter().all(|it| it.1 < u16::MAX)
    }

    /// Lets all operations that return at the end of this gap take effect.
    fn end(&mut self, gap: u32, work: &mut Work<'_>) -> Result<(), Reason> {
        let is_ending = |it: &&Open| it.right == gap;
        let ending = self.open.iter().take_while(is_ending).fold(0, |bits, it| bits | it.bit);
        self.met.clear();
        self.kept = 0;
        for at in 0..self.configurations.len() {
            self.enqueue(self.configurations[at]);
        }
        self.configurations.clear();
        while let Some(it) = self.todo.pop() {
            if it.done & ending == ending {
                self.configurations.push(it);
                continue;
            }
            work.visit(|| self.bytes())?;
            if work.is_over() {
                return Ok(());
            }
            self.expand(it);
        }
        // Smaller numbers may have been met since.
        let met = &self.met;
        self.configurations.retain(|it| met[&(it.done, it.class)].contains(&it.used));
        self.configurations.iter_mut().for_each(|it| it.done &= !ending);
        self.open.retain(|it| it.right != gap);
        Ok(())
    }

    /// Lets each operation that could be next take effect.
    fn expand(&mut self, it: Configuration) {
        for place in 0..self.open.len() {
            let Open { bit, effect, .. } = self.open[place];
            // Of those with equal effects the first to return is next.
            let is_later = |other: &Open| other.effect == effect && it.done & other.bit == 0;
            if it.done & bit != 0 || self.open[..place].iter().any(is_later) {
                continue;
            }
            for class in effect.after(it.class) {
                self.enqueue(Configuration { done: it.done | bit, class, ..it });
            }
        }
        for sort in 0..self.pending.len() {
            let (effect, count) = self.pending[sort];
            if it.used[sort] == count {
                continue;
            }
            let mut used = it.used;
            used[sort] += 1;
            for class in effect.after(it.class).filter(|&class| class != it.class) {
                self.enqueue(Configuration { class, used, ..it });
            }
        }
    }

    /// Puts a configuration on the list, unless one was there that used no more. What never leads
    /// to another class takes effect as soon as it can.
    fn enqueue(&mut self, mut it: Configuration) {
        for open in &self.open {
            if open.effect.never_leaves() && open.effect.stays_in(it.class) {
                it.done |= open.bit;
            }
        }
        let met = self.met.entry((it.done, it.class)).or_insert_with(|| Vec::with_capacity(1));
        if met.iter().any(|less| is_at_most(less, &it.used)) {
            return;
        }
        self.kept -= met.len();
        met.retain(|more| !is_at_most(&it.used, more));
        met.push(it.used);
        self.kept += met.len();
        self.todo.push(it);
    }
}
