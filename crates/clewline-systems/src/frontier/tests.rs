//! Frontiers agree with the oracle on random histories, event by event.

use clewline_check::{check, search::SEARCHES};
use clewline_core::{Budget, Event, History, Problem, Random, Specification, Value, Verdict};
use clewline_specs::{bag, register};

use super::*;

/// Grows random histories of `calls`, each by a process of its own, and compares the two after
/// every event.
#[track_caller]
fn check_growing<S>(
    specification: &S,
    make: impl Fn(&mut Random) -> S::Call,
    result: impl Fn(&mut Random, &S::Call) -> S::Return,
) where
    S: Specification + Clone + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    let oracle = SEARCHES.iter().find(|it| it.name() == "oracle").unwrap();
    let mut random = Random::new(7);
    let (mut holds, mut violated) = (0, 0);
    for _ in 0..2000 {
        let calls: Vec<S::Call> = (0..5).map(|_| make(&mut random)).collect();
        let mut frontiers = Frontiers::new(specification.clone(), calls.clone());
        let (mut frontier, mut called, mut open, mut events) =
            (Frontiers::<S>::START, 0u64, Vec::new(), Vec::new());
        loop {
            let next = called.count_ones();
            if next < 5 && (open.is_empty() || random.below(2) == 0) {
                called |= 1 << next;
                open.push(next);
                events.push(Event::call(next, calls[next as usize].clone()));
            } else if let Some(last) = open.len().checked_sub(1) {
                let operation = open.swap_remove(random.below(last + 1));
                let ret = result(&mut random, &calls[operation as usize]);
                frontier = frontiers.returned(frontier, called, operation, &ret);
                events.push(Event::ret(operation, ret));
            } else {
                break;
            }
            let history = History::from_events(events.clone()).unwrap();
            let problem = Problem::new(specification, &history);
            let expected = matches!(check(*oracle, &problem, &Budget::unlimited()), Verdict::Violated(_));
            assert_eq!(frontiers.is_violated(frontier), expected, "{events:?}");
            if expected {
                violated += 1;
                break;
            }
            holds += 1;
        }
    }
    assert!(500 < holds && 500 < violated, "{holds} hold, {violated} are violated");
}

fn small(random: &mut Random, bound: usize) -> Value {
    Value::from(random.below(bound) as i64)
}

#[test]
fn frontiers_of_registers_agree_with_the_oracle() {
    check_growing(
        &register::Register::new(),
        |it| if it.below(2) == 0 { register::Call::Read } else { register::Call::Write(small(it, 2)) },
        |it, call| match call {
            register::Call::Write(_) => Value::TRUE,
            register::Call::Read => small(it, 2),
        },
    );
}

#[test]
fn frontiers_of_bags_agree_with_the_oracle() {
    check_growing(
        &bag::Bag,
        |it| if it.below(2) == 0 { bag::Call::Take } else { bag::Call::Add(small(it, 2)) },
        |it, call| match call {
            bag::Call::Add(_) => Value::TRUE,
            bag::Call::Take => {
                if it.below(3) == 0 {
                    Value::NIL
                } else {
                    small(it, 2)
                }
            }
        },
    );
}
