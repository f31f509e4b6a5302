use std::collections::HashMap;

use clewline_core::{ErasedHistory, GeneratorConfig, Random, ValueDomain, Why};
use clewline_specs::{CATALOG, find};
use clewline_testing::{pick, share};

use super::{focus::is_finder, units::elements, *};
use clewline_search::oracle::Oracle;

mod proofs;

/// A minimization that retains everything.
fn shrinking<'a>(problem: &'a Problem<'a>) -> Shrinking<'a> {
    Shrinking {
        problem,
        budget: Budget::unlimited(),
        overlap: Overlap::Unconstrained,
        keep: vec![Retain::All; problem.len()],
        next: problem.operations()[0],
        attempt: 0,
        left: 0,
        is_minimal: true,
        opening: None,
    }
}

fn word(problem: &Problem<'_>) -> &'static str {
    Oracle.decide(problem, &Budget::unlimited()).word()
}

/// A prefix of a random linearizable history, decided by the oracle after each unit is dropped in
/// turn.
#[test]
fn a_linearizable_history_stays_linearizable_without_a_unit() {
    let (mut reads_left_out, mut lives_left_out, mut split_lives, mut opened) = (0, 0, 0, 0);
    let limited = ["queue:2", "stack:2", "deque:2"];
    for name in CATALOG.iter().map(|it| it.name).chain(limited) {
        let specification = find(name).unwrap();
        for seed in 0..pick(50, 400) {
            let mut random = Random::new(seed);
            let plan = GeneratorConfig {
                operations: 2 + random.below(if seed % 4 == 0 { 13 } else { 9 }),
                processes: 2 + random.below(3),
                overlap: if seed % 3 == 0 { 0.4 } else { 0.8 },
                values: ValueDomain::Below(if seed % 2 == 0 { 2 } else { 3 }),
                keys: 1,
                pending: 0.2,
                seed,
                ..GeneratorConfig::default()
            };
            let case = specification.load(specification.generate(&plan)).unwrap();
            let whole = &case.problems()[0];
            let last = random.below(2 * whole.len()) as u32;
            let prefix = whole.weaken(|at| match whole.spans()[at] {
                span if last < span.call() => Retain::Drop,
                span if last < span.end() => Retain::CallOnly,
                _ => Retain::All,
            });
            assert_eq!(word(&prefix), "holds", "{} seed {seed}", name);
            let mut weakened = shrinking(&prefix);
            weakened.overlap = if seed % 2 == 0 { Overlap::Unconstrained } else { Overlap::Optional };
            for start in 0..prefix.len() {
                let state = prefix.determines_state(start);
                if prefix.spans()[start].is_pending() || !prefix.resets(start) && state.is_none() {
                    continue;
                }
                let opening = Opening { start, before: Vec::new(), state };
                let rest = weakened.weaker(&weakened.since(start), Some(&opening));
                assert_eq!(word(&rest), "holds", "{} seed {seed}: {prefix:#?} since {start}", name);
                opened += 1;
            }
            // As it is, and with some operations weakened.
            let keep = random_keep(&prefix, &mut random);
            for weakened in [prefix.clone(), prefix.weaken(|at| keep[at])] {
                let (reads, lives) = (reads(&weakened), lives(&weakened));
                reads_left_out += reads.len();
                lives_left_out += lives.len();
                split_lives += lives.len() - elements(&weakened).len();
                for unit in reads.into_iter().chain(lives) {
                    let rest =
                        weakened.weaken(|at| if unit.contains(&at) { Retain::Drop } else { Retain::All });
                    assert_eq!(word(&rest), "holds", "{} seed {seed}: {weakened:#?} without {unit:?}", name);
                }
            }
        }
    }
    assert!(
        pick(300, 3_000) < reads_left_out && pick(300, 3_000) < lives_left_out,
        "{reads_left_out}, {lives_left_out}"
    );
    assert!(pick(12, 150) < split_lives, "{split_lives}");
    assert!(pick(180, 2_000) < opened, "{opened}");
}

/// A history in which one complete operation returns another one's result, which is often a
/// violation.
fn changed(
    specification: &str,
    values: ValueDomain,
    pending: f64,
    seed: u64,
) -> Option<Box<dyn ErasedHistory>> {
    let mut random = Random::new(seed);
    let plan =
        GeneratorConfig { operations: 10, values, keys: 1, pending, seed, ..GeneratorConfig::default() };
    let specification = find(specification).unwrap();
    let mut recording = specification.generate(&plan);
    let results: Vec<_> = recording.history.operations().filter_map(|it| it.ret.copied()).collect();
    let result = *results.get(random.below(results.len()))?;
    let chosen = random.below(recording.history.len());
    let change = |id: OperationId, call, ret: Option<_>| {
        Ok::<_, ()>((call, ret.map(|ret| if id.index() == chosen { result } else { ret })))
    };
    recording.history = recording.history.try_map(change).unwrap();
    specification.load(recording).ok()
}

/// The problem as it is, and without one of its operations, which is often needed. Of a semaphore
/// several are dropped: it has a permit to spare.
fn with_and_without<'a>(problem: &Problem<'a>, seed: u64) -> [Problem<'a>; 2] {
    let mut random = Random::new(seed);
    let one = random.below(problem.len());
    let mut is_lost = |at: usize| {
        let is_release = problem.label(problem.operations()[at]).starts_with("release");
        at == one || is_release && random.below(2) == 0
    };
    [problem.clone(), problem.weaken(|at| if is_lost(at) { Retain::Drop } else { Retain::All })]
}

