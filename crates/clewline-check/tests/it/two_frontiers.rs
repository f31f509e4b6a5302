//! The search with two frontiers agrees with the referee, the oracle and another search, on queues
//! and channels with equal values, peeks and pending operations.

use clewline_check::{
    Checker, JudgeOptions, check, judge,
    search::{
        jit_graph::JitGraph,
        two_frontiers::{TwoFrontiers, search},
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
    queues::{VerdictCounts, agree, check_every, generated, generated_of, mix, oracle},
};

const ALL: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Observe, RoleKind::Empty];
const UNSEEN: &[RoleKind] = &[RoleKind::Add, RoleKind::Remove, RoleKind::Empty];
const PENDING: &[RoleKind] = &[RoleKind::Add, RoleKind::RemoveUnknown];

/// Every history up to a number of operations: in `./test`, in `./test all`, and in hours.
#[track_caller]
fn check_small(acts: &'static [RoleKind], pending: &'static [RoleKind], values: u64, most: [usize; 3]) {
    let menu = Menu { kind: ObjectKind::Queue, acts, pending, values, sees: 8, is_distinct: false };
    check_every(&menu, most, search);
}

#[test]
fn every_small_history_with_one_value() {
    check_small(ALL, &[], 1, [5, 6, 7]);
}

#[test]
fn every_small_history_with_two_values() {
    check_small(UNSEEN, &[], 2, [5, 6, 7]);
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

/// Three values: an order of enqs may be observed in two ways.
#[test]
fn every_small_history_with_three_values() {
    check_small(UNSEEN, PENDING, 3, [4, 5, 6]);
}

/// What a channel does, with sends that found it closed. Observing is finding it closed.
const CHANNEL: &[RoleKind] =
    &[RoleKind::Add, RoleKind::Remove, RoleKind::Observe, RoleKind::Absent, RoleKind::Empty];

#[track_caller]
fn check_channel(pending: &'static [RoleKind], values: u64, most: [usize; 3]) {
    let kind = ObjectKind::Channel;
    let menu = Menu { kind, acts: CHANNEL, pending, values, sees: 8, is_distinct: false };
    check_every(&menu, most, search);
}

#[test]
fn every_small_channel() {
    check_channel(&[], 1, [4, 6, 7]);
    check_channel(&[], 2, [4, 5, 6]);
}

#[test]
fn every_small_channel_with_pending_operations() {
    check_channel(PENDING, 1, [4, 5, 6]);
    check_channel(PENDING, 2, [3, 5, 6]);
}

#[track_caller]
fn check_relaxed(
    factor: u32,
    acts: &'static [RoleKind],
    pending: &'static [RoleKind],
    values: u64,
    most: [usize; 3],
) {
    let kind = ObjectKind::QuasiQueue { factor };
    let menu = Menu { kind, acts, pending, values, sees: 8, is_distinct: false };
    check_every(&menu, most, search);
}

#[test]
fn every_small_relaxed_queue() {
    check_relaxed(1, ALL, &[], 2, [4, 5, 6]);
    check_relaxed(1, UNSEEN, &[], 3, [4, 5, 6]);
    check_relaxed(2, UNSEEN, &[], 3, [4, 6, 7]);
    check_relaxed(1, ALL, PENDING, 2, [3, 5, 6]);
    check_relaxed(2, ALL, PENDING, 3, [3, 4, 5]);
}

/// As problems: with labels, witnesses that are verified, and prefixes.
#[test]
fn every_small_problem() {
    let mut counts = VerdictCounts::default();
    let actions = [
        "enq 1",
        "enq 1 → ?",
        "enq 2",
        "deq → 1",
        "deq → 2",
        "deq → nil",
        "deq → ?",
        "peek → 1",
        "peek → nil",
        "peek → ?",
    ];
    for n in 1..=4 {
        every_history("queue", n, &actions, |case| {
            agree(&TwoFrontiers, &case.problems()[0], oracle(), &mut counts);
        });
    }
    assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{counts:?}");
}

/// A plan for a history with few values, many of which are equal.
fn plan(seed: u64, random: &mut Random, operations: usize) -> GeneratorConfig {
    GeneratorConfig {
        operations,
        processes: 2 + random.below(4),
        overlap: [0.3, 0.6, 1.0][random.below(3)],
        mix: if random.below(2) == 0 { mix(30 + random.below(30) as u32) } else { Vec::new() },
        values: ValueDomain::Below(1 + random.below(4) as u32),
        pending: [0.0, 0.0, 0.05, 0.2][random.below(4)],
        seed,
        ..GeneratorConfig::default()
    }
}

#[test]
fn random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(150, 40_000, 1_000_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed);
        let operations = 4 + random.below(17);
        let case = generated(&plan(seed, &mut random, operations), random.below(4));
        agree(&TwoFrontiers, &case.problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 5 < counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn longer_random_histories_with_few_values() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(40, 4_000, 300_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed ^ 0x5eed);
        let operations = 20 + random.below(41);
        let case = generated(&plan(seed, &mut random, operations), random.below(4));
        let problem = &case.problems()[0];
        // The search finds some too hard, in time and in memory.
        let budget = Budget::unlimited().with_configurations(1 << 17);
        if !matches!(check(&JitGraph, problem, &budget), Verdict::Unknown(_)) {
            agree(&TwoFrontiers, problem, &JitGraph, &mut counts);
        }
    }
    assert!(cases / 5 < counts.holds.min(counts.violated), "{counts:?}");
}

