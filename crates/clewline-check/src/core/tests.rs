use clewline_core::{Case, Domain, Plan, Random, Rule, Why};
use clewline_specs::{CATALOG, find};

use super::*;
use crate::search::oracle::Oracle;

/// Everything is said.
fn shrinking<'a>(problem: &'a Problem<'a>) -> Shrinking<'a> {
    Shrinking {
        problem,
        budget: Budget::unlimited(),
        keep: vec![Keep::Whole; problem.len()],
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

/// A prefix of a random linearizable history, judged by the oracle after each unit is left out in turn.
#[test]
fn leaving_a_unit_out_of_a_good_history_leaves_it_good() {
    let (mut reads_left_out, mut elements_left_out, mut opened) = (0, 0, 0);
    for entry in CATALOG {
        let specification = find(entry.name).unwrap();
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let plan = Plan {
                operations: 2 + random.below(9),
                processes: 2 + random.below(3),
                overlap: 0.8,
                values: Domain::Below(3),
                keys: 1,
                pending: 0.2,
                seed,
                ..Plan::default()
            };
            let case = specification.load(specification.generate(&plan)).unwrap();
            let whole = &case.problems()[0];
            let last = random.below(2 * whole.len()) as u32;
            let prefix = whole.weaken(|at| match whole.spans()[at] {
                span if last < span.call() => Keep::Nothing,
                span if last < span.end() => Keep::Call,
                _ => Keep::Whole,
            });
            assert_eq!(word(&prefix), "holds", "{} seed {seed}", entry.name);
            let told = shrinking(&prefix);
            let resets = |at: &usize| !prefix.spans()[*at].is_pending() && prefix.resets(*at);
            for start in (0..prefix.len()).filter(resets) {
                let keep = told.since(start);
                let rest = prefix.weaken(|at| keep[at]);
                assert_eq!(word(&rest), "holds", "{} seed {seed}: {prefix:#?} since {start}", entry.name);
                opened += 1;
            }
            let (reads, elements) = (reads(&prefix), elements(&prefix));
            reads_left_out += reads.len();
            elements_left_out += elements.len();
            for unit in reads.into_iter().chain(elements) {
                let rest = prefix.weaken(|at| if unit.contains(&at) { Keep::Nothing } else { Keep::Whole });
                assert_eq!(word(&rest), "holds", "{} seed {seed}: {prefix:#?} without {unit:?}", entry.name);
            }
        }
    }
    assert!(3_000 < reads_left_out && 3_000 < elements_left_out, "{reads_left_out}, {elements_left_out}");
    assert!(2_000 < opened, "{opened}");
}

/// A history in which one complete operation answers what another did, which is often wrong.
fn changed(specification: &str, values: Domain, pending: f64, seed: u64) -> Option<Box<dyn Case>> {
    let mut random = Random::new(seed);
    let plan = Plan { operations: 10, values, keys: 1, pending, seed, ..Plan::default() };
    let specification = find(specification).unwrap();
    let mut recording = specification.generate(&plan);
    let answers: Vec<_> = recording.history.operations().filter_map(|it| it.ret.copied()).collect();
    let answer = *answers.get(random.below(answers.len()))?;
    let chosen = random.below(recording.history.len());
    let change = |id: OperationId, call, ret: Option<_>| {
        Ok::<_, ()>((call, ret.map(|ret| if id.index() == chosen { answer } else { ret })))
    };
    recording.history = recording.history.try_map(change).unwrap();
    specification.load(recording).ok()
}

/// The problem as it is, and without one of its operations, which is often missed.
fn with_and_without<'a>(problem: &Problem<'a>, seed: u64) -> [Problem<'a>; 2] {
    let lost = Random::new(seed).below(problem.len());
    [problem.clone(), problem.weaken(|at| if at == lost { Keep::Nothing } else { Keep::Whole })]
}

/// What is said at the end is violated, and would not be if less were said about any operation of the core, or
/// one more read or element were left out.
#[track_caller]
fn check_minimal(name: &str, problem: &Problem<'_>, next: OperationId) {
    let shrunk = Shrinking::run(problem, next, &Options::default());
    let keep = &shrunk.keep;
    assert!(shrunk.is_minimal, "{name}: {problem:#?}");
    assert_eq!(word(&problem.weaken(|at| keep[at])), "violated", "{name}: {problem:#?}");
    let start = shrunk.opening.as_ref().filter(|it| !it.before.is_empty());
    let is_core = |&at: &usize| matches!(keep[at], Keep::Whole | Keep::Call);
    let alone = (0..problem.len()).filter(is_core).filter(|&at| start.is_none_or(|it| it.start != at));
    let chances = alone.map(|at| (vec![at], Keep::Chance));
    // With the opening all that came before it gets a chance.
    let opening = start.map(|it| ([&it.before[..], &[it.start]].concat(), Keep::Chance));
    let left_out = shrunk.units(reads).into_iter().chain(shrunk.units(elements));
    for (unit, less) in chances.chain(opening).chain(left_out.map(|unit| (unit, Keep::Nothing))) {
        let weaker = problem.weaken(|at| if unit.contains(&at) { less } else { keep[at] });
        assert_eq!(word(&weaker), "holds", "{name}: {problem:#?}: {keep:?} without {unit:?}");
    }
}

