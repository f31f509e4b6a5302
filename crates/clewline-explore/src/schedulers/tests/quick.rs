//! Schedulers make the same choices with and without the fast path.

use std::ops::ControlFlow;

use clewline_core::Random as Generator;
use clewline_testing::pick;

use super::super::{SCHEDULERS, SchedulerSettings, bounded::PREEMPTIONS};
use crate::{
    Access, Bounds, Choice, Coverage, Ending, FastPath, Limit, Point, Scheduler, SharedId, Step, System,
    TaskId, TaskSet, explore, with_fast_path,
};

/// Tasks that access objects in sequence.
struct Tasks {
    tasks: Vec<Vec<(Access, u32)>>,
    is_quick: bool,
    order: String,
    executions: u32,
    /// In this execution the last task accesses another object than before.
    strange: Option<u32>,
}

impl Tasks {
    fn step(&self, task: usize, at: usize) -> Option<Step> {
        let &(access, mut object) = self.tasks[task].get(at)?;
        if self.strange == Some(self.executions) && task + 1 == self.tasks.len() && at == 1 {
            object += 100;
        }
        let (calls, returns) = (at == 0, false);
        Some(Step { calls, returns, ..Step::new(TaskId(task as u8), access, SharedId(object)) })
    }
}

impl System for Tasks {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        with_fast_path(scheduler, |scheduler| self.run_with(scheduler))
    }
}

impl Tasks {
    fn run_with(&mut self, scheduler: &mut dyn FastPath) -> Ending {
        self.order.clear();
        self.executions += 1;
        let mut at = vec![0; self.tasks.len()];
        let mut made: Option<Step> = None;
        loop {
            let next = |task: usize| self.step(task, at[task]);
            let enabled: Vec<Step> = (0..self.tasks.len()).filter_map(next).collect();
            let running = made.and_then(|made| enabled.iter().position(|it| it.task == made.task));
            let tasks: TaskSet = enabled.iter().map(|it| it.task).collect();
            let quick = match (made, running) {
                (Some(made), Some(running)) if self.is_quick => {
                    scheduler.replay_step(&made, tasks, &enabled[running])
                }
                (Some(made), _) => {
                    scheduler.on_step(&made);
                    None
                }
                (None, _) => None,
            };
            if enabled.is_empty() {
                return Ending::Full;
            }
            let chosen = match quick {
                Some(task) => enabled.iter().position(|it| it.task == task).unwrap(),
                None => match scheduler.choose(&Point { enabled: &enabled, running, waiting: &[] }) {
                    Choice::Step(chosen) => chosen,
                    Choice::Redundant => return Ending::Redundant,
                    Choice::Stop => return Ending::Stuck,
                    Choice::Diverged(diverged) => return Ending::Diverged(diverged),
                    Choice::Refused(reason) => return Ending::Refused(reason),
                },
            };
            let mut step = enabled[chosen];
            at[step.task.index()] += 1;
            step.returns = at[step.task.index()] == self.tasks[step.task.index()].len();
            self.order.push_str(&step.task.0.to_string());
            made = Some(step);
        }
    }
}

fn orders(tasks: &mut Tasks, scheduler: &mut dyn Scheduler) -> (Vec<String>, Coverage) {
    let mut orders = Vec::new();
    let (coverage, _) = explore(tasks, scheduler, 300, |tasks, _, _| {
        orders.push(tasks.order.clone());
        ControlFlow::Continue(())
    });
    (orders, coverage)
}

/// Explores with and without the fast path, with this many executions before a divergent one.
fn both(
    tasks: &[Vec<(Access, u32)>],
    strange: Option<u32>,
    mut check: impl FnMut(&str, &[(Vec<String>, Coverage); 2]),
) {
    for entry in SCHEDULERS.iter() {
        for preemptions in [None, Some(1), Some(2)] {
            let bounds = Bounds::default().with(&PREEMPTIONS, preemptions);
            let settings =
                SchedulerSettings { seed: 5, executions: 100, bounds, ..SchedulerSettings::default() };
            let seen = [false, true].map(|is_quick| {
                let tasks = tasks.to_vec();
                let mut tasks = Tasks { tasks, is_quick, order: String::new(), executions: 0, strange };
                orders(&mut tasks, &mut *(entry.make)(&settings))
            });
            check(entry.name, &seen);
        }
    }
}

fn random_tasks(generator: &mut Generator) -> Vec<Vec<(Access, u32)>> {
    let kinds = [Access::Read, Access::Write, Access::Update];
    (0..2 + generator.below(2))
        .map(|_| {
            (0..2 + generator.below(3))
                .map(|_| (kinds[generator.below(3)], generator.below(2) as u32))
                .collect()
        })
        .collect()
}

#[test]
fn schedules_are_the_same_and_in_the_same_order() {
    let mut generator = Generator::new(17);
    for _ in 0..pick(20, 60) {
        let tasks = random_tasks(&mut generator);
        both(&tasks, None, |name, [slow, quick]| assert_eq!(slow, quick, "{name} on {tasks:?}"));
    }
}

#[test]
fn every_divergence_is_reported_in_the_same_words() {
    let mut generator = Generator::new(18);
    let (mut noticed, mut unnoticed) = (0, 0);
    for _ in 0..60 {
        let tasks = random_tasks(&mut generator);
        let strange = 2 + generator.below(4) as u32;
        both(&tasks, Some(strange), |name, [slow, quick]| {
            assert_eq!(slow, quick, "{name} on {tasks:?}");
            let is_noticed = matches!(slow.1, Coverage::Limited(Limit::Diverged(_)));
            *(if is_noticed { &mut noticed } else { &mut unnoticed }) += 1;
        });
    }
    assert!(100 < noticed && 100 < unnoticed, "{noticed} {unnoticed}");
}
