//! Histories with many pending operations, and those of objects with a capacity, which are searched
//! without it first, agree with the oracle.

use clewline_check::{JudgeOptions, check, judge, search::jit_graph::JitGraph};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Problem, Random, Retain, ValueDomain, Verdict};
use clewline_specs::{CATALOG, find};
use clewline_testing::{pick_of_three, share};

use crate::{
    histories::{drawn, every_history, random_history},
    queues::{VerdictCounts, agree, generated_of, oracle},
};

const WITH_PARAMETERS: &[&str] =
    &["queue:1", "queue:2", "stack:1", "stack:2", "deque:2", "bank:0", "quasi-queue:1", "semaphore:2"];

#[track_caller]
fn check_every(spec: &str, most: [usize; 3], actions: &[&str]) {
    let mut counts = VerdictCounts::default();
    for n in 1..=pick_of_three(most[0], most[1], most[2]) {
        every_history(spec, n, actions, |case| {
            agree(&JitGraph, &case.problems()[0], oracle(), &mut counts);
            check_judged(&case.problems()[0]);
        });
    }
    assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{spec}: {counts:?}");
}

/// What `auto` chooses agrees with the oracle; whether it holds.
#[track_caller]
pub(crate) fn check_judged(problem: &Problem<'_>) -> bool {
    let expected = check(oracle(), problem, &Budget::unlimited());
    let options = JudgeOptions { counterexample_configurations: 0, ..JudgeOptions::default() };
    let verdict = judge(vec![problem.clone()], &options).verdict;
    assert_eq!(verdict.word(), expected.word(), "{problem:#?}");
    matches!(verdict, Verdict::Holds(_))
}

#[test]
fn every_small_priority_queue_history() {
    let actions =
        ["add 1", "add 2", "add 1 → ?", "add 2 → ?", "poll → 1", "poll → 2", "poll → nil", "poll → ?"];
    check_every("priority-queue", [4, 5, 6], &actions);
}

#[test]
fn every_small_cas_register_history() {
    let actions = [
        "write 1",
        "write 1 → ?",
        "write 2 → ?",
        "cas [1 2] → true",
        "cas [1 2] → ?",
        "read → 1",
        "read → 2",
    ];
    check_every("cas-register", [4, 5, 6], &actions);
}

#[test]
fn every_small_history_of_queues_with_a_capacity() {
    let actions = [
        "enq 1 → true",
        "enq 2 → true",
        "enq 1 → false",
        "enq 2 → ?",
        "deq → 1",
        "deq → 2",
        "deq → ?",
        "peek → nil",
    ];
    check_every("queue:1", [4, 4, 6], &actions);
    check_every("queue:2", [4, 4, 6], &actions);
}

/// More than a half of the operations of some never return.
#[test]
fn random_histories_of_every_object() {
    let names = CATALOG.iter().map(|it| it.name).chain(WITH_PARAMETERS.iter().copied());
    for spec in names {
        let mut counts = VerdictCounts::default();
        for seed in 0..share(20_000) as u64 {
            let mut random = Random::new(seed ^ 0x9e37);
            let plan = GeneratorConfig {
                operations: 4 + random.below(9),
                processes: 2 + random.below(5),
                overlap: [0.3, 0.6, 1.0][random.below(3)],
                values: ValueDomain::Below(1 + random.below(4) as u32),
                keys: 1 + random.below(2),
                pending: [0.2, 0.4, 0.6][random.below(3)],
                seed,
                ..GeneratorConfig::default()
            };
            let swaps = random.below(4);
            let case =
                if seed % 2 == 0 { generated_of(spec, &plan, swaps) } else { random_history(spec, seed) };
            for problem in case.problems() {
                agree(&JitGraph, &problem, oracle(), &mut counts);
            }
        }
        // Whatever happens, a mutex without a result that changed holds.
        assert!(0 < counts.holds && (0 < counts.violated || spec == "mutex"), "{spec}: {counts:?}");
    }
}

#[test]
fn random_histories_with_a_capacity() {
    let (mut held, mut violated) = (0, 0);
    for spec in ["queue:1", "queue:2", "queue:3", "stack:2", "stack:3", "deque:2", "deque:3"] {
        for seed in 0..share(40_000) as u64 {
            match check_judged(&random_history(spec, seed).problems()[0]) {
                true => held += 1,
                false => violated += 1,
            }
        }
    }
    assert!(held < 4 * violated && violated < 4 * held, "{held} hold, {violated} are violated");
}

/// Counterexamples are minimized by forgetting results, returns and times.
#[test]
fn weaker_problems() {
    for spec in ["priority-queue", "cas-register", "bank", "queue:2", "stack:2", "deque:2"] {
        let mut counts = VerdictCounts::default();
        for seed in 0..share(30_000) as u64 {
            let mut random = Random::new(seed ^ 0xbad);
            let case = random_history(spec, seed);
            let weaker = case.problems()[0].weaken(|_| match random.below(10) {
                0 => Retain::CallOnly,
                1 => Retain::Unconstrained,
                2 | 3 => Retain::Optional,
                _ => Retain::All,
            });
            agree(&JitGraph, &weaker, oracle(), &mut counts);
        }
        let all = counts.holds + counts.violated;
        assert!(all < 20 * counts.holds.min(counts.violated), "{spec}: {counts:?}");
    }
}

fn long(spec: &str, operations: usize, processes: usize, pending: f64) -> Box<dyn ErasedHistory> {
    let values = ValueDomain::Below(20);
    let plan =
        GeneratorConfig { operations, processes, values, pending, seed: 5, ..GeneratorConfig::default() };
    let specification = find(spec).unwrap();
    specification.load(specification.generate(&plan)).unwrap()
}

#[track_caller]
fn check_holds(problem: &Problem<'_>, most: u64) {
    let budget = Budget::unlimited().with_configurations(most);
    let judgement = judge(vec![problem.clone()], &JudgeOptions { budget, ..JudgeOptions::default() });
    let Verdict::Holds(witness) = judgement.verdict else { panic!("{:?}", judgement.verdict) };
    assert_eq!(witness.verify(problem), Ok(()));
}

/// Too many contents for a search that knows them.
#[test]
fn long_queues_with_a_capacity() {
    for (spec, processes) in [("queue:64", 4), ("queue:64", 16), ("stack:64", 8), ("deque:64", 8)] {
        check_holds(&long(spec, 2_000, processes, 0.0).problems()[0], 50_000);
    }
}

/// A queue that was full is not, with a capacity that is greater.
#[test]
fn capacities_are_kept() {
    let full = "A: |-enq 1 → true-| |-enq 2 → true-| |-enq 3 → false-|\n";
    for (spec, holds) in [("queue:1", false), ("queue:2", true), ("queue:3", false)] {
        assert_eq!(check_judged(&drawn(spec, full).problems()[0]), holds, "{spec}");
    }
}
