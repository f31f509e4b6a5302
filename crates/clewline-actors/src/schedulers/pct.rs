//! Random priorities of chains of messages that change at few random places.
//!
//! A message and the first that its receipt sends are on one chain, and so on; each further message begins a chain of its own, and so
//! does whatever goes wrong. Each chain has a random priority, and the enabled step on the highest one is next. At `depth - 1`
//! places, each after a random number of steps, the chain that would go on falls below all others. A bug that needs `depth`
//! orderings of steps is found by one execution with a probability that is bounded from below by the number of chains and steps.
//!
//! The number of steps is taken to be that of the longest execution so far; the first one has no places. So that schedules can be
//! drawn by several threads, it is looked up only after 32, 64, 128 schedules, and so on.
//!
//! Source: B. K. Ozkan, R. Majumdar, F. Niksic, M. Tabaei Befrouei, G. Weissenbacher, "Randomized testing of distributed
//! systems with probabilistic guarantees", 2018. There chains are cut to be as few as possible; here each follows first sends.

use std::ops::ControlFlow;

use clewline_core::Random;
use rustc_hash::FxHashMap;

use super::{Entry, Settings, drawn};
use crate::{Flow, Identity, Receive, Tally, Walk};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "pct",
    about: "random priorities of chains of messages, which change at few places",
    is_exhaustive: false,
    explore: |walk, settings, tally| drawn::explore(walk, draw, settings, tally),
};

fn draw(
    walk: &mut Walk,
    random: &mut Random,
    settings: &Settings,
    longest: usize,
    tally: &mut Tally<'_>,
) -> Flow {
    let mut places: Vec<usize> = (1..settings.depth).map(|_| random.below(longest)).collect();
    places.retain(|_| longest != 0);
    places.sort_unstable();
    let mut chains = Chains::default();
    let mut fallen = 0;
    while !tally.is_end(walk)? {
        chains.meet(walk.enabled(), random);
        let mut at = chains.highest(walk.enabled());
        while places.get(fallen).is_some_and(|it| *it <= walk.events().len()) {
            // Whoever falls later falls less deep; all are below those who have not fallen.
            fallen += 1;
            chains.fall(&walk.enabled()[at], fallen as u64);
            at = chains.highest(walk.enabled());
        }
        chains.take(&walk.enabled()[at]);
        walk.take(at);
    }
    ControlFlow::Continue(())
}

#[derive(Default)]
struct Chains {
    // Higher goes first. Those that have fallen are small.
    priorities: Vec<u64>,
    chain: FxHashMap<Identity, usize>,
    // The chain that each event was on.
    events: Vec<usize>,
}

impl Chains {
    fn meet(&mut self, enabled: &[Receive], random: &mut Random) {
        for it in enabled {
            let goes_on = it.sent_by.filter(|_| it.ordinal == 0 && it.outcome == 0);
            let chain = match goes_on {
                Some(event) => self.events[event as usize],
                None => self.priorities.len(),
            };
            self.chain.entry(it.identity()).or_insert_with(|| {
                if chain == self.priorities.len() {
                    self.priorities.push(random.next() | 1 << 63);
                }
                chain
            });
        }
    }

    fn of(&self, it: &Receive) -> usize {
        self.chain[&it.identity()]
    }

    fn highest(&self, enabled: &[Receive]) -> usize {
        let priority = |at: &usize| self.priorities[self.of(&enabled[*at])];
        (0..enabled.len()).max_by_key(priority).expect("something is enabled")
    }

    fn fall(&mut self, it: &Receive, depth: u64) {
        let chain = self.of(it);
        self.priorities[chain] = depth;
    }

    fn take(&mut self, it: &Receive) {
        self.events.push(self.of(it));
    }
}
