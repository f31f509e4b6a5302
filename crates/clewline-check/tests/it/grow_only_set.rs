//! The checker of sets that are read as a whole agrees with the oracle, and its counterexamples
//! with their definition.

use clewline_check::{
    Checker, JudgeOptions, check, judge,
    search::{grow_only_set::GrowOnlySet, jit_graph::JitGraph},
};
use clewline_core::{
    Budget, ErasedHistory, Event, EventLog, ObjectId, OperationId, Problem, ProcessId, Random, RawCall,
    Reason, Retain, Rule, Values, Verdict, Violation, Why,
};
use clewline_testing::pick_of_three;

use crate::{
    histories::{action, drawn, every_history, load},
    queues::{VerdictCounts, oracle},
};

/// The verdict is that of the oracle; a counterexample is one by definition, and is minimal.
#[track_caller]
fn agree(case: &dyn ErasedHistory, other: &dyn Checker, counts: &mut VerdictCounts) {
    let problem = &case.problems()[0];
    let budget = Budget::unlimited();
    let expected = check(other, problem, &budget);
    let verdict = check(&GrowOnlySet, problem, &budget);
    assert_eq!(verdict.word(), expected.word(), "{problem:#?}");
    match verdict {
        Verdict::Holds(witness) => {
            assert_eq!(witness.verify(problem), Ok(()), "{witness:?} of {problem:#?}");
            counts.holds += 1;
        }
        Verdict::Violated(_) => counts.violated += 1,
        Verdict::Unknown(reason) => panic!("{reason}: {problem:#?}"),
    }
}

/// As [`agree`], and whatever is reported is compared with its definition.
#[track_caller]
fn agree_and_explain(case: &dyn ErasedHistory, counts: &mut VerdictCounts) {
    let before = counts.violated;
    agree(case, oracle(), counts);
    if before == counts.violated {
        return;
    }
    let problem = &case.problems()[0];
    let judgement = judge(case.problems(), &JudgeOptions::default());
    assert_eq!(judgement.algorithm, "grow-only-set");
    let Verdict::Violated(violation) = judgement.verdict else { panic!("violated") };
    assert!(violation.is_verified, "{violation:?} of {problem:#?}");
    let is_removing = |it: &OperationId| problem.method(*it) == "remove";
    // Before it returned, one that removed nothing might have: then a search finds what is needed.
    if problem.operations().iter().any(is_removing) {
        return;
    }
    assert!(violation.is_minimal, "{violation:?} of {problem:#?}");
    assert!(matches!(violation.why.as_deref(), Some(Why::Rule { .. })), "{violation:?} of {problem:#?}");
    check_definition(problem, &violation);
}

/// Without a linearization, whichever of the other operations are left out; and each operation
/// matters.
#[track_caller]
fn check_definition(problem: &Problem<'_>, violation: &Violation) {
    let core = &violation.counterexample;
    let ret = |it: &OperationId| problem.spans()[problem.position(*it).unwrap()].ret();
    let last = core.iter().filter_map(ret).max().unwrap();
    let is_possible = |spared: Option<OperationId>| {
        let weaker = problem.weaken(|at| match (problem.operations()[at], problem.spans()[at]) {
            (id, _) if Some(id) == spared => Retain::Unconstrained,
            (_, span) if last < span.call() => Retain::Drop,
            (_, span) if last < span.end() => Retain::CallOnly,
            (id, _) if core.contains(&id) => Retain::All,
            _ => Retain::Optional,
        });
        matches!(check(oracle(), &weaker, &Budget::unlimited()), Verdict::Holds(_))
    };
    assert!(!is_possible(None), "{violation:?} of {problem:#?}");
    for &id in core {
        assert!(is_possible(Some(id)), "{id:?} can be spared in {violation:?} of {problem:#?}");
    }
}

