//! A machine with one memory, and a store buffer for each thread or none.

use std::{
    collections::{BTreeSet, HashSet},
    sync::atomic::Ordering::SeqCst,
};

use super::program::{LOCATIONS, Op, Outcome, Program};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    at: Vec<usize>,
    buffers: Vec<Vec<(usize, usize)>>,
    // Of each location: its values in modification order, the initial one first.
    memory: Vec<Vec<usize>>,
    read: Vec<Vec<usize>>,
}

impl Machine {
    fn value(&self, location: usize) -> usize {
        self.memory[location].last().copied().unwrap_or(0)
    }
}

/// The outcomes, and the number of relations reads-from and modification orders, if all values that
/// are stored to a location differ.
pub(super) fn outcomes(program: &Program, has_buffers: bool) -> (BTreeSet<Outcome>, u64) {
    let n = program.0.len();
    let first = Machine {
        at: vec![0; n],
        buffers: vec![Vec::new(); n],
        memory: vec![vec![0]; LOCATIONS],
        read: vec![Vec::new(); n],
    };
    let (mut todo, mut known, mut ends, mut graphs) = (vec![first], HashSet::new(), BTreeSet::new(), 0);
    while let Some(machine) = todo.pop() {
        if !known.insert(machine.clone()) {
            continue;
        }
        let mut is_over = true;
        for (thread, ops) in program.0.iter().enumerate() {
            if !machine.buffers[thread].is_empty() {
                is_over = false;
                let mut next = machine.clone();
                let (location, value) = next.buffers[thread].remove(0);
                next.memory[location].push(value);
                todo.push(next);
            }
            if let Some(op) = ops.get(machine.at[thread]) {
                is_over = false;
                todo.extend(step(&machine, thread, *op, has_buffers));
            }
        }
        if is_over {
            let held = (0..LOCATIONS).map(|it| machine.value(it)).collect();
            ends.insert(Outcome { read: machine.read, held });
            graphs += 1;
        }
    }
    (ends, graphs)
}

fn step(machine: &Machine, thread: usize, op: Op, has_buffers: bool) -> Option<Machine> {
    let mut next = machine.clone();
    next.at[thread] += 1;
    let is_empty = machine.buffers[thread].is_empty();
    match op {
        Op::Load(location, _) => {
            let own = machine.buffers[thread].iter().rev().find(|it| it.0 == location);
            next.read[thread].push(own.map_or(machine.value(location), |it| it.1));
        }
        Op::Store(location, value, order) if has_buffers && order != SeqCst => {
            next.buffers[thread].push((location, value));
        }
        Op::Store(location, value, _) if is_empty => next.memory[location].push(value),
        Op::Swap(location, value, _) if is_empty => {
            next.read[thread].push(machine.value(location));
            next.memory[location].push(value);
        }
        Op::Fence(order) if is_empty || order != SeqCst => (),
        Op::Store(..) | Op::Swap(..) | Op::Fence(_) => return None,
    }
    Some(next)
}
