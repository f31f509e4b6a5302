//! The monitors for queues and bags: each of their rules is needed, and their explanations are
//! true.

use std::collections::{BTreeMap, VecDeque};

use clewline_check::{ByMonitor, Checker, JudgeOptions, check, judge, search::SEARCHES};
use clewline_core::{
    Budget, ErasedHistory, Explanation, GeneratorConfig, OperationId, Problem, Random, RawCall, Reason,
    Recording, Retain, Rule, Value, ValueDomain, Values, Verdict, Violation,
};
use clewline_monitor::{self as monitor, MonitorVerdict, Want};
use clewline_specs::find;
use clewline_testing::{pick, pick_of_three, share};

use crate::histories::{action, drawn, every_history, history_of, load};

fn search(name: &str) -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == name).unwrap()
}

/// How often each verdict was reached, and each rule with how many operations.
#[derive(Default)]
struct VerdictCounts {
    holds: usize,
    refused: usize,
    // Unknown to the search.
    undecided: usize,
    broken: BTreeMap<String, usize>,
}

impl VerdictCounts {
    fn violated(&self) -> usize {
        self.broken.values().sum()
    }

    #[track_caller]
    fn expect(&self, rules: &[&str]) {
        for rule in rules {
            assert!(self.broken.contains_key(*rule), "{rule} is not among {:?}", self.broken);
        }
        assert!(50 * self.undecided < self.holds, "{} and {}", self.undecided, self.holds);
        assert!(self.violated() < 50 * self.holds && self.holds < 50 * self.violated(), "{:?}", self.broken);
    }
}

/// The monitor has the verdict of `expected`, and proves it.
#[track_caller]
fn check_monitor(problem: &Problem<'_>, expected: &dyn Checker, counts: &mut VerdictCounts, about: &str) {
    let verdict = check(&ByMonitor, problem, &Budget::unlimited());
    if let Verdict::Unknown(Reason::Refused(text)) = &verdict {
        let is_known = text.contains("distinct values") || text.contains("too many pending");
        assert!(is_known, "{about}: {text}: {problem:#?}");
        counts.refused += 1;
        return;
    }
    let word = check(expected, problem, &Budget::unlimited().with_configurations(20_000)).word();
    if word == "unknown" {
        counts.undecided += 1;
    } else {
        assert_eq!(verdict.word(), word, "{about}: {verdict:?} of {problem:#?}");
    }
    let quick = monitor::judge(problem, Want::Verdict, &Budget::unlimited());
    match verdict {
        Verdict::Holds(witness) => {
            counts.holds += 1;
            assert_eq!(quick, Ok(MonitorVerdict::Holds(None)), "{about}");
            if let Err(error) = witness.verify(problem) {
                panic!("{about}: {error}: {witness:?} of {problem:#?}");
            }
        }
        Verdict::Violated(violation) => {
            assert!(matches!(quick, Ok(MonitorVerdict::Violated(_))), "{about}");
            let Explanation::Broken { rule, operations } = &violation.explanation else {
                panic!("a monitor names a rule: {violation:?}");
            };
            *counts.broken.entry(format!("{rule:?} {}", operations.len())).or_default() += 1;
            check_proof(problem, &violation, *rule, operations, about);
        }
        Verdict::Unknown(reason) => panic!("{about}: {reason}"),
    }
}

/// The counterexample is violated by itself, and what the report claims about the operations is
/// true.
fn check_proof(
    problem: &Problem<'_>,
    violation: &Violation,
    rule: Rule,
    operations: &[OperationId],
    about: &str,
) {
    let is_kept = |at: usize| violation.counterexample.contains(&problem.operations()[at]);
    let alone = problem.weaken(|at| if is_kept(at) { Retain::All } else { Retain::Drop });
    let word = check(search("jit-graph"), &alone, &Budget::unlimited()).word();
    assert_eq!(word, "violated", "{about}: {violation:?} of {problem:#?}");
    assert!(operations.iter().all(|it| violation.counterexample.contains(it)), "{about}: {violation:?}");
    let span = |place: usize| problem.spans()[problem.position(operations[place]).unwrap()];
    let pairs: &[usize] = match (rule, operations.len()) {
        (Rule::FirstInFirstOut | Rule::OneInFront, 4) => &[0, 2],
        (Rule::FirstInFirstOut | Rule::OneInFront, 3) | (Rule::AddedBefore | Rule::Gone, 2) => &[0],
        (Rule::FrontInTurn, 6) => &[0, 2, 4],
        (Rule::OneInFront | Rule::TakenOnce, 2) | (Rule::Empty, _) => &[],
        (Rule::Added | Rule::ThereOrNot, 1) => &[],
        (_, _) => panic!("{about}: {violation:?}"),
    };
    for &place in pairs {
        assert!(span(place).precedes(span(place + 1)), "{about}: {place} of {violation:?} in {problem:#?}");
    }
}