fn check_every(actions: &[&str], most: [usize; 3]) {
    let mut counts = VerdictCounts::default();
    for n in 1..=pick_of_three(most[0], most[1], most[2]) {
        every_history("full-set", n, actions, |case| agree_and_explain(case, &mut counts));
    }
    assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn every_small_history_with_two_elements() {
    check_every(
        &["add 1", "add 2", "add 2 → ?", "read → []", "read → [1]", "read → [2]", "read → [1 2]"],
        [3, 4, 5],
    );
}

#[test]
fn every_small_history_with_one_element() {
    let adds = ["add 1", "add 1 → true", "add 1 → false", "add 1 → ?"];
    let others = ["contains 1 → true", "contains 1 → false", "read → [1]", "read → []"];
    check_every(&[adds, others].concat(), [3, 4, 5]);
}

#[test]
fn every_small_history_with_single_looks() {
    let adds = ["add 1", "add 2 → true", "add 1 → ?"];
    let others = ["contains 1 → false", "contains 2 → true", "read → [1]", "read → [2]"];
    check_every(&[adds.as_slice(), &others].concat(), [3, 4, 5]);
}

#[test]
fn every_small_history_with_removes_that_found_nothing() {
    check_every(&["add 1", "add 1 → ?", "remove 1 → false", "read → [1]", "read → []"], [3, 4, 5]);
}

/// A history in which each operation took effect at a moment; then some results are changed.
fn random_case(seed: u64, operations: usize) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(seed);
    let (elements, clients) = (1 + random.below(4), 1 + random.below(4));
    let mut values = Values::new();
    // Of each process: its call, and its result once it took effect.
    let mut open: Vec<Option<(String, Option<String>)>> = vec![None; clients];
    let mut inside: Vec<usize> = Vec::new();
    let mut log: EventLog<RawCall, clewline_core::Value> = EventLog::new();
    let mut left = 2 + random.below(operations);
    while left != 0 {
        let process = random.below(clients);
        let id = ProcessId(process as u32);
        match open[process].take() {
            None => {
                left -= 1;
                let element = 1 + random.below(elements);
                let call = match random.below(10) {
                    0..4 => format!("add {element}"),
                    4..6 => format!("contains {element}"),
                    6 if seed.is_multiple_of(8) => format!("remove {}", elements + 1),
                    _ => "read".to_owned(),
                };
                let raw = action(&mut values, &call).call;
                log.push(Event::Call(id, ObjectId(0), raw)).unwrap();
                open[process] = Some((call, None));
            }
            Some((call, None)) => {
                let (method, element) = call.split_once(' ').unwrap_or((&call, "0"));
                let element: usize = element.parse().unwrap();
                let is_there = inside.contains(&element);
                let is_returned = random.below(2) == 0;
                let ret = match method {
                    "read" => {
                        format!("[{}]", inside.iter().map(usize::to_string).collect::<Vec<_>>().join(" "))
                    }
                    "contains" | "remove" => is_there.to_string(),
                    _ if is_returned => (!is_there).to_string(),
                    _ => "nil".to_owned(),
                };
                if method == "add" && !is_there {
                    inside.push(element);
                }
                open[process] = Some((call, Some(ret)));
            }
            Some((call, Some(ret))) => {
                let ret = if random.below(24) == 0 { changed(&ret, elements, &mut random) } else { ret };
                let ret = action(&mut values, &format!("{call} → {ret}")).ret.unwrap();
                log.push(Event::Return(id, ret)).unwrap();
            }
        }
    }
    load("full-set", log.finish(), values)
}

/// Another result.
fn changed(ret: &str, elements: usize, random: &mut Random) -> String {
    match ret {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        "nil" => "nil".to_owned(),
        list => {
            let other = (1 + random.below(elements)).to_string();
            let mut items: Vec<&str> =
                list.trim_matches(['[', ']']).split(' ').filter(|it| !it.is_empty()).collect();
            match items.iter().position(|it| *it == other) {
                Some(place) => _ = items.remove(place),
                None => items.push(&other),
            }
            format!("[{}]", items.join(" "))
        }
    }
}

fn is_supported(case: &dyn ErasedHistory) -> bool {
    case.problems().first().is_some_and(|it| GrowOnlySet.refuses(it).is_none())
}

