//! The monitor for priority queues.

use clewline_check::{ByMonitor, JudgeOptions, check, judge};
use clewline_core::{
    Budget, ErasedHistory, Explanation, GeneratorConfig, Random, Recording, Rule, Value, ValueDomain, Verdict,
};
use clewline_specs::find;
use clewline_testing::share;

use crate::{
    histories::{drawn, every_history},
    monitor_verdicts::{MonitorVerdicts, check_verdict, search},
};

#[track_caller]
fn check_word(drawing: &str, expected: &str) {
    for (spec, drawing) in [("priority-queue", drawing.to_owned()), ("min-priority-queue", mirrored(drawing))]
    {
        let case = drawn(spec, &drawing);
        let problem = case.problems().remove(0);
        let mut monitor_verdicts = MonitorVerdicts::default();
        check_verdict(problem.clone(), search("oracle"), &mut monitor_verdicts, &drawing);
        assert_eq!(monitor_verdicts.refused, 0, "{drawing}");
        let word = check(&ByMonitor, &problem, &Budget::unlimited()).word();
        assert_eq!(word, expected, "{drawing}");
    }
}

/// With every digit taken from 9: the greatest becomes the least.
fn mirrored(drawing: &str) -> String {
    let mirror = |it: char| it.to_digit(10).map_or(it, |it| char::from(b'9' - it as u8));
    drawing.chars().map(mirror).collect()
}

#[track_caller]
fn check_violation(drawing: &str, rule: Rule, operations: &[&str]) {
    check_word(drawing, "violated");
    let case = drawn("priority-queue", drawing);
    let Verdict::Violated(violation) = judge(case.problems(), &JudgeOptions::default()).verdict else {
        panic!("not violated")
    };
    let Explanation::Broken { rule: broken, operations: named } = violation.explanation else {
        panic!("no monitor was asked: {violation:?}")
    };
    let named: Vec<String> = named.into_iter().map(|it| case.label(it)).collect();
    assert_eq!(named, operations);
    assert_eq!(broken, rule);
}

#[test]
fn the_greatest_is_removed_first() {
    check_word(
        "A: |-add 1-| |-add 3-| |-add 2-| |-poll → 3-| |-poll → 2-| |-poll → 1-| |-poll → nil-|",
        "holds",
    );
    check_violation(
        "A: |-add 1-| |-add 3-| |-poll → 1-| |-poll → 3-|",
        Rule::GreatestFirst,
        &["poll() → 1", "add(3)", "poll() → 3"],
    );
}

#[test]
fn an_element_never_removed_hides_smaller_ones() {
    check_violation(
        "A: |-add 1-| |-add 3-| |-peek → 1-|",
        Rule::GreatestFirst,
        &["peek() → 1", "add(3)", "add(3)"],
    );
}

#[test]
fn priorities_are_signed_integers() {
    let case = drawn("priority-queue", "A: |-add 1-| |-add -1-| |-poll → 1-| |-poll → -1-|");
    let word = monitor_word(&*case);
    assert_eq!(word, "holds");
    let case = drawn("priority-queue", "A: |-add 1-| |-add -1-| |-poll → -1-| |-poll → 1-|");
    assert_eq!(monitor_word(&*case), "violated");
    let extremes =
        "A: |-add 9223372036854775807-| |-add -9223372036854775808-| |-poll → 9223372036854775807-|";
    assert_eq!(monitor_word(&*drawn("priority-queue", extremes)), "holds");
    assert_eq!(monitor_word(&*drawn("min-priority-queue", extremes)), "violated");
}

fn monitor_word(case: &dyn ErasedHistory) -> &'static str {
    let problem = case.problems().remove(0);
    check(&ByMonitor, &problem, &Budget::unlimited()).word()
}

/// Algorithm 5 as printed accepts this: it places the peek before its element is added.
#[test]
fn an_element_is_not_found_before_its_add_is_called() {
    check_violation(
        "
        A: |-add 2-|
        B:       |--peek → 1--|
        C:             |--add 1--|
        ",
        Rule::GreatestFirst,
        &["peek() → 1", "add(2)", "add(2)"],
    );
}