#[track_caller]
fn check_drawn(spec: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    let mut counts = VerdictCounts::default();
    for problem in case.problems() {
        check_monitor(&problem, search("oracle"), &mut counts, drawing);
    }
    let found = counts.broken.keys().next().map_or("holds", String::as_str);
    let found = if counts.refused == 0 { found } else { "refused" };
    assert_eq!(found, expected);
}

#[test]
fn the_element_added_first_is_removed_first() {
    check_drawn("queue", "A: |-enq 1-| |-enq 2-| |-deq → 2-| |-deq → 1-|", "FirstInFirstOut 4");
    check_drawn("queue", "A: |-enq 3-| |-enq 1-| |-deq → 1-|", "FirstInFirstOut 3");
    check_drawn("queue", "A: |-enq 1-| |-enq 2-| |-peek → 2-|", "FirstInFirstOut 3");
    check_drawn("queue", "A: |-enq 1-| |-enq 2-| |-peek → 2-| |-peek → 1-|", "FirstInFirstOut 4");
}

#[test]
fn elements_with_overlapping_adds_may_be_removed_in_either_order() {
    let drawing = "
        A: |-enq 1--------| |-deq → 2-----|
        B:    |-enq 2-|         |-deq → 1---------|
        ";
    check_drawn("queue", drawing, "holds");
}

#[test]
fn a_peek_shows_when_an_element_was_inside() {
    // 1 was inside when it was observed, long before its own return.
    let drawing = "
        A: |-enq 1---------------------------------|
        B:    |-peek → 1-|  |-enq 2-|  |-deq → 2-|
        ";
    check_drawn("queue", drawing, "FirstInFirstOut 3");
}

#[test]
fn two_elements_are_not_in_front_at_once() {
    let both = "
        A: |-enq 1--------|
        B: |-enq 2--------| |-peek → 1-| |-peek → 2-|";
    check_drawn("queue", both, "OneInFront 3");
    let both = "
        A: |-enq 1--------| |-peek → 1-|
        B: |-enq 2--------| |-peek → 2-|";
    check_drawn("queue", both, "OneInFront 2");
    let taken = format!("{both} |-deq → 2-|");
    check_drawn("queue", &taken, "OneInFront 3");
    let in_turn = "
        A: |-enq 1--------| |-peek → 1--------------|
        B: |-enq 2--------| |-peek → 2-| |-deq → 2-|  |-deq → 1-|";
    check_drawn("queue", in_turn, "holds");
    let back = format!("{both} |-peek → 1-| |-peek → 2-|");
    check_drawn("queue", &back, "OneInFront 4");
}

#[test]
fn three_elements_form_a_cycle_though_no_two_do() {
    let drawing = "
        A: |-enq 2--------------------------------------|
        B:   |-enq 3-| |-enq 1-|  |-deq → 1-------------------|
        C:                                  |-peek → 2--|  |-deq → 3----------------------|
        D:                                                            |-deq → 2-|
        ";
    check_drawn("queue", drawing, "FrontInTurn 6");
    // Without the element that 3 is ahead of, nothing is violated.
    let without = drawing.replace("|-enq 1-|", "").replace("|-deq → 1-------------------|", "");
    check_drawn("queue", &without, "holds");
}

#[test]
fn an_empty_result_needs_a_moment_when_no_element_must_be_inside() {
    // After it was observed the element is inside, though the operation that adds it has not
    // returned.
    let seen = "
        A: |-enq 1-----------------|
        B:   |-peek → 1-|  |-peek → nil----|
        ";
    check_drawn("queue", seen, "Empty 3");
    check_drawn("queue", &seen.replace("peek → 1", "deq → 1-"), "holds");
    let between = "
        A: |-enq 1-|     |-deq → 1-|   |-enq 3----|
        B:     |-enq 2-------|    |-deq → 2-|
        C:                        |-deq → nil--|   |-deq → 3-|
        ";
    check_drawn("queue", between, "holds");
    check_drawn("queue", &between.replace("|-enq 3----|", "|-enq 3-----------|"), "holds");
    check_drawn("queue", &between.replace("|-deq → nil--|", "|-deq → nil-|   "), "holds");
}

