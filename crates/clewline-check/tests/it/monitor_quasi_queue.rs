//! The monitor for queues out of order by a bound: rules, evidence, and agreement with a search on random histories.

use clewline_check::{
    Checker,
    monitor::{ByMonitor, Ruling, Want, judge},
    search::jit_graph::JitGraph,
};
use clewline_core::{Budget, Domain, Plan, Rule, Verdict};
use clewline_specs::find;

use crate::histories::drawn;

#[track_caller]
fn check_drawn(spec: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    let problem = &case.problems()[0];
    let told = match judge(problem, Want::Witness, &Budget::unlimited()).unwrap() {
        Ruling::Holds(_) => "holds".to_owned(),
        Ruling::Violated(breach) => match breach.rule {
            Rule::OvertakesMany { allowed } => format!("more than {allowed} are overtaken"),
            Rule::OvertakenOften { allowed } => format!("overtaken more than {allowed} times"),
            Rule::OutOfOrder { allowed } => format!("out of order by more than {allowed}"),
            rule => format!("{rule:?}"),
        },
    };
    assert_eq!(told, expected);
    let searched = JitGraph.decide(problem, &Budget::unlimited());
    assert_eq!(searched.word(), if expected == "holds" { "holds" } else { "violated" });
}

#[test]
fn a_removal_overtakes_no_more_than_the_factor() {
    let drawing = "A: |-enq 1-| |-enq 2-| |-enq 3-| |-deq → 3-| |-deq → 1-| |-deq → 2-|";
    check_drawn("quasi-queue:1", drawing, "more than 1 are overtaken");
    check_drawn("quasi-queue:2", drawing, "holds");
}

#[test]
fn an_element_is_overtaken_no_more_often_than_the_factor() {
    let drawing = "A: |-enq 1-| |-enq 2-| |-enq 3-| |-deq → 2-| |-deq → 3-| |-deq → 1-|";
    check_drawn("quasi-queue:1", drawing, "overtaken more than 1 times");
    check_drawn("quasi-queue:2", drawing, "holds");
    // Nor is one that never leaves.
    let drawing = "A: |-enq 1-| |-enq 2-| |-enq 3-| |-deq → 2-| |-deq → 3-|";
    check_drawn("quasi-queue:1", drawing, "overtaken more than 1 times");
}

#[test]
fn who_overlaps_may_change_places() {
    let drawing = "
        A: |-enq 1-|           |-enq 3-| |-deq → 3-| |-deq → 1-|
        B:         |-enq 2---------------|                      |-deq → 2-|";
    check_drawn("quasi-queue:1", drawing, "holds");
}

#[test]
fn nothing_is_found_only_in_an_empty_queue_however_much_it_is_out_of_order() {
    check_drawn("quasi-queue:3", "A: |-enq 1-| |-deq → nil-|", "out of order by more than 3");
    check_drawn("quasi-queue:3", "A: |-enq 1-| |-deq → 1-| |-deq → nil-|", "holds");
    let drawing = "
        A: |-enq 1-| |-deq → 1--------------|
        B:           |-enq 2-| |-deq → nil-|  |-deq → 2-|";
    check_drawn("quasi-queue:3", drawing, "out of order by more than 3");
}

#[test]
fn on_random_histories_the_monitor_agrees_with_a_search() {
    let (mut holds, mut violated, mut skipped) = (0, 0, 0);
    for seed in 0..1_200 {
        let factor = seed % 4 + 1;
        let plan = Plan {
            operations: 8 + (seed as usize * 7) % 24,
            processes: 2 + (seed as usize / 3) % 3,
            overlap: [0.4, 0.7, 0.95][(seed as usize / 5) % 3],
            values: Domain::Distinct,
            mix: vec![("enq".to_owned(), 6), ("deq".to_owned(), 5)],
            pending: if seed % 7 == 0 { 0.05 } else { 0.0 },
            seed: 1_000 + seed,
            ..Plan::default()
        };
        let recording = find(&format!("quasi-queue:{factor}")).unwrap().generate(&plan);
        for judged_by in 1..=factor {
            let case = find(&format!("quasi-queue:{judged_by}")).unwrap().load(recording.clone()).unwrap();
            let problem = &case.problems()[0];
            let searched = JitGraph.decide(problem, &Budget::unlimited().with_configurations(200_000));
            let monitored = ByMonitor.decide(problem, &Budget::unlimited());
            if let (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) = (&searched, &monitored) {
                skipped += 1;
                continue;
            }
            assert_eq!(monitored.word(), searched.word(), "seed {seed}, factor {judged_by}: {problem:?}");
            match monitored {
                Verdict::Holds(witness) => {
                    holds += 1;
                    assert_eq!(witness.verify(problem), Ok(()), "seed {seed}, factor {judged_by}");
                }
                Verdict::Violated(violation) => {
                    violated += 1;
                    let keep = |at: usize| violation.core.contains(&problem.operations()[at]);
                    let core = problem.weaken(|at| match keep(at) {
                        true => clewline_core::Keep::Whole,
                        false => clewline_core::Keep::Nothing,
                    });
                    let again = JitGraph.decide(&core, &Budget::unlimited().with_configurations(400_000));
                    assert_ne!(again.word(), "holds", "seed {seed}, factor {judged_by}: {core:?}");
                }
                Verdict::Unknown(_) => (),
            }
        }
    }
    assert!(
        500 < holds && 300 < violated && skipped < 100,
        "{holds} hold, {violated} violated, {skipped} skipped"
    );
}
