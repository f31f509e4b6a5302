//! Schedules sampled one after the other, by one thread or several.
//!
//! A schedule depends only on the seed and its number, and on the longest of the first few, so that
//! threads and processes can sample independently.

use std::ops::{ControlFlow, Range};

use clewline_core::Random;
use clewline_explore::{Coverage, Limit};

use super::{
    entry::MessageScheduler,
    parallel::{self, BranchTask, TaskSource},
};
use crate::{
    execution::Execution,
    settings::{MessageSchedulerSettings, SampledPart, SampledSchedules},
    statistics::{Flow, Statistics},
};

/// Executes one schedule from the beginning to its end. `longest` is an estimate of the number of
/// steps, if one is known.
pub(super) type SampleSchedule =
    fn(&mut Execution, &mut Random, &MessageSchedulerSettings, usize, &mut Statistics<'_>) -> Flow;

// The schedules that are drawn together. The length of later ones is estimated by the longest of
// the first block.
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
        match &settings.part {
            SampledPart::Whole => {
                parallel::run_with_workers(
                    execution,
                    settings,
                    statistics,
                    |execution, statistics, workers| {
                        let mut all = BlockSource { next: 0, longest: 0, draw: *draw, settings };
                        parallel::run_in_order(execution, statistics, workers, &mut all)
                    },
                )?;
            }
            SampledPart::Numbers(numbers) => {
                let mut drawing = Drawing { draw: *draw, settings, before: 0, longest: None };
                drawing.share(numbers.clone(), execution, statistics)?;
            }
            SampledPart::Known(known) => {
                let mut drawing = Drawing { draw: *draw, settings, before: 0, longest: None };
                for part in known.iter() {
                    drawing.join(part, execution, statistics)?;
                }
            }
        }
        // Executions that were cut are no schedules: their number is the limit then.
        match statistics.cut {
            0 => ControlFlow::Break(Coverage::Limited(Limit::Sampled)),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Schedules drawn by their numbers.
struct Drawing<'s> {
    draw: SampleSchedule,
    settings: &'s MessageSchedulerSettings,
    // The longest of the first block that others execute, before those that are executed here.
    before: usize,
    // The longest of the first block, once it is known.
    longest: Option<usize>,
}

impl Drawing<'_> {
    /// Executes one schedule. Those of the first block come first.
    fn draw(&mut self, nth: u64, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        let so_far = statistics.depth.max(self.before);
        let longest = match nth < BLOCK_SCHEDULES {
            true => so_far,
            false => *self.longest.get_or_insert(so_far),
        };
        execution.rewind();
        let mut random = schedule_random(self.settings.seed, nth);
        (self.draw)(execution, &mut random, self.settings, longest, statistics)
    }

    /// Executes the schedules with these numbers, and notes what others need to know about them.
    fn share(
        &mut self,
        numbers: Range<u64>,
        execution: &mut Execution,
        statistics: &mut Statistics<'_>,
    ) -> Flow {
        let mut scratch = Statistics::unjudged(self.settings, statistics.budget());
        for nth in 0..BLOCK_SCHEDULES.min(numbers.start) {
            self.draw(nth, execution, &mut scratch)?;
        }
        self.before = scratch.depth;
        let end = numbers.end;
        let mut sampled = SampledSchedules {
            numbers: numbers.start..numbers.start,
            new: Vec::new(),
            schedules: 0,
            incomplete: 0,
            cut: 0,
            steps: 0,
            is_violated: false,
            ended: None,
        };
        let counts = |it: &Statistics<'_>| [it.schedules, it.incomplete, it.cut, it.steps];
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() && sampled.numbers.end < end {
            let before = (statistics.unique(), statistics.depth);
            let counted = counts(statistics);
            flow = self.draw(sampled.numbers.end, execution, statistics);
            let executed = counts(statistics);
            if executed[0] + executed[2] == counted[0] + counted[2] {
                break;
            }
            if (statistics.unique(), statistics.depth) == before {
                sampled.schedules += executed[0] - counted[0];
                sampled.incomplete += executed[1] - counted[1];
                sampled.cut += executed[2] - counted[2];
                sampled.steps += executed[3] - counted[3];
            } else {
                sampled.new.push(sampled.numbers.end);
            }
            sampled.numbers.end += 1;
        }
        sampled.is_violated = statistics.violated() != 0;
        if let ControlFlow::Break(Coverage::Limited(why)) = &flow
            && !matches!(why, Limit::Violations(_))
        {
            sampled.ended = Some(why.to_string());
        }
        statistics.sampled = Some(sampled);
        flow
    }

    /// Counts schedules that were executed elsewhere. What showed something new there is executed
    /// again, in the same order; so is everything where the exploration ends.
    fn join(
        &mut self,
        part: &SampledSchedules,
        execution: &mut Execution,
        statistics: &mut Statistics<'_>,
    ) -> Flow {
        let is_end = part.is_violated && self.settings.violations != u64::MAX;
        if is_end {
            for nth in part.numbers.clone() {
                self.draw(nth, execution, statistics)?;
            }
        } else {
            let mut next = part.numbers.start;
            for &nth in &part.new {
                statistics.schedules += nth - next;
                self.draw(nth, execution, statistics)?;
                next = nth + 1;
            }
            statistics.schedules += part.numbers.end - next;
            // Not all of those were complete schedules.
            statistics.schedules -= part.cut;
            statistics.cut += part.cut;
            statistics.incomplete += part.incomplete;
            statistics.steps += part.steps;
        }
        match &part.ended {
            Some(why) => ControlFlow::Break(Coverage::Limited(Limit::Other(why.clone()))),
            None => ControlFlow::Continue(()),
        }
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
        if next == 1 {
            // The schedules from here on depend on the longest execution so far.
            if ahead != 0 {
                return None;
            }
            self.longest = statistics.depth;
        }
        let end = settings.schedules.div_ceil(BLOCK_SCHEDULES);
        if end <= next {
            return None;
        }
        let share = if next == 0 { 1 } else { (end - next) / (4 * settings.jobs as u64) };
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
