//! A scheduler of threads that runs each thread until it blocks, the last one first. It has its own
//! bound: the number of executions, each of which starts with another thread.

use clewline_explore::{
    Begin, Bound, Choice, Division, Point, Scheduler,
    schedulers::{SchedulerEntry, SchedulerSettings},
};

/// The number of executions: the flag `--rounds`, the environment variable `CLEWLINE_ROUNDS`.
const ROUNDS: Bound = Bound {
    name: "rounds",
    one: "round",
    default: 1,
    may_be_none: false,
    help: "How many executions `last-first` makes",
};

/// The entry in the table.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "last-first",
    about: "the last thread that can go on, every time: one execution a round",
    is_exhaustive: false,
    explores_graphs: false,
    division: Division::None,
    bounds: &[ROUNDS],
    make: |settings: &SchedulerSettings| {
        let rounds = settings.bounds.get(&ROUNDS).unwrap_or(ROUNDS.default);
        Box::new(LastFirst { rounds, begun: 0, is_first: true })
    },
};

#[derive(Debug)]
struct LastFirst {
    rounds: u32,
    begun: u32,
    // Whether no step has been chosen yet in this execution.
    is_first: bool,
}

impl Scheduler for LastFirst {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            self.begun = 0;
        }
        (self.begun, self.is_first) = (self.begun + 1, true);
        self.begun <= self.rounds
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let earlier = if std::mem::take(&mut self.is_first) { self.begun as usize - 1 } else { 0 };
        Choice::Step(point.enabled.len() - 1 - earlier % point.enabled.len())
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        n - 1
    }

    fn is_bounded(&self) -> bool {
        true
    }
}
