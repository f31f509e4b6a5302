//! The search of a proof: whether some linearization contains the required operations, and any of
//! the others.
//!
//! It follows the events in order. A configuration is a state and the set of open operations that
//! have taken effect. At the return of an operation, every order of open operations that ends with
//! it is tried; a configuration in which a required operation has not taken effect is dropped.
//! Four rules leave out what makes no difference:
//!
//! * Optional operations that change nothing, or are on elements that no required operation
//!   concerns, are not used.
//! * In a queue, stack, priority queue or bag, a copy of an element that an optional operation
//!   added makes a difference only if a required operation finds it: without that copy, and without
//!   the operations that found it, an order stays possible. So an optional operation that adds an
//!   element is used only if a required one found that element; and of what came long before, no
//!   more copies matter than required operations found.
//! * Of open operations with equal labels, the one that returns first takes effect first: if
//!   another one came first, the two could be exchanged. An optional one may give way to a required
//!   one that returns later.
//! * A configuration in which more optional operations have taken effect than in another one with
//!   the same state is dropped: the other one can do without them. Most are dropped as soon as they
//!   are found, and the others after the event.
//!
//! Cost: exponential in the number of distinct open operations, within a budget.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap, HashSet},
};

use clewline_core::{
    Automaton, Budget, Elements, Footprint, Interner, LabelId, ObjectKind, Problem, Reason, Role, RoleKind,
    Roles, Span, StateId,
};

/// At most this many operations may be open at a time: each is a bit.
const OPEN_OPERATIONS_MAX: usize = 128;

/// The events of this many operations take as long as a configuration.
const OPERATIONS_PER_CONFIG: u64 = 16;

/// After this many configurations, limits of time and memory are looked at.
const BUDGET_CHECK_INTERVAL_CONFIGS: u64 = 16;

/// Of the operations before the required ones, only this many are tried at first.
pub(super) const NEAR_OPERATIONS: usize = 24;

/// An attempt that can be done without may take one part in this many of what is left.
const SPARE_ATTEMPT_BUDGET_DIVISOR: u64 = 4;

/// At most this many states may have been reached by operations that came long before, and they may
/// have at most this many labels.
const START_STATES_MAX: usize = 1 << 10;
const START_LABELS_MAX: usize = 1 << 6;

/// Of configurations with the same state, at most this many are compared with each other.
const COMPARED_CONFIGS_MAX: usize = 64;

/// The budget of all attempts together.
pub(super) struct Left<'b> {
    budget: &'b Budget,
    visited: u64,
}

