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
use clewline_explore::{Bound, choosers};
use rustc_hash::FxHashMap;

use super::{
    entry::{Entry, Soundness},
    sampling::Drawing,
};
use crate::{
    execution::{Execution, Identity, Receive},
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// How many orderings of steps a bug needs.
pub const DEPTH: Bound = Bound {
    name: "depth",
    one: "depth",
    default: 3,
    may_be_none: false,
    help: "PCT bug depth d (d - 1 priority change points)",
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "pct",
    about: "PCT: random priorities of message chains, d - 1 change points",
    is_exhaustive: false,
    is_random: true,
    soundness: Soundness::Always,
    bounds: &[DEPTH],
    make: |settings| Box::new(Drawing { draw, settings: settings.clone() }),
};

fn draw(
    walk: &mut Execution,
    random: &mut Random,
    settings: &Settings,
    longest: usize,
    tally: &mut Statistics<'_>,
) -> Flow {
    let depth = settings.bounds.get(&DEPTH).unwrap_or(DEPTH.default);
    let mut places: Vec<usize> = (1..depth).map(|_| random.below(longest)).collect();
    places.retain(|_| longest != 0);
    places.sort_unstable();
    let mut chains = Chains::default();
    // A chain that falls later falls less deep; all are below those that have not fallen.
    chains.chooser.begin(places.into_iter().zip(1..));
    while !tally.is_end(walk)? {
        chains.meet(walk.enabled(), random);
        let Chains { chooser, chain, events } = &mut chains;
        let keys = walk.enabled().iter().map(|it| chain[&it.identity()]);
        let (at, taken) = chooser.pick(walk.events().len(), keys);
        events.push(taken);
        walk.take(at);
    }
    ControlFlow::Continue(())
}

#[derive(Default)]
struct Chains {
    // Priorities of chains.
    chooser: choosers::Pct<Vec<u64>>,
    chain: FxHashMap<Identity, usize>,
    // The chain that each event was on.
    events: Vec<usize>,
}

impl Chains {
    fn meet(&mut self, enabled: &[Receive], random: &mut Random) {
        let priorities = &mut self.chooser.priorities;
        for it in enabled {
            let goes_on = it.sent_by.filter(|_| it.ordinal == 0 && it.outcome == 0);
            let chain = match goes_on {
                Some(event) => self.events[event as usize],
                None => priorities.len(),
            };
            self.chain.entry(it.identity()).or_insert_with(|| {
                if chain == priorities.len() {
                    priorities.push(random.next() | 1 << 63);
                }
                chain
            });
        }
    }
}
