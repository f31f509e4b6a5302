//! Orders of all operations, changed by exchanging neighbours.
//!
//! At first everybody is added as late and removed as early as possible: short lives are in nobody's way. Then each
//! operation goes to the best of the places that it can reach past those that it overlaps. Where somebody still overtakes too many, or is
//! overtaken too often, the best change of one or two operations nearby is made. If there is none, what is wrong there counts more from then on, so that
//! others have to give way; and if that does not help, those nearby are put anywhere, and it begins again from there.
//!
//! Invariants: the order is one that real time allows, in which nobody is removed before being added; the counts
//! are those of the order.
//! Cost: a round in which all operations move takes O(n w), for w operations that overlap; then [`SWAPS`](super::SWAPS).

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use clewline_core::{Budget, Random};

use super::scene::{Deed, Discipline, SWAPS, Scene};
use crate::monitor::columns::NONE;

/// How often all operations are moved.
const ROUNDS: usize = 6;

/// How often something counts more before all around it are put elsewhere.
const PATIENCE: u32 = 8;

/// How many operations before and after one that is out of order may give way to it.
const NEAR: usize = 12;

/// How far one of them goes. Someone who was interrupted overlaps thousands of others, and goes past them all only in the rounds.
const FAR: usize = 64;

/// If at first more than so many for each operation overtake each other, they are not counted.
const PAIRS: usize = 64;

/// What a search came to.
pub(super) enum Moved {
    Order(Vec<u32>),
    /// These are out of order, those first that have been so for longest.
    Stuck(Vec<u32>),
    /// It was not let finish.
    Stopped,
}

/// Searches for an order within the bounds.
pub(super) fn search(scene: &Scene, budget: &Budget) -> Moved {
    let Some(mut order) = Order::new(scene) else { return Moved::Stopped };
    for _ in 0..ROUNDS {
        match order.round(budget) {
            Some(true) => (),
            Some(false) => break,
            None => return Moved::Stopped,
        }
    }
    order.swaps = 0;
    while 0 < order.excess && order.swaps < order.swaps_max {
        for operation in order.wrong.clone() {
            if budget.stopped().is_some() {
                return Moved::Stopped;
            }
            if order.wrong.contains(&operation) && order.swaps < order.swaps_max {
                order.mend(operation);
            }
        }
    }
    if order.excess == 0 {
        return Moved::Order(order.row);
    }
    let mut stuck: Vec<u32> = order.wrong.iter().copied().collect();
    stuck.sort_by_key(|&it| Reverse(order.weight_of(it)));
    Moved::Stuck(stuck)
}

struct Order<'s> {
    scene: &'s Scene,
    row: Vec<u32>,
    // By operation.
    place: Vec<u32>,
    // By element: how many it overtakes, how often it is overtaken, and how much it counts that this is too much.
    overtakes: Vec<u32>,
    overtaken: Vec<u32>,
    weight: Vec<u32>,
    // By operation, for those that find nothing: how many elements they find, and how much that counts.
    found: BTreeMap<u32, (u32, u32)>,
    // One operation of each element that is out of order, and who finds something though it found nothing.
    wrong: BTreeSet<u32>,
    // What is wrong in all, by weight, and how many overtake each other.
    excess: i64,
    pairs: i64,
    // How many neighbours were exchanged.
    swaps: u64,
    // How many may be.
    swaps_max: u64,
    random: Random,
}

