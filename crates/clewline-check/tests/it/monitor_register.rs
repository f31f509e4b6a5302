//! The monitor for registers agrees with the oracle wherever it decides, and proves what it says.

use clewline_check::{
    ByMonitor, Checker, check,
    search::{SEARCHES, jit_graph::JitGraph},
};
use clewline_core::{
    Budget, ErasedHistory, Explanation, OperationId, Problem, Random, Reason, Retain, Rule, Verdict, Witness,
};
use clewline_monitor::{MonitorVerdict, RuleViolation, Unsupported, Want, judge};
use clewline_testing::{pick_of_three, share};

use crate::histories::{drawn, every_history, random_history, random_times};

fn oracle() -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == "oracle").unwrap()
}

/// How many histories of each sort were seen.
#[derive(Debug, Default)]
struct VerdictCounts {
    holds: usize,
    violated: usize,
    refused: usize,
    rules: Vec<Rule>,
}

/// The monitor's verdict is the oracle's, unless it refuses; witnesses verify; evidence is violated
/// by itself.
#[track_caller]
fn check_problem(problem: &Problem<'_>, counts: &mut VerdictCounts, about: &str) {
    let budget = Budget::unlimited();
    let ruling = match judge(problem, Want::Witness, &budget) {
        Ok(ruling) => ruling,
        Err(_) => {
            counts.refused += 1;
            return;
        }
    };
    let expected = check(oracle(), problem, &budget);
    let fast = judge(problem, Want::Verdict, &budget).unwrap();
    match ruling {
        MonitorVerdict::Holds(order) => {
            assert_eq!(expected.word(), "holds", "{about}: {problem:#?}");
            assert_eq!(fast, MonitorVerdict::Holds(None));
            let order = order.unwrap().into_iter().map(|at| problem.operations()[at as usize]).collect();
            let witness = Witness { order };
            assert_eq!(witness.verify(problem), Ok(()), "{about}: {witness:?} of {problem:#?}");
            counts.holds += 1;
        }
        MonitorVerdict::Violated(violation) => {
            assert_eq!(expected.word(), "violated", "{about}: {violation:?} of {problem:#?}");
            check_violation(problem, &violation, about);
            assert_eq!(fast, MonitorVerdict::Violated(violation.clone()));
            if !counts.rules.contains(&violation.rule) {
                counts.rules.push(violation.rule);
            }
            counts.violated += 1;
        }
    }
}

/// What a report claims about the violation is true, and the evidence suffices.
fn check_violation(problem: &Problem<'_>, violation: &RuleViolation, about: &str) {
    let alone = problem.weaken(|at| match violation.evidence.contains(&(at as u32)) {
        true => Retain::All,
        false => Retain::Drop,
    });
    let word = check(oracle(), &alone, &Budget::unlimited()).word();
    assert_eq!(word, "violated", "{about}: {violation:?} of {problem:#?}");
    assert!(violation.operations.iter().all(|it| violation.evidence.contains(it)), "{about}: {violation:?}");
    let span = |place: usize| problem.spans()[violation.operations[place] as usize];
    let before = |place: usize| {
        assert!(span(place).precedes(span(place + 1)), "{about}: {violation:?} of {problem:#?}");
    };
    match violation.rule {
        Rule::Added => assert_eq!(violation.operations.len(), 1),
        Rule::AddedBefore | Rule::Chain => before(0),
        Rule::ReplacedOnce => assert_ne!(violation.operations[0], violation.operations[1]),
        Rule::OneAtATime => {
            before(0);
            before(2);
        }
        Rule::NoRoom => {
            assert_eq!(violation.operations.len(), 3);
            assert!(span(1).precedes(span(0)), "{about}: {violation:?} of {problem:#?}");
            assert!(
                span(1) == span(2) || span(0).precedes(span(2)),
                "{about}: {violation:?} of {problem:#?}"
            );
        }
        rule => panic!("{about}: {rule:?} is no rule of registers"),
    }
}

#[track_caller]
fn check_every(spec: &str, most: usize, actions: &[&str]) -> VerdictCounts {
    let mut counts = VerdictCounts::default();
    for n in 0..=most {
        every_history(spec, n, actions, |case| {
            for problem in case.problems() {
                check_problem(&problem, &mut counts, spec);
            }
        });
    }
    let total = counts.holds + counts.violated;
    assert!(total < 50 * counts.holds.min(counts.violated), "{counts:?}");
    counts
}

#[test]
fn every_small_register_history() {
    check_every("register", 5, &["write 1", "write 2", "read → nil", "read → 1", "read → 2"]);
    check_every("register", 5, &["write 1", "write 2", "read → 1", "read → 2"]);
    check_every("register", 4, &["write 1", "write 2 → ?", "read → nil", "read → 2", "read → ?"]);
}

