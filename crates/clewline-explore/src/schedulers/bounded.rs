//! Every schedule with at most a given number of preemptions, depth first.
//!
//! A preemption is a switch away from a task that could have continued: it is not blocked, does not
//! yield, and has not ended. All other switches are free, so that even at bound 0 every task runs,
//! and every order of blocking occurs. Most bugs need very few preemptions.
//!
//! Source: M. Musuvathi and S. Qadeer, "Iterative context bounding for systematic testing of
//! multithreaded programs", 2007.

use super::{
    entry::{SchedulerEntry, SchedulerSettings},
    exhaustive::Path,
};
use crate::{
    bounds::Bound,
    part::{Division, Part, WeightedNode},
    scheduler::{Begin, Choice, FastPath, PartPath, Point, Scheduler},
    step::{Step, TaskId, TaskSet},
};

/// The maximum number of preemptions per execution.
pub const PREEMPTIONS: Bound = Bound {
    name: "preemptions",
    one: "preemption",
    default: 2,
    may_be_none: true,
    help: "Maximum preemptions per execution; `none`: no limit",
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "bounded",
    about: "every schedule up to the preemption bound, depth-first",
    is_exhaustive: true,
    explores_graphs: false,
    division: Division::Tree,
    bounds: &[PREEMPTIONS],
    make: |settings: &SchedulerSettings| {
        Box::new(Bounded::part(settings.bounds.get(&PREEMPTIONS), &settings.part))
    },
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Bounded {
    path: Path,
    preemptions_max: u32,
    is_bounded: bool,
}

impl Bounded {
    /// At most `preemptions` preemptions; `None` for any number.
    #[must_use]
    pub fn new(preemptions: Option<u32>) -> Self {
        Bounded::part(preemptions, &Part::Whole)
    }

    fn part(preemptions: Option<u32>, part: &Part) -> Self {
        let preemptions_max = preemptions.unwrap_or(u32::MAX);
        Bounded { path: Path::of(part), preemptions_max, is_bounded: false }
    }
}

impl Scheduler for Bounded {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            (self.path, self.is_bounded) = (self.path.anew(), false);
        }
        self.path.begin(self.preemptions_max)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let preemptions = self.path.preemptions();
        if preemptions == self.preemptions_max && !self.is_bounded {
            self.is_bounded = (0..point.enabled.len()).any(|it| point.is_preemption(it));
        }
        self.path.choose(point, preemptions)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.path.choose_value(n)
    }

    fn is_bounded(&self) -> bool {
        self.is_bounded
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Bounded {
    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        self.path.replay_choice(enabled, arrived)
    }

    fn replay_step(&mut self, _made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        let (max, is_bounded) = (self.preemptions_max, &mut self.is_bounded);
        self.path.replay_step(enabled, arrived, |path| {
            let preemptions = path.preemptions();
            *is_bounded |= preemptions == max && enabled != TaskSet::only(arrived.task);
            preemptions
        })
    }

    fn parts(&mut self) -> Option<&mut dyn PartPath> {
        Some(self)
    }
}

impl PartPath for Bounded {
    fn take_children(&mut self) -> Vec<WeightedNode> {
        self.path.take_children()
    }
}
