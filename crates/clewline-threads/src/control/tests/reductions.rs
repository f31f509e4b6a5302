//! Reductions lose no canonical history: random programs, explored with and without.

use std::{cell::RefCell, collections::BTreeSet, ops::ControlFlow, rc::Rc};

use clewline_core::Random;
use clewline_explore::{
    Access, Coverage, Ending, Scheduler, TaskId, explore,
    schedulers::{
        bounded::Bounded, bounded_dpor::BoundedDpor, causality::Dependence, dpor::Dpor,
        exhaustive::Exhaustive,
    },
};

use super::*;

/// What a random operation does, one after the other.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Load(usize),
    Store(usize, usize),
    Add(usize),
    Lock(usize, Vec<Action>),
    TryLock(usize, Vec<Action>),
    Choose(u32),
    PanicIf(usize),
    SpinUntil(usize, bool),
    Receive(usize),
    ReceiveOrLate(usize),
    Send(usize),
    Sleep,
    SleepOrLate,
    Wake,
    Spawn(Vec<Action>, bool),
}

#[derive(Default)]
pub(super) struct Objects {
    cells: [AtomicUsize; 3],
    locks: [Mutex<()>; 2],
    // Counted by their levels.
    channels: [u8; 2],
    sleepers: RefCell<Vec<TaskId>>,
    joins: u8,
}

fn act(objects: &Rc<Objects>, actions: &[Action]) -> usize {
    let mut answer = 1;
    let mut note = |it: usize| answer = answer * 31 + it;
    for action in actions {
        let control = control().unwrap();
        match action {
            Action::Load(at) => note(objects.cells[*at].load(SeqCst)),
            Action::Store(at, value) => objects.cells[*at].store(*value, SeqCst),
            Action::Add(at) => note(objects.cells[*at].fetch_add(1, SeqCst)),
            Action::Lock(at, inner) => {
                let _guard = objects.locks[*at].lock();
                note(act(objects, inner));
            }
            Action::TryLock(at, inner) => match objects.locks[*at].try_lock() {
                Ok(_guard) => note(act(objects, inner)),
                Err(_) => note(7),
            },
            Action::Choose(n) => note(control.value(*n) as usize),
            Action::PanicIf(at) => assert!(objects.cells[*at].load(SeqCst) == 0, "as it may"),
            Action::SpinUntil(at, hint) => {
                while objects.cells[*at].load(SeqCst) == 0 {
                    if *hint {
                        spin_loop();
                    }
                }
            }
            Action::Receive(at) => {
                let channel = &objects.channels[*at];
                control.attempt(channel, Attempt::new(Access::Receive).needing(Need::AtLeast(1)));
                control.set_level(channel, control.level(channel) - 1);
            }
            Action::ReceiveOrLate(at) => {
                let channel = &objects.channels[*at];
                let receive = Attempt::new(Access::Receive).needing(Need::AtLeast(1));
                let is_met = control.attempt(channel, receive.until(Until::MetOrLate));
                control.set_level(channel, control.level(channel) - i32::from(is_met));
                note(usize::from(is_met));
            }
            Action::Send(at) => {
                let channel = &objects.channels[*at];
                control.access(channel, Access::Send);
                control.set_level(channel, control.level(channel) + 1);
            }
            Action::Sleep | Action::SleepOrLate => {
                control.access(&objects.sleepers, Access::Wait);
                objects.sleepers.borrow_mut().push(control.me());
                let until = if matches!(action, Action::Sleep) { Until::Woken } else { Until::WokenOrLate };
                let is_woken = control.attempt(&objects.sleepers, Attempt::new(Access::Wait).until(until));
                objects.sleepers.borrow_mut().retain(|it| *it != control.me());
                note(usize::from(is_woken));
            }
            Action::Wake => {
                control.access(&objects.sleepers, Access::Notify);
                let first = objects.sleepers.borrow().first().copied();
                if let Some(first) = first {
                    objects.sleepers.borrow_mut().remove(0);
                    control.wake(first);
                }
            }
            Action::Spawn(inner, joins) => {
                let (shared, inner) = (Rc::clone(objects), inner.clone());
                let answer = Rc::new(Cell::new(0));
                let place = Rc::clone(&answer);
                let task = control.spawn(Box::new(move || place.set(act(&shared, &inner))));
                if *joins {
                    control.attempt(&objects.joins, Attempt::new(Access::Join).after(task));
                    note(answer.get());
                }
            }
        }
    }
    answer
}