/// The elements greater than the found one constrain no more than the whole history did.
#[test]
fn elements_greater_than_the_found_one_are_not_violated_alone() {
    let (mut held, mut violated) = (0, 0);
    for name in ["priority-queue", "min-priority-queue"] {
        for seed in 0..3_000 {
            let mut random = Random::new(seed);
            let Some(case) = changed(name, ValueDomain::Below(4), 0.1, seed) else { continue };
            let problem = &case.problems()[0];
            let roles = problem.roles().unwrap();
            let keep = random_keep(problem, &mut random);
            let before = word(&problem.weaken(|at| keep[at]));
            let is_sure = |&at: &usize| is_finder(&roles, at) && keep[at] == Retain::All;
            for finder in (0..problem.len()).filter(is_sure) {
                let above = shrinking(problem).above(&keep, finder, &roles);
                let after = word(&problem.weaken(|at| above[at]));
                assert!(
                    before == "violated" || after == "holds",
                    "{name} {seed}: {problem:#?} above {finder}"
                );
                held += usize::from(before == "holds");
                violated += usize::from(after == "violated");
            }
        }
    }
    assert!(1_000 < held && 100 < violated, "{held}, {violated}");
}

/// What is retained at the end is violated, and would not be if any operation of the counterexample
/// were weakened, or one more read or element dropped.
#[track_caller]
fn check_minimal(name: &str, problem: &Problem<'_>, next: OperationId, overlap: Overlap) {
    let shrunk = Shrinking::run(problem, next, overlap, &JudgeOptions::default());
    let keep = &shrunk.keep;
    assert!(shrunk.is_minimal, "{name}: {problem:#?}");
    assert_eq!(word(&shrunk.weaker(keep, shrunk.opening.as_ref())), "violated", "{name}: {problem:#?}");
    // The initial state is determined by an operation of the counterexample.
    assert!(shrunk.opening.as_ref().is_none_or(|it| keep[it.start] == Retain::All), "{name}: {problem:#?}");
    let start = shrunk.opening.as_ref().filter(|it| !it.before.is_empty());
    let alone = shrunk.counterexample().filter(|&at| start.is_none_or(|it| it.start != at));
    let chances = alone.map(|at| (vec![at], Retain::Unconstrained));
    // With the opening, all that came before it becomes unconstrained.
    let opening = start.map(|it| ([&it.before[..], &[it.start]].concat(), Retain::Unconstrained));
    let left_out = shrunk.units(reads).into_iter().chain(shrunk.units(lives));
    for (unit, less) in chances.chain(opening).chain(left_out.map(|unit| (unit, Retain::Drop))) {
        let less: Vec<Retain> =
            (0..keep.len()).map(|at| if unit.contains(&at) { less } else { keep[at] }).collect();
        // Without the opening no operation determines the initial state.
        let weakened = shrunk.opening.as_ref().filter(|it| !unit.contains(&it.start));
        assert_eq!(
            word(&shrunk.weaker(&less, weakened)),
            "holds",
            "{name}: {problem:#?}: {keep:?} without {unit:?}"
        );
    }
}

