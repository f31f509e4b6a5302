//! A limit that is hit is named, and never looks like a verdict.

use clewline_check::{Algorithm, JudgeOptions, check, compete, judge, search::SEARCHES};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Reason, ValueDomain, Verdict};
use clewline_specs::find;

/// A queue that many processes fill at once and none empties in order: hopeless for a search.
fn hard() -> Box<dyn ErasedHistory> {
    let plan = GeneratorConfig {
        operations: 400,
        processes: 12,
        overlap: 1.0,
        values: ValueDomain::Distinct,
        mix: vec![("enq".to_owned(), 6), ("deq".to_owned(), 4)],
        seed: 5,
        ..GeneratorConfig::default()
    };
    let queue = find("queue").unwrap();
    queue.load(queue.generate(&plan)).unwrap()
}

#[test]
fn configurations_are_counted_to_the_last() {
    let case = hard();
    for checker in &SEARCHES {
        let problem = &case.problems()[0];
        if checker.refuses(problem).is_some() {
            continue;
        }
        let budget = Budget::unlimited().with_configurations(100);
        let verdict = check(*checker, problem, &budget);
        assert_eq!(verdict, Verdict::Unknown(Reason::Configurations(100)), "{}", checker.name());
        assert!(budget.visited() <= 100, "{} visited {}", checker.name(), budget.visited());
    }
}

#[test]
fn memory_is_bounded() {
    let case = hard();
    for checker in SEARCHES.iter().filter(|it| it.name().ends_with("graph")) {
        let budget = Budget::unlimited().with_memory(8 << 20);
        let verdict = check(*checker, &case.problems()[0], &budget);
        assert_eq!(verdict, Verdict::Unknown(Reason::Memory(8 << 20)), "{}", checker.name());
        assert_eq!(budget.memory_used(), 0, "what was held is given back");
    }
}

#[test]
fn a_stopped_search_says_why() {
    let case = hard();
    for checker in &SEARCHES {
        let problem = &case.problems()[0];
        if checker.refuses(problem).is_some() {
            continue;
        }
        let budget = Budget::unlimited();
        budget.stop(Reason::Time(std::time::Duration::from_secs(3)));
        let verdict = check(*checker, problem, &budget);
        assert_eq!(verdict, Verdict::Unknown(Reason::Time(std::time::Duration::from_secs(3))));
    }
}

#[test]
fn the_oracle_refuses_long_histories() {
    let case = hard();
    let oracle = SEARCHES.iter().find(|it| it.name() == "oracle").unwrap();
    let Verdict::Unknown(Reason::Refused(why)) = check(*oracle, &case.problems()[0], &Budget::unlimited())
    else {
        panic!("not refused")
    };
    assert_eq!(why, "the oracle takes at most 64 operations");
}

#[test]
fn a_limit_in_one_part_makes_the_whole_unknown() {
    let case = hard();
    // A monitor would need no configurations.
    let algorithm = "jit-graph".parse::<Algorithm>().unwrap();
    let budget = Budget::unlimited().with_configurations(100);
    let options = JudgeOptions { algorithm, budget, ..JudgeOptions::default() };
    let judgement = judge(case.problems(), &options);
    assert_eq!(judgement.verdict, Verdict::Unknown(Reason::Configurations(100)));
}

/// A competitor that gives up at once does not decide for the others.
#[test]
fn a_competition_waits_for_a_verdict() {
    let register = find("register").unwrap();
    let case = register
        .load(register.generate(&GeneratorConfig { operations: 5_000, ..GeneratorConfig::default() }))
        .unwrap();
    let named = |name: &str| SEARCHES.iter().copied().find(|it| it.name() == name).unwrap();
    let pair = [named("oracle"), named("jit-graph")];
    let (verdict, winner) = compete(&pair, &case.problems()[0], &Budget::unlimited());
    assert_eq!((verdict.word(), winner), ("holds", 1));
    let (verdict, winner) = compete(&pair, &case.problems()[0], &Budget::unlimited().with_configurations(10));
    assert_eq!((verdict.word(), winner), ("unknown", 0));
}
