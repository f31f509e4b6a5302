//! The proof of a counterexample: it is judged by itself, by a search that shares nothing with what
//! found it but the automaton of the specification.
//!
//! The *definition*: a set of operations is a *counterexample* if the history up to the last return
//! among them has no linearization, even if every operation outside of the set may be left out. So
//! each of the others happened as recorded, or not at all; one that had not returned by then may
//! have any result. A counterexample is *minimal* if each of its operations matters: had any one of
//! them happened at another time, with another result, or not at all, there would be a
//! linearization, with some of the others.
//!
//! A reader who sees only the counterexample need not wonder about the rest: whichever of the
//! others are left out, it does not help. To require fewer operations never makes fewer orders
//! possible. So one pass over the operations, which spares each one if the rest still contradicts
//! without it, ends with a minimal set. It starts from what was found; if that does not suffice,
//! from the whole history.
//!
//! The last operation of a counterexample is the one whose return is the failure point, where that
//! can be found in time: the report then blames one operation only.
//!
//! The search follows the events in order. A configuration is a state and the set of open
//! operations that have taken effect. At the return of an operation, every order of open operations
//! that ends with it is tried; a configuration in which a required operation has not taken effect
//! is dropped. Two kinds of optional operations are left out beforehand, as no order needs them:
//! those that change nothing, and those on elements that no required operation concerns. Of those
//! that came long before the counterexample, only the states matter to which they may have led.
//!
//! Source: the definition of linearizability; deletion-based extraction of minimal unsatisfiable
//! sets. Cost: exponential in the number of open operations, and a pass over the operations for
//! each attempt, within a budget. Where that does not suffice, the counterexample is not verified,
//! or not minimal, and says so.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque, btree_map::Entry},
};

use clewline_core::{
    Automaton, Budget, DeadEnd, Elements, Footprint, LabelId, OperationId, Problem, Reason, Retain, Role,
    RoleKind, Span, StateId,
};

/// At most this many operations may be open at a time: each is a bit.
const OPEN_OPERATIONS_MAX: usize = 128;

/// The events of this many operations take as long as a configuration.
const OPERATIONS_PER_CONFIG: u64 = 16;

/// Of the operations before the counterexample, only this many are tried at first.
const NEAR_OPERATIONS: usize = 24;

/// Where what was found does not suffice, this many operations are added at first.
const FIRST_ADDED_OPERATIONS: usize = 8;

/// An attempt that can be done without may take one part in this many of what is left.
const PARTS: u64 = 4;

/// At most this many states may have been reached by then.
const STARTS_MAX: usize = 1 << 10;

/// A counterexample, as far as it is proven.
#[derive(Clone, Debug)]
pub(super) struct Proven<'a> {
    /// The history up to the last return of the counterexample.
    pub(super) prefix: Problem<'a>,
    /// The positions of the counterexample in it.
    pub(super) core: Vec<usize>,
    /// Whether these contradict each other, whichever of the others happened.
    pub(super) is_verified: bool,
    /// Whether no one of them can be spared.
    pub(super) is_minimal: bool,
}

/// Proves that the operations `found` contradict each other, in the history up to the last return
/// among them, or finds others that do; then spares those that can be spared. The last one is not
/// spared if `is_failing`: without its return there is a linearization.
pub(super) fn prove<'a>(
    problem: &Problem<'a>,
    found: &[OperationId],
    is_failing: bool,
    budget: &Budget,
) -> Proven<'a> {
    let is_found = |at: &usize| found.binary_search(&problem.operations()[*at]).is_ok();
    let last = (0..problem.len()).filter(is_found).filter_map(|at| problem.spans()[at].ret()).max();
    let prefix = until(problem, last.unwrap_or(0));
    let is_required =
        |at: usize| found.binary_search(&prefix.operations()[at]).is_ok() && !prefix.spans()[at].is_pending();
    let mut required: Vec<bool> = (0..prefix.len()).map(is_required).collect();
    let mut left = Left { budget, visited: 0 };
    let is_verified = make_enough(&prefix, &mut required, &mut left).is_ok();
    let is_last = |at: usize| prefix.spans()[at].ret() == last;
    let is_minimal = is_verified && spare(&prefix, &mut required, is_last, &mut left);
    // That the last one is spared is rare, and would begin everything anew.
    let mut is_last_needed = || -> Result<bool, Reason> {
        let mut fewer = required.clone();
        let at = (0..prefix.len()).find(|&at| is_last(at)).unwrap_or(0);
        fewer[at] = false;
        is_possible(&without(&prefix, at), &fewer, &mut left)
    };
    let is_minimal = is_minimal && (is_failing || is_last_needed().unwrap_or(false));
    let core = (0..required.len()).filter(|&at| required[at]).collect();
    Proven { prefix, core, is_verified, is_minimal }
}