pub(super) type History = (u8, Vec<(bool, Option<usize>, Vec<bool>)>);

/// How it ended, and of each operation: whether it was called, what it answered, and which others it precedes.
pub(super) fn history(outcome: &Outcome<usize>, ending: &Ending) -> History {
    let of = |it: &Operation<usize>| {
        let after = outcome.operations.iter().map(|other| it.precedes(other)).collect();
        (it.call.is_some(), it.ret.as_ref().map(|it| it.1), after)
    };
    let ending = match ending {
        Ending::Full => 0,
        Ending::Stuck => 1,
        Ending::Panicked => 2,
        other => panic!("{other:?}"),
    };
    (ending, outcome.operations.iter().map(of).collect())
}

pub(super) fn program_of(matrix: &Matrix) -> Program<Rc<Objects>, Vec<Action>, usize> {
    let calls = Calls { columns: matrix.clone(), ..Calls::default() };
    let limits = Limits { steps: 300, rounds: 3, ..Limits::default() };
    Program::new(calls, || Rc::new(Objects::default()), |it, call: &Vec<Action>| act(it, call), limits)
}

/// The canonical histories that `scheduler` sees, and how many executions that takes: `u64::MAX` if they are too many.
pub(super) fn histories(matrix: &Matrix, scheduler: &mut dyn Scheduler) -> (BTreeSet<History>, u64) {
    histories_within(matrix, scheduler, EXECUTIONS_MAX)
}

fn histories_within(matrix: &Matrix, scheduler: &mut dyn Scheduler, most: u64) -> (BTreeSet<History>, u64) {
    let mut program = program_of(matrix);
    let mut seen = BTreeSet::new();
    let (coverage, executions) = explore(&mut program, scheduler, most, |program, ending, _| {
        seen.insert(history(&program.outcome(), ending));
        ControlFlow::Continue(())
    });
    if coverage == Coverage::Limited {
        return (seen, u64::MAX);
    }
    assert_eq!(coverage, Coverage::Exhausted);
    (seen, executions)
}

const EXECUTIONS_MAX: u64 = 1_000;

fn random_actions(random: &mut Random, kinds: &[u8], most: usize, depth: u32) -> Vec<Action> {
    let n = 1 + random.below(most);
    (0..n)
        .map(|_| {
            let (at, lock) = (random.below(3), random.below(2));
            let inner = |random: &mut Random| {
                if depth == 0 { Vec::new() } else { random_actions(random, kinds, 2, depth - 1) }
            };
            match kinds[random.below(kinds.len())] {
                0 => Action::Load(at),
                1 => Action::Store(at, 1 + random.below(90)),
                2 => Action::Add(at),
                3 => Action::Lock(lock, inner(random)),
                4 => Action::TryLock(lock, inner(random)),
                5 => Action::Choose(1 + random.below(3) as u32),
                6 => Action::PanicIf(at),
                7 => Action::SpinUntil(at, random.below(2) == 0),
                8 => Action::Receive(lock),
                9 => Action::ReceiveOrLate(lock),
                10 => Action::Send(lock),
                11 => Action::Sleep,
                12 => Action::SleepOrLate,
                13 => Action::Wake,
                _ => Action::Spawn(inner(random), random.below(2) == 0),
            }
        })
        .collect()
}

const PLAIN: &[u8] = &[0, 0, 1, 1, 2];
pub(super) const KINDS: &[(&str, &[u8])] = &[
    ("plain", PLAIN),
    ("locks", &[0, 1, 2, 3, 3]),
    ("tries", &[0, 1, 3, 4, 4]),
    ("values", &[0, 1, 2, 5]),
    ("panics", &[0, 1, 2, 3, 6]),
    ("spins", &[0, 1, 1, 7]),
    ("channels", &[0, 1, 8, 8, 10, 10]),
    ("late", &[0, 1, 9, 8, 10, 10]),
    ("sleepers", &[0, 1, 11, 12, 13, 13]),
    ("tasks", &[0, 1, 2, 14]),
    ("locks and tasks", &[0, 1, 3, 14]),
    ("all", &[0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14]),
];

