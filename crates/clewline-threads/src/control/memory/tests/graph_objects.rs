//! The scheduler `graph` with locks, condition variables and park: its histories are those of
//! interleavings, also where threads wait forever, and no graph is explored twice.

use std::collections::BTreeSet;

use clewline_core::Random;
use clewline_explore::schedulers::{causality::DependenceRelation, dpor::Dpor, graph::Graph};
use clewline_testing::pick_of_three;

use super::{oracle::under, *};
use crate::{
    sync::{Condvar, RwLock},
    thread::{self, Thread},
};

/// What operations access.
#[derive(Default)]
struct World {
    words: [AtomicUsize; 2],
    locks: [Mutex<usize>; 2],
    shared: RwLock<usize>,
    condvar: Condvar,
    parked: Mutex<Option<Thread>>,
}

#[derive(Clone, Debug)]
enum Op {
    Load(usize, Ordering),
    Store(usize, usize, Ordering),
    Fence(Ordering),
    /// Takes a lock again and again, until the value behind it is 7.
    Poll(usize),
    /// Waits until a word has a value.
    Await(usize),
    /// What is made while a lock is held. The value behind it becomes another one.
    Locked(usize, usize, Vec<Op>),
    Read(Vec<Op>),
    Write(usize, Vec<Op>),
    /// Waits for a notification once, or until the value behind the lock is another one.
    Wait,
    WaitWhile,
    Notify,
    NotifyAll,
    Park,
    Unpark,
    /// What a task does that is started here, and what this one does until it joins it.
    Start(Vec<Op>, Vec<Op>),
}

fn make(world: &World, ops: &[Op], to: &mut Vec<usize>) {
    let lock = |at: usize| world.locks[at].lock().expect("no task panics");
    for op in ops {
        match op {
            Op::Load(at, order) => to.push(world.words[*at].load(*order)),
            Op::Store(at, value, order) => world.words[*at].store(*value, *order),
            Op::Fence(order) => fence(*order),
            Op::Await(at) => {
                while world.words[*at].load(Acquire) == 0 {
                    spin_loop();
                }
            }
            Op::Poll(at) => loop {
                let seen = *lock(*at);
                if to.last() != Some(&seen) {
                    to.push(seen);
                }
                if seen == 7 {
                    break;
                }
                spin_loop();
            },
            Op::Locked(at, value, inner) => {
                let mut guard = lock(*at);
                to.push(std::mem::replace(&mut *guard, *value));
                make(world, inner, to);
            }
            Op::Read(inner) => {
                let guard = world.shared.read().expect("no task panics");
                to.push(*guard);
                make(world, inner, to);
            }
            Op::Write(value, inner) => {
                let mut guard = world.shared.write().expect("no task panics");
                to.push(std::mem::replace(&mut *guard, *value));
                make(world, inner, to);
            }
            Op::Wait => to.push(*world.condvar.wait(lock(0)).expect("no task panics")),
            Op::WaitWhile => {
                let guard = world.condvar.wait_while(lock(0), |it| *it == 0);
                to.push(*guard.expect("no task panics"));
            }
            Op::Notify => world.condvar.notify_one(),
            Op::NotifyAll => world.condvar.notify_all(),
            Op::Park => {
                *world.parked.lock().expect("no task panics") = Some(thread::current());
                thread::park();
            }
            Op::Unpark => {
                let parked = world.parked.lock().expect("no task panics").clone();
                to.push(usize::from(parked.is_some()));
                parked.iter().for_each(Thread::unpark);
            }
            Op::Start(other, own) => thread::scope(|scope| {
                let started = scope.spawn(|| {
                    let mut results = Vec::new();
                    make(world, other, &mut results);
                    results
                });
                make(world, own, to);
                to.extend(started.join().expect("no task panics"));
            }),
        }
    }
}

/// A history: whether tasks wait forever, the results, and which operations precede which.
type History = (bool, Vec<Option<Vec<usize>>>, Vec<bool>);