/// Adds operations to those that are required until they contradict each other, as few as can be
/// found quickly: those that returned last, twice as many each time.
fn make_enough(problem: &Problem<'_>, required: &mut Vec<bool>, left: &mut Left<'_>) -> Result<(), Reason> {
    let mut prover = Prover::new(problem);
    if left.part(|left| prover.is_possible(required, left)).is_ok_and(|it| !it) {
        return Ok(());
    }
    let mut latest: Vec<usize> = (0..problem.len()).filter(|&at| !problem.spans()[at].is_pending()).collect();
    latest.sort_unstable_by_key(|&at| Reverse(problem.spans()[at].end()));
    let mut number = FIRST_ADDED_OPERATIONS;
    let mut all = loop {
        let mut more = required.clone();
        latest.iter().take(number).for_each(|&at| more[at] = true);
        let is_whole = latest.len() <= number;
        // Before all are required, it is not worthwhile to search from the initial state.
        let is_possible = if is_whole {
            prover.is_possible(&more, left)?
        } else {
            prover.is_possible_nearby(&more, left)? != Some(false)
        };
        match (is_possible, is_whole) {
            (false, _) => break more,
            (true, true) => return Err(Reason::Refused("the operations have a linearization".to_owned())),
            (true, false) => number *= 2,
        }
    };
    // Blocks first, from large to small.
    let mut others: Vec<usize> = (0..all.len()).filter(|&at| all[at] && !required[at]).collect();
    let mut size = others.len();
    while 0 < size {
        for block in others.chunks(size) {
            let mut fewer = all.clone();
            block.iter().for_each(|&at| fewer[at] = false);
            if prover.is_possible_nearby(&fewer, left)? == Some(false) {
                all = fewer;
            }
        }
        others.retain(|&at| all[at]);
        size = if size == 1 { 0 } else { size.div_ceil(2).min(others.len()) };
    }
    *required = all;
    Ok(())
}

/// Spares those of the required operations that make no difference, except one. Whether each that
/// is left is known to matter.
fn spare(
    problem: &Problem<'_>,
    required: &mut Vec<bool>,
    is_kept: impl Fn(usize) -> bool,
    left: &mut Left<'_>,
) -> bool {
    let mut is_minimal = true;
    // The later ones are mostly near to what went wrong.
    let mut order: Vec<usize> = (0..required.len()).filter(|&at| required[at] && !is_kept(at)).collect();
    order.sort_by_key(|&at| problem.spans()[at].end());
    for at in order {
        let mut fewer = required.clone();
        fewer[at] = false;
        match left.part(|left| is_possible(&without(problem, at), &fewer, left)) {
            Ok(true) => {}
            Ok(false) => *required = fewer,
            Err(_) => is_minimal = false,
        }
    }
    is_minimal
}

/// The problem in which the operation at one position may happen at any time, with any result, or
/// not at all.
fn without<'a>(problem: &Problem<'a>, at: usize) -> Problem<'a> {
    problem.weaken(|it| if it == at { Retain::Unconstrained } else { Retain::All })
}