#[test]
fn nothing_more_can_be_spared() {
    for entry in CATALOG {
        let (mut searched, mut ruled, mut opened) = (0, 0, 0);
        for seed in 0..900 {
            let values = if seed % 3 == 0 { Domain::Distinct } else { Domain::Below(4) };
            let pending = if seed % 2 == 0 { 0.25 } else { 0.05 };
            // Its answers are all alike; without a permit at first, one that is lost is missed.
            let name = if entry.name == "semaphore" { "semaphore:0" } else { entry.name };
            let Some(case) = changed(name, values, pending, seed) else { continue };
            for problem in &with_and_without(&case.problems()[0], seed) {
                if let Verdict::Violated(violation) = JitGraph.decide(problem, &Budget::unlimited()) {
                    let next = last(problem, &violation);
                    check_minimal(entry.name, problem, next);
                    let shrunk = Shrinking::run(problem, next, &Options::default());
                    opened += usize::from(shrunk.opening.is_some());
                    searched += 1;
                }
                // What a monitor names is violated without the others, and is made smaller in turn.
                if let Ok(Verdict::Violated(violation)) = monitor::decide(problem, &Budget::unlimited()) {
                    let is_named = |at: usize| violation.core.contains(&problem.operations()[at]);
                    let core = problem.weaken(|at| if is_named(at) { Keep::Whole } else { Keep::Nothing });
                    assert_eq!(word(&core), "violated", "{}: {problem:#?}", entry.name);
                    check_minimal(entry.name, &core, last(&core, &violation));
                    ruled += 1;
                }
            }
        }
        let has_monitor = !["channel", "deque", "semaphore"].contains(&entry.name);
        assert!(5 < searched && (0 < ruled || !has_monitor), "{}: {searched}, {ruled}", entry.name);
        let resets = !["set", "multiset", "counter", "semaphore", "mutex"].contains(&entry.name);
        assert!(0 < opened || !resets, "{} never opens", entry.name);
    }
}

/// A rule that is told alone names the whole core, but for the operation at which it opens: whoever reads it need not
/// wonder what the others are for.
#[test]
fn words_are_about_the_whole_core() {
    let (mut rules, mut ends) = (0, 0);
    for entry in CATALOG {
        for seed in 0..600 {
            let values = if seed % 2 == 0 { Domain::Distinct } else { Domain::Below(4) };
            let Some(case) = changed(entry.name, values, 0.2, seed) else { continue };
            let [whole, lost] = with_and_without(&case.problems()[0], seed);
            let problem = &if seed % 4 < 2 { whole } else { lost };
            let judgement = crate::judge(vec![problem.clone()], &Options::default());
            let Verdict::Violated(violation) = judgement.verdict else { continue };
            let context = || format!("{} {seed}: {violation:?} in {problem:#?}", entry.name);
            let is_opening = |id: &OperationId| problem.resets(problem.position(*id).unwrap());
            match violation.why.as_deref().unwrap_or_else(|| panic!("{}", context())) {
                Why::Rule { rule: Rule::SumWithin { .. }, .. } => rules += 1,
                Why::Rule { operations, end: None, .. } => {
                    let is_told = |it: &OperationId| operations.contains(it) || is_opening(it);
                    assert!(violation.core.iter().all(is_told), "{}", context());
                    rules += 1;
                }
                Why::Rule { end: Some(end), .. } | Why::End(end) => {
                    let is_known =
                        |it: &OperationId| violation.core.contains(it) || violation.chances.contains(it);
                    assert!(
                        end.prefix.iter().all(is_known) && violation.core.contains(&end.next),
                        "{}",
                        context()
                    );
                    assert!(!end.prefix.contains(&end.next), "{}", context());
                    ends += 1;
                }
            }
        }
    }
    assert!(600 < rules && 200 < ends, "{rules}, {ends}");
}

#[test]
fn a_long_history_shrinks_as_well() {
    let plan = Plan { operations: 20_000, values: Domain::Below(50), seed: 3, ..Plan::default() };
    let register = find("register").unwrap();
    let mut recording = register.generate(&plan);
    // The last read of all, long after the others, answers what only the first write wrote.
    let reads = recording.history.operations().filter(|it| it.ret.is_some_and(|ret| !ret.is_absent()));
    let last = reads.last().unwrap().id;
    let invented = clewline_core::Value::small(1_000).unwrap();
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
    let core = shrink(problem, violation, &Options::default()).core;
    assert!(core.len() <= 3, "{:?}", core.iter().map(|&it| case.label(it)).collect::<Vec<_>>());
}

/// A `deq` whose answer is forgotten may have taken any value: it does not go with the one that it did take.
#[test]
fn units_are_those_of_what_is_still_said() {
    let plan =
        Plan { operations: 40, mix: vec![("enq".to_owned(), 1), ("deq".to_owned(), 1)], ..Plan::default() };
    let queue = find("queue").unwrap();
    let case = queue.load(queue.generate(&plan)).unwrap();
    let problem = &case.problems()[0];
    let taken = (0..problem.len()).find(|&at| {
        case.label(problem.operations()[at]).starts_with("deq") && !problem.footprint(at).is_read()
    });
    let taken = taken.unwrap();
    let mut keep = vec![Keep::Whole; problem.len()];
    let mut shrinking = shrinking(problem);
    assert!(shrinking.units(elements).iter().flatten().any(|&at| at == taken));
    keep[taken] = Keep::Call;
    shrinking.keep = keep;
    assert!(!shrinking.units(elements).iter().flatten().any(|&at| at == taken));
}