pub(super) fn random_program(random: &mut Random, kinds: &[u8]) -> Matrix {
    let tasks = 2 + random.below(2);
    (0..tasks)
        .map(|_| {
            let n = 1 + random.below(2);
            (0..n).map(|_| random_actions(random, kinds, if tasks == 2 { 3 } else { 2 }, 1)).collect()
        })
        .collect()
}

pub(super) type Matrix = Vec<Vec<Vec<Action>>>;

/// Everything with one thing less.
fn smaller_actions(actions: &[Action]) -> Vec<Vec<Action>> {
    let mut all = Vec::new();
    for at in 0..actions.len() {
        let (head, tail) = (&actions[..at], &actions[at + 1..]);
        let with = |middle: &[Action]| [head, middle, tail].concat();
        all.push(with(&[]));
        type Rebuild = Box<dyn Fn(Vec<Action>) -> Action>;
        let (inner, rebuild): (_, Rebuild) = match actions[at].clone() {
            Action::Lock(lock, inner) => (inner, Box::new(move |it| Action::Lock(lock, it))),
            Action::TryLock(lock, inner) => (inner, Box::new(move |it| Action::TryLock(lock, it))),
            Action::Spawn(inner, joins) => (inner, Box::new(move |it| Action::Spawn(it, joins))),
            _ => continue,
        };
        all.push(with(&inner));
        all.extend(smaller_actions(&inner).into_iter().map(|it| with(&[rebuild(it)])));
    }
    all
}

fn smaller(matrix: &Matrix) -> Vec<Matrix> {
    let mut all = Vec::new();
    for task in 0..matrix.len() {
        let mut without = matrix.clone();
        without.remove(task);
        all.push(without);
        for operation in 0..matrix[task].len() {
            let mut without = matrix.clone();
            without[task].remove(operation);
            all.push(without);
            for actions in smaller_actions(&matrix[task][operation]) {
                let mut with = matrix.clone();
                with[task][operation] = actions;
                all.push(with);
            }
        }
    }
    all
}

/// Panics if `find` does not see what `expect` does, with the smallest such program.
fn check_equal(
    matrix: &Matrix,
    expect: &dyn Fn() -> Box<dyn Scheduler>,
    find: &dyn Fn() -> Box<dyn Scheduler>,
    most: u64,
) -> Option<(u64, u64)> {
    let histories =
        |matrix: &Matrix, scheduler: &mut dyn Scheduler| histories_within(matrix, scheduler, most);
    let (expected, executions) = histories(matrix, &mut *expect());
    if executions == u64::MAX {
        return None;
    }
    let (found, reduced) = histories(matrix, &mut *find());
    if expected != found {
        let fails = |it: &Matrix| {
            let (expected, executions) = histories(it, &mut *expect());
            executions != u64::MAX && histories(it, &mut *find()).0 != expected
        };
        let mut least = matrix.clone();
        while let Some(less) = smaller(&least).into_iter().find(fails) {
            least = less;
        }
        let (expected, found) = (histories(&least, &mut *expect()).0, histories(&least, &mut *find()).0);
        let lost: Vec<_> = expected.difference(&found).collect();
        let wrong: Vec<_> = found.difference(&expected).collect();
        panic!("{least:?}: lost {lost:?}, wrong {wrong:?}");
    }
    Some((executions, reduced))
}

/// How many programs there were, and the executions without and with the reduction.
fn check_random(
    seed: u64,
    programs: usize,
    kinds: &[(&str, &[u8])],
    expect: &dyn Fn() -> Box<dyn Scheduler>,
    find: &dyn Fn() -> Box<dyn Scheduler>,
) -> (usize, u64, u64) {
    let mut all = (0, 0, 0);
    for (_, kinds) in kinds {
        let mut random = Random::new(seed);
        let mut some = (0, 0, 0);
        for _ in 0..programs {
            let program = random_program(&mut random, kinds);
            if let Some((executions, reduced)) = check_equal(&program, expect, find, EXECUTIONS_MAX) {
                some = (some.0 + 1, some.1 + executions, some.2 + reduced);
            }
        }
        all = (all.0 + some.0, all.1 + some.1, all.2 + some.2);
    }
    all
}