#[test]
fn counterexamples_are_minimal() {
    let (mut doubted, mut opened) = (0, 0);
    for entry in &CATALOG {
        let (mut searched, mut ruled, mut held, mut has_monitor) = (0, 0, 0, false);
        for seed in 0..pick(60, 900) {
            let values = if seed % 3 == 0 { ValueDomain::Distinct } else { ValueDomain::Below(4) };
            let pending = if seed % 2 == 0 { 0.25 } else { 0.05 };
            let Some(case) = changed(entry.name, values, pending, seed) else { continue };
            for problem in &with_and_without(&case.problems()[0], seed) {
                has_monitor |= problem.kind().and_then(monitor::find).is_some();
                if let Verdict::Violated(violation) = JitGraph.decide(problem, &Budget::unlimited()) {
                    let next = last(problem, &violation);
                    check_minimal(entry.name, problem, next, Overlap::Unconstrained);
                    check_minimal(entry.name, problem, next, Overlap::Optional);
                    let shrunk =
                        Shrinking::run(problem, next, Overlap::Unconstrained, &JudgeOptions::default());
                    opened += usize::from(shrunk.opening.is_some());
                    let shrunk = Shrinking::run(problem, next, Overlap::Optional, &JudgeOptions::default());
                    doubted += usize::from(shrunk.keep.contains(&Retain::Optional));
                    searched += 1;
                } else {
                    held += 1;
                }
                // The operations that a monitor names are violated without the others, and are
                // minimized in turn.
                if let Ok(Verdict::Violated(violation)) = monitor::decide(problem, &Budget::unlimited()) {
                    let is_named = |at: usize| violation.counterexample.contains(&problem.operations()[at]);
                    let counterexample =
                        problem.weaken(|at| if is_named(at) { Retain::All } else { Retain::Drop });
                    assert_eq!(word(&counterexample), "violated", "{}: {problem:#?}", entry.name);
                    check_minimal(
                        entry.name,
                        &counterexample,
                        last(&counterexample, &violation),
                        Overlap::Unconstrained,
                    );
                    ruled += 1;
                }
            }
        }
        assert!(pick(0, 5) < held && pick(0, 5) < searched, "{}: {held}, {searched}", entry.name);
        assert!(
            pick(true, false) || 0 < ruled || !has_monitor,
            "{}: its monitor refuted none of {searched}",
            entry.name
        );
    }
    assert!(pick(1, 20) < doubted && pick(1, 20) < opened, "{doubted}, {opened}");
}

/// Claims do not rely on the checker that found a violation: in a linearizable history, no sentence
/// about any of its operations is true.
#[test]
fn no_rule_is_broken_in_a_linearizable_history() {
    let mut asked = 0;
    for entry in &CATALOG {
        let specification = find(entry.name).unwrap();
        for seed in 0..share(1_000) {
            let mut random = Random::new(seed);
            let values = ValueDomain::Below(2);
            let plan = GeneratorConfig {
                operations: 6,
                overlap: 0.7,
                values,
                keys: 1,
                pending: 0.0,
                seed,
                ..GeneratorConfig::default()
            };
            let case = specification.load(specification.generate(&plan)).unwrap();
            let whole = &case.problems()[0];
            let keep: Vec<Retain> = (0..whole.len())
                .map(|_| if random.below(2) == 0 { Retain::Unconstrained } else { Retain::All })
                .collect();
            let core: Vec<usize> = (0..whole.len()).filter(|&at| keep[at] == Retain::All).collect();
            let Some(&next) = core.first() else { continue };
            let found = Explanation::Exhausted { prefix: Vec::new(), next: whole.operations()[next] };
            let proven = proof::Proven { prefix: whole.clone(), core, is_verified: true, is_minimal: true };
            let why = rules::explain(whole, &proven, &found, &Budget::unlimited());
            assert_eq!(why, None, "{} {seed}: {whole:#?}", entry.name);
            asked += 1;
        }
    }
    assert!(share(10_000) < asked, "{asked}");
}

