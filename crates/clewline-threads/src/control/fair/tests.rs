//! Who is held back after whom, step by step.

use clewline_core::Random;

use super::*;

/// A step: who made it, whether it yields, and who can move then.
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

/// After these steps, of those who are enabled these may move.
#[track_caller]
fn check(moments: &[Moment<'_>], enabled: &[u8], expected: &[u8]) {
    let mut fairness = Fairness::default();
    go(&mut fairness, moments);
    assert_eq!(fairness.filter(set(enabled)), set(expected));
}

#[test]
fn whoever_yields_once_is_not_held_back() {
    check(&[(0, YIELDS, &[0, 1])], &[0, 1], &[0, 1]);
}

#[test]
fn whoever_yields_again_lets_those_go_first_who_have_not_moved() {
    check(&[(0, YIELDS, &[0, 1]), (0, YIELDS, &[0, 1])], &[0, 1], &[1]);
}

#[test]
fn whoever_moved_in_between_does_not_go_first() {
    check(&[(0, YIELDS, &[0, 1]), (1, STEPS, &[0, 1]), (0, YIELDS, &[0, 1])], &[0, 1], &[0, 1]);
}

#[test]
fn whoever_could_not_always_move_does_not_go_first() {
    let blocked = (2, STEPS, &[0, 2][..]);
    check(&[(0, YIELDS, &[0, 1, 2]), blocked, (0, YIELDS, &[0, 1, 2])], &[0, 1, 2], &[0, 1, 2]);
    // The step after the one that blocked it blocks nobody.
    let moments = [(0, YIELDS, &[0, 1, 2][..]), blocked, (0, STEPS, &[0, 2]), (0, YIELDS, &[0, 1, 2])];
    check(&moments, &[0, 1, 2], &[0, 1, 2]);
}

#[test]
fn whoever_is_blocked_by_the_one_that_yields_goes_first() {
    check(&[(0, YIELDS, &[0, 1]), (0, STEPS, &[0]), (0, YIELDS, &[0])], &[0, 1], &[1]);
}

#[test]
fn whoever_goes_first_does_so_until_it_has_moved() {
    let twice = [(0, YIELDS, &[0, 1, 2][..]), (0, YIELDS, &[0, 1, 2])];
    check(&[&twice[..], &[(2, STEPS, &[0, 1, 2])]].concat(), &[0, 1, 2], &[1, 2]);
    check(&[&twice[..], &[(2, STEPS, &[0, 1, 2]), (1, STEPS, &[0, 1, 2])]].concat(), &[0, 1, 2], &[0, 1, 2]);
    // Also if another yield comes before, because it could not move.
    check(&[&twice[..], &[(2, STEPS, &[0, 2]), (0, YIELDS, &[0, 2])]].concat(), &[0, 1, 2], &[1, 2]);
}

#[test]
fn whoever_goes_first_and_cannot_move_holds_nobody_back() {
    check(&[(0, YIELDS, &[0, 1]), (0, YIELDS, &[0, 1])], &[0, 2], &[0, 2]);
}

#[test]
fn a_step_tells_whom_it_sets_free() {
    let mut fairness = Fairness::default();
    go(&mut fairness, &[(0, YIELDS, &[0, 1, 2]), (0, YIELDS, &[0, 1, 2])]);
    assert_eq!(fairness.moved(TaskId(0), set(&[0, 1, 2])), TaskSet::EMPTY);
    assert_eq!(fairness.moved(TaskId(1), set(&[0, 1, 2])), set(&[0]));
    assert_eq!(fairness.moved(TaskId(1), set(&[0, 1, 2])), TaskSet::EMPTY);
}

#[test]
fn another_execution_knows_nothing_of_the_last() {
    let mut fairness = Fairness::default();
    go(&mut fairness, &[(0, YIELDS, &[0, 1]), (0, YIELDS, &[0, 1])]);
    fairness.clear();
    assert!(fairness.is_idle());
    assert_eq!(fairness.filter(set(&[0, 1])), set(&[0, 1]));
    go(&mut fairness, &[(0, YIELDS, &[0, 1])]);
    assert_eq!(fairness.filter(set(&[0, 1])), set(&[0, 1]));
}

#[test]
fn not_all_are_held_back() {
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