/// Histories of channels as problems, most of them with closes.
#[test]
fn random_channels() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(800, 25_000, 300_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed ^ 0xc4a);
        let operations = 4 + random.below(17);
        let mut plan = plan(seed, &mut random, operations);
        let close = 1 + random.below(3) as u32;
        plan.mix = [("send", 8), ("recv", 8), ("close", close)].map(|it| (it.0.to_owned(), it.1)).to_vec();
        let case = generated_of("channel", &plan, random.below(4));
        agree(&TwoFrontiers, &case.problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 10 < counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn random_relaxed_queues() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(500, 20_000, 300_000);
    for seed in 0..cases as u64 {
        let mut random = Random::new(seed ^ 0x9a51);
        let operations = 4 + random.below(14);
        let plan = plan(seed, &mut random, operations);
        let name = ["quasi-queue:1", "quasi-queue:2", "quasi-queue:3"][random.below(3)];
        let case = generated_of(name, &plan, random.below(6));
        agree(&TwoFrontiers, &case.problems()[0], oracle(), &mut counts);
    }
    assert!(cases / 20 < counts.holds.min(counts.violated), "{counts:?}");
}

/// Counterexamples are minimized by forgetting results, returns and times.
#[test]
fn weaker_problems() {
    let mut counts = VerdictCounts::default();
    for seed in 0..share(20_000) {
        let mut random = Random::new(seed ^ 0xbad);
        let operations = 4 + random.below(9);
        let case = generated(&plan(seed, &mut random, operations), 2 + random.below(4));
        let problems = case.problems();
        let weaker = problems[0].weaken(|_| match random.below(8) {
            0 => Retain::CallOnly,
            1 => Retain::Unconstrained,
            _ => Retain::All,
        });
        agree(&TwoFrontiers, &weaker, oracle(), &mut counts);
    }
    assert!(share(2_000) < counts.holds.min(counts.violated), "{counts:?}");
}

#[track_caller]
fn check_drawn(drawing: &str, expected: &str) {
    check_drawn_of("queue", drawing, expected);
}

#[track_caller]
fn check_drawn_of(specification: &str, drawing: &str, expected: &str) {
    let case = drawn(specification, drawing);
    agree(&TwoFrontiers, &case.problems()[0], oracle(), &mut VerdictCounts::default());
    assert_eq!(check(&TwoFrontiers, &case.problems()[0], &Budget::unlimited()).word(), expected);
}