/// An explanation names the whole counterexample: the reader need not wonder what the others are
/// for.
#[test]
fn an_explanation_names_the_whole_counterexample() {
    let (mut rules, mut ends) = (0, 0);
    for entry in &CATALOG {
        for seed in 0..pick(100, 600) {
            let values = if seed % 2 == 0 { ValueDomain::Distinct } else { ValueDomain::Below(4) };
            let Some(case) = changed(entry.name, values, 0.2, seed) else { continue };
            let [whole, lost] = with_and_without(&case.problems()[0], seed);
            let problem = &if seed % 4 < 2 { whole } else { lost };
            let judgement = crate::judge(vec![problem.clone()], &JudgeOptions::default());
            let Verdict::Violated(violation) = judgement.verdict else { continue };
            let context = || format!("{} {seed}: {violation:?} in {problem:#?}", entry.name);
            assert!(violation.is_verified && violation.is_minimal, "{}", context());
            // One that was still open when an order ends may be needed only for its result.
            let is_open = |id: &OperationId, end: &clewline_core::DeadEnd| {
                let span = |it: OperationId| problem.spans()[problem.position(it).unwrap()];
                span(end.next).end() < span(*id).end()
            };
            let named = match violation.why.as_deref().unwrap_or_else(|| panic!("{}", context())) {
                Why::Rule { operations, end: None, .. } => {
                    rules += 1;
                    operations.clone()
                }
                Why::Rule { end: Some(end), .. } | Why::End(end) => {
                    ends += 1;
                    assert!(!end.prefix.contains(&end.next), "{}", context());
                    let core = violation.counterexample.iter().copied();
                    let open = core.filter(|it| is_open(it, end));
                    end.prefix.iter().copied().chain([end.next]).chain(open).collect()
                }
            };
            assert!(violation.counterexample.iter().all(|it| named.contains(it)), "{}", context());
        }
    }
    assert!(pick(100, 600) < rules && pick(30, 200) < ends, "{rules}, {ends}");
}

/// Each operation is retained, or weakened.
fn random_keep(problem: &Problem<'_>, random: &mut Random) -> Vec<Retain> {
    let any = |random: &mut Random| match random.below(8) {
        0 => Retain::Unconstrained,
        1 => Retain::CallOnly,
        _ => Retain::All,
    };
    (0..problem.len()).map(|_| any(random)).collect()
}

/// Of the operations that found something, only one is fully retained.
fn one_finder(problem: &Problem<'_>, keep: &mut [Retain], random: &mut Random) {
    let Ok(roles) = problem.roles() else { return };
    let finds = |at: &usize| {
        matches!(roles.kinds[*at], RoleKind::Remove | RoleKind::Observe | RoleKind::Absent | RoleKind::Empty)
    };
    let finders: Vec<usize> = (0..problem.len()).filter(finds).collect();
    let sure = random.below(finders.len().max(1));
    for (number, &at) in finders.iter().enumerate() {
        let less = if random.below(4) == 0 { Retain::CallOnly } else { Retain::Unconstrained };
        keep[at] = if number == sure { Retain::All } else { less };
    }
}

