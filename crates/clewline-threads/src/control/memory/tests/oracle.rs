//! The possible results of random small programs, from definitions that share nothing with the
//! engine: machines of interleaved steps for sequential consistency and total store order, and for
//! release/acquire the axioms of the language on every candidate execution.

use std::collections::HashSet;

use clewline_core::Random;
use clewline_testing::pick;

use super::*;
use crate::control::{acquires, releases};

/// Locations of a program.
const LOCATIONS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Load(usize, Ordering),
    Store(usize, usize, Ordering),
    Swap(usize, usize, Ordering),
    Fence(Ordering),
}

type Tasks = Vec<Vec<Op>>;

/// The results of each load and swap, task by task, and the final value of each location.
type Results = (Vec<Vec<usize>>, Vec<usize>);

fn random_program(random: &mut Random, operations: usize) -> Tasks {
    let mut tasks: Tasks = vec![Vec::new(); [2, 2, 3][random.below(3)]];
    for value in 1..=operations {
        let (n, location) = (tasks.len(), random.below(LOCATIONS));
        let op = match random.below(9) {
            0..=3 => Op::Load(location, [Relaxed, Relaxed, SeqCst, Acquire][random.below(4)]),
            4..=6 => Op::Store(location, value, [Relaxed, Relaxed, SeqCst, Release][random.below(4)]),
            7 => Op::Swap(location, value, [Relaxed, SeqCst, Acquire, Release, AcqRel][random.below(5)]),
            _ => Op::Fence([SeqCst, SeqCst, Acquire, Release, AcqRel][random.below(5)]),
        };
        tasks[random.below(n)].push(op);
    }
    tasks
}

/// The results that the engine finds.
fn explored(model: MemoryModel, tasks: &Tasks) -> HashSet<Results> {
    let ops = tasks.clone();
    let call = move |words: &Words, at: &usize| {
        let Some(ops) = ops.get(*at) else {
            return words[..LOCATIONS].iter().map(|it| it.load(Relaxed)).collect();
        };
        let mut results = Vec::new();
        for op in ops {
            match *op {
                Op::Load(at, order) => results.push(words[at].load(order)),
                Op::Store(at, value, order) => words[at].store(value, order),
                Op::Swap(at, value, order) => results.push(words[at].swap(value, order)),
                Op::Fence(order) => fence(order),
            }
        }
        results
    };
    let columns = (0..tasks.len()).map(|it| vec![it]).collect();
    let calls = Calls { columns, last: vec![tasks.len()], initial: Vec::new() };
    let memory = Memory { model, ..Memory::default() };
    let mut program = Program::new(calls, Words::default, call, Limits::default()).with_memory(memory);
    let mut seen = HashSet::new();
    let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), u64::MAX, |program, _, _| {
        let results = program.outcome().operations.into_iter();
        let mut results: Vec<Vec<usize>> = results.filter_map(|it| it.ret).map(|it| it.1).collect();
        let last = results.pop().expect("the last call was made");
        seen.insert((results, last));
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    seen
}

/// A machine with a store buffer for each task.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    at: Vec<usize>,
    buffers: Vec<Vec<(usize, usize)>>,
    memory: Vec<usize>,
    results: Vec<Vec<usize>>,
}

fn interleaved(tasks: &Tasks, has_buffers: bool) -> HashSet<Results> {
    let n = tasks.len();
    let first = Machine {
        at: vec![0; n],
        buffers: vec![Vec::new(); n],
        memory: vec![0; LOCATIONS],
        results: vec![Vec::new(); n],
    };
    let (mut todo, mut known, mut ends) = (vec![first], HashSet::new(), HashSet::new());
    while let Some(machine) = todo.pop() {
        if !known.insert(machine.clone()) {
            continue;
        }
        let mut is_over = true;
        for (task, ops) in tasks.iter().enumerate() {
            if !machine.buffers[task].is_empty() {
                is_over = false;
                let mut next = machine.clone();
                let (location, value) = next.buffers[task].remove(0);
                next.memory[location] = value;
                todo.push(next);
            }
            if let Some(op) = ops.get(machine.at[task]) {
                is_over = false;
                todo.extend(step(&machine, task, *op, has_buffers));
            }
        }
        if is_over {
            ends.insert((machine.results, machine.memory));
        }
    }
    ends
}

