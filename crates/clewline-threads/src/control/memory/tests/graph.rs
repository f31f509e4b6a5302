//! The scheduler `graph`: its outcomes and histories are those of exhaustive exploration and of the
//! axioms, and no graph is explored twice.

use std::collections::BTreeSet;

use clewline_core::Random;
use clewline_explore::schedulers::{causality::DependenceRelation, dpor::Dpor, graph::Graph};
use clewline_testing::{
    litmus::{Candidates, LITMUS, Outcome, Program as Litmus},
    pick, pick_of_three,
};

use super::{
    oracle::{litmus_program, outcome_of, reduced, under},
    *,
};

/// The outcomes and graphs that the scheduler finds, and the number of executions.
fn explored(litmus: &Litmus) -> (BTreeSet<Outcome>, BTreeSet<Vec<u32>>, u64) {
    explored_by(&mut Graph::default(), litmus, under(ReleaseAcquire))
}

fn explored_by(
    scheduler: &mut Graph,
    litmus: &Litmus,
    memory: Memory,
) -> (BTreeSet<Outcome>, BTreeSet<Vec<u32>>, u64) {
    let (mut outcomes, mut graphs, mut executions) = (BTreeSet::new(), BTreeSet::new(), 0);
    let mut program = litmus_program(litmus, memory);
    let mut begin = Begin::Anew;
    while scheduler.begin(begin) {
        let ending = program.run(scheduler);
        assert_eq!(ending, Ending::Full, "{litmus}");
        outcomes.insert(outcome_of(&program));
        graphs.insert(scheduler.canonical());
        (executions, begin) = (executions + 1, Begin::Next);
    }
    (outcomes, graphs, executions)
}

/// Exactly the consistent graphs are explored, and each once. Returns their number.
#[track_caller]
fn check_graphs(litmus: &Litmus, name: &str) -> u64 {
    let (outcomes, graphs, executions) = explored(litmus);
    let (expected, consistent) =
        (litmus.relaxed(Candidates::Executable), litmus.graphs(Candidates::Executable));
    assert_eq!(outcomes, expected, "{name}: {litmus}");
    assert_eq!((graphs.len() as u64, executions), (consistent, consistent), "{name}: {litmus}");
    executions
}

#[test]
fn litmus_tests_have_one_execution_for_each_consistent_graph() {
    for it in LITMUS {
        let litmus = Litmus::parse(it.program);
        if litmus.0.len() <= pick(3, 4) {
            check_graphs(&litmus, it.name);
        }
    }
}

#[test]
fn random_programs_have_one_execution_for_each_consistent_graph() {
    let (mut executions, mut many) = (0, 0);
    let seeds = pick_of_three(150, 3_000, 100_000);
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        let operations = 4 + random.below(3);
        let litmus = Litmus::random(operations, &mut |n| random.below(n));
        let graphs = check_graphs(&litmus, &format!("seed {seed}"));
        (executions, many) = (executions + graphs, many + u64::from(10 < graphs));
    }
    assert!(seeds / 40 < many, "{many} of {seeds} programs have more than ten graphs, {executions} in all");
}

#[test]
fn larger_random_programs_have_the_outcomes_of_a_reduction_and_no_graph_twice() {
    for seed in 0..pick_of_three(40, 300, 5_000) {
        let mut random = Random::new(1_000_000 + seed);
        let litmus = Litmus::random(7 + random.below(2), &mut |n| random.below(n));
        let (outcomes, graphs, executions) = explored(&litmus);
        assert_eq!(graphs.len() as u64, executions, "seed {seed}: {litmus}");
        assert_eq!(outcomes, reduced(under(ReleaseAcquire), &litmus).0, "seed {seed}: {litmus}");
    }
}

