//! The monitors for stacks and priority queues out of order by a bound: rules, evidence, and agreement with a search.

use clewline_check::{
    Checker,
    monitor::{ByMonitor, Ruling, Want, judge},
    search::jit_graph::JitGraph,
};
use clewline_core::{Budget, Domain, Keep, Plan, Problem, Reason, Recording, Rule, Verdict};
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
fn a_pop_overtakes_no_more_than_the_factor() {
    let drawing = "A: |-push 1-| |-push 2-| |-push 3-| |-pop → 1-| |-pop → 3-| |-pop → 2-|";
    check_drawn("quasi-stack:1", drawing, "more than 1 are overtaken");
    check_drawn("quasi-stack:2", drawing, "holds");
}

#[test]
fn what_lies_on_top_is_overtaken_no_more_often_than_the_factor() {
    let drawing = "A: |-push 1-| |-push 2-| |-push 3-| |-pop → 2-| |-pop → 1-| |-pop → 3-|";
    check_drawn("quasi-stack:1", drawing, "overtaken more than 1 times");
    check_drawn("quasi-stack:2", drawing, "holds");
    // Nor is what stays there.
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
fn whoever_overlaps_may_make_room() {
    let drawing = "
        A: |-push 1-| |-push 2-|                |-pop → 1-| |-pop → 2-|
        B:                      |-push 3----------------------| |-pop → 3-|";
    check_drawn("quasi-stack:1", drawing, "holds");
    check_drawn("quasi-stack:0", drawing, "LastInFirstOut");
}

#[test]
fn nothing_is_found_only_where_nothing_is_inside() {
    check_drawn("quasi-stack:3", "A: |-push 1-| |-pop → nil-|", "Empty");
    check_drawn("quasi-priority-queue:3", "A: |-add 1-| |-poll → nil-|", "Empty");
    let drawing = "
        A: |-push 1-| |-pop → 1--------------|
        B:            |-push 2-| |-pop → nil-|  |-pop → 2-|";
    check_drawn("quasi-stack:3", drawing, "Empty");
}

const OBJECTS: [(&str, [&str; 2]); 3] = [
    ("quasi-stack", ["push", "pop"]),
    ("quasi-priority-queue", ["add", "poll"]),
    ("quasi-min-priority-queue", ["add", "poll"]),
];

fn generated(object: (&str, [&str; 2]), factor: u32, plan: Plan) -> Recording {
    let (name, [add, remove]) = object;
    let mix = vec![(add.to_owned(), 6), (remove.to_owned(), 5)];
    find(&format!("{name}:{factor}")).unwrap().generate(&Plan { mix, values: Domain::Distinct, ..plan })
}

/// The operations that a violation names are violated without the others.
fn check_core(problem: &Problem<'_>, core: &[clewline_core::OperationId], about: &str) {
    let keep = |at: usize| core.contains(&problem.operations()[at]);
    let core = problem.weaken(|at| if keep(at) { Keep::Whole } else { Keep::Nothing });
    let again = JitGraph.decide(&core, &Budget::unlimited().with_configurations(400_000));
    assert_ne!(again.word(), "holds", "{about}: {core:?}");
}

#[test]
fn on_random_histories_the_monitors_agree_with_a_search() {
    for object in OBJECTS {
        let (mut holds, mut violated, mut unsearched, mut refused) = (0, 0, 0, 0);
        for seed in 0..700 {
            let factor = seed % 4 + 1;
            let plan = Plan {
                operations: 8 + (seed as usize * 7) % 24,
                processes: 2 + (seed as usize / 3) % 3,
                overlap: [0.4, 0.7, 0.95][(seed as usize / 5) % 3],
                pending: if seed % 7 == 0 { 0.05 } else { 0.0 },
                seed: 1_000 + u64::from(seed),
                ..Plan::default()
            };
            let recording = generated(object, factor, plan);
            for judged_by in 1..=factor {
                let about = format!("{} from seed {seed}, judged with {judged_by}", object.0);
                let case =
                    find(&format!("{}:{judged_by}", object.0)).unwrap().load(recording.clone()).unwrap();
                let problem = &case.problems()[0];
                let searched = JitGraph.decide(problem, &Budget::unlimited().with_configurations(100_000));
                let monitored = ByMonitor.decide(problem, &Budget::unlimited());
                let is_known = !matches!(searched, Verdict::Unknown(_));
                unsearched += usize::from(!is_known);
                if is_known && !matches!(monitored, Verdict::Unknown(_)) {
                    assert_eq!(monitored.word(), searched.word(), "{about}: {problem:?}");
                }
                match monitored {
                    Verdict::Holds(witness) => {
                        holds += 1;
                        assert_eq!(witness.verify(problem), Ok(()), "{about}");
                    }
                    Verdict::Violated(violation) => {
                        violated += 1;
                        check_core(problem, &violation.core, &about);
                    }
                    Verdict::Unknown(_) => refused += 1,
                }
            }
        }
        let tally = format!("{holds} hold, {violated} violated, {unsearched} unsearched, {refused} refused");
        eprintln!("{}: {tally}", object.0);
        assert!(300 < holds && 150 < violated && unsearched < 300 && refused < 20, "{}: {tally}", object.0);
    }
}

#[test]
fn long_histories_are_decided_whether_they_hold_or_not() {
    for object in OBJECTS {
        for (seed, factor) in [(1, 1), (2, 3), (3, 7)] {
            let plan = Plan { operations: 12_000, processes: 4, overlap: 0.6, seed, ..Plan::default() };
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
fn a_monitor_that_may_take_long_stops_when_it_is_told_to() {
    for object in [OBJECTS[0], OBJECTS[1], ("quasi-queue", ["enq", "deq"])] {
        let plan = Plan { operations: 20_000, processes: 6, overlap: 0.9, seed: 5, ..Plan::default() };
        let case = find(&format!("{}:3", object.0)).unwrap().load(generated(object, 3, plan)).unwrap();
        let budget = Budget::unlimited();
        budget.stop(Reason::Outrun);
        let verdict = ByMonitor.decide(&case.problems()[0], &budget);
        assert_eq!(verdict.word(), "unknown", "{}", object.0);
    }
}
