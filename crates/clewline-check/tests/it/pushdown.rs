//! The pushdown search agrees with the referee, the oracle and another search, on stacks with equal
//! values, peeks and pending operations.

use clewline_check::{
    Checker, JudgeOptions, check, judge,
    search::{
        jit_graph::JitGraph,
        pushdown::{Pushdown, search},
    },
};
use clewline_core::{
    Budget, ErasedHistory, GeneratorConfig, ObjectKind, Problem, Random, Reason, Retain, RoleKind,
    ValueDomain, Verdict,
};
use clewline_testing::{pick_of_three, share};

use crate::{
    histories::{drawn, every_history},
    monitors::small_histories::Menu,
    queues::{VerdictCounts, agree, check_every, generated_of, oracle},
};

const ALL: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Observe, RoleKind::Empty];
const UNSEEN: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Empty];
const PENDING: &[RoleKind] = &[RoleKind::Add, RoleKind::RemoveUnknown];

#[track_caller]
fn check_small(acts: &'static [RoleKind], pending: &'static [RoleKind], values: u64, most: [usize; 3]) {
    let menu = Menu { kind: ObjectKind::Stack, acts, pending, values, sees: 8, is_distinct: false };
    check_every(&menu, most, search);
}

#[test]
fn every_small_history_with_one_value() {
    check_small(ALL, &[], 1, [5, 6, 7]);
}

#[test]
fn every_small_history_with_two_values() {
    check_small(UNSEEN, &[], 2, [5, 5, 7]);
}

#[test]
fn every_small_history_with_two_values_and_peeks() {
    check_small(ALL, &[], 2, [4, 5, 6]);
}

#[test]
fn every_small_history_with_pending_operations() {
    check_small(ALL, PENDING, 1, [5, 5, 6]);
    check_small(ALL, PENDING, 2, [4, 5, 6]);
}

#[test]
fn every_small_history_with_three_values() {
    check_small(UNSEEN, PENDING, 3, [4, 5, 6]);
}

/// As problems: with labels, witnesses that are verified, and prefixes.
#[test]
fn every_small_problem() {
    let mut counts = VerdictCounts::default();
    let actions = [
        "push 1",
        "push 1 → ?",
        "push 2",
        "pop → 1",
        "pop → 2",
        "pop → nil",
        "pop → ?",
        "peek → 1",
        "peek → nil",
        "peek → ?",
    ];
    for n in 1..=4 {
        every_history("stack", n, &actions, |case| {
            agree(&Pushdown, &case.problems()[0], oracle(), &mut counts);
        });
    }
    assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{counts:?}");
}

/// A history with few values, many of which are equal, and some results exchanged.
pub(crate) fn generated(
    seed: u64,
    random: &mut Random,
    operations: usize,
    swaps: usize,
) -> Box<dyn ErasedHistory> {
    let push = 30 + random.below(30) as u32;
    let mix = [("push", push), ("pop", 100 - push)].map(|it| (it.0.to_owned(), it.1));
    let plan = GeneratorConfig {
        operations,
        processes: 2 + random.below(4),
        overlap: [0.3, 0.6, 1.0][random.below(3)],
        mix: if random.below(2) == 0 { mix.to_vec() } else { Vec::new() },
        values: ValueDomain::Below(1 + random.below(4) as u32),
        pending: [0.0, 0.0, 0.05, 0.2][random.below(4)],
        seed,
        ..GeneratorConfig::default()
    };
    generated_of("stack", &plan, swaps)
}

#[test]
fn random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(1_000, 40_000, 1_000_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed);
        let (operations, swaps) = (4 + random.below(17), random.below(4));
        let case = generated(seed, &mut random, operations, swaps);
        agree(&Pushdown, &case.problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 5 < counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn longer_random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(100, 4_000, 300_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed ^ 0x5eed);
        let (operations, swaps) = (20 + random.below(41), random.below(4));
        let case = generated(seed, &mut random, operations, swaps);
        agree(&Pushdown, &case.problems()[0], &JitGraph, &mut counts);
    }
    assert!(cases / 5 < counts.holds.min(counts.violated), "{counts:?}");
}

/// Counterexamples are minimized by forgetting results, returns and times.
#[test]
fn weaker_problems() {
    let mut counts = VerdictCounts::default();
    for seed in 0..share(20_000) {
        let mut random = Random::new(seed ^ 0xbad);
        let (operations, swaps) = (4 + random.below(9), 2 + random.below(4));
        let case = generated(seed, &mut random, operations, swaps);
        let weaker = case.problems()[0].weaken(|_| match random.below(8) {
            0 => Retain::CallOnly,
            1 => Retain::Unconstrained,
            _ => Retain::All,
        });
        agree(&Pushdown, &weaker, oracle(), &mut counts);
    }
    assert!(share(2_000) < counts.holds.min(counts.violated), "{counts:?}");
}

