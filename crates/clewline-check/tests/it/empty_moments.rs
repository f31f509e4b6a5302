//! The search of bags agrees with the oracle and another search, with equal values and pending
//! operations.

use clewline_check::{
    Checker, JudgeOptions, check, judge,
    search::{empty_moments::EmptyMoments, jit_graph::JitGraph},
};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Random, Reason, ValueDomain, Verdict};
use clewline_testing::{pick, pick_of_three};

use crate::{
    histories::{drawn, every_history},
    queues::{VerdictCounts, agree, generated_of, oracle},
};

fn check_every(actions: &[&str], most: [usize; 3]) {
    let mut counts = VerdictCounts::default();
    for n in 1..=pick_of_three(most[0], most[1], most[2]) {
        every_history("bag", n, actions, |case| {
            agree(&EmptyMoments, &case.problems()[0], oracle(), &mut counts);
        });
    }
    assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn every_small_history_with_one_value() {
    check_every(&["add 1", "take → 1", "take → nil"], [5, 6, 7]);
}

#[test]
fn every_small_history_with_two_values() {
    check_every(&["add 1", "add 2", "take → 1", "take → 2", "take → nil"], [4, 5, 6]);
}

#[test]
fn every_small_history_with_pending_operations() {
    check_every(&["add 1", "add 1 → ?", "take → 1", "take → ?", "take → nil"], [4, 5, 6]);
}

/// A history with few values, in which the bag is often empty, and some results exchanged.
fn generated(seed: u64, operations: usize) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(seed);
    let plan = GeneratorConfig {
        operations: operations / 2 + random.below(operations),
        processes: 2 + random.below(8),
        overlap: [0.3, 0.6, 1.0][random.below(3)],
        mix: vec![("add".to_owned(), 3), ("take".to_owned(), 3 + random.below(3) as u32)],
        values: ValueDomain::Below(1 + random.below(4) as u32),
        pending: [0.0, 0.05, 0.2][random.below(3)],
        seed,
        ..GeneratorConfig::default()
    };
    let swaps = random.below(4);
    generated_of("bag", &plan, swaps)
}

#[test]
fn random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(400, 8_000, 300_000);
    for seed in 0..cases as u64 {
        agree(&EmptyMoments, &generated(seed, 14).problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 8 < counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn longer_random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(60, 2_000, 300_000);
    for seed in 0..cases as u64 {
        let case = generated(seed ^ 0x5eed, 40);
        let problem = &case.problems()[0];
        let budget = Budget::unlimited().with_configurations(1 << 13);
        if !matches!(check(&JitGraph, problem, &budget), Verdict::Unknown(_)) {
            agree(&EmptyMoments, problem, &JitGraph, &mut counts);
        }
    }
    assert!(cases / 10 < counts.holds.min(counts.violated), "{counts:?}");
}

#[track_caller]
fn check_drawn(drawing: &str, expected: &str) {
    let case = drawn("bag", drawing);
    agree(&EmptyMoments, &case.problems()[0], oracle(), &mut VerdictCounts::default());
    assert_eq!(check(&EmptyMoments, &case.problems()[0], &Budget::unlimited()).word(), expected);
}

/// The take that returns first takes the copy that has to be gone first.
#[test]
fn the_copy_that_has_to_be_gone_is_taken() {
    let adds = "A: |-add 1-|\nB:      |-add 1----------------------------------------|\n";
    let takes = "C:              |-take → 1-| |-take → nil-|\n";
    check_drawn(&format!("{adds}{takes}"), "holds");
    check_drawn(&format!("{adds}{takes}D:              |-take → nil-|\n"), "holds");
    check_drawn("A: |-add 1-| |-add 1-|\nB:                       |-take → 1-| |-take → nil-|\n", "violated");
}

/// A pending take may have taken any element, but only one, and not before its call.
#[test]
fn pending_takes_take_one_element_each() {
    let adds = "A: |-add 1-| |-add 2-|\n";
    let empty = "B:                              |-take → nil-|\n";
    check_drawn(&format!("{adds}{empty}C:        |-take\n"), "violated");
    check_drawn(&format!("{adds}{empty}C:        |-take\nD:          |-take\n"), "holds");
    check_drawn(
        &format!("{adds}{empty}C:        |-take\nD:                                               |-take\n"),
        "violated",
    );
}

fn long(operations: usize, processes: usize, values: u32) -> Box<dyn ErasedHistory> {
    let values = ValueDomain::Below(values);
    let plan = GeneratorConfig {
        operations,
        processes,
        values,
        pending: 0.05,
        seed: 9,
        ..GeneratorConfig::default()
    };
    generated_of("bag", &plan, 0)
}

/// Too many sets of pending operations for a search that tries them.
#[test]
fn long_histories_with_pending_operations() {
    for (processes, values) in [(4, 20), (8, 5), (16, 20)] {
        let case = long(pick(1_500, 5_000), processes, values);
        let budget = Budget::unlimited().with_configurations(10_000);
        let judgement = judge(case.problems(), &JudgeOptions { budget, ..JudgeOptions::default() });
        assert!(judgement.algorithm.contains("empty-moments"), "{}", judgement.algorithm);
        let Verdict::Holds(witness) = judgement.verdict else { panic!("it holds: {processes} processes") };
        assert_eq!(witness.verify(&case.problems()[0]), Ok(()));
    }
}

#[test]
fn budgets_are_kept() {
    let case = long(pick(300, 2_000), 8, 5);
    let problem = &case.problems()[0];
    let budget = Budget::unlimited().with_configurations(3);
    assert_eq!(check(&EmptyMoments, problem, &budget), Verdict::Unknown(Reason::Configurations(3)));
    assert!(budget.visited() <= 4);
    let budget = Budget::unlimited().with_memory(1 << 10);
    assert_eq!(check(&EmptyMoments, problem, &budget), Verdict::Unknown(Reason::Memory(1 << 10)));
    assert_eq!(budget.memory_used(), 0, "what was held is given back");
    let budget = Budget::unlimited();
    budget.stop(Reason::Cancelled);
    assert_eq!(check(&EmptyMoments, problem, &budget), Verdict::Unknown(Reason::Cancelled));
}

#[test]
fn unsupported_histories_are_refused_with_a_reason() {
    let case = drawn("stack", "A: |-push 1-|\n");
    let refusal = EmptyMoments.refuses(&case.problems()[0]).unwrap_or_default();
    assert_eq!(refusal, "empty-moments judges bags without capacity only");
}