impl<'b> Left<'b> {
    pub(super) fn new(budget: &'b Budget) -> Left<'b> {
        Left { budget, visited: 0 }
    }

    fn count(&mut self, configurations: u64) -> Result<(), Reason> {
        let before = self.visited;
        self.visited += configurations;
        self.budget.visit(configurations);
        let is_due = before / BUDGET_CHECK_INTERVAL_CONFIGS != self.visited / BUDGET_CHECK_INTERVAL_CONFIGS;
        if is_due || self.budget.configurations() < self.visited {
            self.budget.allow(self.visited)?;
        }
        Ok(())
    }

    /// Attempts something that may take a part of what is left.
    pub(super) fn part<T>(
        &mut self,
        attempt: impl FnOnce(&mut Left<'_>) -> Result<T, Reason>,
    ) -> Result<T, Reason> {
        let left = self.budget.configurations().saturating_sub(self.visited);
        let budget = self.budget.clone().with_configurations(left / SPARE_ATTEMPT_BUDGET_DIVISOR);
        let mut part = Left { budget: &budget, visited: 0 };
        let result = attempt(&mut part);
        self.visited += part.visited;
        result
    }
}

/// What each operation of a problem changes and depends on.
pub(super) struct Survey {
    concerns: Vec<Footprint>,
    // Elements that some operation links, by their groups.
    groups: HashMap<u64, u64>,
    // Of a container whose copies matter only if they are found.
    roles: Option<Roles>,
}

impl Survey {
    pub(super) fn new(problem: &Problem<'_>) -> Survey {
        let roles = problem.roles().ok();
        let kinds = roles.as_ref().map(|it| &it.kinds);
        let is_container = problem.kind().is_some_and(|it| it.resets(Role::Empty));
        let concern = |at: usize| {
            let footprint = problem.footprint(at);
            let is_empty = is_container && kinds.as_ref().is_some_and(|it| it[at] == RoleKind::Empty);
            // *Empty* is also returned where less is inside; a pending operation may do nothing.
            let is_free = is_empty || problem.spans()[at].is_pending();
            let elements = match footprint.elements() {
                Elements::Any if is_free => Elements::None,
                elements => elements,
            };
            if footprint.is_read() { Footprint::Reads(elements) } else { Footprint::Changes(elements) }
        };
        let concerns: Vec<Footprint> = (0..problem.len()).map(concern).collect();
        let groups = groups(&concerns);
        let is_plain = |kind: ObjectKind| match kind {
            ObjectKind::Queue | ObjectKind::Stack | ObjectKind::PriorityQueue | ObjectKind::Bag => true,
            ObjectKind::QuasiQueue { .. }
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::QuasiPriorityQueue { .. }
            | ObjectKind::Set
            | ObjectKind::Multiset
            | ObjectKind::Counter
            | ObjectKind::Register { .. }
            | ObjectKind::Channel
            | ObjectKind::Deque
            | ObjectKind::Other(_) => false,
        };
        let roles = roles.filter(|_| problem.kind().is_some_and(is_plain));
        Survey { concerns, groups, roles }
    }

    /// The elements that required operations of a container found, once for each; `None` if copies
    /// that are not found may matter as well.
    fn found(&self, required: &[bool]) -> Option<Vec<u32>> {
        let roles = self.roles.as_ref()?;
        let finds =
            |at: &usize| required[*at] && matches!(roles.kinds[*at], RoleKind::Remove | RoleKind::Observe);
        Some((0..required.len()).filter(finds).map(|at| roles.elements[at]).collect())
    }

    /// Whether the operation adds an element to a container, which must be one of these.
    fn adds(&self, at: usize, found: &[u32]) -> Option<bool> {
        let roles = self.roles.as_ref()?;
        (roles.kinds[at] == RoleKind::Add).then(|| found.contains(&roles.elements[at]))
    }

    /// The operations that an order may need: the required ones, and others that may help.
    pub(super) fn used(&self, required: &[bool]) -> Vec<bool> {
        let group = |it: u64| self.groups.get(&it).copied().unwrap_or(it);
        let is_any = |at: usize| matches!(self.concerns[at].elements(), Elements::Any | Elements::Every);
        let all = 0..required.len();
        let is_change = |at: usize| matches!(self.concerns[at], Footprint::Changes(_));
        // While such an operation may happen, an order may need each element.
        let keeps_all = all.clone().any(|at| is_any(at) && (required[at] || is_change(at)));
        let touched: HashSet<u64> = all
            .clone()
            .filter(|&at| required[at])
            .filter_map(|at| match self.concerns[at].elements() {
                // Both are of one group.
                Elements::One(one) | Elements::Two(one, _) => Some(group(one)),
                Elements::None | Elements::Any | Elements::Every => None,
            })
            .collect();
        let may_help = |at: usize| match self.concerns[at] {
            Footprint::Reads(_) => false,
            Footprint::Changes(Elements::One(one) | Elements::Two(one, _)) => {
                keeps_all || touched.contains(&group(one))
            }
            Footprint::Changes(Elements::None | Elements::Any | Elements::Every) => true,
        };
        let found = self.found(required).unwrap_or_default();
        let is_in_vain = |at: usize| self.adds(at, &found) == Some(false);
        all.map(|at| required[at] || may_help(at) && !is_in_vain(at)).collect()
    }
}

/// Where a search ends: at the return of the required operation `next`, after one of the longest
/// orders.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) order: Vec<usize>,
    pub(super) next: usize,
}

/// A state, and the slots of the open operations that have taken effect.
type Configuration = (StateId, u128);

/// Each configuration once, in ascending order, and where it comes from: the number of a step if
/// orders are traced, and otherwise that of a configuration before the event.
type Configurations = Vec<(Configuration, usize)>;

/// Configurations in the order in which they were found.
#[derive(Default)]
struct Found {
    all: Interner<Configuration>,
    // Where each comes from.
    from: Vec<usize>,
}

impl Found {
    /// Adds a configuration. Returns false if it is known.
    fn insert(&mut self, configuration: Configuration, from: usize) -> bool {
        let is_new = self.all.intern(configuration) as usize == self.from.len();
        if is_new {
            self.from.push(from);
        }
        is_new
    }

