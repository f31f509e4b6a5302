//! The relaxed pushdown search agrees with the referee and the oracle, on relaxed stacks with equal
//! values and peeks.

use clewline_check::{
    Checker, JudgeOptions, judge,
    search::relaxed_pushdown::{RelaxedPushdown, search},
};
use clewline_core::{Budget, GeneratorConfig, ObjectKind, Random, RoleKind, ValueDomain, Verdict};
use clewline_specs::find;
use clewline_testing::pick_of_three;

use crate::{
    histories::{drawn, every_history},
    monitors::small_histories::Menu,
    queues::{VerdictCounts, agree, check_every, generated_of, oracle},
};

const ALL: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Observe, RoleKind::Empty];
const UNSEEN: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Empty];

#[track_caller]
fn check_small(factor: u32, acts: &'static [RoleKind], values: u64, most: [usize; 3]) {
    let kind = ObjectKind::QuasiStack { factor };
    let menu = Menu { kind, acts, pending: &[], values, sees: 8, is_distinct: false };
    check_every(&menu, most, search);
}

#[test]
fn every_small_history() {
    check_small(1, ALL, 2, [4, 5, 6]);
    check_small(1, UNSEEN, 3, [4, 6, 7]);
    check_small(2, UNSEEN, 3, [4, 6, 7]);
}

/// As problems: with labels, witnesses that are verified, and prefixes.
#[test]
fn every_small_problem() {
    let actions = ["push 1", "push 2", "push 3", "pop → 1", "pop → 2", "pop → nil", "peek → 1"];
    for spec in ["quasi-stack:1", "quasi-stack:2"] {
        let mut counts = VerdictCounts::default();
        for n in 1..=pick_of_three(4, 5, 6) {
            every_history(spec, n, &actions, |case| {
                agree(&RelaxedPushdown, &case.problems()[0], oracle(), &mut counts);
            });
        }
        assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{counts:?}");
    }
}

#[test]
fn random_histories() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(400, 20_000, 300_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed ^ 0x57ac);
        let plan = GeneratorConfig {
            operations: 4 + random.below(16),
            processes: 2 + random.below(4),
            overlap: [0.3, 0.6, 1.0][random.below(3)],
            values: ValueDomain::Below(1 + random.below(8) as u32),
            mix: [("push", 4), ("pop", 3), ("peek", 1)].map(|it| (it.0.to_owned(), it.1)).to_vec(),
            seed,
            ..GeneratorConfig::default()
        };
        let name = ["quasi-stack:1", "quasi-stack:2", "quasi-stack:3"][random.below(3)];
        let case = generated_of(name, &plan, random.below(6));
        eprintln!("seed {seed}: {name}");
        agree(&RelaxedPushdown, &case.problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 20 < counts.holds.min(counts.violated), "{counts:?}");
}

/// With all contents in its configurations, no search finishes this.
#[test]
fn long_histories() {
    for (operations, processes) in [(2_000, 4), (500, 8)] {
        let plan = GeneratorConfig { operations, processes, seed: 3, ..GeneratorConfig::default() };
        let specification = find("quasi-stack").unwrap();
        let case = specification.load(specification.generate(&plan)).unwrap();
        let budget = Budget::unlimited().with_configurations(400_000);
        let judgement = judge(case.problems(), &JudgeOptions { budget, ..JudgeOptions::default() });
        assert!(judgement.algorithm.contains("relaxed-pushdown"), "{}", judgement.algorithm);
        assert!(matches!(judgement.verdict, Verdict::Holds(_)), "{:?}", judgement.verdict);
    }
}

/// The second 1 leaves, which was overtaken more often than the first: 3 is not overtaken twice.
#[test]
fn what_is_left_was_overtaken_as_little_as_can_be() {
    let case =
        drawn("quasi-stack:2", "A: |-push 1-| |-push 1-| |-push 3-| |-pop → 1-| |-pop → 1-| |-pop → 3-|\n");
    agree(&RelaxedPushdown, &case.problems()[0], oracle(), &mut VerdictCounts::default());
}

#[test]
fn others_are_refused() {
    let refusal = |spec: &str, drawing: &str| RelaxedPushdown.refuses(&drawn(spec, drawing).problems()[0]);
    let other = "relaxed-pushdown judges relaxed stacks without capacity only";
    assert_eq!(refusal("stack", "A: |-push 1-|\n").as_deref(), Some(other));
    let pending = "relaxed-pushdown takes no pending operations";
    assert_eq!(refusal("quasi-stack", "A: |-push 1-| |-pop\n").as_deref(), Some(pending));
}