fn step(machine: &Machine, task: usize, op: Op, has_buffers: bool) -> Option<Machine> {
    let mut next = machine.clone();
    next.at[task] += 1;
    let is_empty = machine.buffers[task].is_empty();
    match op {
        Op::Load(location, _) => {
            let own = machine.buffers[task].iter().rev().find(|it| it.0 == location);
            next.results[task].push(own.map_or(machine.memory[location], |it| it.1));
        }
        Op::Store(location, value, order) if has_buffers && order != SeqCst => {
            next.buffers[task].push((location, value));
        }
        Op::Store(location, value, _) if is_empty => next.memory[location] = value,
        Op::Swap(location, value, _) if is_empty => {
            next.results[task].push(machine.memory[location]);
            next.memory[location] = value;
        }
        Op::Fence(order) if is_empty || order != SeqCst => (),
        Op::Store(..) | Op::Swap(..) | Op::Fence(_) => return None,
    }
    Some(next)
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
    task: Option<usize>,
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
    events: &'a [Event],
    from: Vec<Option<usize>>,
    orders: Vec<Vec<usize>>,
}

fn axiomatic(tasks: &Tasks) -> HashSet<Results> {
    let first = (0..LOCATIONS).map(|it| Event { task: None, op: Op::Store(it, 0, Relaxed) });
    let others = tasks
        .iter()
        .enumerate()
        .flat_map(|(task, ops)| ops.iter().map(move |op| Event { task: Some(task), op: *op }));
    let events: Vec<Event> = first.chain(others).collect();
    let mut seen = HashSet::new();
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
        let mut candidate = Candidate { events: &events, from: vec![None; events.len()], orders };
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
fn assign(candidate: &mut Candidate<'_>, at: usize, tasks: usize, seen: &mut HashSet<Results>) {
    let Some(event) = candidate.events.get(at) else {
        if candidate.is_consistent() {
            seen.insert(candidate.results(tasks));
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

    fn results(&self, tasks: usize) -> Results {
        let mut results = vec![Vec::new(); tasks];
        for (event, from) in self.events.iter().zip(&self.from) {
            if let (Some(task), Some(from)) = (event.task, from) {
                results[task].push(self.value(*from));
            }
        }
        (results, self.orders.iter().map(|it| self.value(*it.last().expect("the first store"))).collect())
    }

    fn program_order(&self) -> Relation {
        let n = self.events.len();
        let mut order = Relation::new(n);
        for from in 0..n {
            for to in LOCATIONS.max(from + 1)..n {
                if from < LOCATIONS || self.events[from].task == self.events[to].task {
                    order.add(from, to);
                }
            }
        }
        order
    }

    fn happens_before(&self, order: &Relation) -> Relation {
        let mut happens = order.clone();
        let near =
            |at: usize, it: usize| self.events[it].is_fence() && self.events[it].task == self.events[at].task;
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
        is_coherent && is_atomic && self.total_order(order, &happens, &coherence).is_acyclic()
    }

    /// Program order, reads-from, and the order required of sequentially consistent events.
    fn total_order(&self, mut order: Relation, happens: &Relation, coherence: &Relation) -> Relation {
        let n = self.events.len();
        for read in 0..n {
            if let Some(store) = self.from[read] {
                order.add(store, read);
            }
        }
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
}

#[test]
fn random_programs_return_exactly_what_each_model_allows() {
    let (mut weaker, mut weakest) = (0, 0);
    for seed in 0..pick(200, 1_000) {
        let mut random = Random::new(seed);
        let operations = 4 + random.below(3);
        let tasks = random_program(&mut random, operations);
        let strong = interleaved(&tasks, false);
        let buffered = interleaved(&tasks, true);
        let relaxed = axiomatic(&tasks);
        assert_eq!(explored(SequentiallyConsistent, &tasks), strong, "seed {seed}: {tasks:?}");
        assert_eq!(explored(Tso, &tasks), buffered, "seed {seed}: {tasks:?}");
        assert_eq!(explored(ReleaseAcquire, &tasks), relaxed, "seed {seed}: {tasks:?}");
        assert!(strong.is_subset(&buffered) && buffered.is_subset(&relaxed), "seed {seed}: {tasks:?}");
        weaker += usize::from(strong.len() < buffered.len());
        weakest += usize::from(buffered.len() < relaxed.len());
    }
    assert!(
        pick(true, 5 < weaker) && pick(0, 20) < weakest,
        "too few programs distinguish the models: {weaker}, {weakest}"
    );
}
