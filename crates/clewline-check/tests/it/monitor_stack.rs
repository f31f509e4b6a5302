//! The stack monitor: its rules one by one, all small histories, and long ones beside a search.

use std::fmt::Write as _;

use clewline_check::{Checker, check, search::SEARCHES};
use clewline_core::{
    Budget, ErasedHistory, GeneratorConfig, OperationId, Problem, Random, Recording, Retain, Rule, Value,
    ValueDomain, Verdict, Witness,
};
use clewline_monitor::{Columns, MonitorVerdict, RuleViolation, Unsupported, Want, judge};
use clewline_specs::find;
use clewline_testing::{pick_of_three, share};

use crate::histories::{drawn, every_history};

fn search(name: &str) -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == name).unwrap()
}

/// How often each verdict was reached.
#[derive(Default)]
struct VerdictCounts {
    holds: usize,
    violated: usize,
    pairs: usize,
    others: usize,
    unknown: usize,
    refused: usize,
}

impl VerdictCounts {
    #[track_caller]
    fn expect_both(&self, least: usize) {
        assert!(least <= self.holds && least <= self.violated, "{} / {}", self.holds, self.violated);
    }
}

/// The monitor has the verdict of `expected`, and proves it.
#[track_caller]
fn check_verdict(problem: &Problem<'_>, expected: &Verdict, counts: &mut VerdictCounts) -> MonitorVerdict {
    let budget = Budget::unlimited();
    let ruling = judge(problem, Want::Witness, &budget).unwrap();
    let only_verdict = judge(problem, Want::Verdict, &budget).unwrap();
    match &ruling {
        MonitorVerdict::Holds(order) => {
            counts.holds += 1;
            assert_eq!(expected.word(), "holds", "{problem:#?}");
            assert_eq!(only_verdict, MonitorVerdict::Holds(None));
            let ids = |it: &Vec<u32>| it.iter().map(|&at| problem.operations()[at as usize]).collect();
            let order: Vec<OperationId> = order.as_ref().map(ids).unwrap();
            let witness = Witness { order };
            assert_eq!(witness.verify(problem), Ok(()), "{witness:?} of {problem:#?}");
        }
        MonitorVerdict::Violated(violation) => {
            counts.violated += 1;
            counts.pairs += usize::from(violation.rule == Rule::LastInFirstOut);
            counts.others += usize::from(violation.rule == Rule::NoneBelow);
            assert_eq!(expected.word(), "violated", "{violation:?} of {problem:#?}");
            assert_eq!(only_verdict, ruling);
            check_violation(problem, violation);
        }
        MonitorVerdict::Unknown(never) => match *never {},
    }
    ruling
}

/// The evidence is violated by itself, and what is claimed about the operations of a pair is true.
#[track_caller]
fn check_violation(problem: &Problem<'_>, violation: &RuleViolation) {
    let is_kept = |at: usize| violation.evidence.contains(&(at as u32));
    assert!(violation.operations.iter().all(|&at| is_kept(at as usize)), "{violation:?}");
    let alone = problem.weaken(|at| if is_kept(at) { Retain::All } else { Retain::Drop });
    let verdict = check(search("jit-graph"), &alone, &Budget::unlimited());
    assert_eq!(verdict.word(), "violated", "{violation:?} of {problem:#?}");
    if violation.rule == Rule::LastInFirstOut {
        assert!(matches!(violation.operations.len(), 4 | 6), "{violation:?}");
        for pair in violation.operations.chunks(2) {
            let span = |at: u32| problem.spans()[at as usize];
            // An artificial operation for a pending removal has no return.
            assert!(span(pair[0]).precedes(span(pair[1])), "{violation:?} of {problem:#?}");
        }
    }
}

fn rule(ruling: &MonitorVerdict) -> Option<Rule> {
    if let MonitorVerdict::Violated(violation) = ruling { Some(violation.rule) } else { None }
}

/// Judges a drawing, in agreement with the oracle.
#[track_caller]
fn check_drawing(drawing: &str, expected: Option<Rule>) -> Vec<String> {
    let case = drawn("stack", drawing);
    let problem = case.problems().remove(0);
    let verdict = check(search("oracle"), &problem, &Budget::unlimited());
    let ruling = check_verdict(&problem, &verdict, &mut VerdictCounts::default());
    assert_eq!(rule(&ruling), expected, "{ruling:?}");
    match ruling {
        MonitorVerdict::Holds(_) => Vec::new(),
        MonitorVerdict::Violated(violation) => {
            let label = |&at: &u32| problem.label(problem.operations()[at as usize]);
            violation.operations.iter().map(label).collect()
        }
    }
}