#[test]
fn shortcuts_agree_with_the_oracle() {
    let mut glances: HashMap<(&str, &str), usize> = HashMap::new();
    for entry in &CATALOG {
        for seed in 0..pick(150, 1_200) {
            let mut random = Random::new(seed);
            let values = if seed % 3 == 0 { ValueDomain::Distinct } else { ValueDomain::Below(3) };
            let Some(case) = changed(entry.name, values, 0.1, seed) else { continue };
            let [whole, lost] = with_and_without(&case.problems()[0], seed);
            let problem = &if seed % 2 == 0 { whole } else { lost };
            let Some(kind) = problem.kind() else { continue };
            if refute(problem).is_some() {
                assert_eq!(word(problem), "violated", "{} {seed}: {problem:#?}", entry.name);
                *glances.entry((entry.name, "refuted")).or_default() += 1;
            }
            let mut weakened = shrinking(problem);
            weakened.keep = random_keep(problem, &mut random);
            if seed % 4 < 2 {
                one_finder(problem, &mut weakened.keep, &mut random);
            }
            let whole: Vec<usize> =
                (0..problem.len()).filter(|&at| weakened.keep[at] == Retain::All).collect();
            let openings = whole.into_iter().filter_map(|start| {
                let state = Some(problem.determines_state(start)?);
                Some(Opening { start, before: Vec::new(), state })
            });
            for opening in openings.map(Some).chain([None]) {
                let keep =
                    opening.as_ref().map_or_else(|| weakened.keep.clone(), |it| weakened.since(it.start));
                let weaker = weakened.weaker(&keep, opening.as_ref());
                let start = opening.as_ref().and_then(|it| weaker.position(problem.operations()[it.start]));
                let word = word(&weaker);
                match shortcuts::judge(&weaker, kind, start) {
                    Some(QuickVerdict::Holds) => {
                        assert_eq!(word, "holds", "{} {seed}: {weaker:#?}", entry.name)
                    }
                    Some(QuickVerdict::Violated(_)) => {
                        assert_eq!(word, "violated", "{} {seed}: {weaker:#?}", entry.name);
                    }
                    None => continue,
                }
                *glances.entry((entry.name, word)).or_default() += 1;
            }
        }
    }
    let enough = pick(2, 20);
    for name in ["counter", "bag", "queue", "stack", "priority-queue", "min-priority-queue"] {
        for word in ["holds", "violated"] {
            let seen = glances.get(&(name, word));
            assert!(seen.is_some_and(|it| enough < *it), "{name} {word}: {glances:?}");
        }
    }
    for name in ["queue", "stack", "priority-queue", "quasi-queue", "bag", "register"] {
        assert!(glances.get(&(name, "refuted")).is_some_and(|it| enough < *it), "{name}: {glances:?}");
    }
    assert!(glances.get(&("cas-register", "violated")).is_some_and(|it| enough < *it), "{glances:?}");
}

/// In a long history only the neighbourhood of the violation is examined repeatedly, whatever comes
/// long before or after: the work is counted, in configurations.
#[test]
fn a_long_history_is_minimized_near_its_violation() {
    for name in ["register", "cas-register", "counter", "queue", "stack", "priority-queue", "bag", "deque:8"]
    {
        let values = if name == "bag" { ValueDomain::Distinct } else { ValueDomain::Below(8) };
        let plan = GeneratorConfig {
            operations: pick(3_000, 20_000),
            values,
            keys: 1,
            seed: 5,
            ..GeneratorConfig::default()
        };
        let specification = find(name).unwrap();
        let mut recording = specification.generate(&plan);
        // In the middle an operation finds an element that was never added.
        let finds = ["read", "deq", "pop", "poll", "take", "pop-front"];
        let is_find = |call: &clewline_core::RawCall| matches!(recording.values.get(call.method), clewline_core::Datum::Text(it) if finds.contains(&it));
        let late = recording.history.operations().skip(pick(1_500, 10_000));
        let is_it = |it: &clewline_core::Operation<'_, _, _>| it.ret.is_some() && is_find(it.call);
        let late = late.into_iter().find(is_it).unwrap().id;
        let invented = clewline_core::Value::from(1_000_000);
        let change = |id: OperationId, call, ret: Option<_>| {
            Ok::<_, ()>((call, ret.map(|ret| if id == late { invented } else { ret })))
        };
        recording.history = recording.history.try_map(change).unwrap();
        let case = specification.load(recording).unwrap();
        let options = JudgeOptions {
            budget: Budget::unlimited().with_configurations(1 << 20),
            ..JudgeOptions::default()
        };
        let plain = JudgeOptions { counterexample_configurations: 0, ..options.clone() };
        let judged = crate::judge(case.problems(), &plain).configurations;
        let shrunk = crate::judge(case.problems(), &options);
        let Verdict::Violated(violation) = shrunk.verdict else { panic!("{name} holds") };
        // Whether anything of a bounded one can be spared may take too long to find out.
        let (is_bounded, counterexample) = (name.contains(':'), violation.counterexample);
        assert!(violation.is_minimal || is_bounded, "{name}: {counterexample:?}");
        assert!(counterexample.len() <= if is_bounded { 40 } else { 4 }, "{name}: {counterexample:?}");
        let work = shrunk.configurations - judged;
        assert!(work < 700_000, "{name}: {work}");
    }
}

