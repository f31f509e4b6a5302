//! The monitors for relaxed stacks and priority queues: rules, evidence, and agreement with a
//! search.

use clewline_check::{ByMonitor, Checker};
use clewline_core::{Budget, GeneratorConfig, Reason, ValueDomain, Verdict};
use clewline_specs::find;
use clewline_testing::pick;

use crate::relaxed::{Object, VerdictCounts, check_drawn, compare, generated};

#[test]
fn a_pop_overtakes_no_more_than_the_factor() {
    let drawing = "A: |-push 1-| |-push 2-| |-push 3-| |-pop → 1-| |-pop → 3-| |-pop → 2-|";
    check_drawn("quasi-stack:1", drawing, "more than 1 are overtaken");
    check_drawn("quasi-stack:2", drawing, "holds");
}

#[test]
fn an_element_on_top_is_overtaken_no_more_often_than_the_factor() {
    let drawing = "A: |-push 1-| |-push 2-| |-push 3-| |-pop → 2-| |-pop → 1-| |-pop → 3-|";
    check_drawn("quasi-stack:1", drawing, "overtaken more than 1 times");
    check_drawn("quasi-stack:2", drawing, "holds");
    // Nor is an element that is never removed.
    let drawing = "A: |-push 1-| |-push 2-| |-push 3-| |-pop → 2-| |-pop → 1-|";
    check_drawn("quasi-stack:1", drawing, "overtaken more than 1 times");
}

#[test]
fn a_poll_overtakes_no_more_than_the_factor() {
    let drawing = "A: |-add 1-| |-add 2-| |-add 3-| |-poll → 1-| |-poll → 3-| |-poll → 2-|";
    check_drawn("quasi-priority-queue:1", drawing, "more than 1 are overtaken");
    check_drawn("quasi-priority-queue:2", drawing, "holds");
    check_drawn("quasi-min-priority-queue:1", drawing, "holds");
    let drawing = "A: |-add 3-| |-add 2-| |-poll → 2-| |-add 1-| |-poll → 1-| |-poll → 3-|";
    check_drawn("quasi-priority-queue:1", drawing, "overtaken more than 1 times");
    check_drawn("quasi-min-priority-queue:0", drawing, "holds");
}

#[test]
fn overlapping_operations_may_give_way() {
    let drawing = "
        A: |-push 1-| |-push 2-|                |-pop → 1-| |-pop → 2-|
        B:                      |-push 3----------------------| |-pop → 3-|";
    check_drawn("quasi-stack:1", drawing, "holds");
    check_drawn("quasi-stack:0", drawing, "LastInFirstOut");
}

#[test]
fn an_empty_result_needs_an_empty_container() {
    check_drawn("quasi-stack:3", "A: |-push 1-| |-pop → nil-|", "Empty");
    check_drawn("quasi-priority-queue:3", "A: |-add 1-| |-poll → nil-|", "Empty");
    let drawing = "
        A: |-push 1-| |-pop → 1--------------|
        B:            |-push 2-| |-pop → nil-|  |-pop → 2-|";
    check_drawn("quasi-stack:3", drawing, "Empty");
}

const OBJECTS: [Object; 3] = [
    ("quasi-stack", ["push", "pop"]),
    ("quasi-priority-queue", ["add", "poll"]),
    ("quasi-min-priority-queue", ["add", "poll"]),
];

#[test]
fn on_random_histories_the_monitors_agree_with_a_search() {
    for object in OBJECTS {
        let counts = compare(object, pick(12, 700), 100_000);
        let VerdictCounts { holds, violated, undecided, refused } = counts;
        let is_enough = pick(2, 300) < holds && pick(1, 150) < violated && undecided < 300 && refused < 20;
        assert!(is_enough, "{}: {counts:?}", object.0);
    }
}

#[test]
fn long_histories_are_decided_whether_they_hold_or_not() {
    for object in OBJECTS {
        for (seed, factor) in [(1, 1), (2, 3), (3, 7)] {
            let plan = GeneratorConfig {
                operations: 12_000,
                processes: 4,
                overlap: 0.6,
                seed,
                ..GeneratorConfig::default()
            };
            let recording = generated(object, factor, plan);
            for (judged_by, expected) in
                [(factor, "holds"), (factor - 1, "violated"), (factor / 2, "violated")]
            {
                let case =
                    find(&format!("{}:{judged_by}", object.0)).unwrap().load(recording.clone()).unwrap();
                let problem = &case.problems()[0];
                let verdict = ByMonitor.decide(problem, &Budget::unlimited());
                assert_eq!(verdict.word(), expected, "{} of {factor}, judged with {judged_by}", object.0);
                if let Verdict::Holds(witness) = verdict {
                    assert_eq!(witness.verify(problem), Ok(()));
                }
            }
        }
    }
}

#[test]
fn a_shuffle_helps_where_no_move_of_two_operations_does() {
    let mix = vec![("push".to_owned(), 1), ("pop".to_owned(), 1)];
    let plan = GeneratorConfig {
        operations: 3_000,
        processes: 4,
        overlap: 0.9,
        seed: 247,
        ..GeneratorConfig::default()
    };
    let specification = find("quasi-stack:8").unwrap();
    let recording = specification.generate(&GeneratorConfig { mix, values: ValueDomain::Distinct, ..plan });
    let case = specification.load(recording).unwrap();
    let verdict = ByMonitor.decide(&case.problems()[0], &Budget::unlimited());
    assert_eq!(verdict.word(), "holds");
}

#[test]
fn a_monitor_that_may_take_long_stops_at_its_budget() {
    for object in [OBJECTS[0], OBJECTS[1], ("quasi-queue", ["enq", "deq"])] {
        let plan = GeneratorConfig {
            operations: 20_000,
            processes: 6,
            overlap: 0.9,
            seed: 5,
            ..GeneratorConfig::default()
        };
        let case = find(&format!("{}:3", object.0)).unwrap().load(generated(object, 3, plan)).unwrap();
        let budget = Budget::unlimited();
        budget.stop(Reason::Cancelled);
        let verdict = ByMonitor.decide(&case.problems()[0], &budget);
        assert_eq!(verdict.word(), "unknown", "{}", object.0);
    }
}