/// The nil comes after the first two enqs, so before no later one.
#[test]
fn an_empty_holds_up_both_sides() {
    check_drawn(
        "
        A: |-enq 1----|          |-deq → 1-|
        B:    |-enq 1----------|
        C:              |-deq → nil-------------|
        ",
        "violated",
    );
}

/// The enq that returns first is not the one that goes first: it is called after the first deq.
#[test]
fn of_equal_enqs_one_may_be_early_and_the_other_short() {
    check_drawn(
        "
        A: |-enq 1---------------------------------|
        B:    |-deq → 1-|  |-enq 1-| |-deq → 1-|
        ",
        "holds",
    );
}

/// The deq that returns first is not the one that goes first: it is called too late for the nil.
#[test]
fn of_equal_deqs_one_may_be_early_and_the_other_short() {
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

/// Of 1 and 2, which a pending deq may remove, 2 has to go first. Both ways lead to the same placed
/// operations, sixteen of them: a number at which every configuration is remembered.
#[test]
fn what_is_at_the_head_tells_configurations_apart() {
    let before = "|-enq 9-| |-deq → 9-| ".repeat(6);
    let skip = " ".repeat(before.chars().count());
    check_drawn(
        &format!(
            "
            A: {before}|-enq 1---|   |-peek → 2-| |-peek → 1-|
            B: {skip} |-enq 2---|
            C: {skip}  |-deq
            D: {skip}   |-deq
            "
        ),
        "holds",
    );
}

/// Only a pending enq explains the peek, and only a pending deq the nil after it.
#[test]
fn pending_operations_explain_a_peek_and_what_comes_after() {
    check_drawn(
        "
        A: |-enq 1
        B:    |-peek → 1-|  |-peek → nil-|
        C:                |-deq
        ",
        "holds",
    );
    check_drawn(
        "
        A: |-enq 1
        B:    |-peek → 1-|  |-peek → nil-|
        C:                                  |-deq
        ",
        "violated",
    );
}

/// The send is refused before the close that was called first can have closed the channel; a
/// pending close explains it.
#[test]
fn a_refused_send_needs_a_close() {
    let refused = "
        A: |-send 1 → true-|  |-send 2 → false-|
        B:                                         |-close-|
        ";
    check_drawn_of("channel", refused, "violated");
    check_drawn_of("channel", &format!("{refused}C:        |-close\n"), "holds");
    check_drawn_of("channel", &format!("{refused}C: |-close-|\n"), "holds");
    // The first send was called after the channel was closed.
    check_drawn_of("channel", "A: |-close-|  |-send 1 → true-|", "violated");
    check_drawn_of("channel", "A: |-send 1 → false-|", "violated");
}

/// The close comes after every send, and a recv that found nothing before the close.
#[test]
fn a_close_is_the_last_element() {
    check_drawn_of(
        "channel",
        "
        A: |-send 1 → true-|  |-close-|  |-recv → closed-|
        B:          |-recv → 1--------------------------------|
        ",
        "holds",
    );
    check_drawn_of("channel", "A: |-close-|  |-recv → nil-|", "violated");
    check_drawn_of(
        "channel",
        "
        A: |-send 1 → true-|  |-close-|  |-recv → closed-|
        B:                                                   |-recv → 1-|
        ",
        "violated",
    );
}

/// 2 and 3 overtake 1, so 9 may not overtake it as well: it was added before 1, by a pending enq.
#[test]
fn an_element_of_a_pending_enq_may_be_overtaken() {
    check_drawn_of(
        "quasi-queue:2",
        "
        A:  |-enq 1-| |-enq 2-| |-enq 3-| |-deq → 2-| |-deq → 3-| |-deq → 9-| |-deq → 1-|
        B: |-enq 9
        ",
        "holds",
    );
}

/// 4 is among the first three only if 2 is gone; 1 and 3 are found later.
#[test]
fn a_pending_deq_may_remove_any_element_that_is_near_the_head() {
    let drawing = "
        A:  |-enq 1-| |-enq 2-| |-enq 3-| |-enq 4-| |-deq → 4-| |-deq → 1-| |-deq → 3-| |-deq → nil-|
        ";
    check_drawn_of("quasi-queue:2", drawing, "violated");
    check_drawn_of("quasi-queue:2", &format!("{drawing}B: |-deq\n"), "holds");
}

/// Half of the operations enqueue, or some peek: too many orders for a search that knows the
/// contents of the queue.
#[test]
fn long_histories_with_few_values() {
    for (processes, values, mix, pending) in
        [(4, 20, mix(50), 0.0), (8, 3, mix(50), 0.0), (16, 2, Vec::new(), 0.0), (8, 10, Vec::new(), 0.01)]
    {
        let plan = GeneratorConfig {
            operations: 10_000,
            processes,
            mix,
            values: ValueDomain::Below(values),
            pending,
            seed: 9,
            ..GeneratorConfig::default()
        };
        let case = generated(&plan, 0);
        let problem = &case.problems()[0];
        let most = if pending == 0.0 { 30_000 } else { 200_000 };
        let budget = Budget::unlimited().with_configurations(most);
        let Verdict::Holds(witness) = check(&TwoFrontiers, problem, &budget) else {
            panic!("it holds: {processes} processes, {values} values")
        };
        assert_eq!(witness.verify(problem), Ok(()));
    }
}

#[test]
fn long_channels_with_few_values() {
    for (seed, close) in [(1, 0), (2, 1)] {
        let mix = [("send", 5_000), ("recv", 5_000), ("close", close)];
        let plan = GeneratorConfig {
            operations: 10_000,
            processes: 8,
            mix: mix.map(|it| (it.0.to_owned(), it.1)).to_vec(),
            values: ValueDomain::Below(10),
            seed,
            ..GeneratorConfig::default()
        };
        let case = generated_of("channel", &plan, 0);
        let problem = &case.problems()[0];
        let budget = Budget::unlimited().with_configurations(100_000);
        let judgement = judge(case.problems(), &JudgeOptions { budget, ..JudgeOptions::default() });
        assert_eq!(judgement.algorithm, "two-frontiers");
        let Verdict::Holds(witness) = judgement.verdict else { panic!("it holds: {close} closes") };
        assert_eq!(witness.verify(problem), Ok(()));
    }
}

#[test]
fn long_relaxed_queues_with_few_values() {
    for (seed, processes) in [(1, 4), (2, 8)] {
        let values = ValueDomain::Below(20);
        let plan =
            GeneratorConfig { operations: 3_000, processes, values, seed, ..GeneratorConfig::default() };
        let case = generated_of("quasi-queue:2", &plan, 0);
        let problem = &case.problems()[0];
        let budget = Budget::unlimited().with_configurations(300_000);
        let Verdict::Holds(witness) = check(&TwoFrontiers, problem, &budget) else {
            panic!("it holds: {processes} processes")
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
            values: ValueDomain::Below(20),
            seed,
            ..GeneratorConfig::default()
        };
        let case = generated(&plan, 1);
        let budget = Budget::unlimited().with_configurations(64 * 8_192);
        let verdict = check(&TwoFrontiers, &case.problems()[0], &budget);
        violated += usize::from(verdict.word() == "violated");
        assert_ne!(verdict.word(), "unknown", "seed {seed}");
    }
    assert!(2 < violated, "{violated}");
}

/// More operations are open than a word has bits; equal ones are counted, not told apart.
#[test]
fn hundreds_of_pending_operations() {
    let mut lines: Vec<String> = Vec::new();
    for client in 0..150 {
        lines.push(format!("P{client}: |-enq {}", client % 3));
        lines.push(format!("Q{client}: |-deq"));
    }
    let later = " ".repeat(12);
    for wrong in [1, 3] {
        let mut drawing = lines.clone();
        drawing
            .push(format!("Z: {later}|-deq → 0-| |-peek → 1-| |-deq → nil-| |-deq → 2-| |-deq → {wrong}-|"));
        let case = drawn("queue", &drawing.join("\n"));
        let budget = Budget::unlimited().with_configurations(10_000);
        let verdict = check(&TwoFrontiers, &case.problems()[0], &budget);
        assert_eq!(verdict.word(), if wrong == 3 { "violated" } else { "holds" });
        if let Verdict::Holds(witness) = verdict {
            assert_eq!(witness.verify(&case.problems()[0]), Ok(()));
        }
    }
}

/// A history that is hard enough to meet every limit.
fn limited() -> Box<dyn ErasedHistory> {
    let values = ValueDomain::Below(2);
    generated(&GeneratorConfig { operations: 5_000, values, ..GeneratorConfig::default() }, 0)
}

#[test]
fn budgets_are_kept() {
    let case = limited();
    let problem = &case.problems()[0];
    let budget = Budget::unlimited().with_configurations(100);
    assert_eq!(check(&TwoFrontiers, problem, &budget), Verdict::Unknown(Reason::Configurations(100)));
    assert!(budget.visited() <= 101);
    let budget = Budget::unlimited().with_memory(1 << 10);
    assert_eq!(check(&TwoFrontiers, problem, &budget), Verdict::Unknown(Reason::Memory(1 << 10)));
    assert_eq!(budget.memory_used(), 0, "what was held is given back");
    let budget = Budget::unlimited();
    budget.stop(Reason::Cancelled);
    assert_eq!(check(&TwoFrontiers, problem, &budget), Verdict::Unknown(Reason::Cancelled));
}

/// `auto` reports the limit; it does not start another search, which would meet it as well.
#[test]
fn a_limit_ends_the_search() {
    let case = limited();
    let budget = Budget::unlimited().with_configurations(100);
    let judgement = judge(case.problems(), &JudgeOptions { budget, ..JudgeOptions::default() });
    assert_eq!(judgement.verdict, Verdict::Unknown(Reason::Configurations(100)));
    assert!(judgement.configurations <= 101, "{}", judgement.configurations);
}

#[track_caller]
fn check_refused(problem: &Problem<'_>, expected: &str) {
    assert_eq!(TwoFrontiers.refuses(problem).as_deref(), Some(expected));
    let verdict = TwoFrontiers.decide(problem, &Budget::unlimited());
    assert_eq!(verdict, Verdict::Unknown(Reason::Refused(expected.to_owned())));
}

#[test]
fn unsupported_histories_are_refused_with_a_reason() {
    let stack = drawn("stack", "A: |-push 1-|");
    check_refused(&stack.problems()[0], "two-frontiers judges queues and channels without capacity only");
    let bounded = drawn("queue:2", "A: |-enq 1 → true-|");
    check_refused(&bounded.problems()[0], "two-frontiers judges queues and channels without capacity only");
    let queue = drawn("queue", "A: |-enq 1-| |-deq → 1-|");
    let weaker = queue.problems()[0].weaken(|at| if at == 1 { Retain::Optional } else { Retain::All });
    check_refused(&weaker, "two-frontiers does not know deq() → 1");
}

#[test]
fn auto_uses_two_frontiers_and_reports_it() {
    let plan = GeneratorConfig {
        operations: 2_000,
        processes: 4,
        mix: mix(50),
        values: ValueDomain::Below(10),
        seed: 4,
        ..GeneratorConfig::default()
    };
    let case = generated(&plan, 0);
    let judgement = judge(case.problems(), &JudgeOptions::default());
    assert_eq!(judgement.verdict.word(), "holds");
    assert!(judgement.algorithm.contains("two-frontiers"), "{}", judgement.algorithm);
    // Its violations have counterexamples, as those of any other search do.
    let case = drawn(
        "queue",
        "
        A: |-enq 1-| |-enq 1-| |-enq 2-| |-deq → 2-|
        B:    |-enq 1-|                               |-deq → 1-|
        ",
    );
    let Verdict::Violated(violation) = judge(case.problems(), &JudgeOptions::default()).verdict else {
        panic!("violated")
    };
    let core: Vec<String> = violation.counterexample.iter().map(|&it| case.label(it)).collect();
    assert!(violation.is_minimal && core.len() == 3, "{core:?}");
}
