//! The axioms of RC11, on every candidate execution: each load reads from any store to its
//! location, and the stores of each location have any order.
//!
//! Source: O. Lahav, V. Vafeiadis, J. Kang, C. Hur, D. Dreyer, "Repairing sequential consistency in
//! C/C++11", 2017: coherence, atomicity, `psc`, and no cycle of program order and reads-from.
//! Release sequences are those of C++20, and so is the order of sequentially consistent events:
//! where the paper has `mo` and `rb`, C++20 has their closure with `rf` (*coherence-ordered
//! before*).

use std::{
    collections::BTreeSet,
    sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use super::program::{LOCATIONS, Op, Outcome, Program};

/// Which executions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All that are consistent.
    All,
    /// Those whose events can be executed one after the other, in program order, each after the
    /// store it reads from, and each sequentially consistent event after those whose effects it
    /// observes.
    Executable,
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Acquire | AcqRel | SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Release | AcqRel | SeqCst)
}

/// A relation on events.
#[derive(Clone)]
struct Relation(Vec<Vec<bool>>);

impl Relation {
    fn new(n: usize) -> Relation {
        Relation(vec![vec![false; n]; n])
    }

    fn closed(mut self) -> Relation {
        let n = self.0.len();
        for via in 0..n {
            for from in 0..n {
                for to in 0..n {
                    self.0[from][to] |= self.0[from][via] && self.0[via][to];
                }
            }
        }
        self
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.0[from][to]
    }

    fn add(&mut self, from: usize, to: usize) {
        self.0[from][to] = true;
    }

    fn is_acyclic(&self) -> bool {
        let closed = self.clone().closed();
        (0..closed.0.len()).all(|it| !closed.has(it, it))
    }
}

/// An operation of a task; the first events store 0 to each location, before all others.
#[derive(Clone, Copy)]
struct Event {
    thread: Option<usize>,
    op: Op,
}

impl Event {
    fn location(&self) -> Option<usize> {
        match self.op {
            Op::Load(it, _) | Op::Store(it, _, _) | Op::Swap(it, _, _) => Some(it),
            Op::Fence(_) => None,
        }
    }

    fn order(&self) -> Ordering {
        match self.op {
            Op::Load(_, it) | Op::Store(_, _, it) | Op::Swap(_, _, it) | Op::Fence(it) => it,
        }
    }

    fn reads(&self) -> bool {
        matches!(self.op, Op::Load(..) | Op::Swap(..))
    }

    fn writes(&self) -> Option<usize> {
        match self.op {
            Op::Store(_, value, _) | Op::Swap(_, value, _) => Some(value),
            Op::Load(..) | Op::Fence(_) => None,
        }
    }

    fn is_fence(&self) -> bool {
        matches!(self.op, Op::Fence(_))
    }
}

/// The reads-from relation, and the order of the stores of each location.
struct Candidate<'a> {
    which: Candidates,
    events: &'a [Event],
    from: Vec<Option<usize>>,
    orders: Vec<Vec<usize>>,
}

/// The outcomes of the consistent executions, and the number of these executions.
pub(super) fn consistent(program: &Program, which: Candidates) -> (BTreeSet<Outcome>, u64) {
    let tasks = &program.0;
    let first = (0..LOCATIONS).map(|it| Event { thread: None, op: Op::Store(it, 0, Relaxed) });
    let others = tasks
        .iter()
        .enumerate()
        .flat_map(|(task, ops)| ops.iter().map(move |op| Event { thread: Some(task), op: *op }));
    let events: Vec<Event> = first.chain(others).collect();
    let mut seen = (BTreeSet::new(), 0);
    let mut orders = vec![Vec::new()];
    for location in 0..LOCATIONS {
        let stores: Vec<usize> = (LOCATIONS..events.len())
            .filter(|&it| events[it].writes().is_some() && events[it].location() == Some(location))
            .collect();
        let mut longer: Vec<Vec<Vec<usize>>> = Vec::new();
        for before in &orders {
            for order in permutations(&stores) {
                let mut all: Vec<Vec<usize>> = before.clone();
                all.push([vec![location], order].concat());
                longer.push(all);
            }
        }
        orders = longer;
    }
    for orders in orders {
        let mut candidate = Candidate { which, events: &events, from: vec![None; events.len()], orders };
        assign(&mut candidate, 0, tasks.len(), &mut seen);
    }
    seen
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let rest = [&items[..at], &items[at + 1..]].concat();
        all.extend(permutations(&rest).into_iter().map(|it| [vec![*item], it].concat()));
    }
    all
}