#[test]
fn elements_added_again_are_distinct() {
    let again = "A: |-enq 1-| |-deq → 1-| |-enq 2-| |-enq 1-| |-deq → 2-| |-deq → 1-|";
    check_drawn("queue", again, "holds");
    check_drawn(
        "queue",
        &again.replace("deq → 2-| |-deq → 1-|", "deq → 1-| |-deq → 2-|"),
        "FirstInFirstOut 4",
    );
    check_drawn("queue", "A: |-enq 1-| |-enq 1-| |-deq → 1-|", "refused");
}

#[test]
fn pending_removals_may_have_removed_what_is_in_the_way() {
    let drawing = "
        A: |-enq 1-| |-enq 2-|  |-deq → 2-|
        B:                   |-deq → ?
        ";
    check_drawn("queue", drawing, "holds");
    let late = "
        A: |-enq 1-| |-enq 2-|  |-deq → 2-|
        B:                                   |-deq → ?
        ";
    check_drawn("queue", late, "FirstInFirstOut 4");
    let two = "
        A: |-enq 1-| |-enq 2-| |-enq 3-|  |-deq → 3-|
        B:                          |-deq → ?
        ";
    check_drawn("queue", two, "FirstInFirstOut 3");
}

#[track_caller]
fn check_every(spec: &str, most: usize, actions: &[&str], rules: &[&str]) {
    let mut counts = VerdictCounts::default();
    for n in 0..=most {
        every_history(spec, n, actions, |case| {
            for problem in case.problems() {
                check_monitor(&problem, search("oracle"), &mut counts, spec);
            }
        });
    }
    counts.expect(rules);
}

#[test]
fn every_small_queue() {
    let rules = ["Added 1", "AddedBefore 2", "TakenOnce 2", "Empty 3", "FirstInFirstOut 3"];
    check_every("queue", 5, &["enq 1", "enq 2", "deq → 1", "deq → 2", "deq → nil"], &rules);
    let rules = ["FirstInFirstOut 3", "FirstInFirstOut 4", "OneInFront 2", "OneInFront 3", "Gone 2"];
    check_every("queue", 5, &["enq 1", "enq 2", "peek → 1", "peek → 2", "deq → 2"], &rules);
}

#[test]
fn every_small_queue_with_pending_operations() {
    let actions = ["enq 1", "enq 2", "enq 2 → ?", "deq → 2", "deq → nil", "deq → ?", "peek → 1"];
    check_every("queue", 4, &actions, &["FirstInFirstOut 3", "Empty 3"]);
    check_every("queue", 5, &["enq 1", "enq 2", "enq 3", "deq → 3", "deq → ?"], &["FirstInFirstOut 4"]);
    check_every("queue", 5, &["enq 1", "enq 2 → ?", "deq → 2", "peek → nil", "deq → ?"], &["Empty 3"]);
}

#[test]
fn every_small_bag() {
    let rules = ["Added 1", "AddedBefore 2", "TakenOnce 2", "Empty 3"];
    check_every("bag", 5, &["add 1", "add 2", "take → 1", "take → 2", "take → nil"], &rules);
    check_every("bag", 5, &["add 1", "add 1 → ?", "take → 1", "take → ?"], &["ThereOrNot 1", "TakenOnce 2"]);
    check_every(
        "bag",
        4,
        &["add 1", "add 2", "add 2 → ?", "take → 2", "take → nil", "take → ?"],
        &["Empty 3"],
    );
}

/// A history of `actions` in some order, each open for a while.
fn shuffled(spec: &str, actions: &[String], random: &mut Random) -> Box<dyn ErasedHistory> {
    let mut values = Values::new();
    let actions: Vec<_> = actions.iter().map(|it| action(&mut values, it)).collect();
    let open = [1, 2, 4, 6][random.below(4)];
    // Neighbours change places, so that not all is in order.
    let mut order: Vec<usize> = (0..actions.len()).collect();
    for at in 1..order.len() {
        let other = at - random.below(1 + at.min(2));
        order.swap(at, other);
    }
    let delay = |at: usize| random.below(open).min(actions.len() - 1 - at);
    let delays: Vec<usize> = (0..actions.len()).map(delay).collect();
    let choice: Vec<(usize, usize)> = order.into_iter().zip(delays).collect();
    load(spec, history_of(&choice, &actions), values)
}

