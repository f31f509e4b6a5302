//! Failure points and the results possible there, compared with every prefix and every result,
//! decided by the oracle.

use std::collections::BTreeSet;

use clewline_check::{JudgeOptions, check, dead_ends, failure_point, judge, search::SEARCHES};
use clewline_core::{
    Allowed, Budget, Datum, ErasedHistory, ErasedSpec, Event, Explanation, FailurePoint, GeneratorConfig,
    History, OperationId, Problem, Reason, Retain, Rule, Shown, Span, Specification, Value, ValueDomain,
    Values, Verdict, Violation,
};
use clewline_specs::{CATALOG, find};
use clewline_testing::{pick, pick_of_three, share};

use crate::histories::{drawn, every_history, random_history};

fn holds(problem: &Problem<'_>) -> bool {
    let oracle = SEARCHES.iter().find(|it| it.name() == "oracle").unwrap();
    matches!(check(*oracle, problem, &Budget::unlimited()), Verdict::Holds(_))
}

fn violation(case: &dyn ErasedHistory) -> Option<Violation> {
    match judge(case.problems(), &JudgeOptions::default()).verdict {
        Verdict::Violated(violation) => Some(violation),
        Verdict::Holds(_) => None,
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

fn part_of(case: &dyn ErasedHistory, id: OperationId) -> Problem<'_> {
    let parts = case.problems().into_iter().flat_map(Problem::into_parts);
    parts.into_iter().find(|it| it.position(id).is_some()).unwrap()
}

/// The events of `part` up to the one of rank `last`.
fn until<'a>(part: &Problem<'a>, last: u32) -> Problem<'a> {
    part.weaken(|at| match part.spans()[at] {
        span if last < span.call() => Retain::Drop,
        span if last < span.end() => Retain::CallOnly,
        _ => Retain::All,
    })
}

/// How many events there are before the failure point, and the operation that returns there.
fn first_failure(part: &Problem<'_>) -> (usize, OperationId) {
    let ends = |span: &Span| [Some(span.call()), span.ret()];
    let mut ranks: Vec<u32> = part.spans().iter().flat_map(ends).flatten().collect();
    ranks.sort_unstable();
    let events = ranks.iter().position(|&rank| !holds(&until(part, rank))).unwrap();
    let at = part.spans().iter().position(|it| it.ret() == Some(ranks[events]));
    (events, part.operations()[at.expect("a call breaks nothing")])
}

/// The texts that such an object returns, as far as a history shows them: a channel returns
/// `closed`.
fn words_of(specification: &dyn ErasedSpec, values: &mut Values) -> Vec<Value> {
    let shown = specification.generate(&GeneratorConfig { operations: 200, ..GeneratorConfig::default() });
    let results: BTreeSet<Value> = shown.history.operations().filter_map(|it| it.ret.copied()).collect();
    let text = |it: &Value| match shown.values.get(*it) {
        Datum::Text(text) => Some(values.text(text)),
        _ => None,
    };
    results.iter().filter(|it| !it.is_absent()).filter_map(text).collect()
}

/// Every result with which `operation` may return at the end of its history, tried one by one.
fn every_result(spec: &str, case: &dyn ErasedHistory, operation: OperationId) -> Vec<String> {
    let mut recording = case.recording().unwrap();
    let specification = find(spec).unwrap();
    let words = words_of(&*specification, &mut recording.values);
    let simple = [Value::ABSENT, Value::NIL, Value::TRUE, Value::FALSE];
    let integers = (-20..20).map(Value::from);
    let mut list = |set: i32| {
        let members: Vec<Value> = (0..4).filter(|it| set >> it & 1 == 1).map(Value::from).collect();
        recording.values.value(Datum::List(&members))
    };
    let mut lists: Vec<Value> = (0..16).map(&mut list).collect();
    // The balances of two accounts, which add up to 0.
    if returns_objects(spec) {
        let pairs = (-40..=40).map(|it| [Value::from(it), Value::from(-it)]);
        lists.extend(pairs.map(|it| recording.values.value(Datum::List(&it))));
    }
    let mut allowed: Vec<String> = Vec::new();
    for result in simple.into_iter().chain(integers).chain(words).chain(lists) {
        let mut changed = recording.clone();
        let change = |id, call, ret: Option<Value>| {
            Ok::<_, ()>((call, ret.map(|ret| if id == operation { result } else { ret })))
        };
        changed.history = changed.history.try_map(change).unwrap();
        // Not every result fits every call.
        let Ok(changed) = specification.load(changed) else { continue };
        let part = part_of(&*changed, operation);
        let last = part.spans()[part.position(operation).unwrap()].end();
        if holds(&until(&part, last)) {
            allowed.push(changed.label(operation));
        }
    }
    allowed.sort_unstable();
    allowed.dedup();
    // Where a result may be left out, the others are listed.
    if 1 < allowed.len() {
        allowed.retain(|it| it.contains('→'));
    }
    allowed
}

