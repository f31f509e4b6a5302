//! Every search agrees with the oracle, on all small histories and on many random ones, and its
//! evidence is right. Registering a search, or a specification, enrols it here.

use clewline_check::{Checker, check, compete, search::SEARCHES};
use clewline_core::{Budget, Explanation, Problem, Verdict, Violation};
use clewline_specs::CATALOG;
use clewline_testing::{pick, pick_of_three};

use crate::histories::{every_history, random_history};

#[test]
fn names_are_unique_and_kebab_case() {
    let mut names: Vec<&str> = SEARCHES.iter().map(|it| it.name()).collect();
    assert!(names.is_sorted());
    let n_names = names.len();
    names.dedup();
    assert_eq!(names.len(), n_names);
    assert!(names.iter().all(|it| it.bytes().all(|it| it.is_ascii_lowercase() || it == b'-')));
}

/// How often each verdict was reached: a comparison that only ever sees one of them proves nothing.
#[derive(Default)]
struct VerdictCounts {
    holds: usize,
    violated: usize,
}

impl VerdictCounts {
    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Holds(_) => self.holds += 1,
            Verdict::Violated(_) => self.violated += 1,
            Verdict::Unknown(reason) => panic!("unknown without a limit: {reason}"),
        }
    }

    #[track_caller]
    fn expect_both(&self, at_least: f64, about: &str) {
        let total = (self.holds + self.violated) as f64;
        let rarer = self.holds.min(self.violated) as f64;
        assert!(at_least <= rarer / total, "{about}: {} hold, {} are violated", self.holds, self.violated);
    }
}

fn oracle() -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == "oracle").expect("the oracle is registered")
}

/// Every search has the oracle's verdict on `problem`, with evidence.
#[track_caller]
fn check_agreement(problem: &Problem<'_>, counts: &mut VerdictCounts, about: &str) {
    let budget = Budget::unlimited();
    let expected = check(oracle(), problem, &budget);
    counts.count(&expected);
    for checker in &SEARCHES {
        let verdict = check(*checker, problem, &budget);
        let name = checker.name();
        assert_eq!(verdict.word(), expected.word(), "{name}, {about}: {problem:#?}");
        match verdict {
            Verdict::Holds(witness) => {
                if let Err(error) = witness.verify(problem) {
                    panic!("{name}, {about}: {error}: {witness:?} of {problem:#?}");
                }
            }
            Verdict::Violated(violation) => check_violation(problem, &violation, &format!("{name}, {about}")),
            Verdict::Unknown(reason) => panic!("{name}, {about}: {reason}"),
        }
    }
}

/// Real time and the specification allow the prefix, and `next` has to come soon after it.
fn check_violation(problem: &Problem<'_>, violation: &Violation, about: &str) {
    let Explanation::Exhausted { prefix, next } = &violation.explanation else {
        panic!("a search tries every order: {violation:?}");
    };
    let at = |id| problem.position(id).unwrap();
    let mut replay = problem.replay();
    let mut left: Vec<bool> = vec![true; problem.len()];
    let first_return = |left: &[bool]| {
        (0..problem.len()).filter(|&it| left[it]).map(|it| problem.spans()[it].end()).min().unwrap()
    };
    for &id in prefix {
        assert!(
            problem.spans()[at(id)].call() < first_return(&left),
            "{about}: {violation:?} of {problem:#?}"
        );
        assert!(replay.advance(at(id)), "{about}: {violation:?} of {problem:#?}");
        assert!(std::mem::replace(&mut left[at(id)], false), "{about}: {violation:?}");
    }
    assert!(
        left[at(*next)] && problem.spans()[at(*next)].end() == first_return(&left),
        "{about}: {violation:?}"
    );
    assert!(!violation.counterexample.is_empty());
}

#[track_caller]
fn check_every(spec: &str, most: usize, actions: &[&str]) {
    let mut counts = VerdictCounts::default();
    for n in 0..=most {
        every_history(spec, n, actions, |case| {
            for problem in case.problems() {
                check_agreement(&problem, &mut counts, spec);
            }
        });
    }
    counts.expect_both(0.02, spec);
}

#[test]
fn every_small_register_history() {
    check_every("register", 5, &["write 1", "write 2", "read → nil", "read → 1", "read → 2"]);
    check_every("register", 4, &["write 1", "write 2", "read → nil", "read → 1", "write 1 → ?", "read → ?"]);
}

#[test]
fn every_small_cas_register_history() {
    check_every(
        "cas-register",
        5,
        &["write 1", "cas [1 2] → true", "cas [1 2] → false", "read → 2", "cas [2 1] → ?"],
    );
}

#[test]
fn every_small_queue_history() {
    check_every("queue", 5, &["enq 1", "enq 2", "deq → 1", "deq → 2", "deq → nil"]);
    check_every(
        "queue",
        4,
        &["enq 1", "enq 2 → ?", "deq → 1", "deq → 2", "deq → nil", "deq → ?", "peek → 2"],
    );
}

#[test]
fn every_small_stack_history() {
    check_every("stack", 5, &["push 1", "push 2 → ?", "pop → 1", "pop → 2", "pop → ?"]);
}

#[test]
fn every_small_set_history() {
    check_every(
        "set",
        5,
        &["add 1 → true", "add 1 → false", "remove 1 → true", "contains 1 → false", "remove 1 → ?"],
    );
}

#[test]
fn every_small_bag_history() {
    check_every("bag", 5, &["add 1", "add 2", "take → 1", "take → nil", "take → ?"]);
}

#[test]
fn every_small_mutex_history() {
    check_every("mutex", 5, &["lock", "unlock", "lock → ?", "unlock → ?"]);
}

#[test]
fn random_histories_of_every_specification() {
    for entry in &CATALOG {
        let mut counts = VerdictCounts::default();
        for seed in 0..pick_of_three(101, 501, 5_000) {
            let case = random_history(entry.name, seed);
            for problem in case.problems() {
                check_agreement(&problem, &mut counts, &format!("{} seed {seed}", entry.name));
            }
        }
        counts.expect_both(0.05, entry.name);
    }
}

/// Whichever checker wins, the verdict is that of each competitor.
#[test]
fn competition_equals_its_parts() {
    let mut counts = VerdictCounts::default();
    for seed in 0..pick(20, 300) {
        let case = random_history("queue", seed);
        for problem in case.problems() {
            let expected = check(oracle(), &problem, &Budget::unlimited());
            counts.count(&expected);
            for pair in SEARCHES.built_in().windows(2).chain([SEARCHES.built_in()]) {
                let (verdict, winner) = compete(pair, &problem, &Budget::unlimited());
                assert!(winner < pair.len());
                assert_eq!(verdict.word(), expected.word(), "seed {seed}");
                if let Verdict::Holds(witness) = verdict {
                    assert_eq!(witness.verify(&problem), Ok(()), "seed {seed}");
                }
            }
        }
    }
    counts.expect_both(0.2, "queue");
}