impl<'s> Order<'s> {
    /// The first order; `None` if too many overtake each other.
    fn new(scene: &'s Scene) -> Option<Order<'s>> {
        let count = scene.elements.len();
        let row = first_row(scene);
        let mut place = vec![0; row.len()];
        (0..).zip(&row).for_each(|(at, &it)| place[it as usize] = at);
        let mut order = Order {
            scene,
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
            swaps_max: SWAPS * scene.operations.len() as u64,
            random: Random::new(1),
        };
        order.count().then_some(order)
    }

    /// Counts who overtakes whom; false if that takes too long.
    fn count(&mut self) -> bool {
        let scene = self.scene;
        let mut left = PAIRS * (self.row.len() + 64);
        // By when they should leave, the first last.
        let mut inside: BTreeSet<(i64, u32)> = BTreeSet::new();
        let rank = |element: u32, place: &[u32]| match scene.discipline {
            Discipline::LastIn => i64::from(place[scene.elements[element as usize].add as usize]),
            Discipline::Greatest => scene.elements[element as usize].name,
        };
        for at in 0..self.row.len() {
            let operation = self.row[at];
            match scene.operations[operation as usize].deed {
                Deed::Add(element) => {
                    inside.insert((rank(element, &self.place), element));
                }
                Deed::Remove(element) => {
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
                Deed::Miss => {
                    self.found.insert(operation, (0, 1));
                    self.find(operation, inside.len() as i32);
                }
            }
        }
        (0..self.weight.len()).for_each(|it| self.recount(it, 0));
        true
    }

    /// By how much an element is out of order, and how much that counts.
    fn excess_of(&self, element: usize) -> i64 {
        let beyond = |count: u32| i64::from(count.saturating_sub(self.scene.factor));
        i64::from(self.weight[element]) * (beyond(self.overtakes[element]) + beyond(self.overtaken[element]))
    }

    /// How much it counts that what an operation is about is wrong.
    fn weight_of(&self, operation: u32) -> u32 {
        match self.scene.operations[operation as usize].deed.element() {
            Some(element) => self.weight[element],
            None => self.found.get(&operation).map_or(0, |it| it.1),
        }
    }

    fn cost(&self) -> (i64, i64) {
        (self.excess, self.pairs)
    }

    /// Notes that an element was out of order by so much, and what it is now.
    fn recount(&mut self, element: usize, before: i64) {
        let after = self.excess_of(element);
        self.excess += after - before;
        if (before == 0) != (after == 0) {
            self.mark(self.scene.elements[element].add, after != 0);
        }
    }

    /// Notes whether what an operation is about is wrong.
    fn mark(&mut self, operation: u32, is_wrong: bool) {
        if is_wrong {
            self.wrong.insert(operation);
        } else {
            self.wrong.remove(&operation);
        }
    }

    /// Whether `one` overtakes `other` in this order.
    fn passes(&self, one: usize, other: usize) -> bool {
        let elements = &self.scene.elements;
        let added = |it: usize| self.place[elements[it].add as usize];
        let removed = |it: usize| match elements[it].remove {
            NONE => NONE,
            remove => self.place[remove as usize],
        };
        let should_wait = match self.scene.discipline {
            Discipline::LastIn => added(one) < added(other),
            Discipline::Greatest => elements[one].name < elements[other].name,
        };
        should_wait && added(other) < removed(one) && removed(one) < removed(other)
    }

    /// Counts, or no longer counts, that `one` overtakes `other`.
    fn note(&mut self, one: usize, other: usize, is_added: bool) {
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

    /// Counts one more, or one less, that `miss` finds.
    fn find(&mut self, miss: u32, change: i32) {
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
        let deed = |it: u32| self.scene.operations[it as usize].deed;
        let is_same = deed(first).element().is_some_and(|it| deed(second).element() == Some(it));
        !is_same && !self.scene.interval(first).precedes(self.scene.interval(second))
    }

    /// Exchanges them.
    fn swap(&mut self, at: usize) {
        self.swaps += 1;
        let [first, second] = [self.row[at], self.row[at + 1]];
        let deed = |it: u32| self.scene.operations[it as usize].deed;
        let (one, other) = (deed(first), deed(second));
        match (one.element(), other.element()) {
            (Some(one), Some(other)) => {
                self.note(one, other, false);
                self.note(other, one, false);
                self.exchange(at);
                self.note(one, other, true);
                self.note(other, one, true);
            }
            (_, _) => {
                self.exchange(at);
                match (one, other) {
                    (Deed::Add(_), Deed::Miss) => self.find(second, -1),
                    (Deed::Remove(_), Deed::Miss) => self.find(second, 1),
                    (Deed::Miss, Deed::Add(_)) => self.find(first, 1),
                    (Deed::Miss, Deed::Remove(_)) => self.find(first, -1),
                    (Deed::Add(_) | Deed::Remove(_) | Deed::Miss, _) => (),
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
    fn go(&mut self, operation: u32, target: usize) {
        let at = self.place[operation as usize] as usize;
        (target..at).rev().for_each(|it| self.swap(it));
        (at..target).for_each(|it| self.swap(it));
    }

    /// The best place within so many that an operation can reach, and what it costs. It is left where it was.
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
        self.go(operation, start);
        at = start;
        while at + 1 < self.row.len() && at - start < far && self.may_swap(at) {
            self.swap(at);
            at += 1;
            if self.cost() < best.0 {
                best = (self.cost(), at);
            }
        }
        self.go(operation, start);
        best
    }

    /// Moves every operation to its best place. Whether any moved; `None` if it was told to stop.
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
            self.go(operation, target);
            has_moved |= target != start;
        }
        Some(has_moved)
    }

    /// Makes the best change near what is out of order: of one operation, else of two; or lets it count more.
    fn mend(&mut self, wrong: u32) {
        // Where nothing can be moved, that costs something, too.
        self.swaps += 1;
        let nearby = self.nearby(wrong);
        if let Some((_, operation, target)) = self.best_of(&nearby) {
            self.go(operation, target);
            return;
        }
        let before = self.cost();
        for &first in &nearby {
            let start = self.place[first as usize] as usize;
            for place in self.reach(first) {
                self.go(first, place);
                if let Some((cost, second, target)) = self.best_of(&nearby)
                    && cost < before
                {
                    self.go(second, target);
                    return;
                }
                self.go(first, start);
                if self.swaps_max <= self.swaps {
                    return;
                }
            }
        }
        self.insist(wrong);
    }

    /// The operations that may give way to one that is out of order, it and the others on its element included.
    fn nearby(&self, wrong: u32) -> Vec<u32> {
        let deed = self.scene.operations[wrong as usize].deed;
        let about: Vec<u32> = match deed.element().map(|it| self.scene.elements[it]) {
            Some(element) => [element.add, element.remove].into_iter().filter(|&it| it != NONE).collect(),
            None => vec![wrong],
        };
        let mut nearby: BTreeSet<u32> = BTreeSet::new();
        for operation in about {
            let at = self.place[operation as usize] as usize;
            let end = (at + NEAR + 1).min(self.row.len());
            let middle = self.scene.interval(operation);
            let overlaps = |it: &&u32| {
                let it = self.scene.interval(**it);
                !it.precedes(middle) && !middle.precedes(it)
            };
            nearby.extend(self.row[at.saturating_sub(NEAR)..end].iter().filter(overlaps));
        }
        nearby.into_iter().collect()
    }

    /// The best change of one of these: what it leads to, who moves, and where to.
    fn best_of(&mut self, operations: &[u32]) -> Option<((i64, i64), u32, usize)> {
        let mut best: Option<((i64, i64), u32, usize)> = None;
        for &operation in operations {
            let (cost, target) = self.best(operation, FAR);
            if cost < best.map_or(self.cost(), |it| it.0) {
                best = Some((cost, operation, target));
            }
        }
        best
    }

    /// Other places that an operation can reach, not far from where it is.
    fn reach(&self, operation: u32) -> Vec<usize> {
        let start = self.place[operation as usize] as usize;
        let scene = self.scene;
        let own = scene.operations[operation as usize].deed.element();
        let passes = |other: u32| {
            let is_same = own.is_some() && scene.operations[other as usize].deed.element() == own;
            let (one, other) = (scene.interval(operation), scene.interval(other));
            !is_same && !one.precedes(other) && !other.precedes(one)
        };
        let may = |it: &usize| passes(self.row[*it]);
        let left = (start.saturating_sub(NEAR)..start).rev().take_while(may);
        let right = (start + 1..(start + 1 + NEAR).min(self.row.len())).take_while(may);
        left.chain(right).collect()
    }

    /// Lets what is wrong count more, and now and then puts those nearby anywhere.
    fn insist(&mut self, wrong: u32) {
        match self.scene.operations[wrong as usize].deed.element() {
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
        if self.weight_of(wrong).is_multiple_of(PATIENCE) {
            for operation in self.nearby(wrong) {
                let places = self.reach(operation);
                if !places.is_empty() {
                    let place = places[self.random.below(places.len())];
                    self.go(operation, place);
                }
            }
        }
    }
}

/// Everybody comes as late and leaves as early as possible.
fn first_row(scene: &Scene) -> Vec<u32> {
    // The gap of each operation, and whose turn it is there: those that leave, those that come and leave, those that come.
    let mut keys: Vec<(u32, u32, Reverse<u32>, u32)> = Vec::with_capacity(scene.operations.len());
    for operation in 0..scene.operations.len() as u32 {
        let interval = scene.interval(operation);
        let (gap, turn, other) = match scene.operations[operation as usize].deed {
            Deed::Miss => (interval.left, 1, NONE),
            Deed::Add(element) | Deed::Remove(element) => {
                let element = &scene.elements[element as usize];
                let (added, removed) = (scene.interval(element.add), scene.removal(element));
                if removed.left <= added.right {
                    // Both in one gap, one right after the other.
                    (added.left.max(removed.left), 2, element.add)
                } else if operation == element.add {
                    // Those that leave late come first.
                    (added.right, 3, removed.left)
                } else {
                    // Those that came late leave first.
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