/// Lets each event from `at` on read from any store.
fn assign(candidate: &mut Candidate<'_>, at: usize, tasks: usize, seen: &mut (BTreeSet<Outcome>, u64)) {
    let Some(event) = candidate.events.get(at) else {
        if candidate.is_consistent() {
            seen.0.insert(candidate.results(tasks));
            seen.1 += 1;
        }
        return;
    };
    let Some(location) = event.location().filter(|_| event.reads()) else {
        return assign(candidate, at + 1, tasks, seen);
    };
    for store in candidate.orders[location].clone() {
        if store != at {
            candidate.from[at] = Some(store);
            assign(candidate, at + 1, tasks, seen);
        }
    }
}

impl Candidate<'_> {
    fn value(&self, store: usize) -> usize {
        self.events[store].writes().expect("a store")
    }

    fn results(&self, tasks: usize) -> Outcome {
        let mut results = vec![Vec::new(); tasks];
        for (event, from) in self.events.iter().zip(&self.from) {
            if let (Some(task), Some(from)) = (event.thread, from) {
                results[task].push(self.value(*from));
            }
        }
        let last = |it: &Vec<usize>| self.value(*it.last().expect("the first store"));
        Outcome { read: results, held: self.orders.iter().map(last).collect() }
    }

    fn program_order(&self) -> Relation {
        let n = self.events.len();
        let mut order = Relation::new(n);
        for from in 0..n {
            for to in LOCATIONS.max(from + 1)..n {
                if from < LOCATIONS || self.events[from].thread == self.events[to].thread {
                    order.add(from, to);
                }
            }
        }
        order
    }

    fn happens_before(&self, order: &Relation) -> Relation {
        let mut happens = order.clone();
        let near = |at: usize, it: usize| {
            self.events[it].is_fence() && self.events[it].thread == self.events[at].thread
        };
        for read in 0..self.events.len() {
            let mut store = self.from[read];
            // All stores whose release sequence is read from. Swaps that read from one another in a
            // cycle are not an execution.
            for _ in 0..self.events.len() {
                let Some(head) = store else { break };
                for from in LOCATIONS..self.events.len() {
                    let is_side = from == head || (near(head, from) && order.has(from, head));
                    if !is_side || !releases(self.events[from].order()) {
                        continue;
                    }
                    for to in LOCATIONS..self.events.len() {
                        let is_side = to == read || (near(read, to) && order.has(read, to));
                        if is_side && acquires(self.events[to].order()) {
                            happens.add(from, to);
                        }
                    }
                }
                store = self.from[head];
            }
        }
        happens.closed()
    }

    fn extended_coherence(&self) -> Relation {
        let mut coherence = Relation::new(self.events.len());
        for order in &self.orders {
            for (at, &store) in order.iter().enumerate() {
                order[at + 1..].iter().for_each(|&later| coherence.add(store, later));
                for read in (0..self.events.len()).filter(|&it| self.from[it] == Some(store)) {
                    coherence.add(store, read);
                    let later = order[at + 1..].iter().filter(|&&it| it != read);
                    later.for_each(|&later| coherence.add(read, later));
                }
            }
        }
        coherence.closed()
    }

    fn is_consistent(&self) -> bool {
        let n = self.events.len();
        let order = self.program_order();
        let happens = self.happens_before(&order);
        let coherence = self.extended_coherence();
        let is_coherent =
            (0..n).all(|a| !happens.has(a, a) && (0..n).all(|b| !(happens.has(a, b) && coherence.has(b, a))));
        let is_atomic =
            (0..n).filter(|&it| self.events[it].reads() && self.events[it].writes().is_some()).all(|it| {
                let order = &self.orders[self.events[it].location().expect("an access")];
                let at = order.iter().position(|other| *other == it).expect("a store");
                self.from[it] == Some(order[at - 1])
            });
        if !is_coherent || !is_atomic {
            return false;
        }
        let mut executed = order.clone();
        for (read, store) in self.from.iter().enumerate() {
            store.iter().for_each(|store| executed.add(*store, read));
        }
        let is_allowed = executed.is_acyclic() && self.partial_sc(&order, &happens, &coherence).is_acyclic();
        match self.which {
            Candidates::All => is_allowed,
            Candidates::Executable => {
                let is_executable = self.total_order(executed, &happens, &coherence).is_acyclic();
                assert!(is_allowed || !is_executable, "the axioms are weaker");
                is_executable
            }
        }
    }

    /// Program order, reads-from, and the order of sequentially consistent events that follows from
    /// what they observe.
    fn total_order(&self, mut order: Relation, happens: &Relation, coherence: &Relation) -> Relation {
        let n = self.events.len();
        let is_total = |it: usize| self.events[it].order() == SeqCst;
        let is_fence = |it: usize| self.events[it].is_fence() && is_total(it);
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|&(a, b)| coherence.has(a, b)) {
            let before: Vec<usize> = (0..n)
                .filter(|&it| (it == a && is_total(a)) || (is_fence(it) && happens.has(it, a)))
                .collect();
            for to in (0..n).filter(|&it| (it == b && is_total(b)) || (is_fence(it) && happens.has(b, it))) {
                before.iter().for_each(|&from| order.add(from, to));
            }
        }
        order
    }

    /// The order of sequentially consistent events, as far as the axioms require it (`psc`).
    fn partial_sc(&self, order: &Relation, happens: &Relation, coherence: &Relation) -> Relation {
        let n = self.events.len();
        let is_total = |it: usize| self.events[it].order() == SeqCst;
        let is_fence = |it: usize| self.events[it].is_fence() && is_total(it);
        let location = |it: usize| self.events[it].location();
        // `sb`, and `sb` to another location, then `hb`, then `sb` from another location; `hb` of
        // one location; `eco`.
        let mut base = Relation::new(n);
        let elsewhere = |a: usize, b: usize| {
            order.has(a, b) && (location(a).is_none() || location(b).is_none() || location(a) != location(b))
        };
        for (a, b) in pairs(n) {
            let is_same = location(a).is_some() && location(a) == location(b);
            let by_others = || {
                let inner = |c: usize| {
                    elsewhere(a, c) && (0..n).any(|d| (c == d || happens.has(c, d)) && elsewhere(d, b))
                };
                (0..n).any(inner)
            };
            if order.has(a, b) || (is_same && happens.has(a, b)) || coherence.has(a, b) || by_others() {
                base.add(a, b);
            }
        }
        let mut total = Relation::new(n);
        for (a, b) in pairs(n).filter(|&(a, b)| base.has(a, b)) {
            let before =
                |it: usize| (it == a && is_total(a)) || (is_fence(it) && (it == a || happens.has(it, a)));
            let after =
                |it: usize| (it == b && is_total(b)) || (is_fence(it) && (it == b || happens.has(b, it)));
            for (from, to) in pairs(n).filter(|&(from, to)| before(from) && after(to)) {
                total.add(from, to);
            }
        }
        for (a, b) in pairs(n).filter(|&(a, b)| is_fence(a) && is_fence(b)) {
            let through =
                |c: usize| happens.has(a, c) && (0..n).any(|d| coherence.has(c, d) && happens.has(d, b));
            if happens.has(a, b) || (0..n).any(through) {
                total.add(a, b);
            }
        }
        total
    }
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)))
}
