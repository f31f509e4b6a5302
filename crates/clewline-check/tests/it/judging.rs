//! Whole histories: objects and keys apart, in any number of threads, with one verdict.

use clewline_check::{Algorithm, Options, check, judge, search::SEARCHES};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Problem, Verdict};
use clewline_specs::{CATALOG, find};

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
        let judgement = judge(case.problems(), &Options::default());
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
        let one = judge(case.problems(), &Options::default()).verdict;
        for jobs in [2, 5] {
            let verdict = judge(case.problems(), &Options { jobs, ..Options::default() }).verdict;
            assert_eq!(verdict, one, "seed {seed}, {jobs} jobs");
        }
        *if matches!(one, Verdict::Holds(_)) { &mut holds } else { &mut violated } += 1;
    }
    assert!(30 < holds && 30 < violated, "{holds} hold, {violated} are violated");
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
        for seed in 0..2_000 {
            let case = random_history(spec, seed);
            let whole: Vec<Problem<'_>> = case.problems();
            let expected =
                whole.iter().map(|it| check(*oracle, it, &Budget::unlimited())).reduce(Verdict::merge);
            let verdict = judge(case.problems(), &Options::default()).verdict;
            assert_eq!(verdict.word(), expected.map_or("holds", |it| it.word()), "{spec} seed {seed}");
        }
    }
}

#[test]
fn algorithms_are_named_one_or_several() {
    let case = random_history("deque", 1);
    for (text, expected) in [("auto", "jit-graph"), ("wg-tree", "wg-tree")] {
        let options = Options { algorithm: text.parse::<Algorithm>().unwrap(), ..Options::default() };
        assert_eq!(judge(case.problems(), &options).algorithm, expected);
    }
    let options =
        Options { algorithm: "jit-tree+wg-graph".parse::<Algorithm>().unwrap(), ..Options::default() };
    let decided = judge(case.problems(), &options).algorithm;
    assert!(
        ["jit-tree in jit-tree+wg-graph", "wg-graph in jit-tree+wg-graph"].contains(&&*decided),
        "{decided}"
    );
    let error = "jit-tree+quick".parse::<Algorithm>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected `auto`, one of jit-graph, jit-tree, monitor, oracle, queue-oriented, wg-graph, wg-tree, or several of them joined by `+`; \
         found `quick`"
    );
}

#[test]
fn an_empty_history_holds() {
    let case = map(1, 1);
    let none: Vec<Problem<'_>> = case.problems().into_iter().take(0).collect();
    let judgement = judge(none, &Options::default());
    assert_eq!((judgement.verdict.word(), &*judgement.algorithm), ("holds", "auto"));
}