/// Which of few pending operations were used below an element matters for what comes above it.
#[test]
fn scarce_pending_operations() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(1_500, 60_000, 1_000_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed ^ 0x5ca1e);
        let plan = GeneratorConfig {
            operations: 10 + random.below(20),
            processes: 2 + random.below(3),
            overlap: [0.3, 0.6][random.below(2)],
            values: ValueDomain::Below(1 + random.below(3) as u32),
            seed,
            ..GeneratorConfig::default()
        };
        let case = generated_of("stack", &plan, 0);
        let pending = 15 + random.below(25);
        let weaker = case.problems()[0].weaken(|_| match random.below(100) {
            0..5 => Retain::Drop,
            it if it < pending => Retain::CallOnly,
            _ => Retain::All,
        });
        agree(&Pushdown, &weaker, &JitGraph, &mut counts);
    }
    assert!(cases / 10 < counts.holds.min(counts.violated), "{counts:?}");
}

#[track_caller]
fn check_drawn(drawing: &str, expected: &str) {
    let case = drawn("stack", drawing);
    agree(&Pushdown, &case.problems()[0], oracle(), &mut VerdictCounts::default());
    assert_eq!(check(&Pushdown, &case.problems()[0], &Budget::unlimited()).word(), expected);
}

/// The order of the first two pushes shows only after what lies above them is gone.
#[test]
fn an_order_of_pushes_shows_much_later() {
    for (first, second) in [(1, 2), (2, 1)] {
        check_drawn(
            &format!(
                "
                A: |-push 1-----|  |-push 3-| |-push 3-|  |-pop → 3-|  |-pop → {first}-| |-pop → {second}-|
                B:  |-push 2-----|    |-push 3-|        |-pop → 3----|
                C:                           |-pop → 3--------|
                "
            ),
            "holds",
        );
    }
}

/// Only a pending push explains the peek, and only a pending pop the nil after it.
#[test]
fn pending_operations_explain_a_peek_and_what_comes_after() {
    let peeked = "
        A: |-push 1
        B:    |-peek → 1-|  |-peek → nil-|
        ";
    check_drawn(&format!("{peeked}C:              |-pop\n"), "holds");
    check_drawn(&format!("{peeked}C:                                   |-pop\n"), "violated");
}

/// A history of this many operations whose values are below `values`.
fn long(
    operations: usize,
    processes: usize,
    values: u32,
    pending: f64,
    swaps: usize,
) -> Box<dyn ErasedHistory> {
    let values = ValueDomain::Below(values);
    let plan =
        GeneratorConfig { operations, processes, values, pending, seed: 9, ..GeneratorConfig::default() };
    generated_of("stack", &plan, swaps)
}

/// Too many orders for a search that knows the contents of the stack.
#[test]
fn long_histories_with_few_values() {
    for (processes, values, pending) in
        [(4, 20, 0.0), (8, 20, 0.0), (8, 5, 0.0), (8, 10, 0.01), (8, 20, 0.05)]
    {
        let case = long(5_000, processes, values, pending, 0);
        let problem = &case.problems()[0];
        let budget = Budget::unlimited().with_configurations(500_000);
        let Verdict::Holds(witness) = check(&Pushdown, problem, &budget) else {
            panic!("it holds: {processes} processes, {values} values")
        };
        assert_eq!(witness.verify(problem), Ok(()));
    }
}

#[test]
fn budgets_are_kept() {
    let case = long(5_000, 4, 2, 0.0, 0);
    let problem = &case.problems()[0];
    let budget = Budget::unlimited().with_configurations(100);
    assert_eq!(check(&Pushdown, problem, &budget), Verdict::Unknown(Reason::Configurations(100)));
    let budget = Budget::unlimited().with_memory(1 << 10);
    assert_eq!(check(&Pushdown, problem, &budget), Verdict::Unknown(Reason::Memory(1 << 10)));
    assert_eq!(budget.memory_used(), 0, "what was held is given back");
    let budget = Budget::unlimited();
    budget.stop(Reason::Cancelled);
    assert_eq!(check(&Pushdown, problem, &budget), Verdict::Unknown(Reason::Cancelled));
}

#[track_caller]
fn check_refused(problem: &Problem<'_>, expected: &str) {
    assert_eq!(Pushdown.refuses(problem).as_deref(), Some(expected));
    let verdict = Pushdown.decide(problem, &Budget::unlimited());
    assert_eq!(verdict, Verdict::Unknown(Reason::Refused(expected.to_owned())));
}

#[test]
fn unsupported_histories_are_refused_with_a_reason() {
    let queue = drawn("queue", "A: |-enq 1-|");
    check_refused(&queue.problems()[0], "pushdown judges stacks without capacity only");
    let stack = drawn("stack", "A: |-push 1-| |-pop → 1-|");
    let weaker = stack.problems()[0].weaken(|at| if at == 1 { Retain::Optional } else { Retain::All });
    check_refused(&weaker, "pushdown does not know pop() → 1");
    let lines: Vec<String> = (0..65).map(|it| format!("P{it}: |-push 1-|")).collect();
    let wide = drawn("stack", &lines.join("\n"));
    check_refused(&wide.problems()[0], "pushdown takes at most 64 operations open at a time");
    assert_eq!(judge(wide.problems(), &JudgeOptions::default()).verdict.word(), "holds");
}

#[test]
fn auto_uses_the_pushdown_search_and_reports_it() {
    let case = long(1_000, 4, 10, 0.0, 0);
    let judgement = judge(case.problems(), &JudgeOptions::default());
    assert_eq!(judgement.verdict.word(), "holds");
    assert!(judgement.algorithm.contains("pushdown"), "{}", judgement.algorithm);
}