/// Draws operations given as `push 1 [0 4]`, a line each.
fn at_times(operations: &[(&str, usize, usize)]) -> String {
    let mut drawing = String::new();
    for (process, (text, call, ret)) in operations.iter().enumerate() {
        // Wide enough for any text between the bars.
        let width = 14;
        let (before, within) = (call * width, (ret - call) * width - 1);
        writeln!(drawing, "P{process:02}: {:before$}|{text:-<within$}|", "").unwrap();
    }
    drawing
}

#[test]
fn an_empty_result_of_an_empty_stack_holds() {
    check_drawing("A: |--pop → nil--|", None);
}

#[test]
fn two_pushes_hold() {
    check_drawing("A: |--push 1--|  |--push 4--|", None);
}

#[test]
fn a_peek_after_its_push_holds() {
    check_drawing("A: |--push 2--|  |--peek → 2--|", None);
}

#[test]
fn a_gap_that_one_element_alone_covered_is_visited_again() {
    check_drawing(&at_times(&[("push 3", 0, 1), ("push 4", 2, 4), ("peek → 3", 3, 5)]), None);
}

#[test]
fn an_empty_peek_respects_peeks_that_found_an_element() {
    let times = [("push 1", 0, 4), ("peek → 1", 1, 2), ("peek → nil", 3, 5)];
    check_drawing(&at_times(&times), Some(Rule::Empty));
}

#[test]
fn segments_that_hold_need_not_hold_together() {
    let times = [("push 5", 0, 4), ("push 6", 1, 2), ("push 7", 3, 7), ("pop → 6", 5, 6), ("pop → 5", 8, 9)];
    let operations = check_drawing(&at_times(&times), Some(Rule::NoneBelow));
    assert_eq!(operations.len(), 5);
}

#[test]
fn elements_that_only_lie_above_are_left_out() {
    const FILLERS: usize = 100;
    let texts: Vec<(String, String)> =
        (100..100 + FILLERS).map(|it| (format!("push {it}"), format!("pop → {it}"))).collect();
    let mut times = vec![("push 5", 0, 4), ("push 6", 1, 2), ("push 7", 3, 7), ("pop → 6", 5, 6)];
    let mut now = 8;
    for (push, pop) in &texts {
        times.extend([(push.as_str(), now, now + 1), (pop.as_str(), now + 2, now + 3)]);
        now += 4;
    }
    times.push(("pop → 5", now, now + 1));
    let case = drawn("stack", &at_times(&times));
    let problem = case.problems().remove(0);
    let Ok(MonitorVerdict::Violated(violation)) = judge(&problem, Want::Verdict, &Budget::unlimited()) else {
        panic!("three values are violated, whatever lies above them");
    };
    check_violation(&problem, &violation);
    assert_eq!(violation.rule, Rule::NoneBelow);
    assert_eq!(violation.evidence, [0, 1, 2, 3, times.len() as u32 - 1]);
}

#[test]
fn popping_the_lower_of_two_first_is_violated() {
    let operations =
        check_drawing("A: |--push 1--| |--push 2--| |--pop → 1--| |--pop → 2--|", Some(Rule::LastInFirstOut));
    assert_eq!(operations, ["push(1)", "push(2)", "push(2)", "pop() → 1", "pop() → 1", "pop() → 2"]);
}

#[test]
fn popping_the_lower_of_two_while_the_upper_stays_is_violated() {
    let operations = check_drawing("A: |--push 1--| |--push 2--| |--pop → 1--|", Some(Rule::LastInFirstOut));
    assert_eq!(operations, ["push(1)", "push(2)", "push(2)", "pop() → 1"]);
}

#[test]
fn peeking_the_lower_of_two_is_violated() {
    let operations = check_drawing(
        "
        A: |--push 1--| |--push 2---------------------|         |--pop → 2--|
        B:                |--peek → 2--|  |--peek → 1--|
        ",
        Some(Rule::LastInFirstOut),
    );
    assert_eq!(operations, ["push(1)", "push(2)", "peek() → 2", "peek() → 1", "peek() → 1", "pop() → 2"]);
}

#[test]
fn popping_both_of_two_at_the_same_time_holds() {
    check_drawing(
        "
        A: |--push 1--| |--push 2--| |--pop → 1--|
        B:                                 |--pop → 2--|
        ",
        None,
    );
}

#[test]
fn a_pending_pop_may_have_removed_the_upper() {
    check_drawing(
        "
        A: |--push 1--| |--push 2--| |--pop → 1--|
        B:                             |--pop
        ",
        None,
    );
    check_drawing(
        "
        A: |--push 1--| |--push 2--| |--pop → 1--|
        B:                                             |--pop
        ",
        Some(Rule::LastInFirstOut),
    );
}