#[test]
fn an_element_is_not_found_after_its_removal_returned() {
    check_word(
        "
        A: |-add 1-| |--add 2--|    |-poll → 2-|
        B:              |----------peek → 1------|
        C:              |-poll → 1-|
        ",
        "holds",
    );
    check_word(
        "
        A: |-add 1-| |-add 2-|                    |-poll → 2-|
        B:                |----------peek → 1-------------------|
        C:           |---poll → 1---|
        ",
        "holds",
    );
    check_violation(
        "
        A: |-add 1-| |-add 2-|                    |-poll → 2-|
        B:                      |----------peek → 1-------------|
        C:           |---poll → 1---|
        ",
        Rule::GreatestFirst,
        &["peek() → 1", "add(2)", "poll() → 2"],
    );
}

#[test]
fn greater_elements_may_cover_an_interval_in_turn() {
    check_violation(
        "
        A: |-add 1-| |-add 3-|                     |-poll → 3-|    |-poll → 2-|
        B:                         |-add 2-|
        C:                       |--------poll → 1----------|
        ",
        Rule::GreatestFirst,
        &["poll() → 1", "add(3)", "poll() → 3", "add(2)", "poll() → 2"],
    );
    check_word(
        "
        A: |-add 1-| |-add 3-|                     |-poll → 3-|    |-poll → 2-|
        B:                         |-add 2-------------|
        C:                       |--------poll → 1----------|
        ",
        "holds",
    );
}

#[test]
fn an_empty_result_needs_an_empty_priority_queue() {
    check_violation(
        "
        A: |-add 1-| |-add 2-|  |-poll → 2-|      |-poll → 1-|
        B:                        |-peek → nil-|
        ",
        Rule::Empty,
        &["peek() → null", "add(1)", "poll() → 1"],
    );
    check_word(
        "
        A: |-add 1-|   |-add 2-|
        B:     |-poll → nil-|
        ",
        "holds",
    );
}

#[test]
fn a_value_added_again_is_distinct() {
    check_word("A: |-add 1-| |-poll → 1-| |-poll → nil-| |-add 1-| |-peek → 1-| |-poll → 1-|", "holds");
    check_word("A: |-add 2-| |-poll → 2-| |-add 1-| |-add 2-| |-poll → 1-|", "violated");
    check_word("A: |-add 1-| |-add 2-| |-poll → 2-| |-poll → 1-| |-add 1-| |-poll → 1-|", "holds");
}

/// Both the witness's heap and its gaps have to be right: the least of those added in one gap is
/// removed before the next is added.
#[test]
fn many_elements_are_added_and_removed_in_one_gap() {
    check_word(
        "
        A: |--add 1--|
        B: |--add 3--|
        C: |--add 2--|
        D: |-poll → 1|
        E: |-poll → 2|
        F: |peek → nil|
        G:               |-poll → 3-|
        ",
        "holds",
    );
}

/// An element that a pending removal removed is out of the way.
#[test]
fn pending_removals_remove_what_is_in_the_way() {
    check_word(
        "
        A: |-add 1-| |-add 2-|
        B:                |-poll
        C:                       |-peek → 1-|
        ",
        "holds",
    );
    check_word(
        "
        A: |-add 1-| |-add 3-| |-add 2-|
        B:                |-poll
        C:                                 |-peek → 1-|
        ",
        "violated",
    );
}

#[test]
fn all_small_histories_agree_with_the_oracle() {
    let both = ["add 1", "add 2", "poll → 1", "poll → 2", "peek → 1", "peek → 2", "poll → nil"];
    let pending = ["add 1", "add 2", "add 2 → ?", "poll → 1", "peek → 1", "poll → nil", "poll → ?"];
    let three = ["add 1", "add 2", "add 3", "poll → 1", "peek → 2", "poll → 3"];
    let long = ["add 1", "add 2", "poll → 1", "poll → 2", "peek → 1"];
    for (n, actions) in [(3, &both[..]), (4, &both[..]), (4, &pending[..]), (4, &three[..]), (5, &long[..])] {
        let mut monitor_verdicts = MonitorVerdicts::default();
        every_history("priority-queue", n, actions, |case| {
            check_verdict(case.problems().remove(0), search("oracle"), &mut monitor_verdicts, &n);
        });
        assert!(
            share(200) < monitor_verdicts.holds && share(1_000) < monitor_verdicts.violated,
            "{monitor_verdicts:?}"
        );
    }
}