/// Whether some linearization contains the required operations of `problem`, and any of the others.
fn is_possible(problem: &Problem<'_>, required: &[bool], left: &mut Left<'_>) -> Result<bool, Reason> {
    Prover::new(problem).is_possible(required, left)
}

/// The budget of all attempts together.
struct Left<'b> {
    budget: &'b Budget,
    visited: u64,
}

impl Left<'_> {
    fn count(&mut self, configurations: u64) -> Result<(), Reason> {
        self.visited += configurations;
        self.budget.visit(configurations);
        self.budget.allow(self.visited)
    }

    /// Attempts something that may take a part of what is left.
    fn part<T>(&mut self, attempt: impl FnOnce(&mut Left<'_>) -> Result<T, Reason>) -> Result<T, Reason> {
        let left = self.budget.configurations().saturating_sub(self.visited);
        let budget = self.budget.clone().with_configurations(left / PARTS);
        let mut part = Left { budget: &budget, visited: 0 };
        let result = attempt(&mut part);
        self.visited += part.visited;
        result
    }
}

/// The failure point: the operation with whose return there is no linearization any more, and the
/// history up to that return. `None` if there is a linearization.
///
/// # Errors
///
/// If the budget does not suffice.
pub(super) fn failing_prefix<'a>(
    problem: &Problem<'a>,
    budget: &Budget,
) -> Result<Option<(OperationId, Problem<'a>)>, Reason> {
    let mut left = Left { budget, visited: 0 };
    let complete = |it: &Problem<'_>| it.spans().iter().map(|it| !it.is_pending()).collect::<Vec<bool>>();
    let all = vec![true; problem.len()];
    let mut prover = Prover::new(problem);
    let initial = prover.automaton.initial();
    let Some(end) = prover.search(&complete(problem), &all, [initial], &mut left)? else { return Ok(None) };
    let first = problem.spans()[end.next].end();
    let later = (0..problem.len()).filter(|&at| !problem.spans()[at].is_pending());
    let mut later: Vec<usize> = later.filter(|&at| first <= problem.spans()[at].end()).collect();
    later.sort_unstable_by_key(|&at| problem.spans()[at].end());
    // While the results of open operations are not known, more orders may be possible.
    for at in later {
        let prefix = until(problem, problem.spans()[at].end());
        if !is_possible(&prefix, &complete(&prefix), &mut left)? {
            return Ok(Some((problem.operations()[at], prefix)));
        }
    }
    Ok(None)
}

/// The history up to the return of rank `last`.
fn until<'a>(problem: &Problem<'a>, last: u32) -> Problem<'a> {
    problem.weaken(|at| match problem.spans()[at] {
        span if last < span.call() => Retain::Drop,
        span if last < span.end() => Retain::CallOnly,
        _ => Retain::All,
    })
}

/// Where the longest order of the history of `problem` ends that contains the operations of `core`,
/// without other operations that make no difference. `None` if it has a linearization, or the
/// budget does not suffice.
pub(super) fn dead_end(problem: &Problem<'_>, core: &[usize], budget: &Budget) -> Option<DeadEnd> {
    let is_core = |at: usize| core.binary_search(&at).is_ok();
    let required: Vec<bool> = (0..problem.len()).map(is_core).collect();
    let mut prover = Prover::new(problem);
    prover.is_traced = true;
    let End { mut order, next } = prover.end(&required, &mut Left { budget, visited: 0 }).ok()??;
    // The claim itself: the order is allowed, and the operation cannot come next.
    let stuck = |order: &[usize]| {
        let mut replay = problem.replay();
        let is_allowed = order.iter().all(|&at| replay.advance(at));
        let instead = replay.could_return(next);
        (is_allowed && !replay.advance(next)).then_some(instead)
    };
    let instead = stuck(&order)?;
    let mut place = order.len();
    while 0 < place {
        place -= 1;
        let mut shorter = order.clone();
        if !is_core(shorter.remove(place)) && stuck(&shorter).as_ref() == Some(&instead) {
            // What removed the element that this one added may now be left out, too.
            order = shorter;
            place = order.len();
        }
    }
    let id = |at: usize| problem.operations()[at];
    Some(DeadEnd::new(order.into_iter().map(id).collect(), id(next), instead))
}

