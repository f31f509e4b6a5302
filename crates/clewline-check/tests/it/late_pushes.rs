//! The search of deques agrees with the oracle and another search, with equal values and pending
//! operations.

use clewline_check::{
    Checker, JudgeOptions, check, judge,
    search::{jit_graph::JitGraph, late_pushes::LatePushes},
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
        every_history("deque", n, actions, |case| {
            agree(&LatePushes, &case.problems()[0], oracle(), &mut counts);
        });
    }
    assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn every_small_history_with_two_values() {
    let pushes = ["push-front 1", "push-back 1", "push-front 2", "push-back 2"];
    let pops = ["pop-front → 1", "pop-back → 1", "pop-front → 2", "pop-back → nil"];
    check_every(&[pushes, pops].concat(), [4, 4, 5]);
}

#[test]
fn every_small_history_with_one_value() {
    let pops = ["pop-front → 1", "pop-back → 1", "pop-front → nil"];
    check_every(&[["push-front 1", "push-back 1"].as_slice(), &pops].concat(), [4, 5, 6]);
}

#[test]
fn every_small_history_with_pending_pushes() {
    let pushes = ["push-front 1", "push-back 2", "push-front 1 → ?", "push-back 1 → ?"];
    let pops = ["pop-front → 1", "pop-back → 1", "pop-back → 2", "pop-back → nil"];
    check_every(&[pushes, pops].concat(), [4, 4, 5]);
}

#[test]
fn every_small_history_with_pending_pops() {
    let pushes = ["push-front 1", "push-back 2", "push-back 1"];
    let pops = ["pop-front → 1", "pop-back → 1", "pop-back → 2", "pop-front → nil"];
    check_every(&[pushes.as_slice(), &pops, &["pop-front → ?", "pop-back → ?"]].concat(), [4, 4, 5]);
}

/// Pending pops of both ends, beside pushes that may be equal or pending as well.
#[test]
fn every_small_history_with_pending_operations() {
    let pushes = ["push-front 1", "push-back 1", "push-back 1 → ?"];
    let pops = ["pop-front → 1", "pop-back → nil", "pop-front → ?", "pop-back → ?"];
    check_every(&[pushes.as_slice(), &pops].concat(), [4, 5, 6]);
}

/// A history with few values, many of which are equal, and some results exchanged.
fn generated(seed: u64, operations: usize) -> Box<dyn ErasedHistory> {
    generated_with(seed, operations, 0.0)
}

fn generated_with(seed: u64, operations: usize, pending: f64) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(seed);
    let mix = ["push-front", "push-back", "pop-front", "pop-back"];
    let mut weights = mix.map(|it| (it.to_owned(), 1 + random.below(4) as u32)).to_vec();
    if random.below(3) == 0 {
        // As a stack or as a queue.
        weights.remove(random.below(2));
        weights.remove(1 + random.below(2));
    }
    let plan = GeneratorConfig {
        operations: operations / 2 + random.below(operations),
        processes: 2 + random.below(8),
        overlap: [0.3, 0.6, 1.0][random.below(3)],
        mix: weights,
        values: ValueDomain::Below(1 + random.below(6) as u32),
        pending,
        seed,
        ..GeneratorConfig::default()
    };
    let swaps = random.below(4);
    generated_of("deque", &plan, swaps)
}