fn program_of(columns: &[Vec<Vec<Op>>]) -> ThreadProgram<World, Vec<Op>, Vec<usize>> {
    let calls = Calls { columns: columns.to_vec(), ..Calls::default() };
    let call = |world: &World, ops: &Vec<Op>| {
        let mut results = Vec::new();
        make(world, ops, &mut results);
        results
    };
    ThreadProgram::new(calls, World::default, call, Limits::default()).with_memory(under(ReleaseAcquire))
}

fn history_of(program: &ThreadProgram<World, Vec<Op>, Vec<usize>>, ending: &Ending) -> History {
    let operations = program.outcome().operations;
    let returned = |at: usize| operations[at].ret.is_some();
    let pairs = (0..operations.len()).flat_map(|one| (0..operations.len()).map(move |other| (one, other)));
    let precedes = pairs.map(|(one, other)| {
        let order = |at: usize| operations[at].order.as_ref().expect("happens-before determines it");
        returned(one) && operations[other].call.is_some() && order(one).precedes(order(other))
    });
    let precedes = precedes.collect();
    let results = operations.iter().map(|it| it.ret.clone().map(|it| it.1)).collect();
    (*ending == Ending::Stuck, results, precedes)
}

/// The histories by any scheduler, and the number of executions; `None` if there are more.
fn by_scheduler(
    columns: &[Vec<Vec<Op>>],
    scheduler: &mut dyn Scheduler,
    executions_max: u64,
) -> Option<(BTreeSet<History>, u64)> {
    let mut seen = BTreeSet::new();
    let (coverage, executions) =
        explore(&mut program_of(columns), scheduler, executions_max, |program, ending, _| {
            seen.insert(history_of(program, ending));
            ControlFlow::Continue(())
        });
    (coverage == Coverage::Exhausted).then_some((seen, executions))
}

/// The histories by graphs, each of which is explored once, and their number.
#[track_caller]
fn by_graph(columns: &[Vec<Vec<Op>>]) -> (BTreeSet<History>, u64) {
    let (mut program, mut scheduler) = (program_of(columns), Graph::default());
    let (mut seen, mut graphs, mut begin) = (BTreeSet::new(), BTreeSet::new(), Begin::Anew);
    while scheduler.begin(begin) {
        begin = Begin::Next;
        let ending = program.run(&mut scheduler);
        match ending {
            Ending::Redundant => continue,
            Ending::Full | Ending::Stuck => (),
            ending => panic!("{ending:?}: {columns:?}"),
        }
        seen.insert(history_of(&program, &ending));
        assert!(graphs.insert(scheduler.canonical()), "twice: {columns:?}");
    }
    (seen, graphs.len() as u64)
}

#[track_caller]
fn check_same(found: &BTreeSet<History>, expected: &BTreeSet<History>, name: &str) {
    let lost: Vec<_> = expected.difference(found).take(2).collect();
    let wrong: Vec<_> = found.difference(expected).take(2).collect();
    assert!(lost.is_empty() && wrong.is_empty(), "lost {lost:?}, wrong {wrong:?}: {name}");
}

#[track_caller]
fn check(columns: &[Vec<Vec<Op>>]) -> (BTreeSet<History>, u64) {
    let (found, graphs) = by_graph(columns);
    for scheduler in [&mut Exhaustive::default() as &mut dyn Scheduler, &mut Dpor::new(HISTORIES)] {
        if let Some((expected, _)) = by_scheduler(columns, scheduler, 2_000) {
            check_same(&found, &expected, &format!("{columns:?}"));
        }
    }
    (found, graphs)
}

const HISTORIES: DependenceRelation = DependenceRelation::Histories;

fn locked(at: usize, value: usize) -> Op {
    Op::Locked(at, value, Vec::new())
}

