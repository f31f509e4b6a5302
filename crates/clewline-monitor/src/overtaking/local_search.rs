//! Local search: an order of all operations, improved by exchanging neighbours.
//!
//! At first every element is added as late and removed as early as possible: short lifetimes
//! overtake little. Then each operation moves to the best of the places that it can reach past
//! operations that it overlaps. Where an element still overtakes too many, or is overtaken too
//! often, the best move of one or two operations nearby is made. If there is none, the weight of
//! this excess grows, so that others have to give way; and if that does not help, the operations
//! nearby are shuffled, and the search continues from there.
//!
//! Invariants: real time allows the order, and every element is added before it is removed; the
//! counts are those of the order. Cost: a round in which all operations move takes O(n w), for w
//! operations that overlap; then [`SWAPS_PER_OPERATION_MAX`](super::SWAPS_PER_OPERATION_MAX).

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use clewline_core::{Budget, Random};

use super::container::{Action, Container, Discipline, SWAPS_PER_OPERATION_MAX};
use crate::columns::NONE;

/// How many rounds move all operations.
const MOVE_ROUNDS_MAX: usize = 6;

/// How often a weight grows before the operations around it are shuffled.
const WEIGHT_INCREASES_PER_SHUFFLE: u32 = 8;

/// How many operations before and after one that exceeds a bound may give way to it.
const NEIGHBOURHOOD_OPERATIONS: usize = 12;

/// How far one of them moves. An operation of a preempted thread overlaps thousands of others, and
/// passes them all only in the rounds.
const MOVE_DISTANCE_MAX: usize = 64;

/// If the initial order has more overtakings per operation than this, they are not counted.
const OVERTAKINGS_PER_OPERATION_MAX: usize = 64;

/// The result of a local search.
pub(super) enum LocalSearchResult {
    Order(Vec<u32>),
    /// These exceed a bound, those first that have done so for longest.
    Stuck(Vec<u32>),
    /// It was stopped.
    Stopped,
}

/// Searches for an order within the bounds.
pub(super) fn search(container: &Container, budget: &Budget) -> LocalSearchResult {
    let Some(mut order) = Order::new(container) else { return LocalSearchResult::Stopped };
    for _ in 0..MOVE_ROUNDS_MAX {
        match order.round(budget) {
            Some(true) => (),
            Some(false) => break,
            None => return LocalSearchResult::Stopped,
        }
    }
    order.swaps = 0;
    while 0 < order.excess && order.swaps < order.swaps_max {
        for operation in order.wrong.clone() {
            if budget.stopped().is_some() {
                return LocalSearchResult::Stopped;
            }
            if order.wrong.contains(&operation) && order.swaps < order.swaps_max {
                order.repair(operation);
            }
        }
    }
    if order.excess == 0 {
        return LocalSearchResult::Order(order.row);
    }
    let mut stuck: Vec<u32> = order.wrong.iter().copied().collect();
    stuck.sort_by_key(|&it| Reverse(order.weight_of(it)));
    LocalSearchResult::Stuck(stuck)
}

struct Order<'s> {
    container: &'s Container,
    row: Vec<u32>,
    // By operation.
    place: Vec<u32>,
    // By element: how many it overtakes, how often it is overtaken, and the weight of its excess.
    overtakes: Vec<u32>,
    overtaken: Vec<u32>,
    weight: Vec<u32>,
    // By operation that returned *empty*: how many elements are inside at its place, and the weight
    // of that.
    found: BTreeMap<u32, (u32, u32)>,
    // One operation of each element that exceeds a bound, and the *empty* results at places where
    // elements are inside.
    wrong: BTreeSet<u32>,
    // The weighted sum of all excess, and the number of overtakings.
    excess: i64,
    pairs: i64,
    // How many neighbours were exchanged.
    swaps: u64,
    // The most that may be.
    swaps_max: u64,
    random: Random,
}

