//! Verdicts on histories that grow one event at a time, and in many ways from one beginning.
//!
//! An exploration meets thousands of histories, most of which differ from another in their last event. What matters of a history
//! for all that may follow is its *frontier*: every way in which the object may be, with which of the open operations
//! having taken effect. A frontier without any such way is a violation, and stays one.
//!
//! Operations take effect as late as possible: only when one returns, it and whatever open ones must come before it
//! (G. Lowe, "Testing for linearizability", 2017, calls this just in time). What an operation that took effect early will return
//! is not known yet. The states before and after it are kept, and looked at again when it returns.
//!
//! Requires: at most 64 operations. Cost: frontiers are kept once, and so is what comes of each by each return: a history usually costs
//! a look-up.

use std::collections::{BTreeSet, HashMap};

use clewline_core::{Interner, Specification};

/// What matters of a history for all that may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrontierId(pub u32);

/// Frontiers of histories of one specification and one list of calls.
#[derive(Debug)]
pub struct Frontiers<S: Specification> {
    specification: S,
    calls: Vec<S::Call>,
    states: Interner<S::State>,
    returns: Interner<S::Return>,
    frontiers: Interner<Vec<Way>>,
    // By frontier, those called, who returns, and what.
    steps: HashMap<(FrontierId, u64, u32, u32), FrontierId>,
}

// One way in which the object may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Way {
    state: u32,
    // Those that have taken effect.
    done: u64,
    // Those of them that have not returned yet, with the states before and after each.
    early: Vec<(u32, u32, u32)>,
}

impl<S: Specification> Frontiers<S> {
    /// The frontier of the empty history.
    pub const START: FrontierId = FrontierId(0);

    /// Frontiers of histories in which operation `it` is the call `calls[it]`.
    ///
    /// # Panics
    ///
    /// If there are more than 64 calls.
    pub fn new(specification: S, calls: Vec<S::Call>) -> Self {
        assert!(calls.len() <= 64, "operations are bits of a word");
        let (mut states, mut frontiers) = (Interner::new(), Interner::new());
        let state = states.intern(specification.initial());
        let start = frontiers.intern(vec![Way { state, done: 0, early: Vec::new() }]);
        assert_eq!(FrontierId(start), Self::START, "the first that is kept");
        Frontiers { specification, calls, states, returns: Interner::new(), frontiers, steps: HashMap::new() }
    }

    /// Whether a history with this frontier is violated.
    #[must_use]
    pub fn is_violated(&self, id: FrontierId) -> bool {
        self.frontiers[id.0].is_empty()
    }

    /// The frontier after `operation` returned `ret`; `called` are all that were called by then, one bit each. A call by itself
    /// changes no frontier.
    pub fn returned(&mut self, id: FrontierId, called: u64, operation: u32, ret: &S::Return) -> FrontierId {
        let key = (id, called, operation, self.returns.intern_ref(ret));
        if let Some(&known) = self.steps.get(&key) {
            return known;
        }
        let mut ways = BTreeSet::new();
        for way in self.frontiers[id.0].clone() {
            self.advance(way, called, operation, ret, &mut ways);
        }
        let found = FrontierId(self.frontiers.intern(ways.into_iter().collect()));
        self.steps.insert(key, found);
        found
    }

    // Every way in which `operation` may have returned `ret`, from `way`.
    fn advance(&mut self, way: Way, called: u64, operation: u32, ret: &S::Return, ways: &mut BTreeSet<Way>) {
        if way.done >> operation & 1 == 1 {
            let at = way.early.iter().position(|it| it.0 == operation).expect("it has not returned yet");
            let (_, before, after) = way.early[at];
            if self.step(before, operation, Some(ret)).contains(&after) {
                let mut way = way;
                way.early.remove(at);
                ways.insert(way);
            }
            return;
        }
        let mut seen = BTreeSet::new();
        let mut open = vec![way];
        while let Some(way) = open.pop() {
            for after in self.step(way.state, operation, Some(ret)) {
                let done = way.done | 1 << operation;
                ways.insert(Way { state: after, done, early: way.early.clone() });
            }
            let others = (0..self.calls.len() as u32)
                .filter(|it| *it != operation && (called & !way.done) >> it & 1 == 1);
            for other in others {
                for after in self.step(way.state, other, None) {
                    let mut early = way.early.clone();
                    early.push((other, way.state, after));
                    early.sort_unstable();
                    let next = Way { state: after, done: way.done | 1 << other, early };
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
    }

    fn step(&mut self, state: u32, operation: u32, ret: Option<&S::Return>) -> Vec<u32> {
        let mut next = Vec::new();
        let call = &self.calls[operation as usize];
        self.specification.step(&self.states[state], call, ret, &mut next);
        next.into_iter().map(|it| self.states.intern(it)).collect()
    }
}
