//! Verdicts on histories that grow one event at a time, and share prefixes.
//!
//! An exploration meets thousands of histories, most of which differ from another in their last
//! event. What matters of a history for all that may follow is its *frontier*: every configuration,
//! that is, a state of the object with the set of open operations that have taken effect. An empty
//! frontier is a violation, and stays one.
//!
//! Operations take effect as late as possible: only when one returns, it and the open ones that
//! must come before it (just in time, G. Lowe, "Testing for linearizability", 2017). The result of
//! an operation that took effect early is not known yet. The states before and after it are kept,
//! and checked when it returns.
//!
//! Requires: at most 64 operations. Cost: frontiers are interned, and so is the successor of each
//! by each return: a history usually costs one lookup.

use std::collections::{BTreeSet, HashMap};

use clewline_core::{Interner, Specification};

/// What matters of a history for all that may follow: the number of a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrontierId(pub u32);

/// Frontiers of histories of one specification and one list of calls.
#[derive(Debug)]
pub struct Frontiers<S: Specification> {
    specification: S,
    calls: Vec<S::Call>,
    states: Interner<S::State>,
    returns: Interner<S::Return>,
    frontiers: Interner<Vec<Configuration>>,
    // By frontier, set of called operations, operation that returns, and result.
    steps: HashMap<(FrontierId, u64, u32, u32), FrontierId>,
}

// One possible configuration of the object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Configuration {
    state: u32,
    // The operations that have taken effect.
    done: u64,
    // Those of them that have not returned, with the states before and after each.
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
        let start = frontiers.intern(vec![Configuration { state, done: 0, early: Vec::new() }]);
        assert_eq!(FrontierId(start), Self::START, "the first that is kept");
        Frontiers { specification, calls, states, returns: Interner::new(), frontiers, steps: HashMap::new() }
    }

    /// Whether a history with this frontier is violated.
    #[must_use]
    pub fn is_violated(&self, id: FrontierId) -> bool {
        self.frontiers[id.0].is_empty()
    }

    /// The frontier after `operation` returned `ret`; `called` are all operations called by then,
    /// one bit each. A call by itself does not change a frontier.
    pub fn returned(&mut self, id: FrontierId, called: u64, operation: u32, ret: &S::Return) -> FrontierId {
        let key = (id, called, operation, self.returns.intern_ref(ret));
        if let Some(&known) = self.steps.get(&key) {
            return known;
        }
        let mut configurations = BTreeSet::new();
        for configuration in self.frontiers[id.0].clone() {
            self.advance(configuration, called, operation, ret, &mut configurations);
        }
        let found = FrontierId(self.frontiers.intern(configurations.into_iter().collect()));
        self.steps.insert(key, found);
        found
    }

    // Adds every configuration after `configuration` in which `operation` returned `ret`.
    fn advance(
        &mut self,
        configuration: Configuration,
        called: u64,
        operation: u32,
        ret: &S::Return,
        configurations: &mut BTreeSet<Configuration>,
    ) {
        if configuration.done >> operation & 1 == 1 {
            let at =
                configuration.early.iter().position(|it| it.0 == operation).expect("it has not returned yet");
            let (_, before, after) = configuration.early[at];
            if self.step(before, operation, Some(ret)).contains(&after) {
                let mut configuration = configuration;
                configuration.early.remove(at);
                configurations.insert(configuration);
            }
            return;
        }
        let mut seen = BTreeSet::new();
        let mut open = vec![configuration];
        while let Some(configuration) = open.pop() {
            for after in self.step(configuration.state, operation, Some(ret)) {
                let done = configuration.done | 1 << operation;
                configurations.insert(Configuration {
                    state: after,
                    done,
                    early: configuration.early.clone(),
                });
            }
            let others = (0..self.calls.len() as u32)
                .filter(|it| *it != operation && (called & !configuration.done) >> it & 1 == 1);
            for other in others {
                for after in self.step(configuration.state, other, None) {
                    let mut early = configuration.early.clone();
                    early.push((other, configuration.state, after));
                    early.sort_unstable();
                    let next = Configuration { state: after, done: configuration.done | 1 << other, early };
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
        let ret = ret.map(|it| self.specification.canonical_return(call, it));
        self.specification.step(&self.states[state], call, ret, &mut next);
        next.into_iter().map(|it| self.states.intern(it)).collect()
    }
}

#[cfg(test)]
mod tests;
