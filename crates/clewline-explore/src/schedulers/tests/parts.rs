//! The parts of the executions of a scheduler are those of the whole, in the same order.

use super::{Ending, Writers};
use crate::{
    Bounds, Choice, Division, Part, Point, Scheduler, SharedId, Step, System, TaskId, explore, round_of,
    schedulers::{SCHEDULERS, SchedulerEntry, SchedulerSettings, bounded::PREEMPTIONS},
    split,
};
use std::ops::ControlFlow;

/// Tasks that write, the first of which draws a value before each step.
struct Drawing(Writers, String);

impl System for Drawing {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        let value = scheduler.choose_value(3);
        let ending = self.0.run(scheduler);
        self.1 = format!("{value}{}{}", self.0.order, scheduler.choose_value(2));
        ending
    }
}

fn system() -> Drawing {
    let tasks = vec![vec![0; 3], vec![0; 2], vec![0; 2]];
    Drawing(Writers { tasks, steps_max: usize::MAX, order: String::new() }, String::new())
}

/// The executions of a part with the round of each, and whether there are more beyond the bound.
fn executions(entry: &SchedulerEntry, settings: &SchedulerSettings) -> (Vec<(u32, String)>, bool) {
    let mut scheduler = (entry.make)(settings);
    let (mut all, mut system) = (Vec::new(), system());
    let mut begin = crate::Begin::Anew;
    while scheduler.begin(begin) {
        assert_eq!(system.run(&mut *scheduler), Ending::Full);
        all.push((round_of(&mut *scheduler), system.1.clone()));
        begin = crate::Begin::Next;
    }
    (all, scheduler.is_bounded())
}

fn divisible() -> impl Iterator<Item = (&'static SchedulerEntry, SchedulerSettings)> {
    let entries = SCHEDULERS.iter().filter(|it| it.division != Division::None);
    entries.flat_map(|entry| {
        [None, Some(0), Some(1), Some(2)].map(|preemptions| {
            let bounds = Bounds::default().with(&PREEMPTIONS, preemptions);
            (entry, SchedulerSettings { seed: 3, executions: 1_000, bounds, part: Part::Whole })
        })
    })
}

#[test]
fn parts_are_the_whole_in_the_same_order() {
    for (entry, settings) in divisible() {
        let whole = executions(entry, &settings);
        for parts_min in [1, 2, 5, 16, 300] {
            let (parts, is_complete) = split(&mut system(), entry, &settings, parts_min);
            assert!(is_complete);
            let mut joined: Vec<(u32, String)> = Vec::new();
            let mut is_bounded = false;
            for part in &parts {
                let (own, bounded) =
                    executions(entry, &SchedulerSettings { part: part.clone(), ..settings.clone() });
                assert!(!own.is_empty(), "{}: {part:?}", entry.name);
                joined.extend(own);
                is_bounded |= bounded;
            }
            // Within a round, parts come one after the other.
            joined.sort_by_key(|it| it.0);
            assert!(joined == whole.0, "{} {parts_min} {:?}", entry.name, settings.bounds);
            assert_eq!(is_bounded, whole.1, "{} {:?}", entry.name, settings.bounds);
            let blocks = usize::try_from(settings.executions.div_ceil(128)).unwrap();
            let most = match entry.division {
                Division::Numbers => blocks,
                // Without preemptions there is one round.
                Division::Rounds => 1,
                Division::None | Division::Tree => whole.0.len() / 10,
            };
            assert!(parts_min.min(most) <= parts.len(), "{} {parts_min}: {}", entry.name, parts.len());
        }
    }
}

/// The largest part decides how much faster many processes are.
#[test]
fn no_part_has_most_of_the_executions() {
    for (entry, settings) in divisible() {
        let whole = executions(entry, &settings).0.len();
        if whole < 500 {
            continue;
        }
        let (parts, _) = split(&mut system(), entry, &settings, 64);
        let size = |it: &Part| {
            executions(entry, &SchedulerSettings { part: it.clone(), ..settings.clone() }).0.len()
        };
        let largest = parts.iter().map(size).max().unwrap();
        assert!(largest * 4 <= whole, "{} {:?}: {largest} of {whole}", entry.name, settings.bounds);
    }
}

/// A system that needs more scheduling points in one of its executions.
struct Restarting(Drawing, &'static str);

impl System for Restarting {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        let ending = self.0.run(scheduler);
        if self.0.1.starts_with(self.1) { Ending::Restart } else { ending }
    }
}

#[test]
fn what_comes_after_a_restart_is_no_part() {
    let entry = super::super::find("bounded").unwrap();
    let settings = SchedulerSettings::default();
    let (parts, is_complete) = split(&mut Restarting(system(), "1"), entry, &settings, 30);
    assert!(!is_complete);
    let Part::Below(last) = parts.last().unwrap() else { panic!() };
    let first = executions(entry, &SchedulerSettings { part: parts[parts.len() - 1].clone(), ..settings });
    assert!(first.0.iter().any(|it| it.1.starts_with('1')), "{last:?}");
}

#[test]
fn choices_that_do_not_fit_are_a_divergence() {
    for name in ["exhaustive", "bounded", "iterative"] {
        let entry = super::super::find(name).unwrap();
        for choices in [vec![7], vec![0, 5], vec![0; 200]] {
            let part = Part::Below(vec![choices.into()]);
            let mut scheduler = (entry.make)(&SchedulerSettings { part, ..SchedulerSettings::default() });
            let mut system = Careful { tasks: 2, diverged: 0 };
            explore(&mut system, &mut *scheduler, 10, |_, _, _| ControlFlow::Continue(()));
            assert_eq!(system.diverged, 1, "{name}");
        }
    }
}

/// Tasks with three steps each, in which a divergence is an ending.
struct Careful {
    tasks: u8,
    diverged: u32,
}

impl System for Careful {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        let mut left = vec![3; usize::from(self.tasks)];
        loop {
            let tasks = (0..self.tasks).filter(|it| 0 < left[usize::from(*it)]).map(TaskId);
            let enabled: Vec<Step> =
                tasks.map(|it| Step::new(it, crate::Access::Write, SharedId(0))).collect();
            if enabled.is_empty() {
                return Ending::Full;
            }
            match scheduler.choose(&Point { enabled: &enabled, running: None, waiting: &[] }) {
                Choice::Step(chosen) => left[enabled[chosen].task.index()] -= 1,
                Choice::Diverged(it) => {
                    self.diverged += 1;
                    return Ending::Diverged(it);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