// One seed for all, so that a failure can be seen again; what it says is the smallest program it found.
const SEED: u64 = 5;

/// Programs in which a reduction that left out one of its rules has lost histories.
fn hard_programs() -> [Matrix; 5] {
    use Action::{Add, Load, Lock, Store, TryLock};
    [
        // A step that returns if it comes first, and does not if it comes later.
        vec![
            vec![vec![Store(2, 79), TryLock(1, vec![])]],
            vec![vec![TryLock(1, vec![Load(2)]), Store(1, 42)]],
            vec![vec![], vec![]],
        ],
        // One waits for ever where all others sleep.
        vec![
            vec![vec![TryLock(1, vec![]), TryLock(1, vec![Lock(1, vec![])])]],
            vec![vec![Lock(1, vec![])]],
            vec![vec![], vec![Lock(0, vec![])]],
        ],
        // One waits for a step that has nothing to do with the one it races with.
        vec![
            vec![vec![TryLock(0, vec![Store(2, 48)])]],
            vec![vec![TryLock(1, vec![Load(1)])]],
            vec![vec![Lock(0, vec![Load(0), TryLock(1, vec![])])]],
        ],
        // A task that comes to wait saves a preemption.
        vec![vec![vec![], vec![Lock(0, vec![])]], vec![vec![Lock(0, vec![Load(1)]), Add(2)]]],
        // A race behind another one, which a preemption too many would show.
        vec![vec![vec![Add(2), Lock(1, vec![Load(0)])], vec![]], vec![vec![], vec![Lock(1, vec![])]]],
    ]
}

#[test]
fn hard_programs_lose_no_history() {
    for matrix in hard_programs() {
        let dpor = || -> Box<dyn Scheduler> { Box::new(Dpor::new(Dependence::Histories)) };
        let seen = check_equal(&matrix, &|| Box::new(Exhaustive::default()), &dpor, 100_000);
        assert!(seen.is_some());
        for bound in 0..=3 {
            let (expect, find) = (
                move || -> Box<dyn Scheduler> { Box::new(Bounded::new(Some(bound))) },
                move || -> Box<dyn Scheduler> { Box::new(BoundedDpor::new(Some(bound))) },
            );
            assert!(check_equal(&matrix, &expect, &find, 100_000).is_some());
        }
    }
}

#[test]
fn dpor_sees_every_canonical_history() {
    let dpor = || -> Box<dyn Scheduler> { Box::new(Dpor::new(Dependence::Histories)) };
    let (programs, all, few) = check_random(SEED, 200, KINDS, &|| Box::new(Exhaustive::default()), &dpor);
    assert!(1_800 < programs && few < all / 2, "{programs} programs, {all} executions, {few} with reduction");
}

#[test]
fn bounded_dpor_sees_what_bounded_does() {
    for bound in 0..=3 {
        let (expect, find) = (
            move || -> Box<dyn Scheduler> { Box::new(Bounded::new(Some(bound))) },
            move || -> Box<dyn Scheduler> { Box::new(BoundedDpor::new(Some(bound))) },
        );
        let (programs, all, few) = check_random(SEED, 100, KINDS, &expect, &find);
        assert!(1_000 < programs && few < all, "{programs} programs, {all} executions, {few} with reduction");
    }
}

#[test]
fn reduction_that_looks_at_conflicts_alone_loses_histories() {
    let mut random = Random::new(SEED);
    let (mut lost, mut programs) = (0, 0);
    for _ in 0..200 {
        let matrix = random_program(&mut random, PLAIN);
        let (expected, executions) = histories(&matrix, &mut Exhaustive::default());
        let (found, _) = histories(&matrix, &mut Dpor::new(Dependence::Conflicts));
        if executions != u64::MAX {
            assert!(found.is_subset(&expected));
            (lost, programs) = (lost + u32::from(found != expected), programs + 1);
        }
    }
    assert!(programs / 2 < lost, "{lost} of {programs}");
}