/// How many violated histories had how many possible results.
#[derive(Debug, Default)]
struct ResultCounts {
    hold: usize,
    blocked: usize,
    one: usize,
    several: usize,
    // Of all violations: how many failed before the last event.
    early: usize,
}

/// Compares `failure_point` with trying everything.
#[track_caller]
fn check_failure_point(spec: &str, case: &dyn ErasedHistory, seen: &mut ResultCounts) {
    let Some(violation) = violation(case) else {
        seen.hold += 1;
        return;
    };
    let FailurePoint { events, operation, allowed, .. } =
        failure_point(case.problems(), &violation, &JudgeOptions::default()).unwrap();
    let part = part_of(case, violation.counterexample[0]);
    assert_eq!((events, operation), first_failure(&part), "{spec}: {part:#?}");
    let expected = every_result(spec, case, operation);
    let mut found: Vec<String> = match allowed {
        Allowed::These(results) => results.iter().map(Shown::to_string).collect(),
        Allowed::Blocked => Vec::new(),
        Allowed::Unknown(reason) => panic!("{spec}: {reason}: {part:#?}"),
    };
    found.sort_unstable();
    assert_eq!(found, expected, "{spec}: {operation:?} in {part:#?}");
    let count = match found.len() {
        0 => &mut seen.blocked,
        1 => &mut seen.one,
        _ => &mut seen.several,
    };
    *count += 1;
    let last = part.spans().iter().map(|it| it.ret().unwrap_or(it.call())).max();
    seen.early += usize::from(part.spans()[part.position(operation).unwrap()].ret() != last);
}

fn may_block(spec: &str) -> bool {
    let case = random_history(spec, 1);
    case.problems().iter().any(|it| (0..it.len()).any(|at| it.may_block(at)))
}

/// Whether every operation returns true, false or nothing.
fn returns_only_truth(spec: &str) -> bool {
    let recording = find(spec).unwrap().generate(&GeneratorConfig::default());
    let truths = [Value::TRUE, Value::FALSE, Value::ABSENT];
    recording.history.operations().all(|it| it.ret.is_none_or(|it| truths.contains(it)))
}

fn returns_objects(spec: &str) -> bool {
    let recording = find(spec).unwrap().generate(&GeneratorConfig::default());
    let is_object = |it: &Value| matches!(recording.values.get(*it), Datum::Other(_));
    recording.history.operations().any(|it| it.ret.is_some_and(is_object))
}

fn returns_lists(spec: &str) -> bool {
    let recording = find(spec).unwrap().generate(&GeneratorConfig::default());
    let is_list = |it: &Value| matches!(recording.values.get(*it), Datum::List(_));
    recording.history.operations().any(|it| it.ret.is_some_and(is_list))
}

#[test]
fn failure_points_of_random_histories_agree_with_the_oracle() {
    for entry in &CATALOG {
        let (name, mut seen) = (entry.name, ResultCounts::default());
        let (may_block, only_truth) = (may_block(name), returns_only_truth(name));
        // A result that lists all that is inside leaves hardly a choice.
        let lists = returns_lists(name) || returns_objects(name);
        let is_enough = |seen: &ResultCounts| {
            let &ResultCounts { hold, blocked, one, several, early } = seen;
            let is_any = share(100) < hold && share(60) < blocked + one + several && share(30) < early;
            is_any
                && if may_block {
                    share(20) < blocked
                } else {
                    share(if only_truth { 100 } else { 50 }) < one
                        && (only_truth || lists || share(20) < several)
                }
        };
        for seed in 0..pick(60, 1_200) {
            // All only of an object whose histories are seldom violated.
            if pick_of_three(20, 300, 1_200) <= seed && is_enough(&seen) {
                break;
            }
            check_failure_point(name, &*random_history(name, seed), &mut seen);
        }
        assert!(is_enough(&seen), "{name}: {seen:?}");
        assert!(may_block || seen.blocked == 0, "{name}: {seen:?}");
        // If one of two results is wrong, the other is the only one.
        assert!(may_block || !only_truth || seen.several == 0, "{name}: {seen:?}");
    }
}

