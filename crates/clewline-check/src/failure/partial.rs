//! How far orders get: for a history that is violated, the longest orders that work, one for each operation at which they end.
//!
//! A search that fails tells of one order, the longest. Its reader asks why another would not do. So the search is made once more, the simple way: orders
//! are tried depth first, and wherever the operation that returns next cannot happen, and nothing else that was called before can either, the order so far is
//! a dead end. Of all that end at the same operation the longest is kept.
//!
//! Source: the search is that of J. M. Wing and C. Gong, "Testing and verifying concurrent objects", 1993, with memory as in G. Lowe, "Testing for
//! linearizability", 2017, section 4: who has been in a configuration does not go there again. Configurations are told apart by a hash of 64 bits for what is
//! linearized; should two share one, an order is missed, and nothing wrong is said.
//!
//! Of a specification that may answer in several ways, all states to which an order may lead are carried along, so that an order is a dead end only if
//! it is in all of them.
//!
//! Invariant: every order that is answered is allowed, by real time and by the specification, and the operation at its end is not allowed next.
//! Cost: a given number of steps, whatever they find.

use std::collections::{BTreeMap, HashSet};

use clewline_core::{Automaton, Interner, OperationId, Problem, Random, StateId};

/// An order that leads no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadEnd {
    /// The order.
    pub prefix: Vec<OperationId>,
    /// The operation that returns before all others that are left, and cannot come next.
    pub next: OperationId,
}

/// The longest orders of `problem` that lead no further, at most `most` and each with another end, the longest first. Found in so many `steps`.
#[must_use]
pub fn dead_ends(problem: &Problem<'_>, steps: u64, most: usize) -> Vec<DeadEnd> {
    let mut search = Search::new(problem);
    for step in 0..steps {
        let is_full = step % LOOKED == 0 && BYTES < search.automaton.bytes();
        if is_full || !search.step() {
            break;
        }
    }
    let mut ends: Vec<(u32, End)> = search.ends.iter().map(|(&next, &end)| (next, end)).collect();
    // Those that are equally long, in the order of calls.
    ends.sort_by_key(|it| (std::cmp::Reverse(it.1.length), it.0));
    ends.truncate(most);
    let id = |at: u32| problem.operations()[at as usize];
    let end = |(next, end): (u32, End)| DeadEnd {
        prefix: search.order(end.last).into_iter().map(id).collect(),
        next: id(next),
    };
    ends.into_iter().map(end).collect()
}

const NONE: u32 = u32::MAX;

// States may be large. No more than this is kept of them, and it is looked after so often.
const BYTES: usize = 256 << 20;
const LOOKED: u64 = 256;

/// A call or a return that has not been passed, in a list of all of them.
#[derive(Clone, Copy)]
struct Entry {
    operation: u32,
    is_call: bool,
    before: u32,
    after: u32,
}

/// The end of an order: how long it is, and its last node.
#[derive(Clone, Copy)]
struct End {
    length: usize,
    last: u32,
}

/// An operation that happens in the order that is being tried.
struct Taken {
    call: u32,
    // In which states it happens.
    states: u32,
}

