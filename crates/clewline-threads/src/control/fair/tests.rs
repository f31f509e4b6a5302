//! Which tasks are held back by which, step by step.

use clewline_core::Random;

use super::*;

/// A step: its task, whether it yields, and the tasks that can move afterwards.
type Moment<'a> = (u8, bool, &'a [u8]);

const STEPS: bool = false;
const YIELDS: bool = true;

fn set(tasks: &[u8]) -> TaskSet {
    tasks.iter().map(|it| TaskId(*it)).collect()
}

/// Makes these steps as the engine does.
fn go(fairness: &mut Fairness, moments: &[Moment<'_>]) {
    for (task, yields, enabled) in moments {
        if !fairness.is_idle() {
            fairness.moved(TaskId(*task), set(enabled));
        }
        if *yields {
            fairness.yields(TaskId(*task), set(enabled));
        }
    }
}

/// Checks which of the `enabled` tasks may move after these steps.
#[track_caller]
fn check(moments: &[Moment<'_>], enabled: &[u8], expected: &[u8]) {
    let mut fairness = Fairness::default();
    go(&mut fairness, moments);
    assert_eq!(fairness.filter(set(enabled)), set(expected));
}

#[test]
fn a_single_yield_holds_no_task_back() {
    check(&[(0, YIELDS, &[0, 1])], &[0, 1], &[0, 1]);
}

#[test]
fn a_second_yield_gives_priority_to_tasks_that_have_not_moved() {
    check(&[(0, YIELDS, &[0, 1]), (0, YIELDS, &[0, 1])], &[0, 1], &[1]);
}

#[test]
fn a_task_that_moved_in_the_window_gets_no_priority() {
    check(&[(0, YIELDS, &[0, 1]), (1, STEPS, &[0, 1]), (0, YIELDS, &[0, 1])], &[0, 1], &[0, 1]);
}

#[test]
fn a_task_that_was_not_always_enabled_gets_no_priority() {
    let blocked = (2, STEPS, &[0, 2][..]);
    check(&[(0, YIELDS, &[0, 1, 2]), blocked, (0, YIELDS, &[0, 1, 2])], &[0, 1, 2], &[0, 1, 2]);
    // The step after the blocking one blocks no task.
    let moments = [(0, YIELDS, &[0, 1, 2][..]), blocked, (0, STEPS, &[0, 2]), (0, YIELDS, &[0, 1, 2])];
    check(&moments, &[0, 1, 2], &[0, 1, 2]);
}

#[test]
fn a_task_disabled_by_the_yielding_task_gets_priority() {
    check(&[(0, YIELDS, &[0, 1]), (0, STEPS, &[0]), (0, YIELDS, &[0])], &[0, 1], &[1]);
}

#[test]
fn a_task_keeps_its_priority_until_it_has_moved() {
    let twice = [(0, YIELDS, &[0, 1, 2][..]), (0, YIELDS, &[0, 1, 2])];
    check(&[&twice[..], &[(2, STEPS, &[0, 1, 2])]].concat(), &[0, 1, 2], &[1, 2]);
    check(&[&twice[..], &[(2, STEPS, &[0, 1, 2]), (1, STEPS, &[0, 1, 2])]].concat(), &[0, 1, 2], &[0, 1, 2]);
    // Also if another yield comes first, because the task could not move.
    check(&[&twice[..], &[(2, STEPS, &[0, 2]), (0, YIELDS, &[0, 2])]].concat(), &[0, 1, 2], &[1, 2]);
}

#[test]
fn a_disabled_task_with_priority_holds_no_task_back() {
    check(&[(0, YIELDS, &[0, 1]), (0, YIELDS, &[0, 1])], &[0, 2], &[0, 2]);
}

#[test]
fn a_step_returns_the_tasks_it_releases() {
    let mut fairness = Fairness::default();
    go(&mut fairness, &[(0, YIELDS, &[0, 1, 2]), (0, YIELDS, &[0, 1, 2])]);
    assert_eq!(fairness.moved(TaskId(0), set(&[0, 1, 2])), TaskSet::EMPTY);
    assert_eq!(fairness.moved(TaskId(1), set(&[0, 1, 2])), set(&[0]));
    assert_eq!(fairness.moved(TaskId(1), set(&[0, 1, 2])), TaskSet::EMPTY);
}

#[test]
fn an_execution_is_independent_of_the_previous_one() {
    let mut fairness = Fairness::default();
    go(&mut fairness, &[(0, YIELDS, &[0, 1]), (0, YIELDS, &[0, 1])]);
    fairness.clear();
    assert!(fairness.is_idle());
    assert_eq!(fairness.filter(set(&[0, 1])), set(&[0, 1]));
    go(&mut fairness, &[(0, YIELDS, &[0, 1])]);
    assert_eq!(fairness.filter(set(&[0, 1])), set(&[0, 1]));
}

#[test]
fn not_all_tasks_are_held_back() {
    let (mut random, mut held) = (Random::new(1), 0);
    for _ in 0..300 {
        let mut fairness = Fairness::default();
        let mut enabled = TaskSet::all(4);
        for _ in 0..60 {
            let may = fairness.filter(enabled);
            assert!(!may.is_empty(), "{fairness:?}");
            held += usize::from(may != enabled);
            let mover = may.iter().nth(random.below(may.len())).expect("not empty");
            enabled = set(&[0, 1, 2, 3]).iter().filter(|_| random.below(4) != 0).collect();
            enabled.insert(TaskId(random.below(4) as u8));
            fairness.moved(mover, enabled);
            if random.below(2) == 0 {
                fairness.yields(mover, enabled);
            }
        }
    }
    assert!(1_000 < held, "{held}");
}