#[test]
fn values_pushed_twice_are_refused() {
    let case = drawn("stack", "A: |--push 1--| |--push 1--| |--pop → 1--|");
    let refusal = judge(&case.problems()[0], Want::Witness, &Budget::unlimited()).unwrap_err();
    assert_eq!(refusal, Unsupported::AddedTwice(0, 1));
}

#[track_caller]
fn check_every(most: usize, actions: &[&str]) -> VerdictCounts {
    let mut counts = VerdictCounts::default();
    every_history("stack", most, actions, |case| {
        for problem in case.problems() {
            // Values that are pushed twice are tested elsewhere.
            if Columns::new(&problem).is_ok()
                && let Ok(_) = judge(&problem, Want::Verdict, &Budget::unlimited())
            {
                let expected = check(search("oracle"), &problem, &Budget::unlimited());
                let _ = check_verdict(&problem, &expected, &mut counts);
            }
        }
    });
    counts
}

#[test]
fn every_small_history() {
    // Histories of five operations and more are tested with all monitors.
    check_every(4, &["push 1", "push 2", "pop → 1", "pop → 2", "peek → 1", "pop → nil"])
        .expect_both(share(300));
    let pending = ["push 1", "push 2 → ?", "pop → 1", "peek → 2", "pop → ?", "pop → nil"];
    check_every(4, &pending).expect_both(share(300));
    check_every(4, &["push 1", "push 2", "push 3", "pop → 1", "pop → 2", "peek → 3", "pop → ?"])
        .expect_both(share(500));
}

/// A random history of distinct values in which some neighbouring results have been exchanged.
fn random_distinct(seed: u64) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(seed);
    let mix = |weights: [u32; 3]| {
        ["push", "pop", "peek"].iter().map(|&it| it.to_owned()).zip(weights).collect::<Vec<_>>()
    };
    let plan = GeneratorConfig {
        operations: 4 + random.below(57),
        processes: 2 + random.below(5),
        overlap: [0.2, 0.5, 0.8, 1.0][random.below(4)],
        mix: mix([[3, 2, 0], [2, 2, 1], [3, 3, 4], [4, 1, 2]][random.below(4)]),
        values: ValueDomain::Distinct,
        pending: [0.0, 0.0, 0.05, 0.2][random.below(4)],
        seed: random.next(),
        ..GeneratorConfig::default()
    };
    let catalogued = find("stack").unwrap();
    let Recording { mut history, values, names, missing, .. } = catalogued.generate(&plan);
    for _ in 0..random.below(4) {
        let results: Vec<Option<Value>> =
            history.operations().map(|it| it.ret.copied().filter(|ret| !ret.is_absent())).collect();
        let some: Vec<usize> = (0..results.len()).filter(|&it| results[it].is_some()).collect();
        if some.len() < 2 {
            break;
        }
        let first = random.below(some.len() - 1);
        let second = (first + 1 + random.below(3)).min(some.len() - 1);
        let (first, second) = (some[first], some[second]);
        let swapped = history.try_map(|id, call, ret| {
            let other = match id.index() {
                it if it == first => results[second],
                it if it == second => results[first],
                _ => ret,
            };
            Ok::<_, ()>((call, other))
        });
        history = swapped.unwrap();
    }
    catalogued.load(Recording { missing, ..Recording::new(history, values, names) }).unwrap()
}

#[test]
fn long_random_histories() {
    let mut counts = VerdictCounts::default();
    for seed in 0..pick_of_three(401, 2_001, 20_000) {
        let case = random_distinct(seed);
        for problem in case.problems() {
            let expected =
                check(search("jit-graph"), &problem, &Budget::unlimited().with_configurations(5_000));
            match expected {
                Verdict::Unknown(_) => counts.unknown += 1,
                // Many pending pops may be too many.
                Verdict::Holds(_) | Verdict::Violated(_)
                    if judge(&problem, Want::Verdict, &Budget::unlimited()).is_err() =>
                {
                    counts.refused += 1;
                }
                Verdict::Holds(_) | Verdict::Violated(_) => {
                    let _ = check_verdict(&problem, &expected, &mut counts);
                }
            }
        }
    }
    counts.expect_both(pick_of_three(31, 301, 3_000));
    assert!(counts.unknown < pick_of_three(31, 301, 3_000), "{} unknown", counts.unknown);
    assert!(counts.refused < 300, "{} refused", counts.refused);
    assert!(
        pick_of_three(4, 40, 400) < counts.pairs && pick_of_three(0, 2, 20) < counts.others,
        "{} pairs, {} others",
        counts.pairs,
        counts.others
    );
}