struct Search<'p> {
    automaton: Box<dyn Automaton + 'p>,
    // In the order of ranks; the first is no event, but stands before all.
    entries: Vec<Entry>,
    return_of: Vec<u32>,
    // What makes the hash of a set of operations.
    salts: Vec<u64>,
    // Sets of states.
    sets: Interner<Vec<StateId>>,
    // Configurations that have been visited.
    seen: HashSet<(u64, u32)>,
    taken: Vec<Taken>,
    // Every operation that was ever taken, with the node of the one before it: orders share their beginnings.
    nodes: Vec<(u32, u32)>,
    last: u32,
    states: u32,
    // What has been taken.
    set: u64,
    // Where to go on.
    at: u32,
    // Whether nothing that was tried here could happen.
    is_dead: bool,
    // By the operation that cannot come next: the longest order.
    ends: BTreeMap<u32, End>,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem<'_>) -> Search<'p> {
        let spans = problem.spans();
        let mut events: Vec<(u32, u32, bool)> = Vec::with_capacity(2 * spans.len());
        for (at, span) in spans.iter().enumerate() {
            events.push((span.call(), at as u32, true));
            events.extend(span.ret().map(|it| (it, at as u32, false)));
        }
        events.sort_unstable();
        let mut return_of = vec![NONE; spans.len()];
        let mut entries = vec![Entry { operation: NONE, is_call: false, before: NONE, after: 1 }];
        for (place, (_, operation, is_call)) in events.into_iter().enumerate() {
            let here = place as u32 + 1;
            if !is_call {
                return_of[operation as usize] = here;
            }
            entries.push(Entry { operation, is_call, before: here - 1, after: here + 1 });
        }
        let last = entries.len() - 1;
        entries[last].after = NONE;
        let mut random = Random::new(1);
        let salts = spans.iter().map(|_| random.next()).collect();
        let mut automaton = problem.automaton();
        let mut sets = Interner::new();
        let states = sets.intern(vec![automaton.initial()]);
        let at = entries[0].after;
        let (seen, taken, nodes, ends) = (HashSet::new(), Vec::new(), Vec::new(), BTreeMap::new());
        Search {
            automaton,
            entries,
            return_of,
            salts,
            sets,
            seen,
            taken,
            nodes,
            last: NONE,
            states,
            set: 0,
            at,
            is_dead: true,
            ends,
        }
    }

    /// Tries one operation next, or goes back; false when there is nothing left to try, or nothing wrong.
    fn step(&mut self) -> bool {
        if self.at == NONE {
            // Only calls are left, and none that returned: this order explains everything.
            return false;
        }
        let Entry { operation, is_call, after, .. } = self.entries[self.at as usize];
        if !is_call {
            self.end_at(operation);
            return self.go_back();
        }
        let Some(states) = self.after(operation) else {
            self.at = after;
            return true;
        };
        self.is_dead = false;
        let set = self.set ^ self.salts[operation as usize];
        if self.seen.insert((set, states)) {
            self.taken.push(Taken { call: self.at, states: self.states });
            self.nodes.push((operation, self.last));
            self.last = self.nodes.len() as u32 - 1;
            self.lift(self.at);
            (self.states, self.set) = (states, set);
            (self.at, self.is_dead) = (self.entries[0].after, true);
        } else {
            self.at = after;
        }
        true
    }

    /// All states to which an operation may lead from here, as the number of their set; none if it cannot happen.
    fn after(&mut self, operation: u32) -> Option<u32> {
        let label = self.automaton.labels()[operation as usize];
        let mut after = Vec::new();
        for &state in &self.sets[self.states] {
            for nth in 0.. {
                let Some(next) = self.automaton.step(state, label, nth) else { break };
                after.push(next.state);
                if !next.has_more {
                    break;
                }
            }
        }
        after.sort_unstable();
        after.dedup();
        if after.is_empty() {
            return None;
        }
        Some(self.sets.intern(after))
    }

    /// Nothing more can happen before `operation` returns.
    fn end_at(&mut self, operation: u32) {
        // If something can happen, whatever comes then has its own end.
        if !self.is_dead {
            return;
        }
        let length = self.taken.len();
        if self.ends.get(&operation).is_none_or(|it| it.length < length) {
            self.ends.insert(operation, End { length, last: self.last });
        }
    }

    /// The order that ends with a node.
    fn order(&self, last: u32) -> Vec<u32> {
        let step = |&node: &u32| Some(self.nodes[node as usize].1).filter(|it| *it != NONE);
        let nodes = std::iter::successors(Some(last).filter(|it| *it != NONE), step);
        let mut order: Vec<u32> = nodes.map(|node| self.nodes[node as usize].0).collect();
        order.reverse();
        order
    }

    /// Takes the last operation back, and goes on with the next.
    fn go_back(&mut self) -> bool {
        let Some(Taken { call, states }) = self.taken.pop() else { return false };
        self.unlift(call);
        self.last = self.nodes[self.last as usize].1;
        let Entry { operation, after, .. } = self.entries[call as usize];
        self.set ^= self.salts[operation as usize];
        (self.states, self.is_dead, self.at) = (states, false, after);
        true
    }

    /// Takes the call, and the return if there is one, out of the list.
    fn lift(&mut self, call: u32) {
        self.unlink(call);
        let ret = self.return_of[self.entries[call as usize].operation as usize];
        if ret != NONE {
            self.unlink(ret);
        }
    }

    /// Undoes [`lift`](Self::lift), if it was the last that was done.
    fn unlift(&mut self, call: u32) {
        let ret = self.return_of[self.entries[call as usize].operation as usize];
        if ret != NONE {
            self.link(ret);
        }
        self.link(call);
    }

    fn unlink(&mut self, entry: u32) {
        let Entry { before, after, .. } = self.entries[entry as usize];
        self.entries[before as usize].after = after;
        if after != NONE {
            self.entries[after as usize].before = before;
        }
    }

    fn link(&mut self, entry: u32) {
        let Entry { before, after, .. } = self.entries[entry as usize];
        self.entries[before as usize].after = entry;
        if after != NONE {
            self.entries[after as usize].before = entry;
        }
    }
}
