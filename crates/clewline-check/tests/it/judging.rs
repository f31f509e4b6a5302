//! Whole histories: objects and keys apart, in any number of threads, with one verdict.

use std::sync::Arc;

use clewline_check::{
    Algorithm, Checker, JudgeOptions, PartsJudged, Selection, check, judge, parts, search::SEARCHES,
};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Problem, Reason, Verdict, Witness};
use clewline_specs::{CATALOG, find};
use clewline_testing::pick;

use crate::histories::random_history;

fn map(seed: u64, objects: usize) -> Box<dyn ErasedHistory> {
    let plan = GeneratorConfig { operations: 300, objects, keys: 5, seed, ..GeneratorConfig::default() };
    let map = find("map").unwrap();
    map.load(map.generate(&plan)).unwrap()
}

#[test]
fn parts_are_counted_and_their_witnesses_merged() {
    for (objects, parts) in [(1, 5), (3, 15)] {
        let case = map(1, objects);
        let judgement = judge(case.problems(), &JudgeOptions::default());
        assert_eq!(judgement.parts, parts);
        let Verdict::Holds(witness) = judgement.verdict else { panic!("violated") };
        assert_eq!(witness.order.len(), 300);
        // The order of all objects respects real time and, object by object, the unpartitioned
        // specification.
        let spans = case.spans();
        let mut latest = 0;
        for id in &witness.order {
            assert!(latest < spans[id.index()].end());
            latest = latest.max(spans[id.index()].call());
        }
        for problem in case.problems() {
            let own = witness.order.iter().copied().filter(|&it| problem.position(it).is_some()).collect();
            assert_eq!(clewline_core::Witness { order: own }.verify(&problem), Ok(()));
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_verdict() {
    let (mut holds, mut violated) = (0, 0);
    for seed in 0..200 {
        let case = random_history("map", seed);
        let one = judge(case.problems(), &JudgeOptions::default()).verdict;
        for jobs in [2, 5] {
            let verdict = judge(case.problems(), &JudgeOptions { jobs, ..JudgeOptions::default() }).verdict;
            assert_eq!(verdict, one, "seed {seed}, {jobs} jobs");
        }
        *if matches!(one, Verdict::Holds(_)) { &mut holds } else { &mut violated } += 1;
    }
    assert!(30 < holds && 30 < violated, "{holds} hold, {violated} are violated");
}

/// Every violated part has a counterexample, the first one that of a judgement that wants only one;
/// shares judge each part once, and what they found gives the same judgement again.
#[test]
fn every_violated_part_is_found_in_shares_as_well() {
    let mut several = 0;
    for seed in 0..200 {
        let case = random_history("map", seed);
        let options = JudgeOptions { violations_max: 1_000, ..JudgeOptions::default() };
        let (first, all) =
            (judge(case.problems(), &JudgeOptions::default()), judge(case.problems(), &options));
        assert_eq!(first.verdict, all.verdict, "seed {seed}");
        let parts = parts(case.problems(), &Algorithm::Auto);
        let is_violated = |it: &Problem<'_>| {
            matches!(judge(vec![it.clone()], &JudgeOptions::default()).verdict, Verdict::Violated(_))
        };
        let violated: Vec<usize> = (0..parts.len()).filter(|it| is_violated(&parts[*it])).collect();
        assert_eq!(all.found.violated, violated, "seed {seed}");
        assert_eq!(all.others.len(), violated.len().saturating_sub(1));
        assert_eq!((all.found.judged, all.parts), (parts.len(), parts.len()));
        several += usize::from(1 < violated.len());
        let two = judge(case.problems(), &JudgeOptions { violations_max: 2, ..options.clone() });
        assert_eq!(two.others, all.others[..all.others.len().min(1)]);

        let mut found = PartsJudged::default();
        for index in 0..3 {
            let selection = Selection::Share { index, count: 3 };
            let share = judge(case.problems(), &JudgeOptions { selection, ..options.clone() });
            assert_eq!(share.found.judged, (index..parts.len()).step_by(3).count());
            found.absorb(share.found);
        }
        let selection = Selection::Judged(Arc::new(found));
        let again = judge(case.problems(), &JudgeOptions { selection, ..options });
        assert_eq!((&again.others, &again.algorithm), (&all.others, &all.algorithm), "seed {seed}");
        assert_eq!((again.configurations, again.parts), (all.configurations, all.parts), "seed {seed}");
        if !violated.is_empty() {
            assert_eq!(again.verdict, all.verdict, "seed {seed}");
        }
    }
    assert!(2 < several, "{several} have several");
}

/// Judging part by part is the same as judging the whole.
#[test]
fn parts_agree_with_the_whole() {
    let oracle = SEARCHES.iter().find(|it| it.name() == "oracle").unwrap();
    let has_parts = |spec: &&str| {
        (0..20).any(|seed| {
            let case = random_history(spec, seed);
            case.problems().into_iter().any(|it| 1 < it.into_parts().len())
        })
    };
    let specs: Vec<&str> = CATALOG.names().filter(has_parts).collect();
    assert!(2 < specs.len(), "{specs:?}");
    for spec in specs {
        for seed in 0..pick(150, 2_000) {
            let case = random_history(spec, seed);
            let whole: Vec<Problem<'_>> = case.problems();
            let expected =
                whole.iter().map(|it| check(*oracle, it, &Budget::unlimited())).reduce(Verdict::merge);
            let verdict = judge(case.problems(), &JudgeOptions::default()).verdict;
            assert_eq!(verdict.word(), expected.map_or("holds", |it| it.word()), "{spec} seed {seed}");
        }
    }
}

#[test]
fn algorithms_are_named_one_or_several() {
    let case = random_history("deque", 1);
    for (text, expected) in [("auto", "late-pushes"), ("wg-tree", "wg-tree")] {
        let options =
            JudgeOptions { algorithm: text.parse::<Algorithm>().unwrap(), ..JudgeOptions::default() };
        assert_eq!(judge(case.problems(), &options).algorithm, expected);
    }
    let options = JudgeOptions {
        algorithm: "jit-tree+wg-graph".parse::<Algorithm>().unwrap(),
        ..JudgeOptions::default()
    };
    let decided = judge(case.problems(), &options).algorithm;
    assert!(
        ["jit-tree in jit-tree+wg-graph", "wg-graph in jit-tree+wg-graph"].contains(&&*decided),
        "{decided}"
    );
    let error = "jit-tree+quick".parse::<Algorithm>().unwrap_err();
    let sat = if cfg!(feature = "sat") { "sat, " } else { "" };
    let expected = format!(
        "no checker is called `quick` (there are auto, empty-moments, grow-only-set, jit-graph, jit-tree, late-pushes, \
         monitor, oracle, pushdown, queue-oriented, relaxed-pushdown, {sat}two-frontiers, wg-graph, wg-tree; `+` joins several)"
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_empty_history_holds() {
    let case = map(1, 1);
    let none: Vec<Problem<'_>> = case.problems().into_iter().take(0).collect();
    let judgement = judge(none, &JudgeOptions::default());
    assert_eq!((judgement.verdict.word(), &*judgement.algorithm), ("holds", "auto"));
}

/// Claims that every history holds, in the order of its returns.
struct Credulous;

impl Checker for Credulous {
    fn name(&self) -> &str {
        "credulous"
    }

    fn about(&self) -> &str {
        "believes everything"
    }

    fn decide(&self, problem: &Problem<'_>, _budget: &Budget) -> Verdict {
        let mut order = problem.operations().to_vec();
        order.sort_by_key(|&it| problem.position(it).map(|at| problem.spans()[at].end()));
        Verdict::Holds(Witness { order })
    }
}

/// Also without debug assertions: see `bench` for what that costs.
#[test]
fn a_witness_that_is_wrong_is_an_internal_error() {
    let options = JudgeOptions { algorithm: Algorithm::Named(vec![&Credulous]), ..JudgeOptions::default() };
    let (mut holds, mut wrong) = (0, 0);
    for spec in CATALOG.names() {
        for seed in 0..40 {
            let case = random_history(spec, seed);
            match judge(case.problems(), &options).verdict {
                Verdict::Holds(_) => {
                    let truth = judge(case.problems(), &JudgeOptions::default()).verdict;
                    assert_eq!(truth.word(), "holds", "{spec}, seed {seed}");
                    holds += 1;
                }
                Verdict::Unknown(Reason::Internal(what)) => {
                    let found = "the linearization found by credulous is wrong (";
                    assert!(what.starts_with(found), "{what}");
                    wrong += 1;
                }
                other => panic!("{spec}, seed {seed}: {other:?}"),
            }
        }
    }
    assert!(30 < holds && 30 < wrong, "{holds} hold, {wrong} are wrong");
    let reason = Reason::Internal("the order is wrong".to_owned()).to_string();
    assert_eq!(reason, "internal error: the order is wrong; please report this bug in Clewline");
}

#[test]
fn a_long_witness_is_verified_within_the_time_limit() {
    let register = find("register").unwrap();
    let case = register
        .load(register.generate(&GeneratorConfig { operations: 9_000, ..GeneratorConfig::default() }));
    let case = case.unwrap();
    let problem = &case.problems()[0];
    let Verdict::Holds(witness) = judge(case.problems(), &JudgeOptions::default()).verdict else {
        panic!("violated")
    };
    let budget = Budget::unlimited();
    assert_eq!(witness.verify_within(problem, &budget), Ok(Ok(())));
    budget.stop(Reason::Cancelled);
    assert_eq!(witness.verify_within(problem, &budget), Err(Reason::Cancelled));
    let mut late = witness.order.clone();
    late.swap(0, 8_999);
    assert!(Witness { order: late }.verify(problem).is_err());
}