#[test]
fn every_small_cas_register_history() {
    check_every(
        "cas-register",
        4,
        &["write 1", "cas [1 2] → true", "cas [2 3] → true", "read → 1", "read → 2"],
    );
    check_every("cas-register", 5, &["write 1", "write 3", "cas [1 2] → true", "read → 3", "read → 2"]);
    check_every(
        "cas-register",
        4,
        &["cas [nil 1] → true", "cas [1 2] → true", "write 3", "read → 2", "read → nil"],
    );
    check_every(
        "cas-register",
        5,
        &["write 1", "cas [1 2] → ?", "cas [2 3] → ?", "cas [2 3] → true", "read → 3"],
    );
    check_every(
        "cas-register",
        4,
        &["write 1", "cas [1 1] → true", "cas [1 2] → true", "cas [2 1] → true", "read → 1"],
    );
    check_every(
        "cas-register",
        4,
        &["cas [1 1] → ?", "cas [1 2] → ?", "cas [2 1] → ?", "write 1", "read → 2"],
    );
}

/// The actions on a key of a map, in which values are added and removed.
#[test]
fn every_small_history_of_a_key() {
    let counts = check_every(
        "map",
        5,
        &["put [0 1]", "remove 0 → 1", "get 0 → nil", "insert [0 1] → nil", "get 0 → 1"],
    );
    assert!(pick_of_three(400, 4_500, 50_000) < counts.holds + counts.violated, "{counts:?}");
}

/// Long chains, two besides the initial one, in about the right order.
#[test]
fn histories_of_three_chains() {
    let actions = [
        "read → nil",
        "cas [nil 5] → true",
        "read → 5",
        "write 1",
        "read → 1",
        "read → 1",
        "cas [1 2] → true",
        "read → 2",
        "cas [2 6] → ?",
        "read → 6",
        "write 3",
        "read → 3",
        "cas [3 4] → true",
        "read → 4",
        "read → 4",
    ];
    let mut random = Random::new(7);
    let mut counts = VerdictCounts::default();
    for round in 0..share(40_000) {
        let mut chosen = actions.to_vec();
        for _ in 0..random.below(4) {
            chosen.remove(random.below(chosen.len()));
        }
        for _ in 0..random.below(5) {
            let at = random.below(chosen.len() - 1);
            chosen.swap(at, at + 1);
        }
        let case = random_times("cas-register", &chosen, &mut random);
        for problem in case.problems() {
            check_problem(&problem, &mut counts, &format!("round {round}"));
        }
    }
    assert_eq!(counts.refused, 0);
    assert!(share(3_000) < counts.holds.min(counts.violated), "{counts:?}");
    for rule in [Rule::Added, Rule::AddedBefore, Rule::Chain, Rule::OneAtATime, Rule::NoRoom] {
        assert!(counts.rules.contains(&rule), "{rule:?} is never broken: {counts:?}");
    }
}

#[test]
fn random_histories() {
    for (spec, decided) in [("register", 3_000), ("cas-register", 1_000), ("map", 2_500)] {
        let mut counts = VerdictCounts::default();
        for seed in 0..pick_of_three(201, 1_001, 10_000) {
            let case = random_history(spec, seed);
            for problem in case.problems().into_iter().flat_map(Problem::into_parts) {
                check_problem(&problem, &mut counts, &format!("{spec} seed {seed}"));
            }
        }
        assert!(share(decided) < counts.holds + counts.violated, "{spec}: {counts:?}");
        assert!(share(150) < counts.holds.min(counts.violated), "{spec}: {counts:?}");
    }
}

/// The verdict of the monitor on a drawing: `holds`, or the rule and the operations that break it.
#[track_caller]
fn check_drawn(spec: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    let problems = case.problems();
    check_problem(&problems[0], &mut VerdictCounts::default(), drawing);
    let determines = match check(&ByMonitor, &problems[0], &Budget::unlimited()) {
        Verdict::Holds(_) => "holds".to_owned(),
        Verdict::Violated(violation) => {
            let Explanation::Broken { rule, operations } = violation.explanation else { panic!("a rule") };
            format!("{rule:?}: {}", labels(&*case, &operations))
        }
        Verdict::Unknown(Reason::Refused(text)) => text,
        Verdict::Unknown(reason) => panic!("{reason}"),
    };
    assert_eq!(determines, expected);
}

