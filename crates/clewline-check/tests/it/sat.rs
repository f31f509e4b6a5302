//! Stacks as formulas agree with the referee, the oracle and `pushdown`.

use clewline_check::{
    JudgeOptions, judge,
    search::{
        pushdown::Pushdown,
        sat::{Sat, search},
    },
};
use clewline_core::{
    Budget, ErasedHistory, GeneratorConfig, ObjectKind, Random, Reason, RoleKind, ValueDomain, Verdict,
};
use clewline_testing::{pick, pick_of_three};

use crate::{
    monitors::small_histories::Menu,
    pushdown::generated,
    queues::{VerdictCounts, agree, check_every, generated_of, oracle},
};

const ALL: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Observe, RoleKind::Empty];
const PENDING: &[RoleKind] = &[RoleKind::Add, RoleKind::RemoveUnknown];

#[track_caller]
fn check_small(pending: &'static [RoleKind], values: u64, most: [usize; 3]) {
    let menu = Menu { kind: ObjectKind::Stack, acts: ALL, pending, values, sees: 8, is_distinct: false };
    check_every(&menu, most, search);
}

#[test]
fn every_small_history_with_one_value() {
    check_small(&[], 1, [4, 6, 7]);
}

#[test]
fn every_small_history_with_two_values() {
    check_small(&[], 2, [4, 5, 6]);
}

#[test]
fn every_small_history_with_pending_operations() {
    check_small(PENDING, 1, [4, 5, 6]);
    check_small(PENDING, 2, [3, 5, 6]);
}

#[test]
fn random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(100, 20_000, 300_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed ^ 0x5a7);
        let (operations, swaps) = (4 + random.below(17), random.below(4));
        let case = generated(seed, &mut random, operations, swaps);
        agree(&Sat, &case.problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 5 < counts.holds.min(counts.violated), "{counts:?}");
}

/// A history of which many operations are open.
fn crowded(seed: u64, operations: usize, processes: usize, swaps: usize) -> Box<dyn ErasedHistory> {
    let plan = GeneratorConfig {
        operations,
        processes,
        overlap: 0.9,
        values: ValueDomain::Below(20),
        pending: [0.0, 0.05][(seed % 2) as usize],
        seed,
        ..GeneratorConfig::default()
    };
    generated_of("stack", &plan, swaps)
}

#[test]
fn crowded_histories() {
    let mut counts = VerdictCounts::default();
    for seed in 0..pick_of_three(4, 150, 1_000) as u64 {
        let case = crowded(seed, 60, 10, (seed % 3) as usize);
        agree(&Sat, &case.problems()[0], &Pushdown, &mut counts);
    }
    assert!(0 < counts.holds && 0 < counts.violated, "{counts:?}");
}

/// What takes `pushdown` long is given to the solver.
#[test]
fn a_crowded_history_is_judged_by_the_solver() {
    let case = crowded(4, pick(400, 800), 16, 0);
    let held = judge(case.problems(), &JudgeOptions::default());
    assert!(matches!(held.verdict, Verdict::Holds(_)), "{held:?}");
    assert!(held.algorithm.contains("sat"), "{}", held.algorithm);
}

#[test]
fn what_it_refutes_has_a_small_counterexample() {
    let options = JudgeOptions { algorithm: "sat".parse().unwrap(), ..JudgeOptions::default() };
    let (mut violated, mut verified) = (0, 0);
    for seed in 0..pick(4, 60) {
        let judged = judge(crowded(seed, 80, 10, 2).problems(), &options);
        let Verdict::Violated(violation) = judged.verdict else { continue };
        assert!(violation.counterexample.len() < 20, "{violation:?}");
        violated += 1;
        verified += usize::from(violation.is_verified);
    }
    // With many other operations open, a proof may take more than the budget; then it says so.
    assert!(1 < violated && violated < 2 * verified, "{verified} of {violated}");
}

#[test]
fn its_limits_are_kept() {
    let case = crowded(3, 2_000, 16, 0);
    let problem = &case.problems()[0];
    let memory = Budget::unlimited().with_memory(1 << 20);
    assert_eq!(clewline_check::check(&Sat, problem, &memory), Verdict::Unknown(Reason::Memory(1 << 20)));
    let case = crowded(4, 400, 16, 0);
    let few = Budget::unlimited().with_configurations(1);
    let expected = Verdict::Unknown(Reason::Configurations(1));
    assert_eq!(clewline_check::check(&Sat, &case.problems()[0], &few), expected);
}
