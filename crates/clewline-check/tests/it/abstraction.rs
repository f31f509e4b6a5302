//! Objects with few states, one or two of which are distinguished from the others: what that
//! refutes is violated, and an object of two states is decided.

use clewline_check::{JudgeOptions, check, judge};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Problem, Random, Reason, ValueDomain, Verdict};
use clewline_monitor::abstraction::Abstraction;
use clewline_testing::{pick, pick_of_three, share};

use crate::{
    histories::{every_history, random_history, random_times},
    queues::{VerdictCounts, generated_of, oracle},
};

const OF_TWO_VALUES: &[&str] = &[
    "write 0",
    "write 1",
    "write 0 → ?",
    "write 1 → ?",
    "read → 0",
    "read → 1",
    "cas [0 1] → true",
    "cas [1 0] → true",
    "cas [1 1] → true",
    "cas [0 1] → false",
    "cas [1 0] → false",
    "cas [0 1] → ?",
    "cas [1 0] → ?",
];

/// What there is besides with a third value.
const OF_A_THIRD_VALUE: &[&str] = &[
    "write 2",
    "write 2 → ?",
    "read → 2",
    "cas [1 2] → true",
    "cas [2 0] → true",
    "cas [1 2] → ?",
    "cas [2 0] → ?",
];

fn is_refuted(problem: &Problem<'_>) -> bool {
    Abstraction::new(problem).unwrap().refutes(u64::MAX, &Budget::unlimited()).unwrap()
}

fn holds(problem: &Problem<'_>) -> bool {
    match check(oracle(), problem, &Budget::unlimited()) {
        Verdict::Holds(_) => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(reason) => panic!("{reason}: {problem:#?}"),
    }
}

/// Each of two states is distinguished from the other, and two of three from the third, so that
/// nothing gets lost.
fn check_exact(problem: &Problem<'_>, counts: &mut VerdictCounts) {
    let holds = holds(problem);
    assert_eq!(is_refuted(problem), !holds, "{problem:#?}");
    *if holds { &mut counts.holds } else { &mut counts.violated } += 1;
}

#[test]
fn every_small_history_of_two_values() {
    let mut counts = VerdictCounts::default();
    for n in 1..=pick_of_three(3, 4, 5) {
        every_history("cas-register:0", n, OF_TWO_VALUES, |case| {
            check_exact(&case.problems()[0], &mut counts);
        });
    }
    assert!(counts.holds + counts.violated < 20 * counts.holds.min(counts.violated), "{counts:?}");
}

#[test]
fn random_histories_of_two_values_and_of_three() {
    for more in [&[], OF_A_THIRD_VALUE] {
        let all = [OF_TWO_VALUES, more].concat();
        let (mut counts, cases) = (VerdictCounts::default(), share(100_000));
        for seed in 0..cases as u64 {
            let mut random = Random::new(seed);
            // Few sorts of operations, so that many histories hold.
            let sorts: Vec<&str> = (0..4 + random.below(6)).map(|_| all[random.below(all.len())]).collect();
            let actions: Vec<&str> =
                (0..4 + random.below(7)).map(|_| sorts[random.below(sorts.len())]).collect();
            let case = random_times("cas-register:0", &actions, &mut random);
            check_exact(&case.problems()[0], &mut counts);
        }
        assert!(cases / 20 < counts.holds.min(counts.violated), "{counts:?}");
    }
}

/// With more values it is right if it refutes, and refutes most of what is violated.
#[test]
fn random_histories_of_several_values() {
    for spec in ["register", "cas-register", "map"] {
        let (mut counts, mut left) = (VerdictCounts::default(), 0);
        for seed in 0..share(40_000) as u64 {
            let case = random_history(spec, seed);
            for problem in case.problems().into_iter().flat_map(Problem::into_parts) {
                let is_refuted = is_refuted(&problem);
                let holds = holds(&problem);
                assert!(!(is_refuted && holds), "{problem:#?}");
                *if holds { &mut counts.holds } else { &mut counts.violated } += 1;
                left += usize::from(!is_refuted && !holds);
            }
        }
        eprintln!("{spec}: {counts:?}, {left} left to a search");
        assert!(0 < counts.holds && 4 * left < counts.violated, "{spec}: {counts:?}, {left} left");
    }
}

/// A history of ten clients, of which some operations never return, with results exchanged.
fn crashed(spec: &str, crashed: usize, swaps: usize, seed: u64) -> Box<dyn ErasedHistory> {
    let plan = GeneratorConfig {
        operations: 1_000,
        processes: 10,
        keys: 1,
        values: ValueDomain::Below(20),
        pending: crashed as f64 / 1_000.0,
        seed,
        ..GeneratorConfig::default()
    };
    generated_of(spec, &plan, swaps)
}

#[test]
fn long_histories_of_many_crashed_clients_are_decided() {
    for spec in pick(&["cas-register"][..], &["register", "cas-register", "map"]) {
        let mut refuted = 0;
        for seed in pick_of_three(3..=3, 1..=8, 1..=20) {
            let case = crashed(spec, 40, 3, seed);
            let budget = Budget::unlimited().with_configurations(3_000_000);
            let options =
                JudgeOptions { budget, counterexample_configurations: 0, ..JudgeOptions::default() };
            let judgement = judge(case.problems(), &options);
            let is_decided = !matches!(judgement.verdict, Verdict::Unknown(_));
            assert!(is_decided, "{spec}, {seed}: {:?}", judgement.verdict);
            refuted += usize::from(judgement.algorithm.contains("abstraction"));
        }
        assert!(0 < refuted, "{spec}");
    }
}

#[test]
fn it_stops_at_its_limit_and_within_its_budget() {
    let case = crashed("register", 80, 0, 4);
    let abstraction = Abstraction::new(&case.problems()[0]).unwrap();
    let within = |configurations, budget: &Budget| abstraction.refutes(configurations, budget);
    assert_eq!(within(10, &Budget::unlimited()), Ok(false));
    let budget = Budget::unlimited().with_configurations(5_000);
    assert_eq!(within(u64::MAX, &budget), Err(Reason::Configurations(5_000)));
    let budget = Budget::unlimited().with_memory(2_000);
    assert_eq!(within(u64::MAX, &budget), Err(Reason::Memory(2_000)));
    assert_eq!(budget.memory_used(), 0, "it is given back");
}

#[test]
fn an_object_of_many_states_is_left_to_others() {
    let case = crashed("priority-queue", 10, 0, 4);
    assert!(Abstraction::new(&case.problems()[0]).is_none());
}
