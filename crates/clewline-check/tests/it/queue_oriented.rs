//! The queue-oriented search agrees with the oracle and with another search, on queues with equal
//! values.

use clewline_check::{
    Checker, check,
    search::{jit_graph::JitGraph, queue_oriented::QueueOriented},
};
use clewline_core::{Budget, GeneratorConfig, Problem, Random, Reason, ValueDomain, Verdict};
use clewline_testing::{pick, share};

use crate::{
    histories::{drawn, every_history, random_times},
    queues::{VerdictCounts, agree, generated, mix, oracle},
};

/// The verdict is that of `other`, with evidence.
#[track_caller]
fn check_problem(problem: &Problem<'_>, other: &dyn Checker, counts: &mut VerdictCounts) {
    agree(&QueueOriented, problem, other, counts);
}

#[track_caller]
fn check_every(most: usize, actions: &[&str]) {
    let mut counts = VerdictCounts::default();
    for n in 0..=most {
        every_history("queue", n, actions, |case| {
            for problem in case.problems() {
                check_problem(&problem, oracle(), &mut counts);
            }
        });
    }
    assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn every_small_history_with_two_values() {
    check_every(5, &["enq 1", "enq 2", "deq → 1", "deq → 2", "deq → nil"]);
}

#[test]
fn every_small_history_with_one_value() {
    check_every(6, &["enq 1", "deq → 1", "deq → nil"]);
}

#[test]
fn every_small_history_with_pending_enqs() {
    check_every(5, &["enq 1", "enq 1 → ?", "enq 2 → ?", "deq → 1", "deq → nil"]);
}

/// All orders of these actions: more of them than can be tried with all others.
#[test]
fn histories_of_six_operations_that_balance() {
    let mut counts = VerdictCounts::default();
    let mut random = Random::new(5);
    let balanced = [
        ["enq 1", "enq 1", "enq 2", "deq → 1", "deq → 1", "deq → nil"],
        ["enq 1", "enq 2", "deq → 1", "deq → 2", "deq → nil", "deq → nil"],
        ["enq 1", "enq 1", "enq 2", "deq → 1", "deq → 2", "deq → nil"],
        ["enq 1", "enq 1", "enq 2", "enq 2", "deq → 1", "deq → 2"],
    ];
    for round in 0..share(60_000) {
        let mut actions = balanced[round % balanced.len()];
        for at in (1..actions.len()).rev() {
            actions.swap(at, random.below(at + 1));
        }
        let case = random_times("queue", &actions, &mut random);
        check_problem(&case.problems()[0], oracle(), &mut counts);
    }
    assert!(share(10_000) < counts.holds.min(counts.violated), "{counts:?}");
}

#[track_caller]
fn check_drawn(drawing: &str, expected: &str) {
    let case = drawn("queue", drawing);
    check_problem(&case.problems()[0], oracle(), &mut VerdictCounts::default());
    assert_eq!(check(&QueueOriented, &case.problems()[0], &Budget::unlimited()).word(), expected);
}

/// Without the floor the nil would be returned before the second enq.
#[test]
fn enqs_before_a_deq_come_before_later_deqs() {
    check_drawn(
        "
        A: |-enq 1----|          |-deq → 1-|
        B:    |-enq 1----------|
        C:              |-deq → nil-------------|
        ",
        "violated",
    );
}

/// Only with the deq that returns first can the enq that returns first be paired.
#[test]
fn the_pair_that_returns_first_goes_first() {
    check_drawn(
        "
        A: |-enq 1-----------------------------------------|
        B:    |-deq → 1-----------------------|
        C:        |-deq → 1-|
        D:                       |-enq 1-------------|
        ",
        "holds",
    );
}

/// The deq that returns first has to wait for enq(1), but then there is no room for the nil. (That
/// it returns first is known because enq(2) was called before the other returned.)
#[test]
fn a_nil_can_be_in_the_way_of_the_pair_that_returns_first() {
    check_drawn(
        "
        A: |-enq 0-|  |-deq → 0-----------------------------------------------------|
        B:              |-deq → nil----------------------------------------------------|
        C:                    |-enq 0------------|  |-deq → 0-|  |-enq 2-|
        D:                           |-enq 1-|
        ",
        "holds",
    );
}

#[test]
fn random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    for seed in 0..pick(800, 6_000) {
        let mut random = Random::new(seed);
        let plan = GeneratorConfig {
            operations: 4 + random.below(37),
            processes: 2 + random.below(4),
            overlap: [0.3, 0.6, 1.0][random.below(3)],
            mix: mix(30 + random.below(30) as u32),
            values: ValueDomain::Below(1 + random.below(3) as u32),
            seed,
            ..GeneratorConfig::default()
        };
        let case = generated(&plan, random.below(3));
        check_problem(&case.problems()[0], &JitGraph, &mut counts);
    }
    assert!(pick(100, 1_000) < counts.holds.min(counts.violated), "{counts:?}");
}