/// Each of `values` is added, perhaps observed, perhaps removed: over time, and mostly in order.
fn actions_of_queue(values: usize, random: &mut Random) -> Vec<String> {
    let sees = random.below(3);
    let mut adds: VecDeque<String> = VecDeque::new();
    // With how many elements must have been added before.
    let mut finds: VecDeque<(usize, String)> = VecDeque::new();
    for value in 0..values {
        adds.push_back(format!("enq {value}{}", if random.chance(0.05) { " → ?" } else { "" }));
        let mut find = |text: String| finds.push_back((value + 1, text));
        (0..random.below(1 + sees)).for_each(|_| find(format!("peek → {value}")));
        match random.below(12) {
            0 => (),
            1 => find("deq → ?".to_owned()),
            _ => find(format!("deq → {value}")),
        }
        if random.chance(0.1) {
            find("deq → nil".to_owned());
        }
    }
    let mut actions = Vec::new();
    while !adds.is_empty() || !finds.is_empty() {
        let added = values - adds.len();
        let next = match finds.front() {
            Some((least, _)) if *least <= added && (adds.is_empty() || random.chance(0.5)) => {
                finds.pop_front().map(|it| it.1)
            }
            Some(_) | None => adds.pop_front(),
        };
        actions.extend(next);
    }
    actions
}

#[test]
fn random_queues_with_many_peeks() {
    let mut counts = VerdictCounts::default();
    for seed in 0..pick(3_000, 60_000) {
        let mut random = Random::new(seed);
        let values = 2 + random.below(3);
        let actions = actions_of_queue(values, &mut random);
        let case = shuffled("queue", &actions, &mut random);
        for problem in case.problems() {
            let expected = if problem.len() <= 8 { "oracle" } else { "jit-graph" };
            check_monitor(&problem, search(expected), &mut counts, &format!("seed {seed}"));
        }
    }
    counts.expect(&[
        "FirstInFirstOut 3",
        "FirstInFirstOut 4",
        "OneInFront 2",
        "OneInFront 3",
        "OneInFront 4",
    ]);
    counts.expect(&["AddedBefore 2", "Gone 2", "Empty 3", "Empty 5"]);
}

/// The cycle of three, called nearly as it is drawn above, each open for any time.
#[test]
fn cycles_of_three_are_found() {
    let mut counts = VerdictCounts::default();
    let actions = ["enq 2", "enq 3", "enq 1", "deq → 1", "peek → 2", "deq → 3", "deq → 2"];
    let mut values = Values::new();
    let actions = actions.map(|it| action(&mut values, it));
    for swapped in (0..actions.len()).step_by(pick(11, 1)) {
        let mut actions = actions;
        actions.swap(swapped, (swapped + 1).min(6));
        for number in 0..5_040 {
            // The digits of the number in the base of factorials.
            let mut rest = number;
            let choice: Vec<(usize, usize)> = (0..actions.len())
                .map(|at| {
                    let delay = rest % (actions.len() - at);
                    rest /= actions.len() - at;
                    (at, delay)
                })
                .collect();
            let case = load("queue", history_of(&choice, &actions), values.clone());
            for problem in case.problems() {
                check_monitor(&problem, search("oracle"), &mut counts, &format!("{choice:?}"));
            }
        }
    }
    counts.expect(&["FrontInTurn 6", "OneInFront 4", "FirstInFirstOut 4"]);
    assert!(pick(2, 20) < counts.broken["FrontInTurn 6"], "{:?}", counts.broken);
}

/// A history of up to 30 operations in which some results may be exchanged.
fn nearly_right(spec: &str, values: ValueDomain, seed: u64) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(seed);
    let plan = GeneratorConfig {
        operations: 4 + random.below(27),
        processes: 2 + random.below(3),
        overlap: [0.3, 0.6, 1.0][random.below(3)],
        values,
        pending: [0.0, 0.05, 0.2][random.below(3)],
        seed: random.next(),
        ..GeneratorConfig::default()
    };
    let catalogued = find(spec).unwrap();
    let Recording { mut history, values, names, missing, .. } = catalogued.generate(&plan);
    for _ in 0..random.below(3) {
        let has_result = |call: &RawCall| call.arg.is_absent();
        let results: Vec<(OperationId, Value)> = history
            .operations()
            .filter(|it| has_result(it.call))
            .filter_map(|it| Some((it.id, *it.ret?)))
            .collect();
        if results.len() < 2 {
            break;
        }
        let first = random.below(results.len() - 1);
        let second = (first + 1 + random.below(3)).min(results.len() - 1);
        let (one, other) = (results[first], results[second]);
        let changed = history.try_map(|id, call, ret| {
            let ret = match ret {
                Some(_) if id == one.0 => Some(other.1),
                Some(_) if id == other.0 => Some(one.1),
                ret => ret,
            };
            Ok::<_, ()>((call, ret))
        });
        history = changed.unwrap();
    }
    catalogued.load(Recording { missing, ..Recording::new(history, values, names) }).unwrap()
}

