//! Every schedule without preemptions, then every one with one, with two, and so on.
//!
//! As [`bounded`](super::bounded), but the schedules with the fewest preemptions come first, so
//! that a bug is found by one of the simplest schedules that show it. Each schedule is executed
//! once: where a preemption would exceed the bound of the round, the choices up to it are kept for
//! the next round.
//!
//! Source: M. Musuvathi and S. Qadeer, "Iterative context bounding for systematic testing of
//! multithreaded programs", 2007, section 3.
//!
//! Of a replayed point only a hash is kept. So a divergence is detected, with its position, but
//! what was there before is not known.
//!
//! Cost: the choices of one schedule for each that is left to the next round.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::{
    bounded::PREEMPTIONS,
    entry::{SchedulerEntry, SchedulerSettings},
    exhaustive::Path,
};
use crate::{
    part::{Choices, Division, Part, WeightedNode},
    scheduler::{Begin, Choice, Diverged, FastPath, PartPath, Point, Scheduler},
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "iterative",
    about: "iterative context bounding: as `bounded`, fewest preemptions first",
    is_exhaustive: true,
    explores_graphs: false,
    division: Division::Rounds,
    bounds: &[PREEMPTIONS],
    make: |settings: &SchedulerSettings| {
        Box::new(Iterative::part(settings.bounds.get(&PREEMPTIONS), &settings.part))
    },
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Iterative {
    preemptions: u32,
    preemptions_max: u32,
    is_bounded: bool,
    // The choices to replay first; the last one is a preemption.
    prefix: Box<[Chosen]>,
    // What is tried after that, without a preemption.
    path: Path,
    // The choices of this execution so far.
    chosen: Vec<Chosen>,
    // The execution differs from the one in which the prefix was made, and no point has shown it.
    has_diverged: bool,
    now: Vec<Box<[Chosen]>>,
    later: Vec<Box<[Chosen]>>,
    part: Part,
}

/// A choice, and a hash of its alternatives.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    index: u32,
    from: u32,
}

// The alternatives of a choice of another scheduler; no hash is so large.
const UNKNOWN: u32 = u32::MAX;

/// A hash of the alternatives of a choice.
fn hash(shown: impl Hash) -> u32 {
    let mut hasher = FxHasher::default();
    shown.hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32 >> 1
}

impl Iterative {
    /// At most `preemptions` preemptions; `None` for any number.
    #[must_use]
    pub fn new(preemptions: Option<u32>) -> Self {
        Iterative::part(preemptions, &Part::Whole)
    }

    fn part(preemptions: Option<u32>, part: &Part) -> Self {
        let chosen = |it: &u32| Chosen { index: *it, from: UNKNOWN };
        let prefix = |it: &Choices| it.iter().map(chosen).collect();
        let mut now: Vec<Box<[Chosen]>> = match part {
            Part::Below(prefixes) => prefixes.iter().rev().map(prefix).collect(),
            Part::Whole | Part::Numbers(_) | Part::Children(_) => Vec::new(),
        };
        Iterative {
            preemptions: u32::from(!now.is_empty()),
            preemptions_max: preemptions.unwrap_or(u32::MAX),
            is_bounded: false,
            prefix: now.pop().unwrap_or_default(),
            path: Path::default(),
            chosen: Vec::new(),
            has_diverged: false,
            now,
            later: Vec::new(),
            part: part.clone(),
        }
    }

    /// Whether only schedules without preemptions are explored.
    fn has_one_round(&self) -> bool {
        match &self.part {
            Part::Below(prefixes) => prefixes.is_empty(),
            Part::Children(_) => true,
            Part::Whole | Part::Numbers(_) => false,
        }
    }

    /// Every preemption at `point`, which is new, is tried in the next round.
    fn defer_preemptions(&mut self, point: &Point<'_>, from: u32) {
        let preemptions = (0..point.enabled.len()).filter(|it| point.is_preemption(*it));
        for index in preemptions {
            if self.preemptions == self.preemptions_max {
                self.is_bounded = true;
                return;
            }
            let preemption = Chosen { index: index as u32, from };
            self.later.push(self.chosen.iter().copied().chain([preemption]).collect());
        }
    }
}

impl Scheduler for Iterative {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            *self = Iterative::part(Some(self.preemptions_max), &self.part);
        }
        self.has_diverged |= self.path.has_begun() && self.chosen.len() < self.prefix.len();
        self.chosen.clear();
        if self.has_diverged {
            return true;
        }
        // Preemptions have been deferred.
        if self.path.begin(0) {
            return true;
        }
        if self.now.is_empty() {
            if self.has_one_round() {
                return false;
            }
            self.preemptions += 1;
            std::mem::swap(&mut self.now, &mut self.later);
            self.now.reverse();
        }
        let Some(prefix) = self.now.pop() else { return false };
        (self.prefix, self.path) = (prefix, Path::default());
        self.path.begin(0)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let from = hash((point.enabled, point.waiting));
        let before = self.prefix.get(self.chosen.len());
        let is_same =
            |it: &Chosen| it.from == from || it.from == UNKNOWN && (it.index as usize) < point.enabled.len();
        self.has_diverged |= before.is_some_and(|it| !is_same(it));
        let choice = match before {
            _ if self.has_diverged => Choice::Diverged(Diverged::new(self.chosen.len(), &[], point)),
            Some(before) => Choice::Step(before.index as usize),
            None => {
                if self.path.is_new() {
                    self.defer_preemptions(point, from);
                }
                self.path.choose(point, 0)
            }
        };
        if let Choice::Step(index) = choice {
            self.chosen.push(Chosen { index: index as u32, from });
        }
        choice
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        let from = hash(n);
        let value = match self.prefix.get(self.chosen.len()) {
            Some(before) => {
                self.has_diverged |= before.from != from && !(before.from == UNKNOWN && before.index < n);
                before.index.min(n - 1)
            }
            None => self.path.choose_value(n),
        };
        self.chosen.push(Chosen { index: value, from });
        value
    }

    fn is_bounded(&self) -> bool {
        self.is_bounded
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Iterative {
    fn parts(&mut self) -> Option<&mut dyn PartPath> {
        Some(self)
    }
}

impl PartPath for Iterative {
    fn round(&self) -> u32 {
        self.preemptions
    }

    fn take_children(&mut self) -> Vec<WeightedNode> {
        let choices = |it: Box<[Chosen]>| it.iter().map(|it| it.index).collect();
        std::mem::take(&mut self.later).into_iter().map(|it| (choices(it), 0.0)).collect()
    }
}
