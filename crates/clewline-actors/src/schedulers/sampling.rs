//! Schedules sampled one after the other, by one thread or several.
//!
//! A schedule depends only on the seed and its index, so that threads can sample independently.

use std::ops::ControlFlow;

use clewline_core::Random;
use clewline_explore::{Coverage, Limit};

use super::{
    entry::MessageScheduler,
    parallel::{self, BranchTask, TaskSource},
};
use crate::{
    execution::Execution,
    settings::MessageSchedulerSettings,
    statistics::{Flow, Statistics},
};

/// Executes one schedule from the beginning to its end. `longest` is an estimate of the number of
/// steps, if one is known.
pub(super) type SampleSchedule =
    fn(&mut Execution, &mut Random, &MessageSchedulerSettings, usize, &mut Statistics<'_>) -> Flow;

// The number of schedules after which the estimate of the length is first updated.
const BLOCK_SCHEDULES: u64 = 32;

// Maximum number of blocks of one task.
const TASK_BLOCKS_MAX: u64 = 8;

/// Draws as many schedules as its settings allow.
pub(super) struct SamplingScheduler {
    pub(super) sample: SampleSchedule,
    pub(super) settings: MessageSchedulerSettings,
}

impl MessageScheduler for SamplingScheduler {
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        let SamplingScheduler { sample: draw, settings } = self;
        parallel::run_with_workers(execution, settings, statistics, |execution, statistics, workers| {
            let mut all = BlockSource { next: 0, longest: 0, draw: *draw, settings };
            parallel::run_in_order(execution, statistics, workers, &mut all)?;
            // Executions that were cut are no schedules: their number is the limit then.
            match statistics.cut {
                0 => ControlFlow::Break(Coverage::Limited(Limit::Sampled)),
                _ => ControlFlow::Continue(()),
            }
        })
    }
}

struct BlockSource<'s> {
    // The next block.
    next: u64,
    longest: usize,
    draw: SampleSchedule,
    settings: &'s MessageSchedulerSettings,
}

impl<'s> TaskSource<Blocks<'s>> for BlockSource<'s> {
    fn next(&mut self, ahead: usize, statistics: &Statistics<'_>) -> Option<Blocks<'s>> {
        let BlockSource { next, draw, settings, .. } = *self;
        if next.is_power_of_two() {
            // The schedules from here on depend on the longest execution so far.
            if ahead != 0 {
                return None;
            }
            self.longest = statistics.depth;
        }
        let end = (next + 1).next_power_of_two().min(settings.schedules.div_ceil(BLOCK_SCHEDULES));
        if end <= next {
            return None;
        }
        let share = (end - next) / (4 * settings.jobs as u64);
        self.next += share.clamp(1, TASK_BLOCKS_MAX);
        Some(Blocks { first: next, end: self.next, longest: self.longest, draw, settings })
    }

    fn finished(&mut self, _blocks: &Blocks<'s>, _executions: u64) {}
}

#[derive(Clone)]
struct Blocks<'s> {
    first: u64,
    end: u64,
    longest: usize,
    draw: SampleSchedule,
    settings: &'s MessageSchedulerSettings,
}

impl BranchTask for Blocks<'_> {
    type Output = ();

    fn run(self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        let Blocks { first, end, longest, draw, settings } = self;
        for nth in first * BLOCK_SCHEDULES..settings.schedules.min(end.saturating_mul(BLOCK_SCHEDULES)) {
            execution.rewind();
            // In the first block there is no other estimate.
            let longest = if first == 0 { statistics.depth } else { longest };
            draw(execution, &mut schedule_random(settings.seed, nth), settings, longest, statistics)?;
        }
        ControlFlow::Continue(())
    }
}

fn schedule_random(seed: u64, nth: u64) -> Random {
    Random::new(Random::new(Random::new(seed).next().wrapping_add(nth)).next())
}
