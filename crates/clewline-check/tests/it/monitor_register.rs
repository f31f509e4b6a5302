//! The monitor for registers agrees with the oracle wherever it decides, and proves what it says.

use clewline_check::{
    Checker, check,
    monitor::{ByMonitor, MonitorVerdict, RuleViolation, Unsupported, Want, judge},
    search::{SEARCHES, jit_graph::JitGraph},
};
use clewline_core::{
    Budget, ErasedHistory, Explanation, OperationId, Problem, Random, Reason, Retain, Rule, Verdict, Witness,
};
use clewline_testing::{pick, share};

use crate::histories::{drawn, every_history, random_history, random_times};

fn oracle() -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == "oracle").unwrap()
}

/// How many histories of each sort were seen.
#[derive(Debug, Default)]
struct Tally {
    holds: usize,
    violated: usize,
    refused: usize,
    rules: Vec<Rule>,
}

/// The monitor's verdict is the oracle's, unless it refuses; witnesses verify; evidence is violated by itself.
#[track_caller]
fn check_problem(problem: &Problem<'_>, tally: &mut Tally, about: &str) {
    let budget = Budget::unlimited();
    let ruling = match judge(problem, Want::Witness, &budget) {
        Ok(ruling) => ruling,
        Err(_) => {
            tally.refused += 1;
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
            tally.holds += 1;
        }
        MonitorVerdict::Violated(breach) => {
            assert_eq!(expected.word(), "violated", "{about}: {breach:?} of {problem:#?}");
            check_breach(problem, &breach, about);
            assert_eq!(fast, MonitorVerdict::Violated(breach.clone()));
            if !tally.rules.contains(&breach.rule) {
                tally.rules.push(breach.rule);
            }
            tally.violated += 1;
        }
    }
}

/// What a report says about the breach is true, and the evidence suffices.
fn check_breach(problem: &Problem<'_>, breach: &RuleViolation, about: &str) {
    let alone = problem.weaken(|at| match breach.evidence.contains(&(at as u32)) {
        true => Retain::All,
        false => Retain::Drop,
    });
    let word = check(oracle(), &alone, &Budget::unlimited()).word();
    assert_eq!(word, "violated", "{about}: {breach:?} of {problem:#?}");
    assert!(breach.operations.iter().all(|it| breach.evidence.contains(it)), "{about}: {breach:?}");
    let span = |place: usize| problem.spans()[breach.operations[place] as usize];
    let before = |place: usize| {
        assert!(span(place).precedes(span(place + 1)), "{about}: {breach:?} of {problem:#?}");
    };
    match breach.rule {
        Rule::Added => assert_eq!(breach.operations.len(), 1),
        Rule::AddedBefore | Rule::Chain => before(0),
        Rule::ReplacedOnce => assert_ne!(breach.operations[0], breach.operations[1]),
        Rule::OneAtATime => {
            before(0);
            before(2);
        }
        Rule::NoRoom => {
            assert_eq!(breach.operations.len(), 3);
            assert!(span(1).precedes(span(0)), "{about}: {breach:?} of {problem:#?}");
            assert!(span(1) == span(2) || span(0).precedes(span(2)), "{about}: {breach:?} of {problem:#?}");
        }
        rule => panic!("{about}: {rule:?} is no rule of registers"),
    }
}

#[track_caller]
fn check_every(spec: &str, most: usize, deeds: &[&str]) -> Tally {
    let mut tally = Tally::default();
    for n in 0..=most {
        every_history(spec, n, deeds, |case| {
            for problem in case.problems() {
                check_problem(&problem, &mut tally, spec);
            }
        });
    }
    let total = tally.holds + tally.violated;
    assert!(total < 50 * tally.holds.min(tally.violated), "{tally:?}");
    tally
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

/// The deeds of a map's key, in which values come and go.
#[test]
fn every_small_history_of_a_key() {
    let tally = check_every(
        "map",
        5,
        &["put [0 1]", "remove 0 → 1", "get 0 → nil", "insert [0 1] → nil", "get 0 → 1"],
    );
    assert!(pick(1_500, 50_000) < tally.holds + tally.violated, "{tally:?}");
}

/// Long chains, two besides the initial one, in about the right order.
#[test]
fn histories_of_three_chains() {
    let deeds = [
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
    let mut tally = Tally::default();
    for round in 0..share(40_000) {
        let mut chosen = deeds.to_vec();
        for _ in 0..random.below(4) {
            chosen.remove(random.below(chosen.len()));
        }
        for _ in 0..random.below(5) {
            let at = random.below(chosen.len() - 1);
            chosen.swap(at, at + 1);
        }
        let case = random_times("cas-register", &chosen, &mut random);
        for problem in case.problems() {
            check_problem(&problem, &mut tally, &format!("round {round}"));
        }
    }
    assert_eq!(tally.refused, 0);
    assert!(share(3_000) < tally.holds.min(tally.violated), "{tally:?}");
    for rule in [Rule::Added, Rule::AddedBefore, Rule::Chain, Rule::OneAtATime, Rule::NoRoom] {
        assert!(tally.rules.contains(&rule), "{rule:?} is never broken: {tally:?}");
    }
}

#[test]
fn random_histories() {
    for (spec, decided) in [("register", 3_000), ("cas-register", 1_000), ("map", 2_500)] {
        let mut tally = Tally::default();
        for seed in 0..share(10_000) {
            let case = random_history(spec, seed);
            for problem in case.problems().into_iter().flat_map(Problem::into_parts) {
                check_problem(&problem, &mut tally, &format!("{spec} seed {seed}"));
            }
        }
        assert!(share(decided) < tally.holds + tally.violated, "{spec}: {tally:?}");
        assert!(share(150) < tally.holds.min(tally.violated), "{spec}: {tally:?}");
    }
}

/// What the monitor says about a drawing: `holds`, or the rule and the operations that break it.
#[track_caller]
fn check_drawn(spec: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    let problems = case.problems();
    check_problem(&problems[0], &mut Tally::default(), drawing);
    let told = match check(&ByMonitor, &problems[0], &Budget::unlimited()) {
        Verdict::Holds(_) => "holds".to_owned(),
        Verdict::Violated(violation) => {
            let Explanation::Broken { rule, operations } = violation.explanation else { panic!("a rule") };
            format!("{rule:?}: {}", labels(&*case, &operations))
        }
        Verdict::Unknown(Reason::Refused(text)) => text,
        Verdict::Unknown(reason) => panic!("{reason}"),
    };
    assert_eq!(told, expected);
}

fn labels(case: &dyn ErasedHistory, operations: &[OperationId]) -> String {
    operations.iter().map(|&it| case.label(it)).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_stale_read_is_named_with_what_was_there() {
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
fn a_circle_has_no_beginning() {
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
fn a_pending_replacement_that_somebody_found_by_way_of_another_has_happened() {
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
fn values_written_again_are_told_apart_if_the_first_is_gone() {
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
fn what_nobody_finds_may_be_written_again() {
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

/// Nobody knows which of those who replaced a value had happened; following them must come to an end.
#[test]
fn a_circle_of_pending_replacements_with_a_way_out_is_violated() {
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