    fn into_configurations(self) -> Configurations {
        let mut all: Configurations = self.all.into_values().into_iter().zip(self.from).collect();
        all.sort_unstable();
        all
    }
}

/// An open operation.
struct Open {
    bit: u128,
    at: usize,
    // Others that may take effect instead.
    instead: u128,
}

/// The configurations before an event, and the operation in each slot while it is open.
#[derive(Clone, Debug)]
struct Layer {
    configurations: Configurations,
    open: Vec<Option<usize>>,
}

/// How all orders with the required operations end. To find out whether one of them can be spared,
/// only the events from its call on are followed.
pub(super) struct Trail {
    used: Vec<bool>,
    // By event; those before the one at which all orders end.
    layers: Vec<Layer>,
    // By event: configurations from which the rest is possible, with all that is required then.
    alive: Vec<BTreeSet<Configuration>>,
}

/// Searches one problem, for several sets of required operations.
pub(super) struct Prover<'p> {
    spans: &'p [Span],
    labels: Vec<LabelId>,
    automaton: Box<dyn Automaton + 'p>,
    // The calls and returns in order: a position, and whether it is a return.
    events: Vec<(usize, bool)>,
    survey: Survey,
    // How each configuration was reached: the step before, and the position of the last operation.
    steps: Vec<(usize, usize)>,
    // Whether it is wanted where orders end, and not only that they do.
    is_traced: bool,
}