#[test]
fn random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(150, 8_000, 1_000_000);
    for seed in 0..cases as u64 {
        agree(&LatePushes, &generated(seed, 16).problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 6 < counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn longer_random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(30, 2_000, 300_000);
    for seed in 0..cases as u64 {
        let case = generated(seed ^ 0x5eed, 40);
        let problem = &case.problems()[0];
        // The search finds some too hard, in time and in memory.
        let budget = Budget::unlimited().with_configurations(1 << 15);
        if !matches!(check(&JitGraph, problem, &budget), Verdict::Unknown(_)) {
            agree(&LatePushes, problem, &JitGraph, &mut counts);
        }
    }
    assert!(cases / 8 < counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn random_histories_with_pending_operations() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(200, 8_000, 1_000_000);
    for seed in 0..cases as u64 {
        let case = generated_with(seed ^ 0xde9e, 12, if seed & 1 == 0 { 0.1 } else { 0.3 });
        agree(&LatePushes, &case.problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 12 < counts.holds.min(counts.violated), "{counts:?}");
}

#[track_caller]
fn check_drawn(drawing: &str, expected: &str) {
    let case = drawn("deque", drawing);
    agree(&LatePushes, &case.problems()[0], oracle(), &mut VerdictCounts::default());
    assert_eq!(check(&LatePushes, &case.problems()[0], &Budget::unlimited()).word(), expected);
}

/// What was pushed between a push and its pop, and is still inside, would have been found.
#[test]
fn an_element_above_is_found_first() {
    let pushes = "A: |-push-back 1-| |-push-back 2-|\n";
    check_drawn(&format!("{pushes}B:                                 |-pop-back → 1-|\n"), "violated");
    check_drawn(&format!("{pushes}B:                                 |-pop-front → 1-|\n"), "holds");
    check_drawn(&format!("{pushes}B:                  |-pop-back → 1-|\n"), "holds");
}

/// A pop at the other end finds what was pushed first, if nothing was pushed at its own end.
#[test]
fn the_first_push_is_found_at_the_other_end() {
    let pushes = "A: |-push-back 1-| |-push-back 2-|\n";
    check_drawn(&format!("{pushes}B:                                 |-pop-front → 2-|\n"), "violated");
    let front = "C: |-push-front 3-|\n";
    check_drawn(
        &format!("{pushes}{front}B:                                 |-pop-front → 1-|\n"),
        "violated",
    );
    check_drawn(&format!("{pushes}{front}B:                                 |-pop-front → 3-|\n"), "holds");
}

/// Of two pending pushes, the later one is popped at its end, and the earlier one at the other.
#[test]
fn a_pop_near_a_pending_push_leaves_the_earlier_one() {
    let earlier = "A: |-push-back 0\nB:     |-push-back 2-|\nC:                          |-push-front 0-|\n";
    let pops = "D:                                              |-pop-front → 0-| |-pop-back → 0-| |-pop-front → 0-|\n";
    let later = "E:                                            |-push-back 0\n";
    check_drawn(&format!("{earlier}{later}{pops}"), "holds");
    check_drawn(&format!("{earlier}{pops}"), "violated");
}

/// It removes what is in the way, but not before it was called, and not twice.
#[test]
fn a_pending_pop_removes_what_is_in_the_way() {
    let pushes = "A: |-push-back 1-| |-push-back 2-| |-push-back 3-|\n";
    let pop = "C:                                                       |-pop-back → 1-|\n";
    let last = "C:                                                       |-pop-back → 2-|\n";
    let pending = "B: |-pop-back\n";
    check_drawn(&format!("{pushes}{pending}{last}"), "holds");
    check_drawn(&format!("{pushes}{pending}{pop}"), "violated");
    check_drawn(&format!("{pushes}{pending}D: |-pop-back\n{pop}"), "holds");
    check_drawn(
        &format!(
            "{pushes}{last}D:                                                                         |-pop-back\n"
        ),
        "violated",
    );
    // From the other end it would have to remove all of them.
    check_drawn(&format!("{pushes}B: |-pop-front\n{last}"), "violated");
}

/// It removes an element long before that one is in the way of a pop at the other end.
#[test]
fn a_pending_pop_comes_before_a_push() {
    let others = "A: |-push-front 1-|            |-push-front 2-|\nC:                                           |-pop-back → 2-|\n";
    check_drawn(&format!("{others}B:                  |-pop-front\n"), "holds");
    check_drawn(&format!("{others}B:                  |-pop-back\n"), "holds");
    check_drawn(&format!("{others}B:                                       |-pop-back\n"), "holds");
    check_drawn(
        &format!("{others}B:                                                   |-pop-front\n"),
        "violated",
    );
}

/// A drawing of operations from one column to another, a line for each.
fn drawing(operations: &[(usize, usize, &str)]) -> String {
    let line = |&(start, end, text): &(usize, usize, &str)| {
        let dashes = "-".repeat(end - start - 1 - text.chars().count());
        format!("A:{}|{text}{dashes}|\n", " ".repeat(start))
    };
    operations.iter().map(line).collect()
}

/// The pop of 1 finds the push that was called later: the other one is below 2.
#[test]
fn the_equal_push_that_returns_first_may_be_left() {
    let equal = [(0, 60, "push-front 1"), (30, 70, "push-front 1"), (63, 90, "push-back 9")];
    let others = [(5, 22, "push-front 2"), (32, 55, "pop-front → 1")];
    let pops = [(95, 115, "pop-front → 2"), (120, 140, "pop-front → 1")];
    check_drawn(&drawing(&[equal.as_slice(), &others, &pops].concat()), "holds");
}

/// It finds the one that was made last, so that 7 could be pushed after 5.
#[test]
fn the_longer_of_two_equal_pushes_may_be_found() {
    let equal = [(0, 70, "push-front 1"), (5, 25, "push-front 1")];
    let others = [(10, 70, "push-front 7"), (30, 100, "push-front 5"), (75, 95, "pop-front → 1")];
    let pops = [(105, 125, "pop-front → 7"), (130, 150, "pop-front → 5"), (155, 175, "pop-front → 1")];
    check_drawn(&drawing(&[equal.as_slice(), &others, &pops].concat()), "holds");
}

/// A pop that can do no harm to others may do harm to a pending one, which comes before 8 is
/// pushed.
#[test]
fn a_pending_pop_comes_before_a_pop_that_does_no_harm() {
    let pushes = [(0, 20, "push-front 9"), (1, 21, "push-back 7"), (30, 50, "push-front 8")];
    let pops = [(60, 80, "pop-back → 7"), (90, 110, "pop-back → 8")];
    let others = drawing(&[pushes.as_slice(), &pops].concat());
    check_drawn(&format!("{others}B:     |-pop-front\n"), "holds");
    check_drawn(&others, "violated");
}

fn long(operations: usize, processes: usize, values: ValueDomain) -> Box<dyn ErasedHistory> {
    let plan = GeneratorConfig { operations, processes, values, seed: 9, ..GeneratorConfig::default() };
    generated_of("deque", &plan, 0)
}

/// Too many orders for a search that knows the contents of the deque.
#[test]
fn long_histories() {
    let cases = [(8, ValueDomain::Distinct), (16, ValueDomain::Distinct), (8, ValueDomain::Below(20))];
    for (processes, values) in cases {
        let case = long(5_000, processes, values);
        let budget = Budget::unlimited().with_configurations(20_000);
        let judgement = judge(case.problems(), &JudgeOptions { budget, ..JudgeOptions::default() });
        assert_eq!(judgement.algorithm, "late-pushes");
        let Verdict::Holds(witness) = judgement.verdict else { panic!("it holds: {processes} processes") };
        assert_eq!(witness.verify(&case.problems()[0]), Ok(()));
    }
}

#[test]
fn budgets_are_kept() {
    let case = long(pick(100, 2_000), 8, ValueDomain::Below(20));
    let problem = &case.problems()[0];
    let budget = Budget::unlimited().with_configurations(100);
    assert_eq!(check(&LatePushes, problem, &budget), Verdict::Unknown(Reason::Configurations(100)));
    assert!(budget.visited() <= 101);
    let budget = Budget::unlimited().with_memory(1 << 10);
    assert_eq!(check(&LatePushes, problem, &budget), Verdict::Unknown(Reason::Memory(1 << 10)));
    assert_eq!(budget.memory_used(), 0, "what was held is given back");
    let budget = Budget::unlimited();
    budget.stop(Reason::Cancelled);
    assert_eq!(check(&LatePushes, problem, &budget), Verdict::Unknown(Reason::Cancelled));
}

#[test]
fn unsupported_histories_are_refused_with_a_reason() {
    let refusal = |specification: &str, drawing: &str| {
        LatePushes.refuses(&drawn(specification, drawing).problems()[0]).unwrap_or_default()
    };
    assert_eq!(refusal("stack", "A: |-push 1-|\n"), "late-pushes judges deques without capacity only");
    assert_eq!(
        refusal("deque:2", "A: |-push-back 1 → true-|\n"),
        "late-pushes judges deques without capacity only"
    );
    assert_eq!(
        refusal("deque", "A: |-push-back 1 → false-|\n"),
        "late-pushes does not know push-back(1) → false"
    );
}