#[test]
fn failure_points_of_every_small_history_agree_with_the_oracle() {
    let actions: [(&str, &[&str]); 4] = [
        ("queue", &["enq 1", "enq 2", "deq → 1", "deq → nil", "deq → ?"]),
        ("stack", &["push 1", "push 2", "pop → 1", "pop → nil", "push 2 → ?"]),
        ("register", &["write 1", "write 2", "read → 1", "read → nil", "write 2 → ?"]),
        ("map", &["put [0 1]", "put [0 2]", "get 0 → 1", "get 0 → nil", "remove 0 → ?"]),
    ];
    for (spec, actions) in actions {
        let mut seen = ResultCounts::default();
        let (most, one_in) = pick_of_three((3, 1), (4, 5), (4, 1));
        let mut number = 0;
        every_history(spec, most, actions, |case| {
            number += 1;
            if number % one_in == 0 {
                check_failure_point(spec, case, &mut seen);
            }
        });
        assert!(
            share(500) < seen.hold && share(500) < seen.one && share(100) < seen.several,
            "{spec}: {seen:?}"
        );
    }
}

#[track_caller]
fn check_drawing(spec: &str, drawing: &str, events: usize, operation: &str, allowed: &[&str]) {
    let case = drawn(spec, drawing);
    let found =
        failure_point(case.problems(), &violation(&*case).unwrap(), &JudgeOptions::default()).unwrap();
    assert_eq!((found.events, &*case.label(found.operation)), (events, operation));
    let found: Vec<String> = match &found.allowed {
        Allowed::These(results) => results.iter().map(Shown::to_string).collect(),
        Allowed::Blocked => Vec::new(),
        Allowed::Unknown(reason) => panic!("{reason}"),
    };
    assert_eq!(found, allowed);
}

/// The history that Lowe draws: an update that overlaps two deletes returns the value of another.
#[test]
fn a_removed_value_is_returned_again() {
    check_drawing(
        "map",
        "
        A:  |-remove 0 → nil-| |-put [0 2]-| |-remove 0 → 2-|
        B: |-put [0 0]------------------------------------------|  |-get 0 → 2-|   |-get 0 → 0-|
        ",
        9,
        "get(0) → 2",
        &["get(0) → 0", "get(0) → null"],
    );
}

/// It was called early: what it could have observed then counts, though it is gone at the end.
#[test]
fn a_result_allowed_at_any_time_since_the_call_is_possible() {
    check_drawing(
        "register",
        "
        A: |-write 1-| |-write 2-| |-write 3-|
        B:            |-read → 9------------------|
        ",
        7,
        "read() → 9",
        &["read() → 1", "read() → 2", "read() → 3"],
    );
}

/// Operations before the stack was certainly empty have no influence; the elements inside do.
#[test]
fn the_order_of_overlapping_pushes_is_open_until_observed() {
    check_drawing(
        "stack",
        "
        A: |-push 7-| |-pop → 7-| |-push 1-|
        B:                        |-push 2-| |-pop → 7-|
        ",
        9,
        "pop() → 7",
        &["pop() → 1", "pop() → 2"],
    );
}

#[test]
fn a_lock_that_must_block_has_no_possible_result() {
    check_drawing(
        "mutex",
        "
        A: |-lock-|  |-unlock-|
        B:         |----lock---|
        C:            |--lock---|
        ",
        7,
        "lock()",
        &[],
    );
}

/// Of all operations called `method` that returned, one in the middle returns a value that was
/// never added.
#[track_caller]
fn check_long(spec: &str, method: &str, mix: &[(&str, u32)]) {
    let specification = find(spec).unwrap();
    let mix = mix.iter().map(|&(method, weight)| (method.to_owned(), weight)).collect();
    let mut recording = specification.generate(&GeneratorConfig {
        operations: pick(500, 10_000),
        values: ValueDomain::Distinct,
        keys: 3,
        mix,
        seed: 5,
        ..GeneratorConfig::default()
    });
    let name = recording.values.text(method);
    let operations = recording.history.operations();
    let chosen =
        operations.skip(pick(300, 6_000)).find(|it| it.call.method == name && it.ret.is_some()).unwrap().id;
    let before = specification.load(recording.clone()).unwrap().shown(chosen);
    let invented = recording.values.int(70_000);
    let change = |id, call, ret: Option<Value>| {
        Ok::<_, ()>((call, ret.map(|ret| if id == chosen { invented } else { ret })))
    };
    recording.history = recording.history.try_map(change).unwrap();
    let case = specification.load(recording).unwrap();
    let found =
        failure_point(case.problems(), &violation(&*case).unwrap(), &JudgeOptions::default()).unwrap();
    assert_eq!(found.operation, chosen, "{spec}");
    let Allowed::These(results) = found.allowed else { panic!("{spec}: {:?}", found.allowed) };
    assert!(results.contains(&before), "{spec}: {before} is not among {results:?}");
}

