//! The stack monitor: its rules one by one, all small histories, and long ones beside a search.

use std::fmt::Write as _;

use clewline_check::{
    Checker, check,
    monitor::{Columns, MonitorVerdict, RuleViolation, Unsupported, Want, judge},
    search::SEARCHES,
};
use clewline_core::{
    Budget, ErasedHistory, GeneratorConfig, OperationId, Problem, Random, Recording, Retain, Rule, Value,
    ValueDomain, Verdict, Witness,
};
use clewline_specs::find;
use clewline_testing::share;

use crate::histories::{drawn, every_history};

fn search(name: &str) -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == name).unwrap()
}

/// How often each verdict was reached.
#[derive(Default)]
struct Tally {
    holds: usize,
    violated: usize,
    pairs: usize,
    others: usize,
    unknown: usize,
    refused: usize,
}

impl Tally {
    #[track_caller]
    fn expect_both(&self, least: usize) {
        assert!(least <= self.holds && least <= self.violated, "{} / {}", self.holds, self.violated);
    }
}

/// The monitor says what `expected` says, and shows why.
#[track_caller]
fn check_ruling(problem: &Problem<'_>, expected: &Verdict, tally: &mut Tally) -> MonitorVerdict {
    let budget = Budget::unlimited();
    let ruling = judge(problem, Want::Witness, &budget).unwrap();
    let only_verdict = judge(problem, Want::Verdict, &budget).unwrap();
    match &ruling {
        MonitorVerdict::Holds(order) => {
            tally.holds += 1;
            assert_eq!(expected.word(), "holds", "{problem:#?}");
            assert_eq!(only_verdict, MonitorVerdict::Holds(None));
            let ids = |it: &Vec<u32>| it.iter().map(|&at| problem.operations()[at as usize]).collect();
            let order: Vec<OperationId> = order.as_ref().map(ids).unwrap();
            let witness = Witness { order };
            assert_eq!(witness.verify(problem), Ok(()), "{witness:?} of {problem:#?}");
        }
        MonitorVerdict::Violated(breach) => {
            tally.violated += 1;
            tally.pairs += usize::from(breach.rule == Rule::LastInFirstOut);
            tally.others += usize::from(breach.rule == Rule::NoneBelow);
            assert_eq!(expected.word(), "violated", "{breach:?} of {problem:#?}");
            assert_eq!(only_verdict, ruling);
            check_breach(problem, breach);
        }
    }
    ruling
}

/// The evidence is violated by itself, and what the operations of a pair are said to do they do.
#[track_caller]
fn check_breach(problem: &Problem<'_>, breach: &RuleViolation) {
    let is_kept = |at: usize| breach.evidence.contains(&(at as u32));
    assert!(breach.operations.iter().all(|&at| is_kept(at as usize)), "{breach:?}");
    let alone = problem.weaken(|at| if is_kept(at) { Retain::All } else { Retain::Drop });
    let verdict = check(search("jit-graph"), &alone, &Budget::unlimited());
    assert_eq!(verdict.word(), "violated", "{breach:?} of {problem:#?}");
    if breach.rule == Rule::LastInFirstOut {
        assert!(matches!(breach.operations.len(), 4 | 6), "{breach:?}");
        for pair in breach.operations.chunks(2) {
            let span = |at: u32| problem.spans()[at as usize];
            // What was made up for a pending removal has no return.
            assert!(span(pair[0]).precedes(span(pair[1])), "{breach:?} of {problem:#?}");
        }
    }
}

fn rule(ruling: &MonitorVerdict) -> Option<Rule> {
    match ruling {
        MonitorVerdict::Holds(_) => None,
        MonitorVerdict::Violated(breach) => Some(breach.rule),
    }
}

