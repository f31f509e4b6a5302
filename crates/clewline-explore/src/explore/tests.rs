use super::*;
use crate::{
    Access, Choice, Point, SharedId, Step, TaskId,
    schedulers::{exhaustive::Exhaustive, graph::Graph},
};

/// Two tasks with this many steps each, without effects.
struct Steps {
    each: usize,
    /// The ending of each execution, from the first one on; the last one repeats.
    endings: Vec<Ending>,
    runs: usize,
}

impl System for Steps {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        let mut left = [self.each; 2];
        loop {
            let enabled: Vec<Step> = (0..2)
                .filter(|it| 0 < left[*it])
                .map(|it| Step::new(TaskId(it as u8), Access::Update, SharedId(0)))
                .collect();
            if enabled.is_empty() {
                break;
            }
            match scheduler.choose(&Point { enabled: &enabled, running: None, waiting: &[] }) {
                Choice::Step(index) => {
                    left[enabled[index].task.index()] -= 1;
                    scheduler.fast_path().into_iter().for_each(|it| it.on_step(&enabled[index]));
                }
                Choice::Redundant => return Ending::Redundant,
                Choice::Stop => return Ending::Stuck,
                Choice::Diverged(diverged) => return Ending::Diverged(diverged),
                Choice::Refused(reason) => return Ending::Refused(reason),
            }
        }
        self.runs += 1;
        self.endings[(self.runs - 1).min(self.endings.len() - 1)].clone()
    }
}

/// The coverage, the number of executions, and how many were visited.
fn run(endings: &[Ending], executions_max: u64, enough: u64) -> (Coverage, u64, u64) {
    let mut system = Steps { each: 2, endings: endings.to_vec(), runs: 0 };
    let mut visits = 0;
    let (coverage, executions) =
        explore(&mut system, &mut Exhaustive::default(), executions_max, |_, ending, _| {
            assert!(!matches!(ending, Ending::Redundant | Ending::Restart | Ending::Diverged(_)));
            visits += 1;
            if visits == enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    (coverage, executions, visits)
}

#[test]
fn all_executions_are_visited_and_the_coverage_is_exhausted() {
    assert_eq!(run(&[Ending::Full], u64::MAX, u64::MAX), (Coverage::Exhausted, 6, 6));
    // That nothing is left after the last one is detected as well.
    assert_eq!(run(&[Ending::Full], 6, u64::MAX), (Coverage::Exhausted, 6, 6));
}

#[test]
fn a_limit_that_was_hit_is_reported() {
    assert_eq!(run(&[Ending::Full], 5, u64::MAX), (Coverage::Limited(Limit::Executions(5)), 5, 5));
    assert_eq!(run(&[Ending::Full], u64::MAX, 3), (Coverage::Limited(Limit::Stopped), 3, 3));
    let cut = [Ending::Cut, Ending::Full, Ending::Cut, Ending::Full];
    assert_eq!(run(&cut, u64::MAX, u64::MAX), (Coverage::Limited(Limit::Cut(2)), 6, 6));
    assert_eq!(run(&cut, 6, u64::MAX), (Coverage::Limited(Limit::Cut(2)), 6, 6));
}

#[test]
fn redundant_executions_count_and_are_not_visited() {
    let endings = [Ending::Full, Ending::Redundant, Ending::Full];
    assert_eq!(run(&endings, u64::MAX, u64::MAX), (Coverage::Exhausted, 6, 5));
}

#[test]
fn after_a_restart_everything_is_visited() {
    let endings = [Ending::Full, Ending::Restart, Ending::Full];
    assert_eq!(run(&endings, u64::MAX, u64::MAX), (Coverage::Exhausted, 6, 7));
}

#[test]
fn a_scheduler_of_graphs_orders_whole_steps_of_a_system_without_stores_to_choose() {
    let mut system = Steps { each: 2, endings: vec![Ending::Full], runs: 0 };
    let explored = explore(&mut system, &mut Graph::default(), 10, |_, _, _| ControlFlow::Continue(()));
    assert_eq!(explored, (Coverage::Exhausted, 6));
}
