//! Many executions of a trial, and what is kept of them as a whole.
//!
//! A method names a [`Strategy`] and says how far to go, instead of holding a scheduler and a loop:
//! what is named can be carried out in another process.

use std::time::{Duration, Instant};

use clewline_explore::{
    Coverage, Scheduler,
    schedulers::{Entry, Settings, serial::Serial},
};

/// Which executions are explored.
#[derive(Clone, Copy, Debug)]
pub enum Strategy<'a> {
    /// One call at a time, in every order.
    Serial,
    /// Those that a scheduler of the table picks.
    Scheduler(&'static Entry, &'a Settings),
}

impl Strategy<'_> {
    /// A scheduler that picks them.
    #[must_use]
    pub fn scheduler(&self) -> Box<dyn Scheduler> {
        match self {
            Strategy::Serial => Box::new(Serial::default()),
            Strategy::Scheduler(entry, settings) => (entry.make)(settings),
        }
    }
}

/// How far to go, and which executions are visited.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The most executions.
    pub executions_max: u64,
    /// Until then.
    pub until: Option<Instant>,
    /// Which executions are visited.
    pub visits: Visits,
}

/// Which executions are visited. To visit more is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visits {
    /// Every one that is not redundant.
    Every,
    /// The same, but a visit breaks only if a task panicked: executions may run ahead of visits.
    Ahead,
    /// Of those with the same history, the same end, no race and no leak, the first. None that was
    /// cut.
    Histories,
    /// Of the same history the first, whatever its end, and none that is
    /// [explained](crate::TestProgram::explain): those may be counted instead.
    Unexplained,
}

/// What explains histories, so that they need no visit: serial histories as their judge writes them
/// for another process, and the results that have a number there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The serial histories.
    pub words: Vec<u32>,
    /// The results as they are written, by number.
    pub results: Vec<String>,
}

/// Distinct histories that were counted, and not visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// How many.
    pub histories: usize,
    /// How many of them were stuck.
    pub stuck: usize,
}

/// What is known of all executions together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// How much of the space was seen.
    pub coverage: Coverage,
    /// How many executions there were.
    pub executions: u64,
    /// How many of them got stuck or panicked.
    pub broken: u64,
    /// Whether parts of the space were left out that a larger bound would show.
    pub is_bounded: bool,
    /// Histories that were counted, and not visited.
    pub explained: Explained,
}

impl Extent {
    /// All executions, up to a limit.
    #[must_use]
    pub fn all(executions_max: u64, visits: Visits) -> Extent {
        Extent { executions_max, until: None, visits }
    }

    /// The same, for at most so long from now on.
    #[must_use]
    pub fn within(self, time: Option<Duration>) -> Extent {
        Extent { until: time.and_then(|it| Instant::now().checked_add(it)), ..self }
    }
}
