//! Schedules that are drawn one after the other, by one thread or several.
//!
//! What is drawn follows from the seed and from the how manieth schedule it is, so that nobody has to have drawn those before it.

use std::ops::ControlFlow;

use clewline_core::Random;
use clewline_explore::{Coverage, Limit};

use super::{
    entry::MessageScheduler,
    parallel::{self, Errand, Line},
};
use crate::{
    execution::Execution,
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// Executes one schedule, from the beginning to its end. `longest` is about how many steps there are, if that is known.
pub(super) type Draw = fn(&mut Execution, &mut Random, &Settings, usize, &mut Statistics<'_>) -> Flow;

// After how many schedules it is looked first which is the longest.
const BLOCK: u64 = 32;

// So many blocks are handed out at once, or fewer.
const BLOCKS_MAX: u64 = 8;

/// Draws as many schedules as its settings allow.
pub(super) struct Drawing {
    pub(super) draw: Draw,
    pub(super) settings: Settings,
}

impl MessageScheduler for Drawing {
    fn explore(&mut self, walk: &mut Execution, tally: &mut Statistics<'_>) -> Flow {
        let Drawing { draw, settings } = self;
        parallel::lead(walk, settings, tally, |walk, tally, crew| {
            let mut all = All { next: 0, longest: 0, draw: *draw, settings };
            parallel::in_line(walk, tally, crew, &mut all)?;
            ControlFlow::Break(Coverage::Limited(Limit::Schedules(settings.schedules)))
        })
    }
}

struct All<'s> {
    // The next block.
    next: u64,
    longest: usize,
    draw: Draw,
    settings: &'s Settings,
}

impl<'s> Line<Blocks<'s>> for All<'s> {
    fn next(&mut self, ahead: usize, tally: &Statistics<'_>) -> Option<Blocks<'s>> {
        let All { next, draw, settings, .. } = *self;
        if next.is_power_of_two() {
            // What comes from here on depends on what is longest until now.
            if ahead != 0 {
                return None;
            }
            self.longest = tally.depth;
        }
        let end = (next + 1).next_power_of_two().min(settings.schedules.div_ceil(BLOCK));
        if end <= next {
            return None;
        }
        let share = (end - next) / (4 * settings.jobs as u64);
        self.next += share.clamp(1, BLOCKS_MAX);
        Some(Blocks { first: next, end: self.next, longest: self.longest, draw, settings })
    }

    fn went_through(&mut self, _blocks: &Blocks<'s>, _executions: u64) {}
}

#[derive(Clone)]
struct Blocks<'s> {
    first: u64,
    end: u64,
    longest: usize,
    draw: Draw,
    settings: &'s Settings,
}

impl Errand for Blocks<'_> {
    type Answer = ();

    fn run(self, walk: &mut Execution, tally: &mut Statistics<'_>) -> Flow {
        let Blocks { first, end, longest, draw, settings } = self;
        for nth in first * BLOCK..settings.schedules.min(end.saturating_mul(BLOCK)) {
            walk.rewind();
            // In the first block there is nothing else to go by.
            let longest = if first == 0 { tally.depth } else { longest };
            draw(walk, &mut random(settings.seed, nth), settings, longest, tally)?;
        }
        ControlFlow::Continue(())
    }
}

fn random(seed: u64, nth: u64) -> Random {
    Random::new(Random::new(Random::new(seed).next().wrapping_add(nth)).next())
}
