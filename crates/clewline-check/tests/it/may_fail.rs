//! Operations that may fail, compared with a search that gives each of them one more transition.

use clewline_check::{JudgeOptions, judge, judge_history};
use clewline_core::{FailsWhen, MayFail, MayFailHistory, Problem, Span, Verdict};
use clewline_testing::pick;

use crate::histories::{drawn, random_history};

fn holds(problems: Vec<Problem<'_>>) -> bool {
    match judge(problems, &JudgeOptions::default()).verdict {
        Verdict::Holds(_) => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

/// Every order of the operations that respects real time, each with its effect or, if it may fail,
/// without.
struct EveryOrder<'a> {
    problem: &'a Problem<'a>,
    fails: Vec<bool>,
}

impl EveryOrder<'_> {
    fn holds(&self, placed: &mut Vec<bool>, effects: &mut Vec<usize>) -> bool {
        let spans = self.problem.spans();
        if (0..spans.len()).all(|at| placed[at] || spans[at].is_pending()) {
            return true;
        }
        (0..spans.len()).any(|at| {
            let is_free = (0..spans.len()).all(|it| placed[it] || !spans[it].precedes(spans[at]));
            if placed[at] || !is_free {
                return false;
            }
            placed[at] = true;
            effects.push(at);
            let mut replay = self.problem.replay();
            let is_allowed = effects.iter().all(|&it| replay.advance(it));
            drop(replay);
            let mut found = is_allowed && self.holds(placed, effects);
            effects.pop();
            found |= self.fails[at] && self.holds(placed, effects);
            placed[at] = false;
            found
        })
    }
}

/// Whether the operation at `at` returned a result with which it may fail.
fn fails(problem: &Problem<'_>, may_fail: &MayFail, at: usize) -> bool {
    let shown = problem.shown(problem.operations()[at]);
    let overlap = |one: Span, other: Span| !one.precedes(other) && !other.precedes(one);
    let spans = problem.spans();
    match may_fail.when(&shown.method, shown.ret.map(|it| it.to_string()).as_deref()) {
        _ if spans[at].is_pending() => false,
        Some(FailsWhen::Always) => true,
        Some(FailsWhen::Overlapping) => (0..spans.len()).any(|it| it != at && overlap(spans[it], spans[at])),
        None => false,
    }
}

#[test]
fn operations_that_may_fail_have_one_more_transition() {
    let (mut relaxed_only, mut violated, mut held, mut proposed) = (0, 0, 0, 0);
    for (spec, rules) in [
        ("queue", "deq=null"),
        ("queue", "deq=null:always,peek=null"),
        ("queue:2", "enq=false,deq=null"),
        ("stack", "pop=null"),
        // The specification's own transition has an effect.
        ("cas-register", "cas=true"),
        ("cas-register", "cas=false:always,cas=true"),
        ("set", "add=true,remove=false"),
        ("map", "insert=null:always,put=true"),
        ("bag", "take=null"),
    ] {
        let may_fail: MayFail = rules.parse().unwrap();
        for seed in 0..pick(100, 6_000) {
            let case = random_history(spec, seed);
            let objects: Vec<usize> = case.problems().iter().map(Problem::len).collect();
            let (0 | 1, Some(..=6)) = (objects.len() - 1, objects.first()) else { continue };
            let problem = &case.problems()[0];
            let fails: Vec<bool> = (0..problem.len()).map(|at| fails(problem, &may_fail, at)).collect();
            let mut placed = vec![false; problem.len()];
            let expected = EveryOrder { problem, fails }.holds(&mut placed, &mut Vec::new());
            let plain = holds(case.problems());
            assert!(expected || !plain, "{spec} {seed}");
            let judged = judge_history(&*case, &JudgeOptions::default());
            if let Verdict::Violated(violation) = judged.verdict
                && let Some(proposal) = violation.holds_if
            {
                let again = MayFailHistory::of(random_history(spec, seed), &proposal);
                assert!(holds(again.problems()), "{spec} {seed} {proposal}");
                proposed += 1;
            }
            let case = MayFailHistory::of(random_history(spec, seed), &may_fail);
            assert_eq!(holds(case.problems()), expected, "{spec} {rules} {seed}: {:?}", case.problems());
            held += usize::from(plain);
            relaxed_only += usize::from(expected && !plain);
            violated += usize::from(!expected);
        }
    }
    let counts = [held, relaxed_only, violated, proposed];
    assert!(counts.iter().all(|it| pick(5, 20) < *it), "{counts:?}");
}

fn verdict_of(spec: &str, drawing: &str, may_fail: &str) -> (bool, usize) {
    let case = MayFailHistory::of(drawn(spec, drawing), &may_fail.parse().unwrap());
    (holds(case.problems()), case.may_fail().expect("some may fail").1)
}

const IN_FLIGHT: &str = "
    A: |--enq 1--|    |------enq 2------|
    B:                   |--deq → nil--|
";

const ALONE: &str = "
    A: |--enq 1--|                  |--enq 2--|
    B:              |--deq → nil--|
";

#[test]
fn a_queue_may_be_found_empty_while_an_operation_overlaps() {
    assert_eq!(verdict_of("queue", IN_FLIGHT, "deq=null"), (true, 1));
    assert_eq!(verdict_of("queue", ALONE, "deq=null"), (false, 0));
    assert_eq!(verdict_of("queue", ALONE, "deq=null:always"), (true, 1));
    // A pending operation is in flight, and another object is not the same.
    let pending = "
    A: |--enq 1--|                  |--enq 2--|
    B:              |--deq → nil--|
    C:             |--enq 3
    ";
    assert_eq!(verdict_of("queue", pending, "deq=null"), (true, 1));
}

#[test]
fn other_violations_remain() {
    let twice = "
    A: |--enq 1--|    |------enq 2------|
    B:                   |--deq → nil--|  |--deq → 1--|
    C:                                      |--deq → 1--|
    ";
    assert_eq!(verdict_of("queue", twice, "deq=null,deq=2"), (false, 1));
}

#[test]
fn a_violation_that_would_vanish_says_so() {
    let holds_if = |spec: &str, drawing: &str| {
        let case = drawn(spec, drawing);
        match judge_history(&*case, &JudgeOptions::default()).verdict {
            Verdict::Violated(violation) => violation.holds_if.map(|it| it.to_string()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(holds_if("queue", IN_FLIGHT).as_deref(), Some("deq=null"));
    assert_eq!(holds_if("queue", ALONE), None);
    let both = "
    A: |--enq 1 → true--|  |--deq → 1--|  |--------enq 3 → true--------|
    B:                                       |--deq → nil--|
    C: |-------------------------enq 2 → false----------------------------|
    ";
    assert_eq!(holds_if("queue:2", both).as_deref(), Some("enq=false"));
}