fn labels(case: &dyn ErasedHistory, operations: &[OperationId]) -> String {
    operations.iter().map(|&it| case.label(it)).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_stale_read_is_named_with_the_newer_write() {
    check_drawn(
        "register",
        "
        A: |-write 1-| |-write 2-|
        B:                          |-read → 1-|
        ",
        "NoRoom: write(2), write(1), read() → 1",
    );
}

#[test]
fn values_that_alternate_are_named_four_times() {
    check_drawn(
        "register",
        "
        A: |-write 1------------------|
        B: |-write 2------------------|
        C:   |-read → 1-|                |-read → 1-|
        D:                |-read → 2-|                 |-read → 2-|
        ",
        "OneAtATime: read() → 1, read() → 2, write(2), read() → 1",
    );
}

#[test]
fn the_initial_value_does_not_come_back() {
    check_drawn(
        "register",
        "
        A: |-read → nil-| |-write 1-|
        B:                            |-read → nil-|
        ",
        "NoRoom: read() → null, write(1), write(1)",
    );
}

#[test]
fn a_chain_is_in_one_piece() {
    check_drawn(
        "cas-register",
        "
        A: |-write 1-|             |-cas [1 2] → true-|
        B:              |-write 3-|
        ",
        "NoRoom: write(3), write(1), cas(1, 2) → true",
    );
}

#[test]
fn a_chain_goes_in_one_direction() {
    check_drawn(
        "cas-register",
        "
        A: |-write 1---|  |-cas [1 2] → true-|
        B:                |-cas [2 3] → true-| |-read → 1-|
        ",
        "Chain: cas(1, 2) → true, read() → 1",
    );
}

#[test]
fn a_value_is_replaced_once() {
    check_drawn(
        "cas-register",
        "
        A: |-write 1---|  |-cas [1 2] → true-|
        B:                |-cas [1 3] → true-|
        ",
        "ReplacedOnce: cas(1, 2) → true, cas(1, 3) → true",
    );
}

#[test]
fn replacements_in_a_cycle_are_violated() {
    check_drawn(
        "cas-register",
        "
        A: |-cas [1 2] → true-|
        B: |-cas [2 1] → true-|
        ",
        "Added: cas(1, 2) → true",
    );
}

#[test]
fn a_pending_replacement_observed_through_another_took_effect() {
    let chain = "
        A: |-write 1-| |-cas [1 2]
        B:                |-cas [2 3]
        ";
    check_drawn("cas-register", &format!("{chain}C:                              |-read → 3-|"), "holds");
    check_drawn(
        "cas-register",
        &format!("{chain}C:                              |-read → 3-| |-read → 1-|"),
        "Chain: read() → 3, read() → 1",
    );
    check_drawn("cas-register", &format!("{chain}C:                              |-read → 1-|"), "holds");
}

#[test]
fn values_written_again_are_distinguished_if_the_first_is_gone() {
    check_drawn(
        "register",
        "
        A: |-write 1-| |-write 2-| |-write 1------|
        B:                               |-read → 1-|  |-read → 2-|
        ",
        "NoRoom: write(1), write(2), read() → 2",
    );
    check_drawn(
        "register",
        "
        A: |-write 1-|  |-write 1------|
        B: |-write 2----|    |-read → 1-|
        ",
        "a monitor needs distinct values, but write(1) happens twice",
    );
    check_drawn(
        "map",
        "
        A: |-put [0 1]-| |-remove 0 → 1-| |-get 0 → nil-| |-put [0 1]-| |-get 0 → nil-|
        ",
        "NoRoom: put(0, 1), put(0, 1), get(0) → null",
    );
}

#[test]
fn values_never_read_may_be_written_again() {
    check_drawn("register", "A: |-write 1-| |-write 1-| |-write 2-| |-read → 2-|", "holds");
}

#[test]
fn failed_replacements_are_refused() {
    check_drawn(
        "cas-register",
        "A: |-write 1-| |-cas [2 3] → false-|",
        "no monitor judges histories with cas(2, 3) → false",
    );
}

#[test]
fn refusals_are_not_verdicts() {
    let case = drawn("register", "A: |-write 1----| \nB: |-write 1-|\nC: |-read → 1-|");
    let problem = &case.problems()[0];
    assert_eq!(judge(problem, Want::Verdict, &Budget::unlimited()), Err(Unsupported::AddedTwice(0, 1)));
    assert_eq!(check(&JitGraph, problem, &Budget::unlimited()).word(), "holds");
}

/// It is unknown which of the pending replacements took effect; following them must terminate.
#[test]
fn a_cycle_of_pending_replacements_with_an_exit_is_violated() {
    check_drawn(
        "cas-register",
        "
        A: |-cas [1 2]
        B: |-cas [2 1]
        C: |-cas [1 3] → true-|
        ",
        "ReplacedOnce: cas(1, 2) → ?, cas(1, 3) → true",
    );
}