#[test]
fn random_queues_agree_with_a_search() {
    let mut counts = VerdictCounts::default();
    for seed in 0..pick(700, 30_000) {
        let case = nearly_right("queue", ValueDomain::Distinct, seed);
        for problem in case.problems() {
            check_monitor(&problem, search("jit-graph"), &mut counts, &format!("seed {seed}"));
        }
    }
    counts.expect(&["FirstInFirstOut 3", "FirstInFirstOut 4", "OneInFront 4", "Empty 3"]);
    assert!(counts.refused < 30, "{}", counts.refused);
}

#[test]
fn random_bags_agree_with_a_search() {
    let mut counts = VerdictCounts::default();
    for seed in 0..pick(3_000, 20_000) {
        let case = nearly_right("bag", ValueDomain::Distinct, seed);
        for problem in case.problems() {
            check_monitor(&problem, search("jit-graph"), &mut counts, &format!("seed {seed}"));
        }
    }
    assert_eq!(counts.refused, 0);
    counts.expect(&["AddedBefore 2", "Empty 3", "Empty 5"]);
    for seed in 0..pick_of_three(401, 2_001, 20_000) {
        let case = nearly_right("bag", ValueDomain::Below(3), seed);
        for problem in case.problems() {
            check_monitor(&problem, search("jit-graph"), &mut counts, &format!("seed {seed}"));
        }
    }
    assert!(counts.refused < 20_000, "{}", counts.refused);
    counts.expect(&["ThereOrNot 1"]);
}

#[test]
fn copies_in_a_bag_are_counted() {
    let bag = "A: |-add 1-| |-add 1-| |-take → 1-| |-add 1-| |-take → 1-| |-take → 1-|";
    check_drawn("bag", bag, "holds");
    check_drawn("bag", &format!("{bag} |-take → 1-|"), "ThereOrNot 1");
    // Added by an operation that has been called, whether it returns or not.
    let pending = "
        A: |-add 1-|  |-take → 1-| |-take → 1-|
        B:    |-add 1";
    check_drawn("bag", pending, "holds");
    let late = "
        A: |-add 1-|  |-take → 1-| |-take → 1-|
        B:                                      |-add 1";
    check_drawn("bag", late, "TakenOnce 2");
}

#[test]
fn copies_in_a_bag_that_is_found_empty_are_left_to_a_search() {
    let drawing = "
        A: |-take → 1----|  |-add 1-|
        B:     |-add 1-----------------------------------|
        C:                               |-take → nil--------|";
    check_drawn("bag", drawing, "refused");
}

#[test]
fn a_bag_keeps_no_order() {
    check_drawn("bag", "A: |-add 1-| |-add 2-| |-take → 2-| |-take → 1-| |-take → nil-|", "holds");
    check_drawn("bag", "A: |-add 1-| |-add 2-| |-take → 2-| |-take → nil-|", "Empty 3");
    let drawing = "
        A: |-add 1-| |-take → nil-|
        B:                  |-take → ?";
    check_drawn("bag", drawing, "holds");
}

#[test]
fn counterexamples_of_queues_are_small() {
    let mut sizes = [0_usize; 40];
    for seed in 0..pick_of_three(31, 151, 1_500) {
        let case = nearly_right("queue", ValueDomain::Distinct, seed);
        if let Verdict::Violated(violation) = judge(case.problems(), &JudgeOptions::default()).verdict {
            assert!(violation.is_minimal, "seed {seed}");
            sizes[violation.counterexample.len()] += 1;
        }
    }
    let all: usize = sizes.iter().sum();
    let small: usize = sizes[..=4].iter().sum();
    assert!(share(300) < all && 9 * all < 10 * small, "{sizes:?}");
}