/// An operation that overlaps nothing of the counterexample may still be unconstrained, and with
/// thousands of these, configurations are compared with each other: few of them are visited, which
/// are counted.
#[test]
fn attempts_with_many_unconstrained_operations_are_short() {
    let operations = pick(300, 5_000);
    let plan = GeneratorConfig {
        operations,
        values: ValueDomain::Below(20),
        processes: 8,
        keys: 1,
        seed: 2,
        ..GeneratorConfig::default()
    };
    let map = find("map").unwrap();
    let mut recording = map.generate(&plan);
    let is_get = |call: &clewline_core::RawCall| {
        matches!(recording.values.get(call.method), clewline_core::Datum::Text("get"))
    };
    let late = recording.history.operations().skip(operations / 2);
    let late = late.into_iter().find(|it| it.ret.is_some() && is_get(it.call)).unwrap().id;
    let invented = clewline_core::Value::from(1_000_000);
    let change = |id: OperationId, call, ret: Option<_>| {
        Ok::<_, ()>((call, ret.map(|ret| if id == late { invented } else { ret })))
    };
    recording.history = recording.history.try_map(change).unwrap();
    let case = map.load(recording).unwrap();
    let plain = JudgeOptions { counterexample_configurations: 0, ..JudgeOptions::default() };
    let judged = crate::judge(case.problems(), &plain).configurations;
    let shrunk = crate::judge(case.problems(), &JudgeOptions::default());
    let Verdict::Violated(violation) = shrunk.verdict else { panic!("holds") };
    assert!(violation.counterexample.len() <= 3, "{:?}", violation.counterexample);
    let work = shrunk.configurations - judged;
    // Most of it looks for the failure point.
    assert!(work < 40_000 + 2 * FAILING_CONFIGS, "{work}");
}

/// Values with many copies, limits, and an object that may be closed: a result in the middle of a
/// long history is another operation's.
#[test]
#[ignore = "long"]
fn equal_values_limits_and_closed_objects_leave_small_counterexamples() {
    let (nothing, least) = (clewline_core::Value::NIL, clewline_core::Value::from(0));
    let cases = [
        ("priority-queue", "poll", nothing, 3),
        ("priority-queue", "poll", least, 3),
        ("queue:8", "deq", nothing, 4),
        ("stack:8", "pop", nothing, 4),
        ("channel", "recv", nothing, 2),
    ];
    for (name, method, result, most) in cases {
        let plan = GeneratorConfig {
            operations: 20_000,
            values: ValueDomain::Below(20),
            processes: 8,
            seed: 5,
            ..GeneratorConfig::default()
        };
        let specification = find(name).unwrap();
        let mut recording = specification.generate(&plan);
        let is_find = |call: &clewline_core::RawCall| matches!(recording.values.get(call.method), clewline_core::Datum::Text(it) if it == method);
        let late = recording.history.operations().skip(10_000);
        let late = late
            .into_iter()
            .find(|it| it.ret.is_some_and(|ret| !ret.is_absent()) && is_find(it.call))
            .unwrap()
            .id;
        let change = |id: OperationId, call, ret: Option<_>| {
            Ok::<_, ()>((call, ret.map(|ret| if id == late { result } else { ret })))
        };
        recording.history = recording.history.try_map(change).unwrap();
        let case = specification.load(recording).unwrap();
        let options = JudgeOptions {
            budget: Budget::unlimited().with_configurations(1 << 20),
            ..JudgeOptions::default()
        };
        let Verdict::Violated(violation) = crate::judge(case.problems(), &options).verdict else {
            panic!("{name}")
        };
        assert!(violation.is_verified, "{name}: {violation:?}");
        // That the one which finds a limited object empty can be spared takes more than the budget.
        assert!(violation.is_minimal || name.contains(':'), "{name}: {violation:?}");
        assert!(violation.counterexample.len() <= most, "{name}: {:?}", violation.counterexample);
    }
}