/// What schedules within a bound of stale accesses show is what graphs within it show.
#[test]
fn a_bound_of_stale_accesses_leaves_out_the_other_graphs() {
    let (mut bounded, mut lost, programs) = (0, 0, pick_of_three(50, 2_000, 50_000));
    for seed in 0..programs {
        let mut random = Random::new(2_000_000 + seed);
        let litmus = Litmus::random(6 + random.below(2), &mut |n| random.below(n));
        let (every, _, all) = explored(&litmus);
        for most in 0..3 {
            let memory = Memory { stale_max: Some(most), ..under(ReleaseAcquire) };
            let mut scheduler = Graph::default();
            let (outcomes, graphs, executions) = explored_by(&mut scheduler, &litmus, memory);
            assert_eq!(graphs.len() as u64, executions, "seed {seed}, {most}: {litmus}");
            assert_eq!(scheduler.is_bounded(), executions < all, "seed {seed}, {most}: {litmus}");
            assert_eq!(outcomes, reduced(memory, &litmus).0, "seed {seed}, {most}: {litmus}");
            bounded += u64::from(executions < all);
            lost += u64::from(outcomes != every);
        }
    }
    assert!(programs / 10 < bounded && programs / 20 < lost, "{bounded} bounded, {lost} lose outcomes");
}

/// Explores calls on words, one task for each column of bodies. Returns the results of the bodies
/// in complete executions, the number of these, the number of all executions, and the coverage.
fn explored_bodies(
    columns: &[Vec<Body>],
    scheduler: &mut dyn Scheduler,
    memory: Memory,
) -> (BTreeSet<Vec<Option<usize>>>, u64, u64, Coverage) {
    let calls = Calls { columns: columns.to_vec(), initial: Vec::new(), last: Vec::new() };
    let call = |words: &Words, body: &Body| body(words);
    let mut program = ThreadProgram::new(calls, Words::default, call, Limits::default()).with_memory(memory);
    let (mut seen, mut full) = (BTreeSet::new(), 0);
    let (coverage, executions) = explore(&mut program, scheduler, u64::MAX, |program, ending, _| {
        full += u64::from(*ending == Ending::Full);
        let results = program.outcome().operations.into_iter().map(|it| it.ret.map(|it| it.1));
        seen.insert(if *ending == Ending::Full { results.collect() } else { Vec::new() });
        ControlFlow::Continue(())
    });
    (seen, full, executions, coverage)
}

fn graphs_of(columns: &[Vec<Body>]) -> u64 {
    let (_, full, executions, coverage) =
        explored_bodies(columns, &mut Graph::default(), under(ReleaseAcquire));
    assert_eq!((coverage, full), (Coverage::Exhausted, executions));
    executions
}

const STORES: [Body; 4] = [
    |it| {
        it[0].store(1, Relaxed);
        0
    },
    |it| {
        it[0].store(2, Relaxed);
        0
    },
    |it| {
        it[0].store(3, Relaxed);
        0
    },
    |it| {
        it[0].store(4, Relaxed);
        0
    },
];
const LOAD: Body = |it| it[0].load(Relaxed);
const ADD: Body = |it| it[0].fetch_add(1, AcqRel);

#[test]
fn families_have_as_many_executions_as_their_formulas() {
    let factorial = |n: u64| (1..=n).product::<u64>();
    for writers in 0..4 {
        for readers in 0..pick(3, 5) {
            let columns = STORES[..writers].iter().map(|it| vec![*it]);
            let columns: Vec<Vec<Body>> = columns.chain(vec![vec![LOAD]; readers]).collect();
            let (n, m) = (writers as u64, readers as u32);
            let expected = factorial(n) * (n + 1).pow(m);
            assert_eq!(graphs_of(&columns), expected, "{writers} writers, {readers} readers");
        }
    }
    let draw: Body = |it| it[0].load(Relaxed) + 10 * crate::choose(3);
    assert_eq!(graphs_of(&[vec![draw], vec![STORES[0]]]), 6, "two loads, three values");
    for tasks in 1..=pick(4, 6) {
        assert_eq!(graphs_of(&vec![vec![ADD]; tasks]), factorial(tasks as u64), "{tasks} updates");
    }
}

/// Threads insert into one hash table of 128 entries, four values each.
#[test]
fn indexer_has_as_many_executions_as_published() {
    let graphs = |threads: usize| {
        let calls = Calls { columns: (0..threads).map(|it| vec![it]).collect(), ..Calls::default() };
        let make = || (0..128).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>();
        let call = |table: &Vec<AtomicUsize>, thread: &usize| {
            for value in (1..=4).map(|it| it * 11 + thread) {
                let mut at = value * 7 % 128;
                while table[at].compare_exchange(0, value, AcqRel, Acquire).is_err() {
                    at = (at + 1) % 128;
                }
            }
        };
        let mut program =
            ThreadProgram::new(calls, make, call, Limits::default()).with_memory(under(ReleaseAcquire));
        let visit = |_: &mut ThreadProgram<_, _, _>, _: &Ending, _| ControlFlow::Continue(());
        explore(&mut program, &mut Graph::default(), u64::MAX, visit)
    };
    for (threads, expected) in [(2, 1), (11, 1), (12, 8), (13, 64), (14, 512)] {
        if threads <= pick(13, 14) {
            assert_eq!(graphs(threads), (Coverage::Exhausted, expected), "{threads} threads");
        }
    }
}

