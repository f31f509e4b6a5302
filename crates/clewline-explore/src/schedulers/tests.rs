//! The distributions of the random schedulers.

use std::{collections::BTreeMap, ops::ControlFlow};

use super::{SchedulerSettings, pct, pct::Pct, pos::Pos, random::RandomScheduler};
use crate::{
    Access, Begin, Bounds, Choice, Ending, Point, Scheduler, SharedId, Step, System, TaskId, explore,
};

mod bounds;
mod parts;
mod quick;

/// Tasks that write objects, one after the other.
struct Writers {
    tasks: Vec<Vec<u32>>,
    /// After this many steps an execution gets stuck.
    steps_max: usize,
    /// The task of each step.
    order: String,
}

impl System for Writers {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        self.order.clear();
        let mut at = vec![0; self.tasks.len()];
        let mut last = None;
        loop {
            let next = |task: usize| {
                let object = SharedId(*self.tasks[task].get(at[task])?);
                Some(Step::new(TaskId(task as u8), Access::Write, object))
            };
            let enabled: Vec<Step> = (0..self.tasks.len()).filter_map(next).collect();
            if enabled.is_empty() {
                return Ending::Full;
            }
            if self.order.len() == self.steps_max {
                return Ending::Stuck;
            }
            let running = enabled.iter().position(|it| Some(it.task) == last);
            let Choice::Step(chosen) = scheduler.choose(&Point { enabled: &enabled, running, waiting: &[] })
            else {
                panic!("a scheduler that draws at random always chooses a step")
            };
            let step = enabled[chosen];
            at[step.task.index()] += 1;
            last = Some(step.task);
            self.order.push_str(&step.task.0.to_string());
            scheduler.fast_path().into_iter().for_each(|it| it.on_step(&step));
        }
    }
}

const EXECUTIONS: u32 = 20_000;

fn settings(depth: u32) -> SchedulerSettings {
    SchedulerSettings {
        seed: 3,
        executions: EXECUTIONS.into(),
        bounds: Bounds::default().with(&pct::DEPTH, depth),
        ..SchedulerSettings::default()
    }
}

/// The order of the tasks in each execution.
fn orders(scheduler: &mut dyn Scheduler, tasks: &[&[u32]], steps_max: usize) -> Vec<String> {
    let tasks = tasks.iter().map(|it| it.to_vec()).collect();
    let mut writers = Writers { tasks, steps_max, order: String::new() };
    let mut orders = Vec::new();
    explore(&mut writers, scheduler, u64::MAX, |writers, _, _| {
        orders.push(writers.order.clone());
        ControlFlow::Continue(())
    });
    assert_eq!(orders.len(), EXECUTIONS as usize);
    orders
}

/// How often each order occurred.
fn counts(scheduler: &mut dyn Scheduler, tasks: &[&[u32]]) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for order in orders(scheduler, tasks, usize::MAX) {
        *counts.entry(order).or_default() += 1;
    }
    counts
}

/// Asserts that `found` is within five standard deviations of `share` of all executions.
#[track_caller]
fn check_share(found: u32, share: f64) {
    let (found, all) = (f64::from(found), f64::from(EXECUTIONS));
    let spread = (all * share * (1.0 - share)).sqrt();
    assert!((found - all * share).abs() <= 5.0 * spread, "{found} of {all}, not {share} of them");
}

#[test]
fn random_chooses_each_step_equally_often() {
    let counts = counts(&mut RandomScheduler::new(&settings(0)), &[&[0], &[1], &[2]]);
    assert_eq!(counts.len(), 6);
    counts.values().for_each(|it| check_share(*it, 1.0 / 6.0));
}

#[test]
fn pos_draws_again_for_a_step_that_lost_a_race() {
    // The task that writes once has three chances, each with the same probability.
    let counts = counts(&mut Pos::new(&settings(0)), &[&[0], &[0, 0, 0]]);
    for (order, share) in [("0111", 1.0 / 2.0), ("1011", 1.0 / 4.0), ("1101", 1.0 / 8.0), ("1110", 1.0 / 8.0)]
    {
        check_share(counts[order], share);
    }
}

#[test]
fn pos_does_not_draw_again_for_a_step_that_lost_no_race() {
    // Its one priority is compared with three others, one after the other.
    let counts = counts(&mut Pos::new(&settings(0)), &[&[0], &[1, 1, 1]]);
    for (order, share) in
        [("0111", 1.0 / 2.0), ("1011", 1.0 / 6.0), ("1101", 1.0 / 12.0), ("1110", 1.0 / 4.0)]
    {
        check_share(counts[order], share);
    }
}

#[test]
fn pos_draws_anew_in_each_execution() {
    let orders = orders(&mut Pos::new(&settings(0)), &[&[0], &[1]], 1);
    let again = orders.windows(2).filter(|it| it[0] == it[1]).count();
    check_share(again as u32, 1.0 / 2.0);
}

/// How many times a task continued after another, although it had started before.
fn interruptions(order: &str) -> usize {
    let mut blocks: Vec<char> = order.chars().collect();
    blocks.dedup();
    let mut tasks = blocks.clone();
    tasks.sort_unstable();
    tasks.dedup();
    blocks.len() - tasks.len()
}

#[test]
fn pct_preempts_as_often_as_its_depth_specifies_and_every_place_is_possible() {
    let tasks: &[&[u32]] = &[&[0; 4], &[0; 4]];
    let (n, k) = (2, 8);
    for depth in 1..=4 {
        let counts = counts(&mut Pct::new(&settings(depth)), tasks);
        let most = counts.keys().map(|it| interruptions(it)).max().unwrap();
        assert_eq!(most, depth as usize - 1, "{counts:?}");
        // In one place for each preemption: the probability in the paper is a lower bound.
        let least = f64::from(EXECUTIONS) / f64::from(n * u32::pow(k, depth - 1));
        let interrupted: Vec<&str> = ["11110000", "01111000", "00011110", "01110001", "01100110"]
            .into_iter()
            .filter(|it| interruptions(it) < depth as usize)
            .collect();
        for order in interrupted {
            let found = f64::from(counts.get(order).copied().unwrap_or(0));
            assert!(least - 5.0 * least.sqrt() <= found, "depth {depth}, {order}: {found}, not {least}");
        }
    }
}

#[test]
fn pct_draws_priorities_in_each_execution() {
    let counts = counts(&mut Pct::new(&settings(1)), &[&[0, 0], &[0], &[1, 1]]);
    assert_eq!(counts.len(), 6);
    counts.values().for_each(|it| check_share(*it, 1.0 / 6.0));
}

#[test]
fn numbers_drawn_ahead_are_those_of_the_generator_also_after_a_restart() {
    let settings = SchedulerSettings { seed: 11, ..SchedulerSettings::default() };
    let mut random = RandomScheduler::new(&settings);
    for _ in 0..3 {
        let mut generator = clewline_core::Random::new(11);
        for n in 1..100 {
            assert_eq!(random.choose_value(n), generator.below(n as usize) as u32);
        }
        random.begin(Begin::Anew);
    }
}
