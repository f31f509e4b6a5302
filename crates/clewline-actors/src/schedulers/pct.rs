//! PCT: random priorities of chains of messages, with few random priority change points.
//!
//! A message and the first message that its receipt sends are on one chain, and so on; each further
//! message starts a new chain, and so does each fault. Each chain has a random priority, and the
//! enabled step on the chain of highest priority is next. At `depth - 1` change points, each after
//! a random number of steps, the chain that would be next gets a priority below all others. One
//! execution finds a bug of depth `depth` with a probability that has a lower bound in the number
//! of chains and steps.
//!
//! The number of steps is estimated by the longest execution so far; the first execution has no
//! change points. So that threads and processes can sample independently, the estimate is not
//! updated after the first 32 schedules.
//!
//! Source: B. K. Ozkan, R. Majumdar, F. Niksic, M. Tabaei Befrouei, G. Weissenbacher, "Randomized
//! testing of distributed systems with probabilistic guarantees", 2018. There chains are cut to be
//! as few as possible; here each follows first sends.

use std::ops::ControlFlow;

use clewline_core::Random;
use clewline_explore::{choosers, schedulers::pct::DEPTH};
use rustc_hash::FxHashMap;

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    sampling::SamplingScheduler,
};
use crate::{
    execution::{EnabledStep, Execution, StepIdentity},
    settings::MessageSchedulerSettings,
    statistics::{Flow, Statistics},
};

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "pct",
    about: "PCT: random priorities of message chains, d - 1 change points",
    is_exhaustive: false,
    is_random: true,
    soundness: Soundness::Always,
    bounds: &[DEPTH],
    make: |settings| Box::new(SamplingScheduler { sample, settings: settings.clone() }),
};

fn sample(
    execution: &mut Execution,
    random: &mut Random,
    settings: &MessageSchedulerSettings,
    longest: usize,
    statistics: &mut Statistics<'_>,
) -> Flow {
    let depth = settings.bounds.get(&DEPTH).unwrap_or(DEPTH.default);
    let mut chains = Chains::default();
    // All lowered chains are below the others. The priority of a change point is independent of its
    // time: of two lowered chains, either may be first.
    let changes = (1..u64::from(depth)).map(|priority| (random.below(longest), priority));
    chains.chooser.begin(changes.filter(|_| longest != 0));
    while !statistics.is_end(execution)? {
        chains.assign_chains(execution.enabled(), random);
        let Chains { chooser, chain, events } = &mut chains;
        let keys = execution.enabled().iter().map(|it| chain[&it.identity()]);
        let (at, taken) = chooser.pick(execution.events().len(), keys);
        events.push(taken);
        execution.take(at);
    }
    ControlFlow::Continue(())
}

#[derive(Default)]
struct Chains {
    // Priorities of chains.
    chooser: choosers::PctChooser<Vec<u64>>,
    chain: FxHashMap<StepIdentity, usize>,
    // The chain that each event was on.
    events: Vec<usize>,
}

impl Chains {
    fn assign_chains(&mut self, enabled: &[EnabledStep], random: &mut Random) {
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

#[cfg(test)]
mod tests;
