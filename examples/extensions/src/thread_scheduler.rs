//! A scheduler of threads that gives each as many steps as it can take, the last one first: one execution.

use clewline_explore::{
    Choice, Point, Scheduler,
    schedulers::{Entry, Settings},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "last-first",
    about: "the last thread that can go on, every time: one execution",
    is_exhaustive: false,
    make: |_: &Settings| Box::new(LastFirst { begun: false }),
};

#[derive(Debug)]
struct LastFirst {
    begun: bool,
}

impl Scheduler for LastFirst {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        Choice::Step(point.enabled.len() - 1)
    }

    fn value(&mut self, n: u32) -> u32 {
        n - 1
    }

    fn restart(&mut self) {
        self.begun = false;
    }

    fn is_bounded(&self) -> bool {
        true
    }
}