const WAIT: Body = |it| {
    while it[0].load(Acquire) == 0 {
        spin_loop();
    }
    it[1].load(Relaxed)
};
const WAIT_SILENTLY: Body = |it| {
    while it[0].load(Acquire) == 0 {}
    it[1].load(Relaxed)
};
const ANNOUNCE: Body = |it| {
    it[1].store(7, Relaxed);
    it[0].store(1, Release);
    0
};
const COUNTS: Body = |it| (0..20).filter(|_| it[0].load(Relaxed) == 0).count();
const SPIN_LOCK: Body = |it| {
    while it[0].swap(1, Acquire) != 0 {
        spin_loop();
    }
    let seen = it[1].load(Relaxed);
    it[1].store(seen + 1, Relaxed);
    it[0].store(0, Release);
    seen
};
const TICKET_LOCK: Body = |it| {
    let ticket = it[0].fetch_add(1, Relaxed);
    while it[1].load(Acquire) != ticket {
        spin_loop();
    }
    let seen = it[2].load(Relaxed);
    it[2].store(seen + 1, Relaxed);
    it[1].store(ticket + 1, Release);
    seen
};
const TRY_TICKET: Body = |it| {
    let ticket = it[0].fetch_add(1, Relaxed);
    if it[1].load(Acquire) == ticket {
        it[1].store(ticket + 1, Release);
    }
    ticket
};

/// Each ticket is served after those before it. A thread that waits reads each of these at most
/// twice: a third time, it waits to the end.
#[test]
fn a_ticket_lock_has_as_many_executions_as_its_formula() {
    let factorial = |n: u32| (1..=u64::from(n)).product::<u64>();
    for n in 1..=pick(2, 3) {
        let columns = vec![vec![TICKET_LOCK]; n as usize];
        let (_, full, _, coverage) = explored_bodies(&columns, &mut Graph::default(), under(ReleaseAcquire));
        assert_eq!(coverage, Coverage::Exhausted);
        assert_eq!(full, factorial(n) * 3_u64.pow(n * (n - 1) / 2), "{n} threads");
    }
    // The threads do not wait: all are served, or ticket `first` is the first that is not, and each
    // later one reads any ticket up to it.
    for n in 1..=pick(3, 4) {
        let missed = (1..n).map(|first| u64::from(first) * u64::from(first + 1).pow(n - 1 - first));
        let expected = factorial(n) * (1 + missed.sum::<u64>());
        assert_eq!(graphs_of(&vec![vec![TRY_TICKET]; n as usize]), expected, "{n} threads");
    }
}

#[test]
fn loops_that_wait_end_with_what_they_wait_for() {
    let check = |columns: &[Vec<Body>], expected: &[&[usize]]| {
        let (seen, _, _, coverage) = explored_bodies(columns, &mut Graph::default(), under(ReleaseAcquire));
        let expected = expected.iter().map(|it| it.iter().copied().map(Some).collect());
        assert_eq!((coverage, seen), (Coverage::Exhausted, expected.collect()));
    };
    check(&[vec![WAIT], vec![ANNOUNCE]], &[&[7, 0]]);
    check(&[vec![ANNOUNCE], vec![WAIT], vec![WAIT_SILENTLY]], &[&[0, 7, 7]]);
    check(&[vec![WAIT_SILENTLY], vec![WAIT], vec![ANNOUNCE]], &[&[7, 7, 0]]);
    for lock in [SPIN_LOCK, TICKET_LOCK] {
        check(&[vec![lock], vec![lock]], &[&[0, 1], &[1, 0]]);
    }
    // A loop that counts does not wait.
    let (seen, ..) =
        explored_bodies(&[vec![COUNTS], vec![STORES[0]]], &mut Graph::default(), under(ReleaseAcquire));
    assert!((0..=20).all(|it| seen.contains(&vec![Some(it), Some(0)])), "{seen:?}");
}