/// A history of 20,000 operations on a mutex, for which threads always wait, without one operation
/// in the middle whose label begins with `lost`.
fn mutex_without(lost: &str) -> Violation {
    let plan = GeneratorConfig { operations: 20_000, processes: 8, seed: 5, ..GeneratorConfig::default() };
    let mutex = find("mutex").unwrap();
    let case = mutex.load(mutex.generate(&plan)).unwrap();
    let whole = &case.problems()[0];
    let is_it = |&at: &usize| case.label(whole.operations()[at]).starts_with(lost);
    let lost = (10_000..whole.len()).find(is_it).unwrap();
    let problem = whole.weaken(|at| if at == lost { Retain::Drop } else { Retain::All });
    match crate::judge(vec![problem], &JudgeOptions::default()).verdict {
        Verdict::Violated(violation) => violation,
        Verdict::Holds(_) | Verdict::Unknown(_) => panic!("not violated"),
    }
}

/// A lost operation on a mutex for which threads always wait shows only by counting. What is
/// counted lies between two moments, and is proven.
#[test]
fn operations_on_a_mutex_are_counted_between_two_moments() {
    for (lost, is_added) in [("unlock", true), ("lock", false)] {
        let violation = mutex_without(lost);
        let number = violation.counterexample.len();
        assert!(violation.is_verified && violation.is_minimal, "{lost}: {violation:?}");
        assert!((2..4_000).contains(&number), "{lost}: {number}");
        let undone = match violation.why.as_deref() {
            Some(Why::Rule { rule: clewline_core::Rule::AddedAgain { removed }, .. }) if is_added => *removed,
            Some(Why::Rule { rule: clewline_core::Rule::RemovedAgain { added }, .. }) if !is_added => *added,
            other => panic!("{lost}: {other:?}"),
        };
        assert_eq!(number, undone as usize + 2, "{lost}");
    }
}

#[test]
fn a_long_history_is_minimized_too() {
    let plan = GeneratorConfig {
        operations: 20_000,
        values: ValueDomain::Below(50),
        seed: 3,
        ..GeneratorConfig::default()
    };
    let register = find("register").unwrap();
    let mut recording = register.generate(&plan);
    // The last read of all, long after the others, returns what only the first write wrote.
    let reads = recording.history.operations().filter(|it| it.ret.is_some_and(|ret| !ret.is_absent()));
    let last = reads.last().unwrap().id;
    let invented = clewline_core::Value::from(1_000);
    let first = recording.history.operations().find(|it| !it.call.arg.is_absent()).unwrap().id;
    let change = |id: OperationId, call: clewline_core::RawCall, ret: Option<_>| {
        let call = if id == first { clewline_core::RawCall { arg: invented, ..call } } else { call };
        Ok::<_, ()>((call, ret.map(|ret| if id == last { invented } else { ret })))
    };
    recording.history = recording.history.try_map(change).unwrap();
    let case = register.load(recording).unwrap();
    let problem = &case.problems()[0];
    let Verdict::Violated(violation) = JitGraph.decide(problem, &Budget::unlimited()) else {
        panic!("holds")
    };
    let counterexample = shrink(problem, violation, &JudgeOptions::default()).counterexample;
    assert!(
        counterexample.len() <= 3,
        "{:?}",
        counterexample.iter().map(|&it| case.label(it)).collect::<Vec<_>>()
    );
}

/// A `deq` without a recorded result may have removed any value: it does not belong to the unit of
/// the one that it did remove.
#[test]
fn units_follow_what_is_retained() {
    let plan = GeneratorConfig {
        operations: 40,
        mix: vec![("enq".to_owned(), 1), ("deq".to_owned(), 1)],
        ..GeneratorConfig::default()
    };
    let queue = find("queue").unwrap();
    let case = queue.load(queue.generate(&plan)).unwrap();
    let problem = &case.problems()[0];
    let taken = (0..problem.len()).find(|&at| {
        case.label(problem.operations()[at]).starts_with("deq") && !problem.footprint(at).is_read()
    });
    let taken = taken.unwrap();
    let mut keep = vec![Retain::All; problem.len()];
    let mut shrinking = shrinking(problem);
    assert!(shrinking.units(lives).iter().flatten().any(|&at| at == taken));
    keep[taken] = Retain::CallOnly;
    shrinking.keep = keep;
    assert!(!shrinking.units(lives).iter().flatten().any(|&at| at == taken));
}