impl<'p> Prover<'p> {
    pub(super) fn new(problem: &'p Problem<'_>) -> Prover<'p> {
        let spans = problem.spans();
        let calls = spans.iter().enumerate().map(|(at, it)| (it.call(), at, false));
        let returns = spans.iter().enumerate().filter_map(|(at, it)| Some((it.ret()?, at, true)));
        let mut events: Vec<(u32, usize, bool)> = calls.chain(returns).collect();
        events.sort_unstable_by_key(|&(rank, at, is_return)| (rank, is_return, at));
        let automaton = problem.automaton();
        let labels = automaton.labels().to_vec();
        let events = events.into_iter().map(|(_, at, is_return)| (at, is_return)).collect();
        let survey = Survey::new(problem);
        Prover { spans, labels, automaton, events, survey, steps: Vec::new(), is_traced: false }
    }

    /// As [`Prover::new`]; orders are traced.
    pub(super) fn tracing(problem: &'p Problem<'_>) -> Prover<'p> {
        Prover { is_traced: true, ..Prover::new(problem) }
    }

    /// Whether some linearization contains the required operations, and any of the others.
    pub(super) fn is_possible(&mut self, required: &[bool], left: &mut Left<'_>) -> Result<bool, Reason> {
        let used = self.survey.used(required);
        let initial = self.automaton.initial();
        Ok(self.search(required, &used, [initial], left)?.is_none())
    }

    /// The same, if that follows from the operations near the required ones.
    pub(super) fn is_possible_nearby(
        &mut self,
        required: &[bool],
        left: &mut Left<'_>,
    ) -> Result<Option<bool>, Reason> {
        let Some(near) = near(required) else { return self.is_possible(required, left).map(Some) };
        let used = self.survey.used(required);
        let initial = self.automaton.initial();
        // An order without those that came long before is an order.
        let few: Vec<bool> = (0..used.len()).map(|at| used[at] && self.is_near(at, near)).collect();
        if self.search(required, &few, [initial], left)?.is_none() {
            return Ok(Some(true));
        }
        // If no state that those may have led to helps, nothing does.
        if let Some(starts) = self.reachable(required, &used, near, left)? {
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
    pub(super) fn end(&mut self, required: &[bool], left: &mut Left<'_>) -> Result<Option<End>, Reason> {
        let used = self.used_nearby(required);
        let initial = self.automaton.initial();
        self.search(required, &used, [initial], left)
    }

    /// Follows the orders of the required operations, and of others that are near, to their end.
    pub(super) fn trail(&mut self, required: &[bool], left: &mut Left<'_>) -> Result<Trail, Reason> {
        let used = self.used_nearby(required);
        let initial = self.automaton.initial();
        let mut trail = Trail { used, layers: Vec::new(), alive: vec![BTreeSet::new(); self.events.len()] };
        let mut layer = Layer { configurations: vec![((initial, 0), 0)], open: Vec::new() };
        for event in 0..self.events.len() {
            trail.layers.push(layer.clone());
            layer = match self.after(layer, event, required, &trail.used, left)? {
                Ok(next) => next,
                Err(_) => break,
            };
        }
        Ok(trail)
    }

    /// Whether some linearization contains the required operations except the one at `spared`, and
    /// any of those that the trail uses.
    pub(super) fn is_possible_without(
        &mut self,
        spared: usize,
        required: &[bool],
        trail: &mut Trail,
        left: &mut Left<'_>,
    ) -> Result<bool, Reason> {
        let mut fewer = required.to_vec();
        fewer[spared] = false;
        let place = |is_return: bool| self.events.iter().position(|&it| it == (spared, is_return));
        let (Some(called), Some(returned)) = (place(false), place(true)) else { return Ok(false) };
        let Some(last) = self.events.iter().rposition(|&(at, is_return)| is_return && fewer[at]) else {
            return Ok(true);
        };
        // All orders end before it is called.
        let Some(mut layer) = trail.layers.get(called).cloned() else { return Ok(false) };
        left.count(1)?;
        // By event: the configurations, each with its place in the list of the event before.
        let mut followed: Vec<Configurations> = Vec::new();
        let mut event = called;
        let found = loop {
            let all = layer.configurations.clone();
            layer.configurations.iter_mut().zip(0..).for_each(|(it, place)| it.1 = place);
            let is_alive = |it: &(Configuration, usize)| last < event || trail.alive[event].contains(&it.0);
            let alive = if returned < event { all.iter().position(is_alive) } else { None };
            followed.push(all);
            if alive.is_some() || last < event {
                break alive.unwrap_or(0);
            }
            layer = match self.after(layer, event, &fewer, &trail.used, left)? {
                Ok(next) => next,
                Err(_) => return Ok(false),
            };
            event += 1;
        };
        // From here on, the same is required without any other operation.
        let mut place = found;
        for (event, all) in
            (called..).zip(followed).skip(1 + returned - called).collect::<Vec<_>>().into_iter().rev()
        {
            let (configuration, from) = all[place];
            if let Some(alive) = trail.alive.get_mut(event) {
                alive.insert(configuration);
            }
            place = from;
        }
        Ok(true)
    }

    /// Of the operations that an order may need, those that are near the required ones.
    fn used_nearby(&self, required: &[bool]) -> Vec<bool> {
        let mut used = self.survey.used(required);
        if let Some(near) = near(required) {
            (0..used.len()).for_each(|at| used[at] &= self.is_near(at, near));
        }
        used
    }

    fn is_near(&self, at: usize, near: usize) -> bool {
        near <= at || self.spans[at].call() == 0
    }

    /// The states to which the operations before `near` may have led, in any order, however often
    /// each happened. `None` if there are too many.
    fn reachable(
        &mut self,
        required: &[bool],
        used: &[bool],
        near: usize,
        left: &mut Left<'_>,
    ) -> Result<Option<Vec<StateId>>, Reason> {
        // Of a container, only copies are inside that required operations find.
        let found = self.survey.found(required);
        let steps_max = found.as_ref().map_or(usize::MAX, Vec::len);
        let matters = |at: usize| found.as_ref().is_none_or(|it| self.survey.adds(at, it) == Some(true));
        let labels: BTreeSet<LabelId> =
            (0..near).filter(|&at| used[at] && matters(at)).map(|at| self.labels[at]).collect();
        if START_LABELS_MAX < labels.len() {
            return Ok(None);
        }
        let initial = self.automaton.initial();
        let (mut states, mut known) = (vec![(initial, 0)], BTreeSet::from([initial]));
        let mut next = 0;
        while let Some(&(state, steps)) = states.get(next) {
            next += 1;
            let labels = if steps < steps_max { Some(&labels) } else { None };
            for &label in labels.into_iter().flatten() {
                let mut nth = 0;
                while let Some(after) = self.automaton.step(state, label, nth) {
                    nth += 1;
                    if known.insert(after.state) {
                        states.push((after.state, steps + 1));
                    }
                }
            }
            left.count(1)?;
            if START_STATES_MAX < states.len() {
                return Ok(None);
            }
        }
        Ok(Some(states.into_iter().map(|it| it.0).collect()))
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
        configurations.sort_unstable();
        let mut layer = Layer { configurations, open: Vec::new() };
        for event in 0..=last {
            layer = match self.after(layer, event, required, used, left)? {
                Ok(next) => next,
                Err(before) => {
                    let (order, next) = (self.longest(&before, required), self.events[event].0);
                    return Ok(Some(End { order, next }));
                }
            };
        }
        Ok(None)
    }

    /// The configurations after an event. If there are none, where those come from that are before
    /// the operation that returns.
    fn after(
        &mut self,
        mut layer: Layer,
        event: usize,
        required: &[bool],
        used: &[bool],
        left: &mut Left<'_>,
    ) -> Result<Result<Layer, Vec<usize>>, Reason> {
        let (at, is_return) = self.events[event];
        if !used[at] {
            return Ok(Ok(layer));
        }
        let open = &mut layer.open;
        if !is_return {
            match open.iter().position(Option::is_none) {
                Some(slot) => open[slot] = Some(at),
                None if open.len() < OPEN_OPERATIONS_MAX => open.push(Some(at)),
                None => return Err(Reason::Refused("too many operations are open".to_owned())),
            }
            return Ok(Ok(layer));
        }
        let slot = open.iter().position(|&it| it == Some(at)).expect("it was called before");
        let (before, after) = self.at_return(&layer, slot, required, left)?;
        if after.from.is_empty() {
            return Ok(Err(before.from));
        }
        layer.open[slot] = None;
        let after = after.into_configurations();
        layer.configurations = if self.is_traced { after } else { undominated(after, &layer.open, required) };
        Ok(Ok(layer))
    }

    /// The configurations before and after the return of the operation in `slot`.
    fn at_return(
        &mut self,
        layer: &Layer,
        slot: usize,
        required: &[bool],
        left: &mut Left<'_>,
    ) -> Result<(Found, Found), Reason> {
        let bit = 1 << slot;
        let is_required = layer.open[slot].is_some_and(|at| required[at]);
        let open = self.open(&layer.open, required);
        // The longest order may use operations that it can do without.
        let optional = if self.is_traced { 0 } else { optional(&layer.open, required) };
        let mut fewest = FewestUsed { optional, states: Interner::new(), used: Vec::new() };
        let (mut before, mut after) = (Found::default(), Found::default());
        for &((state, done), from) in &layer.configurations {
            before.insert((state, done), from);
            fewest.admits((state, done));
            if done & bit != 0 || !is_required {
                after.insert((state, done & !bit), from);
            }
        }
        let mut place = 0;
        while let Some(&(state, done)) = before.all.values().get(place) {
            let step = before.from[place];
            place += 1;
            if done & bit != 0 {
                continue;
            }
            for it in open.iter().filter(|it| done & it.bit == 0 && it.instead & !done == 0) {
                let mut nth = 0;
                while let Some(next) = self.automaton.step(state, self.labels[it.at], nth) {
                    nth += 1;
                    let from = if self.is_traced { self.steps.len() } else { step };
                    let configuration = (next.state, done | it.bit);
                    let is_new = if it.bit == bit {
                        after.insert((next.state, done), from)
                    } else {
                        fewest.admits(configuration) && before.insert(configuration, from)
                    };
                    if is_new && self.is_traced {
                        self.steps.push((step, it.at));
                    }
                    if !next.has_more {
                        break;
                    }
                }
            }
            left.count(1)?;
        }
        Ok((before, after))
    }

    /// The open operations. Of those with equal labels, one may take effect instead of another.
    fn open(&self, open: &[Option<usize>], required: &[bool]) -> Vec<Open> {
        let rank = |it: usize| (self.spans[it].end(), it);
        let all = || open.iter().enumerate().filter_map(|(slot, at)| Some((1_u128 << slot, (*at)?)));
        let instead = |at: usize| {
            let is_instead = |other: usize| {
                self.labels[other] == self.labels[at]
                    && (required[other] || !required[at])
                    && rank(other) < rank(at)
            };
            all().filter(|it| is_instead(it.1)).fold(0, |bits, it| bits | it.0)
        };
        all().map(|(bit, at)| Open { bit, at, instead: instead(at) }).collect()
    }

    /// Of the orders that end with these steps, one with the most required operations and, of
    /// these, the most others.
    fn longest(&self, ends: &[usize], required: &[bool]) -> Vec<usize> {
        if !self.is_traced {
            return Vec::new();
        }
        // From the last operation to the first.
        let order = |end: usize| {
            let mut step = end;
            std::iter::from_fn(move || {
                let (before, at) = self.steps[step];
                step = before;
                (at != usize::MAX).then_some(at)
            })
        };
        let rank = |end: usize| {
            let (needed, all) =
                order(end).fold((0, 0), |(needed, all), at| (needed + usize::from(required[at]), all + 1));
            Reverse((needed, all))
        };
        let forward = |end: usize| {
            let mut order: Vec<usize> = order(end).collect();
            order.reverse();
            order
        };
        let ranks: Vec<_> = ends.iter().map(|&it| rank(it)).collect();
        let first = ranks.iter().min();
        let longest = ends.iter().zip(&ranks).filter(|it| Some(it.1) == first);
        longest.map(|it| forward(*it.0)).min().unwrap_or_default()
    }
}

/// The first operation that is near to the required ones, if others came long before.
fn near(required: &[bool]) -> Option<usize> {
    let first = required.iter().position(|&it| it)?;
    first.checked_sub(NEAR_OPERATIONS).filter(|&it| 0 < it)
}

/// The slots of the optional operations.
fn optional(open: &[Option<usize>], required: &[bool]) -> u128 {
    let is_optional = |at: &Option<usize>| at.is_some_and(|at| !required[at]);
    (0..open.len()).filter(|&it| is_optional(&open[it])).fold(0, |all, it| all | 1 << it)
}

/// Whether `other` is `one` and some of the `optional` operations, or none.
fn is_covered(one: u128, other: u128, optional: u128) -> bool {
    one & !other == 0 && other & !one & !optional == 0
}

/// The configurations at a return that use few optional operations, by state.
struct FewestUsed {
    optional: u128,
    states: Interner<StateId>,
    // By the number of a state: what has taken effect in the first configurations.
    used: Vec<Vec<u128>>,
}

impl FewestUsed {
    /// Whether it is not known that as few or fewer optional operations suffice for the state.
    fn admits(&mut self, (state, done): Configuration) -> bool {
        if self.optional == 0 {
            return true;
        }
        let number = self.states.intern(state) as usize;
        self.used.resize_with(self.states.len(), Vec::new);
        let known = &mut self.used[number];
        if known.iter().any(|&it| is_covered(it, done, self.optional)) {
            return false;
        }
        if known.len() < COMPARED_CONFIGS_MAX {
            known.push(done);
        }
        true
    }
}

/// The configurations without those in which optional operations have taken effect in vain.
fn undominated(all: Configurations, open: &[Option<usize>], required: &[bool]) -> Configurations {
    let optional = optional(open, required);
    if optional == 0 || all.len() < 2 {
        return all;
    }
    let is_better = |one: u128, other: u128| one != other && is_covered(one, other, optional);
    let mut needed = Configurations::new();
    for same in all.chunk_by(|one, other| one.0.0 == other.0.0) {
        let compared = &same[..same.len().min(COMPARED_CONFIGS_MAX)];
        let is_needed =
            |it: &&(Configuration, usize)| !compared.iter().any(|other| is_better(other.0.1, it.0.1));
        needed.extend(same.iter().filter(is_needed));
    }
    needed
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
