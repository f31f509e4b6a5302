//! Dead ends: for a violated history, the longest orders that the specification allows, one for
//! each operation at which they end.
//!
//! A search that fails reports one order, the longest. A reader asks why another order would not
//! do. So the search is repeated in its simple form: orders are tried depth first. If the remaining
//! operation that returns first cannot come next, and no other operation called before that return
//! can either, the order so far is a dead end. Of all that end at the same operation the longest is
//! kept.
//!
//! Source: J. M. Wing and C. Gong, "Testing and verifying concurrent objects", 1993, with memory as
//! in G. Lowe, "Testing for linearizability", 2017, section 4: a configuration is visited once. The
//! set of linearized operations is represented by a hash of 64 bits; on a collision an order is
//! missed, and nothing wrong is reported.
//!
//! For a nondeterministic specification all states to which an order may lead are carried along, so
//! an order is a dead end only if it is one in all of them.
//!
//! Invariant: real time and the specification allow every order that is returned, and do not allow
//! the operation at its end next. Cost: a given number of steps.

use std::collections::{BTreeMap, HashSet};

use clewline_core::{Automaton, Interner, PartialLinearization, Problem, Random, StateId};

/// The longest orders of `problem` that cannot be extended, at most `most`, each with another end,
/// the longest first. Takes at most `steps` steps.
#[must_use]
pub fn dead_ends(problem: &Problem<'_>, steps: u64, most: usize) -> Vec<PartialLinearization> {
    let mut search = Search::new(problem);
    for step in 0..steps {
        let is_full = step % MEMORY_CHECK_INTERVAL_STEPS == 0 && STATES_BYTES_MAX < search.automaton.bytes();
        if is_full || !search.step() {
            break;
        }
    }
    // A specification that could not be evaluated allows nothing, which is no evidence.
    if problem.fault().is_some() {
        return Vec::new();
    }
    let mut ends: Vec<(u32, LongestPrefix)> = search.ends.iter().map(|(&next, &end)| (next, end)).collect();
    // Equally long ones in the order of calls.
    ends.sort_by_key(|it| (std::cmp::Reverse(it.1.length), it.0));
    ends.truncate(most);
    let id = |at: u32| problem.operations()[at as usize];
    let end = |(next, end): (u32, LongestPrefix)| PartialLinearization {
        prefix: search.order(end.last).into_iter().map(id).collect(),
        next: id(next),
    };
    ends.into_iter().map(end).collect()
}

const NONE: u32 = u32::MAX;

// States may be large. Their size is checked at intervals and must not exceed this many bytes.
const STATES_BYTES_MAX: usize = 256 << 20;
const MEMORY_CHECK_INTERVAL_STEPS: u64 = 256;

/// A call or a return not yet passed, in a list of all of them.
#[derive(Clone, Copy)]
struct Entry {
    operation: u32,
    is_call: bool,
    before: u32,
    after: u32,
}

/// The end of an order: its length and its last node.
#[derive(Clone, Copy)]
struct LongestPrefix {
    length: usize,
    last: u32,
}

/// An operation in the order that is being tried.
struct Linearized {
    call: u32,
    // The number of the set of states before it.
    states: u32,
}

struct Search<'p> {
    automaton: Box<dyn Automaton + 'p>,
    // In the order of ranks; the first is a sentinel before all events.
    entries: Vec<Entry>,
    return_of: Vec<u32>,
    // By operation: its share of the hash of a set of operations.
    salts: Vec<u64>,
    // Sets of states.
    sets: Interner<Vec<StateId>>,
    // Configurations that were visited.
    seen: HashSet<(u64, u32)>,
    taken: Vec<Linearized>,
    // Every operation that was linearized, with the node of its predecessor: orders share prefixes.
    nodes: Vec<(u32, u32)>,
    last: u32,
    states: u32,
    // The hash of the linearized operations.
    set: u64,
    // The entry to try next.
    at: u32,
    // Whether no operation tried here could come next.
    is_dead: bool,
    // By the operation that cannot come next: the longest order.
    ends: BTreeMap<u32, LongestPrefix>,
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

    /// Tries one operation next, or backtracks; false when all was tried, or an order of all was
    /// found.
    fn step(&mut self) -> bool {
        if self.at == NONE {
            // Only pending calls remain: this order explains everything.
            return false;
        }
        let Entry { operation, is_call, after, .. } = self.entries[self.at as usize];
        if !is_call {
            self.record_dead_end(operation);
            return self.backtrack();
        }
        let Some(states) = self.states_after(operation) else {
            self.at = after;
            return true;
        };
        self.is_dead = false;
        let set = self.set ^ self.salts[operation as usize];
        if self.seen.insert((set, states)) {
            self.taken.push(Linearized { call: self.at, states: self.states });
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

    /// The number of the set of states after an operation; none if it cannot come next.
    fn states_after(&mut self, operation: u32) -> Option<u32> {
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

    /// No more operations can be linearized before `operation` returns.
    fn record_dead_end(&mut self, operation: u32) {
        // If one can, the orders after it have their own ends.
        if !self.is_dead {
            return;
        }
        let length = self.taken.len();
        if self.ends.get(&operation).is_none_or(|it| it.length < length) {
            self.ends.insert(operation, LongestPrefix { length, last: self.last });
        }
    }

    /// The order that ends with node `last`.
    fn order(&self, last: u32) -> Vec<u32> {
        let step = |&node: &u32| Some(self.nodes[node as usize].1).filter(|it| *it != NONE);
        let nodes = std::iter::successors(Some(last).filter(|it| *it != NONE), step);
        let mut order: Vec<u32> = nodes.map(|node| self.nodes[node as usize].0).collect();
        order.reverse();
        order
    }

    /// Undoes the last operation, and continues with the next.
    fn backtrack(&mut self) -> bool {
        let Some(Linearized { call, states }) = self.taken.pop() else { return false };
        self.unlift(call);
        self.last = self.nodes[self.last as usize].1;
        let Entry { operation, after, .. } = self.entries[call as usize];
        self.set ^= self.salts[operation as usize];
        (self.states, self.is_dead, self.at) = (states, false, after);
        true
    }

    /// Removes the call, and the return if there is one, from the list.
    fn lift(&mut self, call: u32) {
        self.unlink(call);
        let ret = self.return_of[self.entries[call as usize].operation as usize];
        if ret != NONE {
            self.unlink(ret);
        }
    }

    /// Undoes the last [`lift`](Self::lift).
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