#[test]
fn random_histories() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(700, 40_000, 1_000_000);
    for seed in 0..cases as u64 {
        let case = random_case(seed, 14);
        if is_supported(&*case) {
            agree_and_explain(&*case, &mut counts);
        }
    }
    assert!(cases / 8 < counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn longer_random_histories() {
    let mut counts = VerdictCounts::default();
    let cases = pick_of_three(150, 20_000, 200_000);
    for seed in 0..cases as u64 {
        let case = random_case(seed ^ 0x5eed, 60);
        if is_supported(&*case) {
            agree(&*case, &JitGraph, &mut counts);
        }
    }
    assert!(cases / 20 < counts.holds.min(counts.violated), "{counts:?}");
}

/// `operations` adds, each by one of eight processes, which overlap; after each tenth a read, of
/// which the last is changed.
fn long(operations: usize, change: impl FnOnce(&mut Vec<usize>)) -> Box<dyn ErasedHistory> {
    let mut values = Values::new();
    let mut log: EventLog<RawCall, clewline_core::Value> = EventLog::new();
    let mut change = Some(change);
    for at in 0..operations {
        let raw = action(&mut values, &format!("add {at}")).call;
        let id = ProcessId(at as u32 % 8);
        if 8 <= at {
            log.push(Event::Return(id, clewline_core::Value::NIL)).unwrap();
        }
        log.push(Event::Call(id, ObjectId(0), raw)).unwrap();
        if at % 10 == 9 {
            let read = action(&mut values, "read").call;
            log.push(Event::Call(ProcessId(8), ObjectId(0), read)).unwrap();
            let mut all: Vec<usize> = (0..at).collect();
            if operations <= at + 10 {
                change.take().into_iter().for_each(|it| it(&mut all));
            }
            let items: Vec<_> = all.iter().map(|&it| values.int(it as i64)).collect();
            log.push(Event::Return(ProcessId(8), values.list(&items))).unwrap();
        }
    }
    load("full-set", log.finish(), values)
}

#[test]
fn a_long_history_needs_no_search() {
    let case = long(2_000, |_| ());
    let budget = Budget::unlimited().with_configurations(10);
    let judgement = judge(case.problems(), &JudgeOptions { budget, ..JudgeOptions::default() });
    assert_eq!(judgement.algorithm, "grow-only-set");
    assert_eq!(judgement.verdict.word(), "holds");
}

#[track_caller]
fn check_long(change: impl FnOnce(&mut Vec<usize>), expected: &[&str], matches: fn(Rule) -> bool) {
    let case = long(2_000, change);
    let judgement = judge(case.problems(), &JudgeOptions::default());
    let Verdict::Violated(violation) = judgement.verdict else { panic!("it is violated") };
    assert!(violation.is_verified && violation.is_minimal);
    let calls = violation.counterexample.iter().map(|&it| case.problems()[0].shown(it));
    let calls: Vec<String> = calls.map(|it| format!("{}{}", it.method, it.arguments)).collect();
    assert_eq!(calls, expected);
    let Some(Why::Rule { rule, .. }) = violation.why.as_deref() else { panic!("{:?}", violation.why) };
    assert!(matches(*rule), "{rule:?}");
}

/// The commonest violation: the counterexample has two operations, however long the history is.
#[test]
fn a_lost_element_takes_two_operations() {
    check_long(|all| _ = all.remove(1_000), &["add(1000)", "read()"], |it| matches!(it, Rule::Lost { .. }));
}

#[test]
fn a_stale_read_takes_the_last_add_before_it() {
    check_long(|all| all.truncate(1_000), &["add(1991)", "read()"], |it| matches!(it, Rule::Lost { .. }));
}

#[test]
fn an_element_from_nowhere_takes_one_operation() {
    check_long(|all| all.push(5_000), &["read()"], |it| matches!(it, Rule::FoundUnadded { .. }));
}

/// Elements of operations that were open when the read was called.
#[test]
fn a_later_element_without_an_earlier_one_takes_a_read_and_an_add() {
    let case = drawn(
        "full-set",
        "A: |-add 1----|\nB:             |-add 2-|\nC:    |-read → [2]---------------|\nD: |-add 3-----------------|\n",
    );
    let Verdict::Violated(violation) = judge(case.problems(), &JudgeOptions::default()).verdict else {
        panic!()
    };
    let labels: Vec<String> = violation.counterexample.iter().map(|&it| case.label(it)).collect();
    assert_eq!(labels, ["add(1)", "read() → [2]"]);
    check_definition(&case.problems()[0], &violation);
}

#[test]
fn a_stopped_budget_is_no_verdict() {
    let case = long(100, |_| ());
    let budget = Budget::unlimited();
    budget.stop(Reason::Cancelled);
    assert_eq!(check(&GrowOnlySet, &case.problems()[0], &budget), Verdict::Unknown(Reason::Cancelled));
    let budget = Budget::unlimited().with_memory(1 << 8);
    assert_eq!(check(&GrowOnlySet, &case.problems()[0], &budget), Verdict::Unknown(Reason::Memory(1 << 8)));
    assert_eq!(budget.memory_used(), 0, "what was held is given back");
}

#[test]
fn other_histories_are_refused_with_a_reason_and_searched() {
    let refusal = |specification: &str, drawing: &str| {
        let case = drawn(specification, drawing);
        let judgement = judge(case.problems(), &JudgeOptions::default());
        assert_ne!(judgement.algorithm, "grow-only-set");
        GrowOnlySet.refuses(&case.problems()[0]).unwrap_or_default()
    };
    assert_eq!(
        refusal("set", "A: |-add 1 → true-|\n"),
        "grow-only-set judges sets that can be read as a whole only"
    );
    assert_eq!(
        refusal("full-set", "A: |-add 1-| |-remove 1 → true-|\n"),
        "grow-only-set does not know remove(1) → true"
    );
    assert_eq!(refusal("full-set", "A: |-remove 1\n"), "grow-only-set does not know remove(1) → ?");
}
