//! Schedules that are drawn one after the other, by one thread or several.
//!
//! What is drawn follows from the seed and from the how manieth schedule it is, so that nobody has to have drawn those before it.

use std::ops::ControlFlow;

use clewline_core::Random;

use super::{
    Settings,
    crew::{self, Errand, Given},
};
use crate::actors::{Coverage, Flow, Tally, Walk};

/// Executes one schedule, from the beginning to its end. `longest` is about how many steps there are, if that is known.
pub(super) type Draw = fn(&mut Walk, &mut Random, &Settings, usize, &mut Tally<'_>) -> Flow;

// So many schedules are handed out at once.
const BLOCK: u64 = 32;

/// Draws as many schedules as `settings` allow.
pub(super) fn explore(walk: &mut Walk, draw: Draw, settings: &Settings, tally: &mut Tally<'_>) -> Flow {
    crew::lead(walk, settings, tally, |walk, tally, crew| {
        let mut given = Given::default();
        let mut longest = 0;
        for block in 0..settings.schedules.div_ceil(BLOCK) {
            if block.is_power_of_two() {
                longest = tally.depth;
            }
            // What comes after the next power of two depends on what is longest until then.
            let end = (block + 1).next_power_of_two();
            let mut next = given.last().map_or(block + 1, |it| it as u64 + 1);
            while crew.is_hungry() && next < end && next * BLOCK < settings.schedules {
                let ticket = crew.give(Block { block: next, longest, draw, settings });
                given.add(next as usize, ticket);
                next += 1;
            }
            if let Some(ticket) = given.take(block as usize)
                && let Some((seen, ())) = crew.collect(ticket)
                && tally.add(walk, &seen)
            {
                continue;
            }
            Block { block, longest, draw, settings }.run(walk, tally)?;
        }
        ControlFlow::Break(Coverage::Schedules(settings.schedules))
    })
}

struct Block<'s> {
    block: u64,
    longest: usize,
    draw: Draw,
    settings: &'s Settings,
}

impl Errand for Block<'_> {
    type Answer = ();

    fn run(self, walk: &mut Walk, tally: &mut Tally<'_>) -> Flow {
        let Block { block, longest, draw, settings } = self;
        for nth in block * BLOCK..settings.schedules.min((block + 1).saturating_mul(BLOCK)) {
            walk.rewind();
            // In the first block there is nothing else to go by.
            let longest = if block == 0 { tally.depth } else { longest };
            draw(walk, &mut random(settings.seed, nth), settings, longest, tally)?;
        }
        ControlFlow::Continue(())
    }
}

fn random(seed: u64, nth: u64) -> Random {
    Random::new(Random::new(Random::new(seed).next().wrapping_add(nth)).next())
}