impl<'s> Order<'s> {
    /// The initial order; `None` if it has too many overtakings.
    fn new(container: &'s Container) -> Option<Order<'s>> {
        let count = container.elements.len();
        let row = initial_order(container);
        let mut place = vec![0; row.len()];
        (0..).zip(&row).for_each(|(at, &it)| place[it as usize] = at);
        let mut order = Order {
            container,
            row,
            place,
            overtakes: vec![0; count],
            overtaken: vec![0; count],
            weight: vec![1; count],
            found: BTreeMap::new(),
            wrong: BTreeSet::new(),
            excess: 0,
            pairs: 0,
            swaps: 0,
            swaps_max: SWAPS_PER_OPERATION_MAX * container.operations.len() as u64,
            random: Random::new(1),
        };
        order.count().then_some(order)
    }

    /// Counts overtakings; false if that takes too long.
    fn count(&mut self) -> bool {
        let container = self.container;
        let mut left = OVERTAKINGS_PER_OPERATION_MAX * (self.row.len() + 64);
        // By when they should be removed, the first last.
        let mut inside: BTreeSet<(i64, u32)> = BTreeSet::new();
        let rank = |element: u32, place: &[u32]| match container.discipline {
            Discipline::LastIn => i64::from(place[container.elements[element as usize].add as usize]),
            Discipline::Greatest => container.elements[element as usize].name,
        };
        for at in 0..self.row.len() {
            let operation = self.row[at];
            match container.operations[operation as usize].action {
                Action::Add(element) => {
                    inside.insert((rank(element, &self.place), element));
                }
                Action::Remove(element) => {
                    let own = rank(element, &self.place);
                    for &(_, other) in inside.iter().rev().take_while(|it| own < it.0) {
                        let Some(less) = left.checked_sub(1) else { return false };
                        left = less;
                        self.overtakes[element as usize] += 1;
                        self.overtaken[other as usize] += 1;
                        self.pairs += 1;
                    }
                    inside.remove(&(own, element));
                }
                Action::FindEmpty => {
                    self.found.insert(operation, (0, 1));
                    self.count_found(operation, inside.len() as i32);
                }
            }
        }
        (0..self.weight.len()).for_each(|it| self.recount(it, 0));
        true
    }

    /// The weighted excess of an element.
    fn excess_of(&self, element: usize) -> i64 {
        let beyond = |count: u32| i64::from(count.saturating_sub(self.container.factor));
        i64::from(self.weight[element]) * (beyond(self.overtakes[element]) + beyond(self.overtaken[element]))
    }

    /// The weight of the excess that an operation is responsible for.
    fn weight_of(&self, operation: u32) -> u32 {
        match self.container.operations[operation as usize].action.element() {
            Some(element) => self.weight[element],
            None => self.found.get(&operation).map_or(0, |it| it.1),
        }
    }

    fn cost(&self) -> (i64, i64) {
        (self.excess, self.pairs)
    }

    /// Records that an element's excess was `before`, and computes what it is now.
    fn recount(&mut self, element: usize, before: i64) {
        let after = self.excess_of(element);
        self.excess += after - before;
        if (before == 0) != (after == 0) {
            self.mark(self.container.elements[element].add, after != 0);
        }
    }

    /// Records whether what an operation is responsible for is wrong.
    fn mark(&mut self, operation: u32, is_wrong: bool) {
        if is_wrong {
            self.wrong.insert(operation);
        } else {
            self.wrong.remove(&operation);
        }
    }

    /// Whether `one` overtakes `other` in this order.
    fn passes(&self, one: usize, other: usize) -> bool {
        let elements = &self.container.elements;
        let added = |it: usize| self.place[elements[it].add as usize];
        let removed = |it: usize| match elements[it].remove {
            NONE => NONE,
            remove => self.place[remove as usize],
        };
        let should_wait = match self.container.discipline {
            Discipline::LastIn => added(one) < added(other),
            Discipline::Greatest => elements[one].name < elements[other].name,
        };
        should_wait && added(other) < removed(one) && removed(one) < removed(other)
    }

    /// Counts, or no longer counts, that `one` overtakes `other`.
    fn count_overtaking(&mut self, one: usize, other: usize, is_added: bool) {
        if !self.passes(one, other) {
            return;
        }
        let before = [self.excess_of(one), self.excess_of(other)];
        if is_added {
            self.overtakes[one] += 1;
            self.overtaken[other] += 1;
            self.pairs += 1;
        } else {
            self.overtakes[one] -= 1;
            self.overtaken[other] -= 1;
            self.pairs -= 1;
        }
        self.recount(one, before[0]);
        self.recount(other, before[1]);
    }

    /// Counts one element more, or less, at the place of `miss`.
    fn count_found(&mut self, miss: u32, change: i32) {
        if let Some((found, weight)) = self.found.get_mut(&miss) {
            *found = found.wrapping_add_signed(change);
            self.excess += i64::from(*weight) * i64::from(change);
            let is_wrong = *found != 0;
            self.mark(miss, is_wrong);
        }
    }

    /// Whether the operations at a place and at the next may be exchanged.
    fn may_swap(&self, at: usize) -> bool {
        let [first, second] = [self.row[at], self.row[at + 1]];
        let action = |it: u32| self.container.operations[it as usize].action;
        let is_same = action(first).element().is_some_and(|it| action(second).element() == Some(it));
        !is_same && !self.container.interval(first).precedes(self.container.interval(second))
    }

    /// Exchanges them.
    fn swap(&mut self, at: usize) {
        self.swaps += 1;
        let [first, second] = [self.row[at], self.row[at + 1]];
        let action = |it: u32| self.container.operations[it as usize].action;
        let (one, other) = (action(first), action(second));
        match (one.element(), other.element()) {
            (Some(one), Some(other)) => {
                self.count_overtaking(one, other, false);
                self.count_overtaking(other, one, false);
                self.exchange(at);
                self.count_overtaking(one, other, true);
                self.count_overtaking(other, one, true);
            }
            (_, _) => {
                self.exchange(at);
                match (one, other) {
                    (Action::Add(_), Action::FindEmpty) => self.count_found(second, -1),
                    (Action::Remove(_), Action::FindEmpty) => self.count_found(second, 1),
                    (Action::FindEmpty, Action::Add(_)) => self.count_found(first, 1),
                    (Action::FindEmpty, Action::Remove(_)) => self.count_found(first, -1),
                    (Action::Add(_) | Action::Remove(_) | Action::FindEmpty, _) => (),
                }
            }
        }
    }

    fn exchange(&mut self, at: usize) {
        self.row.swap(at, at + 1);
        self.place[self.row[at] as usize] = at as u32;
        self.place[self.row[at + 1] as usize] = at as u32 + 1;
    }

    /// Moves an operation to a place that it can reach.
    fn move_to(&mut self, operation: u32, target: usize) {
        let at = self.place[operation as usize] as usize;
        (target..at).rev().for_each(|it| self.swap(it));
        (at..target).for_each(|it| self.swap(it));
    }

    /// The best place at distance at most `far` that an operation can reach, and its cost. The
    /// operation is left where it was.
    fn best(&mut self, operation: u32, far: usize) -> ((i64, i64), usize) {
        let start = self.place[operation as usize] as usize;
        let mut best = (self.cost(), start);
        let mut at = start;
        while 0 < at && start - at < far && self.may_swap(at - 1) {
            at -= 1;
            self.swap(at);
            if self.cost() < best.0 {
                best = (self.cost(), at);
            }
        }
        self.move_to(operation, start);
        at = start;
        while at + 1 < self.row.len() && at - start < far && self.may_swap(at) {
            self.swap(at);
            at += 1;
            if self.cost() < best.0 {
                best = (self.cost(), at);
            }
        }
        self.move_to(operation, start);
        best
    }

    /// Moves every operation to its best place. Whether any moved; `None` if it was stopped.
    fn round(&mut self, budget: &Budget) -> Option<bool> {
        let mut has_moved = false;
        for (count, operation) in self.row.clone().into_iter().enumerate() {
            if self.excess == 0 {
                return Some(false);
            }
            if count.is_multiple_of(1 << 8) && budget.stopped().is_some() {
                return None;
            }
            let start = self.place[operation as usize] as usize;
            let (_, target) = self.best(operation, usize::MAX);
            self.move_to(operation, target);
            has_moved |= target != start;
        }
        Some(has_moved)
    }

    /// Makes the best move near what exceeds a bound: of one operation, else of two; or increases
    /// its weight.
    fn repair(&mut self, wrong: u32) {
        // An attempt without any move has a cost, too.
        self.swaps += 1;
        let nearby = self.nearby(wrong);
        if let Some((_, operation, target)) = self.best_of(&nearby) {
            self.move_to(operation, target);
            return;
        }
        let before = self.cost();
        for &first in &nearby {
            let start = self.place[first as usize] as usize;
            for place in self.reach(first) {
                self.move_to(first, place);
                if let Some((cost, second, target)) = self.best_of(&nearby)
                    && cost < before
                {
                    self.move_to(second, target);
                    return;
                }
                self.move_to(first, start);
                if self.swaps_max <= self.swaps {
                    return;
                }
            }
        }
        self.increase_weight(wrong);
    }

    /// The operations that may give way to one that exceeds a bound, including it and the others on
    /// its element.
    fn nearby(&self, wrong: u32) -> Vec<u32> {
        let action = self.container.operations[wrong as usize].action;
        let about: Vec<u32> = match action.element().map(|it| self.container.elements[it]) {
            Some(element) => [element.add, element.remove].into_iter().filter(|&it| it != NONE).collect(),
            None => vec![wrong],
        };
        let mut nearby: BTreeSet<u32> = BTreeSet::new();
        for operation in about {
            let at = self.place[operation as usize] as usize;
            let end = (at + NEIGHBOURHOOD_OPERATIONS + 1).min(self.row.len());
            let middle = self.container.interval(operation);
            let overlaps = |it: &&u32| {
                let it = self.container.interval(**it);
                !it.precedes(middle) && !middle.precedes(it)
            };
            nearby.extend(self.row[at.saturating_sub(NEIGHBOURHOOD_OPERATIONS)..end].iter().filter(overlaps));
        }
        nearby.into_iter().collect()
    }

    /// The best move of one of these: its cost, the operation, and its new place.
    fn best_of(&mut self, operations: &[u32]) -> Option<((i64, i64), u32, usize)> {
        let mut best: Option<((i64, i64), u32, usize)> = None;
        for &operation in operations {
            let (cost, target) = self.best(operation, MOVE_DISTANCE_MAX);
            if cost < best.map_or(self.cost(), |it| it.0) {
                best = Some((cost, operation, target));
            }
        }
        best
    }

    /// Other places that an operation can reach, not far from where it is.
    fn reach(&self, operation: u32) -> Vec<usize> {
        let start = self.place[operation as usize] as usize;
        let container = self.container;
        let own = container.operations[operation as usize].action.element();
        let passes = |other: u32| {
            let is_same = own.is_some() && container.operations[other as usize].action.element() == own;
            let (one, other) = (container.interval(operation), container.interval(other));
            !is_same && !one.precedes(other) && !other.precedes(one)
        };
        let may = |it: &usize| passes(self.row[*it]);
        let left = (start.saturating_sub(NEIGHBOURHOOD_OPERATIONS)..start).rev().take_while(may);
        let right = (start + 1..(start + 1 + NEIGHBOURHOOD_OPERATIONS).min(self.row.len())).take_while(may);
        left.chain(right).collect()
    }

    /// Increases the weight of what is wrong, and now and then shuffles the operations nearby.
    fn increase_weight(&mut self, wrong: u32) {
        match self.container.operations[wrong as usize].action.element() {
            Some(element) => {
                let before = self.excess_of(element);
                self.weight[element] += 1;
                self.recount(element, before);
            }
            None => {
                if let Some((found, weight)) = self.found.get_mut(&wrong) {
                    *weight += 1;
                    self.excess += i64::from(*found);
                }
            }
        }
        if self.weight_of(wrong).is_multiple_of(WEIGHT_INCREASES_PER_SHUFFLE) {
            for operation in self.nearby(wrong) {
                let places = self.reach(operation);
                if !places.is_empty() {
                    let place = places[self.random.below(places.len())];
                    self.move_to(operation, place);
                }
            }
        }
    }
}

/// The order in which every element is added as late and removed as early as possible.
fn initial_order(container: &Container) -> Vec<u32> {
    // The gap of each operation, and its turn there: removals, elements that are added and removed,
    // adds.
    let mut keys: Vec<(u32, u32, Reverse<u32>, u32)> = Vec::with_capacity(container.operations.len());
    for operation in 0..container.operations.len() as u32 {
        let interval = container.interval(operation);
        let (gap, turn, other) = match container.operations[operation as usize].action {
            Action::FindEmpty => (interval.left, 1, NONE),
            Action::Add(element) | Action::Remove(element) => {
                let element = &container.elements[element as usize];
                let (added, removed) = (container.interval(element.add), container.removal(element));
                if removed.left <= added.right {
                    // Both in one gap, one right after the other.
                    (added.left.max(removed.left), 2, element.add)
                } else if operation == element.add {
                    // Elements that are removed late are added first.
                    (added.right, 3, removed.left)
                } else {
                    // Elements that were added late are removed first.
                    (removed.left, 0, added.right)
                }
            }
        };
        keys.push((gap, turn, Reverse(other), operation));
    }
    // An add has a smaller number than its removal.
    keys.sort_unstable();
    keys.into_iter().map(|it| it.3).collect()
}