/// Half of the operations enqueue: too many orders for a search that does not use what a queue is.
#[test]
fn long_histories_with_few_values() {
    for (processes, values) in [(4, 20), (8, 3), (16, 2)] {
        let plan = GeneratorConfig {
            operations: 32_768,
            processes,
            mix: mix(50),
            values: ValueDomain::Below(values),
            seed: 9,
            ..GeneratorConfig::default()
        };
        let case = generated(&plan, 0);
        let problem = &case.problems()[0];
        let Verdict::Holds(witness) = check(&QueueOriented, problem, &Budget::unlimited()) else {
            panic!("it holds")
        };
        assert_eq!(witness.verify(problem), Ok(()));
    }
}

#[test]
fn long_histories_with_one_wrong_result() {
    let mut violated = 0;
    for seed in 0..6 {
        let plan = GeneratorConfig {
            operations: 8_192,
            processes: 4,
            mix: mix(50),
            values: ValueDomain::Below(20),
            seed,
            ..GeneratorConfig::default()
        };
        let case = generated(&plan, 1);
        let budget = Budget::unlimited().with_configurations(64 * 8_192);
        let verdict = check(&QueueOriented, &case.problems()[0], &budget);
        violated += usize::from(verdict.word() == "violated");
        assert_ne!(verdict.word(), "unknown", "seed {seed}");
    }
    assert!(2 < violated, "{violated}");
}

#[test]
fn budgets_are_kept() {
    let plan = GeneratorConfig {
        operations: 5_000,
        mix: mix(50),
        values: ValueDomain::Below(2),
        ..GeneratorConfig::default()
    };
    let case = generated(&plan, 0);
    let problem = &case.problems()[0];
    let budget = Budget::unlimited().with_configurations(100);
    assert_eq!(check(&QueueOriented, problem, &budget), Verdict::Unknown(Reason::Configurations(100)));
    assert!(budget.visited() <= 101);
    let budget = Budget::unlimited().with_memory(1 << 10);
    assert_eq!(check(&QueueOriented, problem, &budget), Verdict::Unknown(Reason::Memory(1 << 10)));
    let budget = Budget::unlimited();
    budget.stop(Reason::Cancelled);
    assert_eq!(check(&QueueOriented, problem, &budget), Verdict::Unknown(Reason::Cancelled));
}

#[track_caller]
fn check_refused(spec: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    assert_eq!(QueueOriented.refuses(&case.problems()[0]).as_deref(), Some(expected));
}

#[test]
fn unsupported_histories_are_refused_with_a_reason() {
    check_refused("stack", "A: |-push 1-|", "the queue-oriented search judges queues only");
    check_refused(
        "queue",
        "A: |-enq 1-| |-peek → 1-|",
        "the queue-oriented search pairs each enq with one deq, and cannot place peek() → 1",
    );
    check_refused(
        "queue",
        "A: |-enq 1-| |-deq",
        "the queue-oriented search has to know what each deq took, unlike the pending deq() → ?",
    );
}