#[test]
fn a_panic_is_found_and_hides_no_other_execution() {
    let fails: Body = |it| {
        assert!(it[0].load(Relaxed) != 0, "not yet");
        it[1].load(Relaxed)
    };
    let announce: Body = |it| {
        it[1].store(7, Relaxed);
        it[0].store(1, Relaxed);
        0
    };
    for columns in [[vec![fails], vec![announce]], [vec![announce], vec![fails]]] {
        let by = |scheduler: &mut dyn Scheduler| explored_bodies(&columns, scheduler, under(ReleaseAcquire));
        let (seen, ..) = by(&mut Graph::default());
        assert_eq!(seen, by(&mut Exhaustive::default()).0);
        assert_eq!(seen.len(), 3);
    }
}

#[test]
fn schedules_of_graphs_can_be_replayed() {
    let check = |columns: &[Vec<Body>]| {
        let calls = Calls { columns: columns.to_vec(), initial: Vec::new(), last: Vec::new() };
        let call = |words: &Words, body: &Body| body(words);
        let make = || {
            ThreadProgram::new(calls.clone(), Words::default, call, Limits::default())
                .with_memory(under(ReleaseAcquire))
        };
        let (mut program, mut again) = (make(), make());
        program.keep(true, false);
        explore(&mut program, &mut Graph::default(), u64::MAX, |program, ending, _| {
            let token = ReleaseAcquire.token(&program.schedule().expect("it was kept"));
            let (_, schedule) = MemoryModel::read_token(&token).expect("a token");
            let mut replay = Replay::new(schedule);
            assert_eq!(again.run(&mut replay), *ending);
            assert!(replay.is_faithful(), "{token}");
            assert_eq!(again.outcome(), program.outcome(), "{token}");
            ControlFlow::Continue(())
        })
        .1
    };
    assert!(3 < check(&[vec![STORES[0], LOAD], vec![STORES[1], LOAD]]));
    assert!(3 < check(&[vec![ADD, LOAD], vec![LOAD, ADD]]));
    let store_and_load: [Body; 2] = [
        |it| {
            it[0].store(1, Release);
            it[1].load(SeqCst)
        },
        |it| {
            it[1].store(1, SeqCst);
            it[0].load(SeqCst)
        },
    ];
    assert!(2 < check(&store_and_load.map(|it| vec![it])));
    assert!(1 < check(&[vec![WAIT], vec![ANNOUNCE]]));
    assert!(1 < check(&[vec![SPIN_LOCK], vec![SPIN_LOCK]]));
    assert!(1 < check(&[vec![TICKET_LOCK], vec![TICKET_LOCK]]));
}

#[test]
fn what_is_not_explored_is_refused_with_a_sentence() {
    let sentence = |memory: Memory, columns: &[Vec<Body>]| {
        let (seen, _, _, coverage) = explored_bodies(columns, &mut Graph::default(), memory);
        assert!(seen.is_empty());
        coverage.to_string()
    };
    let weak = under(ReleaseAcquire);
    let load = [vec![LOAD]];
    for (memory, word) in [
        (Memory { real_time: true, ..weak }, "`--real-time`"),
        (Memory { spurious_failures: true, ..weak }, "spurious failures"),
    ] {
        let found = sentence(memory, &load);
        assert!(found.contains(word) && found.ends_with("use `bounded-dpor`"), "{found}");
    }
    let lock: Body = |_| {
        let lock = Mutex::new(3);
        *lock.try_lock().expect("no task holds it")
    };
    let wait: Body = |_| {
        crate::thread::park_timeout(std::time::Duration::ZERO);
        0
    };
    let once: Body = |_| *crate::sync::OnceLock::new().get_or_init(|| 3);
    let count: Body = |_| {
        let shared = crate::sync::Arc::new(1);
        drop(crate::sync::Arc::clone(&shared));
        crate::sync::Arc::strong_count(&shared)
    };
    for (body, word) in
        [(lock, "tries to take a lock"), (wait, "timeouts"), (once, "runs once"), (count, "reference counts")]
    {
        let found = sentence(weak, &[vec![LOAD], vec![body]]);
        assert!(found.contains(word), "{found}");
    }
}