/// Judges a drawing, in agreement with the oracle.
#[track_caller]
fn check_drawing(drawing: &str, expected: Option<Rule>) -> Vec<String> {
    let case = drawn("stack", drawing);
    let problem = case.problems().remove(0);
    let verdict = check(search("oracle"), &problem, &Budget::unlimited());
    let ruling = check_ruling(&problem, &verdict, &mut Tally::default());
    assert_eq!(rule(&ruling), expected, "{ruling:?}");
    match ruling {
        MonitorVerdict::Holds(_) => Vec::new(),
        MonitorVerdict::Violated(breach) => {
            let label = |&at: &u32| problem.label(problem.operations()[at as usize]);
            breach.operations.iter().map(label).collect()
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
fn nothing_found_in_an_empty_stack_holds() {
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
fn a_peek_that_finds_nothing_counts_peeks_that_found_something() {
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
fn what_only_lies_above_is_left_out() {
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
    let Ok(MonitorVerdict::Violated(breach)) = judge(&problem, Want::Verdict, &Budget::unlimited()) else {
        panic!("three values are violated, whatever lies above them");
    };
    check_breach(&problem, &breach);
    assert_eq!(breach.rule, Rule::NoneBelow);
    assert_eq!(breach.evidence, [0, 1, 2, 3, times.len() as u32 - 1]);
}

#[test]
fn the_lower_of_two_taken_first_is_violated() {
    let operations =
        check_drawing("A: |--push 1--| |--push 2--| |--pop → 1--| |--pop → 2--|", Some(Rule::LastInFirstOut));
    assert_eq!(operations, ["push(1)", "push(2)", "push(2)", "pop() → 1", "pop() → 1", "pop() → 2"]);
}

#[test]
fn the_lower_of_two_taken_while_the_upper_stays_is_violated() {
    let operations = check_drawing("A: |--push 1--| |--push 2--| |--pop → 1--|", Some(Rule::LastInFirstOut));
    assert_eq!(operations, ["push(1)", "push(2)", "push(2)", "pop() → 1"]);
}

#[test]
fn the_lower_of_two_seen_is_violated() {
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
fn the_lower_of_two_taken_at_the_same_time_holds() {
    check_drawing(
        "
        A: |--push 1--| |--push 2--| |--pop → 1--|
        B:                                 |--pop → 2--|
        ",
        None,
    );
}

#[test]
fn a_pending_pop_may_have_taken_the_upper() {
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
fn check_every(most: usize, deeds: &[&str]) -> Tally {
    let mut tally = Tally::default();
    every_history("stack", most, deeds, |case| {
        for problem in case.problems() {
            // Values that are pushed twice are for others.
            if Columns::new(&problem).is_ok()
                && let Ok(_) = judge(&problem, Want::Verdict, &Budget::unlimited())
            {
                let expected = check(search("oracle"), &problem, &Budget::unlimited());
                check_ruling(&problem, &expected, &mut tally);
            }
        }
    });
    tally
}

#[test]
fn every_small_history() {
    // Those of five operations and more are among what all monitors are tried with.
    check_every(4, &["push 1", "push 2", "pop → 1", "pop → 2", "peek → 1", "pop → nil"])
        .expect_both(share(300));
    let pending = ["push 1", "push 2 → ?", "pop → 1", "peek → 2", "pop → ?", "pop → nil"];
    check_every(4, &pending).expect_both(share(300));
    check_every(4, &["push 1", "push 2", "push 3", "pop → 1", "pop → 2", "peek → 3", "pop → ?"])
        .expect_both(share(500));
}

/// A random history of distinct values in which some neighbouring answers have been exchanged.
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
    let Recording { mut history, values, names, missing } = catalogued.generate(&plan);
    for _ in 0..random.below(4) {
        let answers: Vec<Option<Value>> =
            history.operations().map(|it| it.ret.copied().filter(|ret| !ret.is_absent())).collect();
        let some: Vec<usize> = (0..answers.len()).filter(|&it| answers[it].is_some()).collect();
        if some.len() < 2 {
            break;
        }
        let first = random.below(some.len() - 1);
        let second = (first + 1 + random.below(3)).min(some.len() - 1);
        let (first, second) = (some[first], some[second]);
        let swapped = history.try_map(|id, call, ret| {
            let other = match id.index() {
                it if it == first => answers[second],
                it if it == second => answers[first],
                _ => ret,
            };
            Ok::<_, ()>((call, other))
        });
        history = swapped.unwrap();
    }
    catalogued.load(Recording { history, values, names, missing }).unwrap()
}

#[test]
fn long_random_histories() {
    let mut tally = Tally::default();
    for seed in 0..share(20_000) {
        let case = random_distinct(seed);
        for problem in case.problems() {
            let expected =
                check(search("jit-graph"), &problem, &Budget::unlimited().with_configurations(5_000));
            match expected {
                Verdict::Unknown(_) => tally.unknown += 1,
                // Many pending pops may be too many.
                Verdict::Holds(_) | Verdict::Violated(_)
                    if judge(&problem, Want::Verdict, &Budget::unlimited()).is_err() =>
                {
                    tally.refused += 1;
                }
                Verdict::Holds(_) | Verdict::Violated(_) => {
                    check_ruling(&problem, &expected, &mut tally);
                }
            }
        }
    }
    tally.expect_both(share(3_000));
    assert!(tally.unknown < share(3_000), "{} unknown", tally.unknown);
    assert!(tally.refused < 300, "{} refused", tally.refused);
    assert!(
        share(400) < tally.pairs && share(20) < tally.others,
        "{} pairs, {} others",
        tally.pairs,
        tally.others
    );
}