#[test]
fn a_long_history_fails_where_it_was_changed() {
    check_long("map", "get", &[]);
    check_long("priority-queue", "poll", &[("add", 1), ("poll", 1)]);
    check_long("bag", "take", &[]);
    // With many elements inside there are too many orders.
    check_long("queue", "deq", &[("enq", 3), ("deq", 2)]);
    check_long("stack", "pop", &[("push", 3), ("pop", 2)]);
}

#[test]
fn a_breadth_first_pass_that_takes_too_long_lists_no_results() {
    let case = drawn("register", "A: |-write 1-| |-write 2-| |-read → 1-|");
    let violation = violation(&*case).unwrap();
    let options =
        JudgeOptions { budget: Budget::unlimited().with_configurations(1), ..JudgeOptions::default() };
    let found = failure_point(case.problems(), &violation, &options).unwrap();
    assert_eq!(found.allowed, Allowed::Unknown(Reason::Configurations(1)));
    assert_eq!(found.events, 5);
}

#[test]
fn a_failure_point_is_unknown_if_a_prefix_is() {
    let case = drawn("deque:2", "A: |-push_back 1 → true-| |-push_back 2 → true-| |-pop_front → 2-|");
    let violation = violation(&*case).unwrap();
    let options =
        JudgeOptions { budget: Budget::unlimited().with_configurations(1), ..JudgeOptions::default() };
    let found = failure_point(case.problems(), &violation, &options);
    assert_eq!(found, Err(Reason::Configurations(1)));
}

/// Texts that were never read are not distinguished, so they cannot be listed.
#[test]
fn results_that_are_not_distinguished_are_not_listed() {
    let case = drawn(
        "map",
        "
        A: |-append [0 x]-|
        B: |-append [0 y]-|  |-get 0 → z-|
        ",
    );
    let found =
        failure_point(case.problems(), &violation(&*case).unwrap(), &JudgeOptions::default()).unwrap();
    assert!(matches!(found.allowed, Allowed::Unknown(Reason::Refused(_))), "{found:?}");
}

#[test]
fn a_violation_of_another_history_is_refused() {
    let case = drawn("queue", "A: |-enq 1-| |-enq 2-| |-deq → 2-|");
    let violation = violation(&*case).unwrap();
    let good = drawn("queue", "A: |-enq 1-| |-enq 2-| |-deq → 1-|");
    for other in [good.problems(), Vec::new()] {
        let found = failure_point(other, &violation, &JudgeOptions::default());
        assert!(matches!(found, Err(Reason::Refused(_))), "{found:?}");
    }
}

/// An object that allows nothing, because it cannot be evaluated.
#[derive(Clone, Copy, Debug)]
struct Broken;

impl Specification for Broken {
    type State = ();
    type Call = ();
    type Return = ();

    fn initial(&self) {}

    fn step(&self, _state: &(), _call: &(), _ret: Option<&()>, _next: &mut Vec<()>) {}

    fn fault(&self) -> Option<String> {
        Some("it has failed".to_owned())
    }
}

#[test]
fn a_specification_that_could_not_be_evaluated_explains_nothing() {
    let history = History::from_events([Event::call(0, ()), Event::ret(0, ())]).unwrap();
    let problem = Problem::new(&Broken, &history);
    let explanation = Explanation::Broken { rule: Rule::Other(""), operations: Vec::new() };
    let violation = Violation::found(problem.operations().to_vec(), explanation);
    assert!(dead_ends(&problem, 1_000, 8).is_empty());
    let found = failure_point(vec![problem], &violation, &JudgeOptions::default());
    assert!(matches!(found, Err(Reason::Specification(why)) if why == "it has failed"));
}
