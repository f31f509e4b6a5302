//! Explorations of a test program: many executions and their summary.
//!
//! A method passes a [`Strategy`] and limits, instead of a scheduler and a loop: these can be
//! carried out in another process.

use std::time::{Duration, Instant};

use clewline_explore::{
    Begin, Choice, Coverage, FastPath, Part, Point, Scheduler,
    schedulers::{SchedulerEntry, SchedulerSettings, serial::Serial},
};

use clewline_threads::control::{Excess, Unended};

/// Why it is not known how executions would have ended that were cut, and what helps.
#[must_use]
pub fn why_cut(unended: Option<Unended>) -> String {
    match unended {
        Some(Unended { place, why: Excess::Waiting }) => format!(
            ", so their end is unknown. A loop reads the same again and again ({place}), and nothing else can \
             move: whether it gives up at some time is not known, because its thread changes something in each \
             round. More steps per execution let a loop that counts come to its end"
        ),
        Some(Unended { place, why: Excess::Tasks }) => format!(
            ", so their end is unknown. The first was cut at {place}, where one more was needed: end, or do not \
             start, some of the threads"
        ),
        Some(Unended { place, why: Excess::Steps }) => format!(
            ", so their end is unknown. The first was cut at {place}. If a loop waits there, `spin_loop`, \
             `yield_now` or `sched_yield` in it lets other threads run; otherwise, allow more steps per execution"
        ),
        None => ", so their end is unknown".to_owned(),
    }
}

/// Which executions are explored.
#[derive(Clone, Copy, Debug)]
pub enum Strategy<'a> {
    /// One call at a time, in every order: the sequential histories.
    Serial,
    /// Those that a scheduler of the table chooses. A part of them ends where the exploration would
    /// start again.
    Scheduler(&'static SchedulerEntry, &'a SchedulerSettings),
}

impl Strategy<'_> {
    /// The scheduler for this strategy.
    #[must_use]
    pub fn scheduler(&self) -> Box<dyn Scheduler> {
        match self {
            Strategy::Serial => Box::new(Serial::default()),
            Strategy::Scheduler(entry, settings) => {
                let inner = (entry.make)(settings);
                match settings.part {
                    Part::Whole => inner,
                    Part::Below(_) | Part::Numbers(_) | Part::Children(_) => {
                        Box::new(UntilRestart { inner, has_begun: false })
                    }
                }
            }
        }
    }
}

/// A scheduler that has nothing left when it is to start again.
struct UntilRestart {
    inner: Box<dyn Scheduler>,
    has_begun: bool,
}

impl Scheduler for UntilRestart {
    fn begin(&mut self, begin: Begin) -> bool {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        (is_first || begin == Begin::Next) && self.inner.begin(begin)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.inner.choose(point)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.inner.choose_value(n)
    }

    fn is_bounded(&self) -> bool {
        self.inner.is_bounded()
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        self.inner.fast_path()
    }
}

/// Limits of an exploration, and which executions are visited.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The most executions.
    pub executions_max: u64,
    /// The time limit.
    pub until: Option<Instant>,
    /// Which executions are visited.
    pub visits: Visits,
}

/// Which executions are visited. More may be visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visits {
    /// Every one that is not redundant.
    Every,
    /// The same, but a visit breaks only if a task panicked: executions may run ahead of visits.
    Ahead,
    /// The first of those with the same history, the same ending, no race and no leak. None that
    /// was cut, unless it has a race.
    Histories,
    /// The first of each history, whatever its ending, and none that is
    /// [explained](crate::TestProgram::explain): those may be counted instead.
    Unexplained,
}

/// Explains histories, so that they need no visit: encoded serial histories, and the results that
/// have a number there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedSerialHistories {
    /// The serial histories.
    pub words: Vec<u32>,
    /// The texts of the results, by number.
    pub results: Vec<String>,
}

/// Distinct histories that were counted and not visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Their number.
    pub histories: usize,
    /// The number of stuck ones among them.
    pub stuck: usize,
}

/// The summary of all executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// How much of the space was covered.
    pub coverage: Coverage,
    /// The number of executions.
    pub executions: u64,
    /// The number of executions that got stuck or panicked.
    pub broken: u64,
    /// Whether a bound excluded parts of the space.
    pub is_bounded: bool,
    /// Histories that were counted and not visited.
    pub explained: Explained,
}

impl Extent {
    /// All executions, up to a limit.
    #[must_use]
    pub fn all(executions_max: u64, visits: Visits) -> Extent {
        Extent { executions_max, until: None, visits }
    }

    /// The same, with a time limit from now on.
    #[must_use]
    pub fn within(self, time: Option<Duration>) -> Extent {
        Extent { until: time.and_then(|it| Instant::now().checked_add(it)), ..self }
    }
}