#[test]
fn a_program_that_does_something_else_is_noticed() {
    for different in 2..5 {
        let calls = Calls { columns: vec![vec![0; 2], vec![0; 2]], ..Calls::default() };
        let made = std::cell::Cell::new(0);
        let make = move || {
            made.set(made.get() + 1);
            (made.get() == different, [AtomicUsize::new(0), AtomicUsize::new(0)])
        };
        let call = |it: &(bool, [AtomicUsize; 2]), _: &usize| {
            if it.0 { it.1[0].load(SeqCst) } else { it.1[0].fetch_add(1, SeqCst) }
        };
        let mut program =
            ThreadProgram::new(calls, make, call, Limits::default()).with_memory(under(ReleaseAcquire));
        let visit = |_: &mut ThreadProgram<_, _, _>, _: &Ending, _| ControlFlow::Continue(());
        let (coverage, executions) = explore(&mut program, &mut Graph::default(), 1_000, visit);
        assert!(matches!(coverage, Coverage::Limited(Limit::Diverged(_))), "{coverage:?}");
        assert_eq!(executions, different);
    }
}

/// An access of a random program.
#[derive(Clone, Copy, Debug)]
enum Access {
    Load(usize, Ordering),
    Store(usize, usize, Ordering),
    /// Compares with a value, and has another ordering if it fails.
    Exchange(usize, usize, usize, [Ordering; 2]),
    Fence,
}

fn random_access(random: &mut Random, value: usize) -> Access {
    let (at, orders) = (random.below(2), [Relaxed, SeqCst]);
    let mut order = || orders[random.below(2)];
    match (order(), order()) {
        _ if value.is_multiple_of(5) => Access::Fence,
        (success, failure) if value.is_multiple_of(2) => {
            let expected = if value < 4 { 0 } else { value - 3 };
            Access::Exchange(at, expected, value, [success, failure])
        }
        (order, Relaxed) => Access::Load(at, order),
        (order, _) => Access::Store(at, value, order),
    }
}

#[test]
#[ignore = "long"]
fn exchanges_that_fail_have_their_own_ordering() {
    let (mut many, programs) = (0, pick_of_three(120, 2_000, 50_000));
    for seed in 0..programs {
        let mut random = Random::new(seed);
        let mut columns = vec![vec![Vec::new()]; 2 + random.below(2)];
        for value in 1..=6 {
            let at = random.below(columns.len());
            columns[at][0].push(random_access(&mut random, value));
        }
        let explored = |scheduler: &mut dyn Scheduler| {
            let calls = Calls { columns: columns.clone(), initial: Vec::new(), last: vec![Vec::new()] };
            let call = |words: &Words, accesses: &Vec<Access>| {
                let make = |it: &Access| match *it {
                    Access::Load(at, order) => words[at].load(order),
                    Access::Store(at, value, order) => {
                        words[at].store(value, order);
                        0
                    }
                    Access::Exchange(at, old, new, [success, failure]) => {
                        words[at].compare_exchange(old, new, success, failure).unwrap_or_else(|it| 10 + it)
                    }
                    Access::Fence => {
                        fence(SeqCst);
                        0
                    }
                };
                let last = [0, 1].map(|at| if accesses.is_empty() { words[at].load(Relaxed) } else { 0 });
                accesses.iter().map(make).chain(last).collect::<Vec<usize>>()
            };
            let memory = under(ReleaseAcquire);
            let mut program =
                ThreadProgram::new(calls, Words::default, call, Limits::default()).with_memory(memory);
            let mut seen = BTreeSet::new();
            let (coverage, executions) = explore(&mut program, scheduler, u64::MAX, |program, _, _| {
                let results = program.outcome().operations.into_iter().map(|it| it.ret.map(|it| it.1));
                seen.insert(results.collect::<Vec<_>>());
                ControlFlow::Continue(())
            });
            assert_eq!(coverage, Coverage::Exhausted, "seed {seed}: {columns:?}");
            (seen, executions)
        };
        let (found, executions) = explored(&mut Graph::default());
        let (expected, _) = explored(&mut Dpor::new(DependenceRelation::Histories));
        assert_eq!(found, expected, "seed {seed}: {columns:?}");
        many += u64::from(4 < executions);
    }
    assert!(programs / 20 < many, "{many} of {programs} have more than four executions");
}
