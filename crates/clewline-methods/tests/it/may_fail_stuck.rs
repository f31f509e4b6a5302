//! Stuck histories with calls that may fail, compared with the definition.
//!
//! For each call that waits forever there has to be an order of the complete calls after which it
//! waits: without some of those that may have failed, and without the other calls that wait.

use std::{collections::BTreeSet, ops::ControlFlow};

use clewline::{
    choose,
    line_up::{Component, Explorable, LineUpOptions, Matrix, Reference},
    sync::{Condvar, Mutex},
};
use clewline_core::Random;
use clewline_explore::{
    Ending, explore,
    schedulers::{SchedulerSettings, random},
};
use clewline_methods::line_up::replay;
use clewline_testing::pick_of_three;
use clewline_threads::control::{CallOutcome, Calls, Limits};

/// For each of two methods and each of three states: the result and the next state, or `None` if it
/// waits.
type Table = [[Option<(u8, u8)>; 3]; 2];

/// The result of a call that failed. Some calls return it otherwise, too.
const FAILED: u8 = 9;

fn random_table(random: &mut Random) -> Table {
    let mut entry = || match random.below(3) {
        0 => None,
        _ => Some(([0, 1, FAILED][random.below(3)], random.below(3) as u8)),
    };
    [[entry(), entry(), entry()], [entry(), entry(), entry()]]
}

struct Object {
    table: Table,
    state: Mutex<u8>,
    changed: Condvar,
    never: Condvar,
    is_wild: bool,
}

impl Object {
    fn call(&self, method: usize) -> u8 {
        let mut state = self.state.lock().unwrap();
        match if self.is_wild { choose(5) } else { 0 } {
            // Fails without an effect.
            1 => return FAILED,
            // Waits though it should not.
            2 => loop {
                state = self.never.wait(state).unwrap();
            },
            // What it does is lost, or something else is done.
            3 => *state = (*state + 1) % 3,
            _ => (),
        }
        loop {
            if let Some((result, next)) = self.table[method][usize::from(*state)] {
                *state = next;
                drop(state);
                self.changed.notify_all();
                return result;
            }
            state = self.changed.wait(state).unwrap();
        }
    }

    fn subject(table: Table, is_wild: bool) -> Component<Object> {
        let make = move || {
            let (changed, never) = (Condvar::new(), Condvar::new());
            Object { table, state: Mutex::new(0), changed, never, is_wild }
        };
        Component::new(make).call("a", |it: &Object| it.call(0)).call("b", |it| it.call(1))
    }
}

/// A call of a history: its method, and its result if it returned.
struct Made {
    method: usize,
    result: Option<u8>,
}

/// Whether some order of the calls in `rest`, without some that failed, leads to a state in which
/// `waiting` waits.
fn is_explained(
    table: &Table,
    calls: &[Made],
    precedes: &dyn Fn(usize, usize) -> bool,
    rest: &[usize],
    state: u8,
    waiting: Option<usize>,
) -> bool {
    if rest.is_empty() {
        return waiting.is_none_or(|it| table[calls[it].method][usize::from(state)].is_none());
    }
    let is_first = |it: &usize| rest.iter().all(|other| other == it || !precedes(*other, *it));
    rest.iter().copied().filter(is_first).any(|first| {
        let others: Vec<usize> = rest.iter().copied().filter(|it| *it != first).collect();
        let made = table[calls[first].method][usize::from(state)];
        let next = made.filter(|it| Some(it.0) == calls[first].result).map(|it| it.1);
        let unchanged = (calls[first].result == Some(FAILED)).then_some(state);
        let go_on = |next| is_explained(table, calls, precedes, &others, next, waiting);
        next.into_iter().chain(unchanged).any(go_on)
    })
}

fn oracle<R>(table: &Table, calls: &[Made], operations: &[CallOutcome<R>]) -> bool {
    let precedes = |one: usize, other: usize| operations[one].precedes(&operations[other]);
    let complete: Vec<usize> = (0..calls.len()).filter(|it| calls[*it].result.is_some()).collect();
    let is_waiting = |it: &usize| operations[*it].call.is_some() && operations[*it].ret.is_none();
    let waiting: Vec<usize> = (0..calls.len()).filter(is_waiting).collect();
    if waiting.is_empty() {
        return is_explained(table, calls, &precedes, &complete, 0, None);
    }
    waiting.iter().all(|it| is_explained(table, calls, &precedes, &complete, 0, Some(*it)))
}

#[test]
fn stuck_histories_with_failures_are_judged_as_defined() {
    let mut seen = [0, 0, 0, 0];
    // With seed 82, calls that wait need different calls to have failed.
    for seed in [82].into_iter().chain(0..pick_of_three(6, 100, 600)) {
        let mut random = Random::new(seed);
        let table = random_table(&mut random);
        let method = |random: &mut Random| ["a", "b"][random.below(2)];
        let column = |random: &mut Random| {
            let calls: Vec<&str> = (0..1 + random.below(2)).map(|_| method(random)).collect();
            calls.join(" ")
        };
        let columns: Vec<String> = (0..2 + random.below(2)).map(|_| column(&mut random)).collect();
        let matrix: Matrix = columns.join(" | ").parse().unwrap();
        let subject = Object::subject(table, true);
        let options = LineUpOptions {
            may_fail: format!("a={FAILED}:always,b={FAILED}:always").parse().unwrap(),
            against: Reference::Golden(std::sync::Arc::new(Object::subject(table, false))),
            ..LineUpOptions::default()
        };
        let calls = Calls { columns: matrix.columns.clone(), ..Calls::default() };
        let mut program = subject.test_program(&calls, &Limits::default()).unwrap();
        program.keep(true, false);
        let mut distinct = BTreeSet::new();
        let mut executions = Vec::new();
        let mut scheduler =
            random::RandomScheduler::new(&SchedulerSettings { seed, ..SchedulerSettings::default() });
        let _sampled = explore(&mut *program, &mut scheduler, 60, |program, ending, _| {
            let outcome = program.outcome();
            let made = outcome.operations.iter().enumerate().map(|(at, it)| Made {
                method: usize::from(program.operations()[at].1 == "b"),
                result: it.ret.as_ref().map(|it| program.show_result(at, it.1).parse().unwrap()),
            });
            let calls: Vec<Made> = made.collect();
            let mut key = Vec::new();
            outcome.canonical(ending, &mut key);
            if distinct.insert(key) {
                let is_right = oracle(&table, &calls, &outcome.operations);
                executions.push((program.schedule().unwrap(), *ending == Ending::Stuck, is_right));
            }
            ControlFlow::Continue(())
        });
        for (schedule, is_stuck, is_right) in executions {
            let checked = replay(&subject, &matrix, &schedule, &options).unwrap();
            let found = checked.finding();
            assert_eq!(found.is_none(), is_right, "seed {seed}, {matrix}, {table:?}: {found:#?}");
            seen[2 * usize::from(is_stuck) + usize::from(is_right)] += 1;
        }
    }
    assert!(seen.iter().all(|it| 5 <= *it), "histories of each kind: {seen:?}");
}