/// Where a search ends: at the return of the required operation `next`, after one of the longest
/// orders.
#[derive(Clone, Debug)]
struct End {
    order: Vec<usize>,
    next: usize,
}

struct Prover<'p> {
    spans: &'p [Span],
    labels: Vec<LabelId>,
    automaton: Box<dyn Automaton + 'p>,
    // The calls and returns in order: a position, and whether it is a return.
    events: Vec<(usize, bool)>,
    concerns: Vec<Footprint>,
    // Elements that some operation links, by their groups.
    groups: HashMap<u64, u64>,
    // How each configuration was reached: the step before, and the position of the last operation.
    steps: Vec<(usize, usize)>,
    // Whether it is wanted where orders end, and not only that they do.
    is_traced: bool,
}

/// Each configuration, and the number of the step that led to it.
type Configurations = BTreeMap<(StateId, u128), usize>;

impl<'p> Prover<'p> {
    fn new(problem: &'p Problem<'_>) -> Prover<'p> {
        let spans = problem.spans();
        let calls = spans.iter().enumerate().map(|(at, it)| (it.call(), at, false));
        let returns = spans.iter().enumerate().filter_map(|(at, it)| Some((it.ret()?, at, true)));
        let mut events: Vec<(u32, usize, bool)> = calls.chain(returns).collect();
        events.sort_unstable_by_key(|&(rank, at, is_return)| (rank, is_return, at));
        let automaton = problem.automaton();
        let labels = automaton.labels().to_vec();
        let kinds = problem.roles().ok().map(|it| it.kinds);
        let is_container = problem.kind().is_some_and(|it| it.resets(Role::Empty));
        let concern = |at: usize| {
            let footprint = problem.footprint(at);
            let is_empty = is_container && kinds.as_ref().is_some_and(|it| it[at] == RoleKind::Empty);
            // *Empty* is also returned where less is inside; a pending operation may do nothing.
            let is_free = is_empty || spans[at].is_pending();
            let elements = match footprint.elements() {
                Elements::Any if is_free => Elements::None,
                elements => elements,
            };
            if footprint.is_read() { Footprint::Reads(elements) } else { Footprint::Changes(elements) }
        };
        let concerns: Vec<Footprint> = (0..spans.len()).map(concern).collect();
        let groups = groups(&concerns);
        let events = events.into_iter().map(|(_, at, is_return)| (at, is_return)).collect();
        Prover { spans, labels, automaton, events, concerns, groups, steps: Vec::new(), is_traced: false }
    }

    /// Whether some linearization contains the required operations, and any of the others.
    fn is_possible(&mut self, required: &[bool], left: &mut Left<'_>) -> Result<bool, Reason> {
        if let Some(is_possible) = self.is_possible_nearby(required, left)? {
            return Ok(is_possible);
        }
        let used = self.used(required);
        let initial = self.automaton.initial();
        Ok(self.search(required, &used, [initial], left)?.is_none())
    }

    /// The same, if that follows from the operations near the required ones.
    fn is_possible_nearby(&mut self, required: &[bool], left: &mut Left<'_>) -> Result<Option<bool>, Reason> {
        let used = self.used(required);
        let initial = self.automaton.initial();
        let Some(near) = self.near(required) else {
            return Ok(Some(self.search(required, &used, [initial], left)?.is_none()));
        };
        // An order without those that came long before is an order.
        let few: Vec<bool> = (0..used.len()).map(|at| used[at] && self.is_near(at, near)).collect();
        if self.search(required, &few, [initial], left)?.is_none() {
            return Ok(Some(true));
        }
        // If no state that those may have led to helps, nothing does.
        if let Some(starts) = self.reachable(&used, near, left)? {
            let is_open =
                |at: usize| self.is_near(at, near) || self.spans[near].call() < self.spans[at].end();
            let some: Vec<bool> = (0..used.len()).map(|at| used[at] && is_open(at)).collect();
            if self.search(required, &some, starts, left)?.is_some() {
                return Ok(Some(false));
            }
        }
        Ok(None)
    }

    /// Where orders end that contain the required operations, and others that are near. `None` if
    /// one of them does not end.
    fn end(&mut self, required: &[bool], left: &mut Left<'_>) -> Result<Option<End>, Reason> {
        let mut used = self.used(required);
        if let Some(near) = self.near(required) {
            (0..used.len()).for_each(|at| used[at] &= self.is_near(at, near));
        }
        let initial = self.automaton.initial();
        self.search(required, &used, [initial], left)
    }

    /// The first operation that is near to the required ones, if others came long before.
    fn near(&self, required: &[bool]) -> Option<usize> {
        let first = (0..required.len()).find(|&at| required[at])?;
        first.checked_sub(NEAR_OPERATIONS).filter(|&it| 0 < it)
    }

    fn is_near(&self, at: usize, near: usize) -> bool {
        near <= at || self.spans[at].call() == 0
    }

    /// The states to which the operations before `near` may have led, in any order, however often
    /// each happened. `None` if there are too many.
    fn reachable(
        &mut self,
        used: &[bool],
        near: usize,
        left: &mut Left<'_>,
    ) -> Result<Option<Vec<StateId>>, Reason> {
        let labels: BTreeSet<LabelId> = (0..near).filter(|&at| used[at]).map(|at| self.labels[at]).collect();
        let initial = self.automaton.initial();
        let (mut states, mut known) = (vec![initial], BTreeSet::from([initial]));
        let mut next = 0;
        while let Some(&state) = states.get(next) {
            next += 1;
            for &label in &labels {
                let mut nth = 0;
                while let Some(after) = self.automaton.step(state, label, nth) {
                    nth += 1;
                    if known.insert(after.state) {
                        states.push(after.state);
                    }
                }
            }
            left.count(1)?;
            if STARTS_MAX < states.len() {
                return Ok(None);
            }
        }
        Ok(Some(states))
    }

    /// Where orders of the used operations end that contain the required ones. `None` if one of
    /// them does not end.
    fn search(
        &mut self,
        required: &[bool],
        used: &[bool],
        starts: impl IntoIterator<Item = StateId>,
        left: &mut Left<'_>,
    ) -> Result<Option<End>, Reason> {
        left.count(1 + self.spans.len() as u64 / OPERATIONS_PER_CONFIG)?;
        self.steps.clear();
        self.steps.push((0, usize::MAX));
        let last = self.events.iter().rposition(|&(at, is_return)| is_return && required[at]);
        let Some(last) = last else { return Ok(None) };
        let mut configurations: Configurations = starts.into_iter().map(|it| ((it, 0), 0)).collect();
        // The operation in each slot, while it is open.
        let mut open: Vec<Option<usize>> = Vec::new();
        for event in 0..=last {
            let (at, is_return) = self.events[event];
            if !used[at] {
                continue;
            }
            if !is_return {
                match open.iter().position(Option::is_none) {
                    Some(slot) => open[slot] = Some(at),
                    None if open.len() < OPEN_OPERATIONS_MAX => open.push(Some(at)),
                    None => return Err(Reason::Refused("too many operations are open".to_owned())),
                }
                continue;
            }
            let slot = open.iter().position(|&it| it == Some(at)).expect("it was called before");
            let (before, after) = self.at_return(configurations, &open, slot, required[at], left)?;
            if after.is_empty() {
                return Ok(Some(End { order: self.longest(&before, required), next: at }));
            }
            open[slot] = None;
            configurations = after;
        }
        Ok(None)
    }

    /// The configurations before and after the return of the operation in `slot`.
    fn at_return(
        &mut self,
        mut before: Configurations,
        open: &[Option<usize>],
        slot: usize,
        is_required: bool,
        budget: &mut Left<'_>,
    ) -> Result<(Configurations, Configurations), Reason> {
        let bit = 1 << slot;
        let mut after = Configurations::new();
        let mut left: VecDeque<((StateId, u128), usize)> = VecDeque::new();
        for (&(state, done), &step) in &before {
            if done & bit != 0 {
                after.entry((state, done & !bit)).or_insert(step);
                continue;
            }
            if !is_required {
                after.entry((state, done)).or_insert(step);
            }
            left.push_back(((state, done), step));
        }
        while let Some(((state, done), step)) = left.pop_front() {
            for (number, at) in open.iter().enumerate() {
                let one = 1 << number;
                let Some(at) = at.filter(|_| done & one == 0) else { continue };
                let mut nth = 0;
                while let Some(next) = self.automaton.step(state, self.labels[at], nth) {
                    nth += 1;
                    let is_it = number == slot;
                    let (known, done) = if is_it { (&mut after, done) } else { (&mut before, done | one) };
                    if let Entry::Vacant(entry) = known.entry((next.state, done)) {
                        self.steps.push((step, at));
                        entry.insert(self.steps.len() - 1);
                        if !is_it {
                            left.push_back(((next.state, done), self.steps.len() - 1));
                        }
                    }
                }
            }
            budget.count(1)?;
        }
        Ok((before, after))
    }

    /// Of the orders of these configurations one with the most required operations and, of these,
    /// the most others.
    fn longest(&self, configurations: &Configurations, required: &[bool]) -> Vec<usize> {
        if !self.is_traced {
            return Vec::new();
        }
        let order = |&step: &usize| {
            let (mut step, mut order) = (step, Vec::new());
            while step != 0 {
                let (before, at) = self.steps[step];
                order.push(at);
                step = before;
            }
            order.reverse();
            order
        };
        let rank = |it: &Vec<usize>| {
            let needed = it.iter().filter(|&&at| required[at]).count();
            (Reverse((needed, it.len())), it.clone())
        };
        configurations.values().map(order).min_by_key(rank).unwrap_or_default()
    }

    /// The operations that an order may need: the required ones, and others that may help.
    fn used(&self, required: &[bool]) -> Vec<bool> {
        let group = |it: u64| self.groups.get(&it).copied().unwrap_or(it);
        let is_any = |at: usize| matches!(self.concerns[at].elements(), Elements::Any | Elements::Every);
        let all = 0..required.len();
        let is_change = |at: usize| matches!(self.concerns[at], Footprint::Changes(_));
        // While such an operation may happen, an order may need each element.
        let keeps_all = all.clone().any(|at| is_any(at) && (required[at] || is_change(at)));
        let touched: HashSet<u64> = all
            .clone()
            .filter(|&at| required[at])
            .flat_map(|at| match self.concerns[at].elements() {
                Elements::One(one) => vec![group(one)],
                Elements::Two(one, other) => vec![group(one), group(other)],
                Elements::None | Elements::Any | Elements::Every => Vec::new(),
            })
            .collect();
        let may_help = |at: usize| match self.concerns[at] {
            Footprint::Reads(_) => false,
            Footprint::Changes(Elements::One(one) | Elements::Two(one, _)) => {
                keeps_all || touched.contains(&group(one))
            }
            Footprint::Changes(Elements::None | Elements::Any | Elements::Every) => true,
        };
        all.map(|at| required[at] || may_help(at)).collect()
    }
}

/// The group of each element that an operation links with another.
fn groups(concerns: &[Footprint]) -> HashMap<u64, u64> {
    let mut parent: HashMap<u64, u64> = HashMap::new();
    let root = |parent: &HashMap<u64, u64>, mut it: u64| {
        while let Some(&next) = parent.get(&it) {
            it = next;
        }
        it
    };
    for concern in concerns {
        if let Elements::Two(one, other) = concern.elements() {
            let (one, other) = (root(&parent, one), root(&parent, other));
            if one != other {
                parent.insert(one, other);
            }
        }
    }
    parent.keys().map(|&it| (it, root(&parent, it))).collect()
}