#[test]
fn critical_sections_have_as_many_graphs_as_orders() {
    let factorial = |n: u64| (1..=n).product::<u64>();
    for (tasks, each) in [(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (2, 3), (3, 2)] {
        let columns: Vec<Vec<Vec<Op>>> = (0..tasks)
            .map(|task| vec![(0..each).map(|it| locked(0, 1 + it + 10 * task)).collect()])
            .collect();
        let (_, graphs) = check(&columns);
        let expected = factorial((tasks * each) as u64) / factorial(each as u64).pow(tasks as u32);
        assert_eq!(graphs, expected, "{tasks} tasks with {each} sections");
    }
    // Two locks are independent of each other.
    let two = |at: usize| vec![vec![locked(at, 1)], vec![locked(at, 2)]];
    assert_eq!(check(&[two(0), two(1)]).1, 1);
    assert_eq!(check(&[two(0), two(1), vec![vec![locked(0, 3)]]]).1, 3);
}

#[test]
fn locks_in_opposite_orders_are_found_stuck_once() {
    let nested = |one: usize, other: usize| vec![vec![Op::Locked(one, 1, vec![locked(other, 1)])]];
    let (found, graphs) = check(&[nested(0, 1), nested(1, 0)]);
    assert_eq!((found.iter().filter(|it| it.0).count(), graphs), (1, 3));
    // A third thread waits for one of the locks; which of the waiting ones came first is no
    // difference.
    let (found, graphs) = check(&[nested(0, 1), nested(1, 0), vec![vec![locked(0, 3)]]]);
    assert!(found.iter().any(|it| it.0));
    assert!(graphs < 12, "{graphs}");
}

#[test]
fn notifications_wake_or_are_lost() {
    let notify = |wait: Op, notify: Op| vec![vec![vec![wait]], vec![vec![locked(0, 7), notify]]];
    for (wait, tell, stuck) in [
        (Op::Wait, Op::Notify, true),
        (Op::Wait, Op::NotifyAll, true),
        (Op::WaitWhile, Op::Notify, false),
        (Op::WaitWhile, Op::NotifyAll, false),
    ] {
        let mut columns = notify(wait.clone(), tell);
        for _ in 0..2 {
            let (found, _) = check(&columns);
            assert_eq!(found.iter().any(|it| it.0), stuck, "{columns:?}");
            assert!(found.iter().any(|it| !it.0), "{columns:?}");
            columns.reverse();
        }
        // One notification for two tasks.
        columns.push(vec![vec![wait]]);
        check(&columns);
    }
}

#[test]
fn parked_threads_continue_with_a_token() {
    let told = vec![Op::Store(0, 1, Relaxed), Op::Unpark];
    let parks = vec![Op::Park, Op::Load(0, Relaxed)];
    // If the second token is none, the second park waits forever, and what was done before that
    // token is seen.
    let tells = vec![Op::Unpark, Op::Store(1, 1, Relaxed), Op::Unpark];
    let (found, _) = check(&[vec![vec![Op::Park, Op::Load(1, Relaxed)], vec![Op::Park]], vec![tells]]);
    let has_seen = |it: &History| it.1[2] != Some(vec![1, 1]) || it.1[0] == Some(vec![1]);
    assert!(found.iter().filter(|it| it.0 && it.1[0].is_some()).all(has_seen), "{found:?}");
    for columns in [
        vec![vec![parks.clone()], vec![told.clone()]],
        vec![vec![told.clone()], vec![parks.clone()]],
        vec![vec![parks.clone()], vec![told.clone()], vec![told.clone()]],
        vec![vec![parks.clone(), parks], vec![told.clone()], vec![told]],
    ] {
        let (found, _) = check(&columns);
        assert!(found.iter().any(|it| it.0) && found.iter().any(|it| !it.0), "{columns:?}");
    }
}

#[test]
fn a_loop_that_takes_a_lock_waits_for_a_change() {
    let poll = || vec![vec![Op::Poll(0)]];
    let set = || vec![vec![locked(0, 7)]];
    for columns in [vec![poll(), set()], vec![set(), poll()], vec![poll(), set(), poll()]] {
        let (found, graphs) = by_graph(&columns);
        assert!(!found.is_empty() && found.iter().all(|it| !it.0), "{columns:?}");
        assert!(graphs < 100, "{graphs}: {columns:?}");
    }
    // What it saw in between counts.
    let twice = vec![vec![locked(0, 5)], vec![locked(0, 7)]];
    for columns in [vec![poll(), twice.clone()], vec![twice, poll()]] {
        let (found, _) = by_graph(&columns);
        let seen: BTreeSet<_> = found.iter().flat_map(|it| it.1.iter().flatten()).collect();
        for expected in [vec![0, 5, 7], vec![0, 7], vec![5, 7], vec![7]] {
            assert!(seen.contains(&expected), "{expected:?} is not in {seen:?}");
        }
    }
    // That it does so in vain is not proven.
    for columns in [vec![poll()], vec![poll(), vec![vec![locked(1, 7)]]], vec![poll(), poll()]] {
        let visit = |_: &mut ThreadProgram<_, _, _>, _: &Ending, _| ControlFlow::Continue(());
        let (coverage, _) = explore(&mut program_of(&columns), &mut Graph::default(), 100, visit);
        assert!(coverage.to_string().contains("a loop that takes a lock"), "{coverage}");
    }
}

/// A writer waits for a reader, which waits for another one.
#[test]
fn readers_that_wait_for_readers_are_explored_or_refused() {
    let waits = vec![vec![Op::Read(vec![Op::Await(0)])]];
    let tells = vec![vec![Op::Read(vec![Op::Store(0, 1, Release)])]];
    let writes = vec![vec![Op::Write(7, Vec::new())]];
    let mut refused = 0;
    for columns in [
        vec![waits.clone(), writes.clone(), tells.clone()],
        vec![waits.clone(), tells.clone(), writes.clone()],
        vec![tells.clone(), waits.clone(), writes.clone()],
        vec![writes, tells, waits],
    ] {
        let visit = |_: &mut ThreadProgram<_, _, _>, _: &Ending, _| ControlFlow::Continue(());
        let (coverage, _) = explore(&mut program_of(&columns), &mut Graph::default(), 1_000, visit);
        if coverage == Coverage::Exhausted {
            check(&columns);
            continue;
        }
        assert!(coverage.to_string().contains("take a lock shared"), "{coverage}");
        refused += 1;
    }
    assert!(0 < refused);
}

/// Programs in which random ones have shown that a rule is needed.
#[test]
fn what_readers_and_wakers_order_counts() {
    let reads = |inner: Vec<Op>| vec![Op::Read(inner)];
    check(&[
        vec![reads(vec![]), vec![Op::Read(vec![Op::Load(0, Relaxed), Op::Load(0, SeqCst)])]],
        vec![reads(vec![Op::Store(0, 50, Relaxed)])],
    ]);
    let write = Op::Locked(1, 2, vec![Op::Write(20, vec![]), Op::Store(1, 21, Relaxed)]);
    check(&[
        vec![vec![Op::Read(vec![]), write], reads(vec![])],
        vec![
            reads(vec![Op::Store(1, 50, Relaxed), Op::Fence(Acquire)]),
            vec![Op::Write(7, vec![]), Op::Store(1, 8, SeqCst)],
        ],
    ]);
    check(&[
        vec![vec![locked(0, 1), Op::Park]],
        vec![vec![Op::Wait]],
        vec![vec![Op::NotifyAll, Op::WaitWhile], vec![Op::Unpark]],
    ]);
}

/// An access, which may be made while a lock is held.
fn random_op(random: &mut Random, value: usize, depth: usize, kinds: usize) -> Op {
    let load = [Relaxed, Acquire, SeqCst][random.below(3)];
    let store = [Relaxed, Release, SeqCst][random.below(3)];
    let at = random.below(2);
    let inner = |random: &mut Random| {
        let n = if depth == 2 { 0 } else { random.below(3) };
        (0..n).map(|it| random_op(random, 10 * value + it, depth + 1, 7)).collect()
    };
    match random.below(kinds) {
        0 => Op::Load(at, load),
        1 => Op::Store(at, value, store),
        2 => Op::Fence([Acquire, Release, SeqCst][random.below(3)]),
        3 | 4 => Op::Locked(at, value, inner(random)),
        5 => Op::Read(inner(random)),
        6 => Op::Write(value, inner(random)),
        7 => Op::Wait,
        8 => Op::WaitWhile,
        9 => Op::Notify,
        10 => Op::NotifyAll,
        11 => Op::Park,
        _ => Op::Unpark,
    }
}

/// Two or three tasks, with one or two operations each.
fn random_columns(random: &mut Random) -> Vec<Vec<Vec<Op>>> {
    let kinds = [7, 7, 13][random.below(3)];
    let column = |task: usize, random: &mut Random| {
        let operation = |it: usize, random: &mut Random| {
            (0..=random.below(2)).map(|at| random_op(random, 1 + at + 2 * it + 4 * task, 0, kinds)).collect()
        };
        (0..=random.below(2)).map(|it| operation(it, random)).collect()
    };
    (0..2 + random.below(2)).map(|task| column(task, random)).collect()
}

/// Whether a program takes a lock that it holds: `std` does not say what happens then.
fn relocks(ops: &[Op], held: [bool; 3]) -> bool {
    ops.iter().any(|op| {
        let (lock, inner) = match op {
            Op::Locked(at, _, inner) => (*at, inner),
            Op::Read(inner) | Op::Write(_, inner) => (2, inner),
            Op::Start(other, own) => return relocks(other, [false; 3]) || relocks(own, held),
            _ => return false,
        };
        let mut now = held;
        held[lock] || {
            now[lock] = true;
            relocks(inner, now)
        }
    })
}

#[test]
fn random_programs_with_locks_have_the_histories_of_interleavings() {
    let (mut stuck, mut many, mut large) = (0, 0, 0);
    let programs = pick_of_three(100, 3_000, 100_000);
    for seed in 0..programs {
        let columns = random_columns(&mut Random::new(seed));
        if columns.iter().flatten().any(|it| relocks(it, [false; 3])) {
            continue;
        }
        let mut dpor = Dpor::new(HISTORIES);
        let Some((expected, _)) = by_scheduler(&columns, &mut dpor, 400) else {
            large += 1;
            continue;
        };
        let (found, graphs) = by_graph(&columns);
        check_same(&found, &expected, &format!("seed {seed}: {columns:?}"));
        stuck += u64::from(found.iter().any(|it| it.0));
        many += u64::from(5 < graphs);
    }
    assert!(
        programs / 40 < many && programs / 20 < stuck && large < programs / 2,
        "{many} have many graphs, {stuck} can be stuck, {large} are too large, of {programs}"
    );
}

/// One task starts others, which end before it goes on.
#[test]
fn random_programs_that_start_tasks_have_the_histories_of_interleavings() {
    let (mut many, mut large) = (0, 0);
    let programs = pick_of_three(80, 3_000, 100_000);
    for seed in 0..programs {
        let mut random = Random::new(seed);
        let mut ops = |at: usize| -> Vec<Op> {
            let n = random.below(3);
            (0..n).map(|it| random_op(&mut random, 10 * at + it, 1, 7)).collect()
        };
        let (other, own, before, after) = (ops(1), ops(2), ops(3), ops(4));
        let starts = [before, vec![Op::Start(other, own)], after].concat();
        let second = ops(7);
        let starts =
            if second.len() == 2 { vec![starts, vec![Op::Start(ops(8), second)]] } else { vec![starts] };
        let mut columns = vec![starts, vec![ops(5), ops(6)]];
        if seed % 2 == 0 {
            columns.reverse();
        }
        if columns.iter().flatten().any(|it| relocks(it, [false; 3])) {
            continue;
        }
        let mut dpor = Dpor::new(HISTORIES);
        let Some((expected, _)) = by_scheduler(&columns, &mut dpor, 400) else {
            large += 1;
            continue;
        };
        let (found, graphs) = by_graph(&columns);
        check_same(&found, &expected, &format!("seed {seed}: {columns:?}"));
        many += u64::from(5 < graphs);
    }
    assert!(
        programs / 40 < many && large < programs / 2,
        "{many} have many graphs, {large} are too large, of {programs}"
    );
}

#[test]
fn tasks_that_several_tasks_start_are_refused() {
    let starts = || vec![vec![Op::Start(vec![Op::Load(0, Relaxed)], Vec::new())]];
    let visit = |_: &mut ThreadProgram<_, _, _>, _: &Ending, _| ControlFlow::Continue(());
    let explored =
        |columns: &[Vec<Vec<Op>>]| explore(&mut program_of(columns), &mut Graph::default(), 100, visit).0;
    assert!(explored(&[starts(), starts()]).to_string().contains("threads that several threads start"));
    assert_eq!(explored(&[starts(), vec![vec![Op::Store(0, 1, Relaxed)]]]), Coverage::Exhausted);
}
