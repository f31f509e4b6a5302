//! Where a history breaks and what was allowed there, against every prefix and every answer, judged by the oracle.

use clewline_check::{Options, breaking, check, judge, search::SEARCHES};
use clewline_core::{
    Allowed, Breaking, Budget, Case, Domain, Keep, OperationId, Plan, Problem, Reason, Span, Value, Verdict,
    Violation,
};
use clewline_specs::{CATALOG, find};

use crate::histories::{drawn, every_history, random_history};

fn holds(problem: &Problem<'_>) -> bool {
    let oracle = SEARCHES.iter().find(|it| it.name() == "oracle").unwrap();
    matches!(check(*oracle, problem, &Budget::unlimited()), Verdict::Holds(_))
}

fn violation(case: &dyn Case) -> Option<Violation> {
    match judge(case.problems(), &Options::default()).verdict {
        Verdict::Violated(violation) => Some(violation),
        Verdict::Holds(_) => None,
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

fn part_of(case: &dyn Case, id: OperationId) -> Problem<'_> {
    let parts = case.problems().into_iter().flat_map(Problem::into_parts);
    parts.into_iter().find(|it| it.position(id).is_some()).unwrap()
}

/// The events of `part` up to the one of rank `last`.
fn until<'a>(part: &Problem<'a>, last: u32) -> Problem<'a> {
    part.weaken(|at| match part.spans()[at] {
        span if last < span.call() => Keep::Nothing,
        span if last < span.end() => Keep::Call,
        _ => Keep::Whole,
    })
}

/// How many events there are before the first that leaves no order, and whose return that is.
fn first_break(part: &Problem<'_>) -> (usize, OperationId) {
    let ends = |span: &Span| [Some(span.call()), span.ret()];
    let mut ranks: Vec<u32> = part.spans().iter().flat_map(ends).flatten().collect();
    ranks.sort_unstable();
    let events = ranks.iter().position(|&rank| !holds(&until(part, rank))).unwrap();
    let at = part.spans().iter().position(|it| it.ret() == Some(ranks[events]));
    (events, part.operations()[at.expect("a call breaks nothing")])
}

/// Every answer with which `operation` may return at the end of its history, tried one by one.
fn every_answer(case: &dyn Case, operation: OperationId) -> Vec<String> {
    let recording = case.recording().unwrap();
    let specification = find(&spec_name(case)).unwrap();
    let simple = [Value::ABSENT, Value::NIL, Value::TRUE, Value::FALSE];
    let integers = (-20..20).map(|it| Value::small(it).unwrap());
    let mut allowed: Vec<String> = Vec::new();
    for answer in simple.into_iter().chain(integers) {
        let mut changed = recording.clone();
        let change = |id, call, ret: Option<Value>| {
            Ok::<_, ()>((call, ret.map(|ret| if id == operation { answer } else { ret })))
        };
        changed.history = changed.history.try_map(change).unwrap();
        // Not every answer fits every call.
        let Ok(changed) = specification.load(changed) else { continue };
        let part = part_of(&*changed, operation);
        let last = part.spans()[part.position(operation).unwrap()].end();
        if holds(&until(&part, last)) {
            allowed.push(changed.label(operation));
        }
    }
    allowed.sort_unstable();
    allowed.dedup();
    allowed
}

thread_local! {
    // A case does not know what its specification is called.
    static SPEC: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

fn spec_name(_case: &dyn Case) -> String {
    SPEC.with_borrow(Clone::clone)
}