/// Priorities in no order, few of them twice; some results changed.
fn random_history(spec: &str, seed: u64, operations: usize) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(seed);
    let plan = GeneratorConfig {
        operations: 2 + random.below(operations),
        processes: 2 + random.below(5),
        overlap: [0.3, 0.6, 1.0][random.below(3)],
        mix: [vec![], vec![("add".to_owned(), 3), ("poll".to_owned(), 4)]][random.below(2)].clone(),
        values: ValueDomain::Below(200),
        pending: [0.0, 0.0, 0.1, 0.3][random.below(4)],
        seed: random.next(),
        ..GeneratorConfig::default()
    };
    let catalogued = find(spec).unwrap();
    let mut recording = catalogued.generate(&plan);
    for _ in 0..random.below(3) {
        recording = with_another_result(recording, &mut random);
    }
    catalogued.load(recording).unwrap()
}

/// Exchanges the results of two operations, or lets one return *empty*.
fn with_another_result(recording: Recording, random: &mut Random) -> Recording {
    let Recording { history, values, names, missing, .. } = recording;
    let is_found = |ret: Option<&Value>| ret.is_some_and(|it| !it.is_absent());
    let found: Vec<(usize, Value)> = history
        .operations()
        .filter(|it| is_found(it.ret))
        .map(|it| (it.id.index(), *it.ret.unwrap()))
        .collect();
    if found.is_empty() {
        return Recording { missing, ..Recording::new(history, values, names) };
    }
    let (one, other) = (found[random.below(found.len())], found[random.below(found.len())]);
    let nothing = (random.below(5) == 0).then_some(Value::NIL);
    let history = history.try_map(|id, call, ret| {
        Ok::<_, ()>(match ret {
            Some(_) if id.index() == one.0 => (call, Some(nothing.unwrap_or(other.1))),
            Some(_) if id.index() == other.0 && nothing.is_none() => (call, Some(one.1)),
            ret => (call, ret),
        })
    });
    Recording { missing, ..Recording::new(history.unwrap(), values, names) }
}

#[test]
fn random_histories_agree_with_a_search() {
    for spec in ["priority-queue", "min-priority-queue"] {
        let mut monitor_verdicts = MonitorVerdicts::default();
        for seed in 0..share(20_000) {
            let case = random_history(spec, seed, 16);
            check_verdict(case.problems().remove(0), search("jit-graph"), &mut monitor_verdicts, &seed);
        }
        for seed in 0..share(600) {
            let case = random_history(spec, seed, 150);
            check_verdict(case.problems().remove(0), search("jit-graph"), &mut monitor_verdicts, &seed);
        }
        assert!(
            share(3_000) < monitor_verdicts.holds
                && share(3_000) < monitor_verdicts.violated
                && monitor_verdicts.refused < share(8_000),
            "{monitor_verdicts:?}"
        );
    }
}

/// Hundreds of gaps, so that words of gaps fill up.
#[test]
fn long_histories_have_witnesses() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let plan = GeneratorConfig {
            operations: 3_000,
            processes: 1 + random.below(16),
            mix: [vec![("add".to_owned(), 3), ("poll".to_owned(), 2), ("peek".to_owned(), 1)], vec![]]
                [random.below(2)]
            .clone(),
            values: ValueDomain::Below(100_000_000),
            seed,
            ..GeneratorConfig::default()
        };
        let spec = find("priority-queue").unwrap();
        let case = spec.load(spec.generate(&plan)).unwrap();
        let problem = case.problems().remove(0);
        match check(&ByMonitor, &problem, &Budget::unlimited()) {
            Verdict::Holds(witness) => assert_eq!(witness.verify(&problem), Ok(())),
            other => panic!("seed {seed}: {other:?}"),
        }
    }
}
