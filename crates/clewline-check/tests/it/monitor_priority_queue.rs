//! The monitor for priority queues.

use clewline_check::{Options, check, judge, monitor};
use clewline_core::{
    Budget, ErasedHistory, Explanation, GeneratorConfig, Random, Recording, Rule, Value, ValueDomain, Verdict,
};
use clewline_specs::find;
use clewline_testing::share;

use crate::{
    histories::{drawn, every_history},
    rulings::{Rulings, check_ruling, search},
};

#[track_caller]
fn check_word(drawing: &str, expected: &str) {
    for (spec, drawing) in [("priority-queue", drawing.to_owned()), ("min-priority-queue", mirrored(drawing))]
    {
        let case = drawn(spec, &drawing);
        let problem = case.problems().remove(0);
        let mut rulings = Rulings::default();
        check_ruling(problem.clone(), search("oracle"), &mut rulings, &drawing);
        assert_eq!(rulings.refused, 0, "{drawing}");
        let word = check(&monitor::ByMonitor, &problem, &Budget::unlimited()).word();
        assert_eq!(word, expected, "{drawing}");
    }
}

/// With every digit taken from 9: what was greatest is least.
fn mirrored(drawing: &str) -> String {
    let mirror = |it: char| it.to_digit(10).map_or(it, |it| char::from(b'9' - it as u8));
    drawing.chars().map(mirror).collect()
}

#[track_caller]
fn check_breach(drawing: &str, rule: Rule, operations: &[&str]) {
    check_word(drawing, "violated");
    let case = drawn("priority-queue", drawing);
    let Verdict::Violated(violation) = judge(case.problems(), &Options::default()).verdict else {
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
fn the_greatest_leaves_first() {
    check_word(
        "A: |-add 1-| |-add 3-| |-add 2-| |-poll → 3-| |-poll → 2-| |-poll → 1-| |-poll → nil-|",
        "holds",
    );
    check_breach(
        "A: |-add 1-| |-add 3-| |-poll → 1-| |-poll → 3-|",
        Rule::GreatestFirst,
        &["poll() → 1", "add(3)", "poll() → 3"],
    );
}

#[test]
fn what_stays_for_ever_hides_what_is_less() {
    check_breach(
        "A: |-add 1-| |-add 3-| |-peek → 1-|",
        Rule::GreatestFirst,
        &["peek() → 1", "add(3)", "add(3)"],
    );
}

#[test]
fn names_are_integers_with_a_sign() {
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
    check(&monitor::ByMonitor, &problem, &Budget::unlimited()).word()
}

/// Algorithm 5 as printed accepts this: the peek is given a moment before its element is added.
#[test]
fn an_element_is_not_found_before_its_add_is_called() {
    check_breach(
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
    check_breach(
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
fn greater_ones_may_take_turns() {
    check_breach(
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
fn nothing_is_found_only_if_nothing_is_there() {
    check_breach(
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
fn a_value_that_comes_again_is_another() {
    check_word("A: |-add 1-| |-poll → 1-| |-poll → nil-| |-add 1-| |-peek → 1-| |-poll → 1-|", "holds");
    check_word("A: |-add 2-| |-poll → 2-| |-add 1-| |-add 2-| |-poll → 1-|", "violated");
    check_word("A: |-add 1-| |-add 2-| |-poll → 2-| |-poll → 1-| |-add 1-| |-poll → 1-|", "holds");
}

/// Both the witness's heap and its gaps have to be right: the least of those that come in one gap leaves before the next comes.
#[test]
fn many_come_and_go_in_one_gap() {
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

/// What a pending removal took is out of the way.
#[test]
fn pending_removals_take_what_is_in_the_way() {
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
fn all_small_histories_are_judged_as_the_oracle_does() {
    let both = ["add 1", "add 2", "poll → 1", "poll → 2", "peek → 1", "peek → 2", "poll → nil"];
    let pending = ["add 1", "add 2", "add 2 → ?", "poll → 1", "peek → 1", "poll → nil", "poll → ?"];
    let three = ["add 1", "add 2", "add 3", "poll → 1", "peek → 2", "poll → 3"];
    let long = ["add 1", "add 2", "poll → 1", "poll → 2", "peek → 1"];
    for (n, deeds) in [(3, &both[..]), (4, &both[..]), (4, &pending[..]), (4, &three[..]), (5, &long[..])] {
        let mut rulings = Rulings::default();
        every_history("priority-queue", n, deeds, |case| {
            check_ruling(case.problems().remove(0), search("oracle"), &mut rulings, &n);
        });
        assert!(share(200) < rulings.holds && share(1_000) < rulings.violated, "{rulings:?}");
    }
}

/// Priorities in no order, few of them twice; some answers changed.
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
        recording = with_another_answer(recording, &mut random);
    }
    catalogued.load(recording).unwrap()
}

/// Exchanges what two operations found, or lets one find nothing.
fn with_another_answer(recording: Recording, random: &mut Random) -> Recording {
    let Recording { history, values, names, missing } = recording;
    let is_found = |ret: Option<&Value>| ret.is_some_and(|it| !it.is_absent());
    let found: Vec<(usize, Value)> = history
        .operations()
        .filter(|it| is_found(it.ret))
        .map(|it| (it.id.index(), *it.ret.unwrap()))
        .collect();
    if found.is_empty() {
        return Recording { history, values, names, missing };
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
    Recording { history: history.unwrap(), values, names, missing }
}

#[test]
fn random_histories_are_judged_as_a_search_does() {
    for spec in ["priority-queue", "min-priority-queue"] {
        let mut rulings = Rulings::default();
        for seed in 0..share(20_000) {
            let case = random_history(spec, seed, 16);
            check_ruling(case.problems().remove(0), search("jit-graph"), &mut rulings, &seed);
        }
        for seed in 0..share(600) {
            let case = random_history(spec, seed, 150);
            check_ruling(case.problems().remove(0), search("jit-graph"), &mut rulings, &seed);
        }
        assert!(
            share(3_000) < rulings.holds && share(3_000) < rulings.violated && rulings.refused < share(8_000),
            "{rulings:?}"
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
        match check(&monitor::ByMonitor, &problem, &Budget::unlimited()) {
            Verdict::Holds(witness) => assert_eq!(witness.verify(&problem), Ok(())),
            other => panic!("seed {seed}: {other:?}"),
        }
    }
}
