//! What the tests of relaxed containers share.

use clewline_check::{ByMonitor, Checker, search::jit_graph::JitGraph};
use clewline_core::{
    Budget, GeneratorConfig, OperationId, Problem, Recording, Retain, Rule, ValueDomain, Verdict,
};
use clewline_monitor::{MonitorVerdict, Want, judge};
use clewline_specs::find;

use crate::histories::drawn;

/// The name of a relaxed specification, without the factor, and its methods that add and remove.
pub(crate) type Object = (&'static str, [&'static str; 2]);

#[track_caller]
pub(crate) fn check_drawn(spec: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    let problem = &case.problems()[0];
    let determines = match judge(problem, Want::Witness, &Budget::unlimited()).unwrap() {
        MonitorVerdict::Holds(_) => "holds".to_owned(),
        MonitorVerdict::Violated(violation) => match violation.rule {
            Rule::OvertakesMany { allowed } => format!("more than {allowed} are overtaken"),
            Rule::OvertakenOften { allowed } => format!("overtaken more than {allowed} times"),
            Rule::OutOfOrder { allowed } => format!("out of order by more than {allowed}"),
            rule => format!("{rule:?}"),
        },
    };
    assert_eq!(determines, expected);
    let searched = JitGraph.decide(problem, &Budget::unlimited());
    assert_eq!(searched.word(), if expected == "holds" { "holds" } else { "violated" });
}

/// A history with factor `factor`, of distinct values.
pub(crate) fn generated(object: Object, factor: u32, plan: GeneratorConfig) -> Recording {
    let (name, [add, remove]) = object;
    let mix = vec![(add.to_owned(), 6), (remove.to_owned(), 5)];
    find(&format!("{name}:{factor}")).unwrap().generate(&GeneratorConfig {
        mix,
        values: ValueDomain::Distinct,
        ..plan
    })
}

/// The operations that a violation names are violated without the others.
fn check_core(problem: &Problem<'_>, core: &[OperationId], about: &str) {
    let keep = |at: usize| core.contains(&problem.operations()[at]);
    let core = problem.weaken(|at| if keep(at) { Retain::All } else { Retain::Drop });
    let again = JitGraph.decide(&core, &Budget::unlimited().with_configurations(400_000));
    assert_ne!(again.word(), "holds", "{about}: {core:?}");
}

/// The verdicts on random histories.
#[derive(Debug, Default)]
pub(crate) struct VerdictCounts {
    pub(crate) holds: u32,
    pub(crate) violated: u32,
    /// Unknown to the search.
    pub(crate) undecided: u32,
    /// Refused by the monitor.
    pub(crate) refused: u32,
}

/// Runs the monitor on random histories, each with the factor it was generated with and with
/// smaller ones. A search must agree.
pub(crate) fn compare(object: Object, seeds: u32, configurations: u64) -> VerdictCounts {
    let mut counts = VerdictCounts::default();
    for seed in 0..seeds {
        let factor = seed % 4 + 1;
        let plan = GeneratorConfig {
            operations: 8 + (seed as usize * 7) % 24,
            processes: 2 + (seed as usize / 3) % 3,
            overlap: [0.4, 0.7, 0.95][(seed as usize / 5) % 3],
            pending: if seed % 7 == 0 { 0.05 } else { 0.0 },
            seed: 1_000 + u64::from(seed),
            ..GeneratorConfig::default()
        };
        let recording = generated(object, factor, plan);
        for judged_by in 1..=factor {
            let about = format!("{} from seed {seed}, judged with {judged_by}", object.0);
            let case = find(&format!("{}:{judged_by}", object.0)).unwrap().load(recording.clone()).unwrap();
            let problem = &case.problems()[0];
            let searched = JitGraph.decide(problem, &Budget::unlimited().with_configurations(configurations));
            let monitored = ByMonitor.decide(problem, &Budget::unlimited());
            let is_known = !matches!(searched, Verdict::Unknown(_));
            counts.undecided += u32::from(!is_known);
            if is_known && !matches!(monitored, Verdict::Unknown(_)) {
                assert_eq!(monitored.word(), searched.word(), "{about}: {problem:?}");
            }
            match monitored {
                Verdict::Holds(witness) => {
                    counts.holds += 1;
                    assert_eq!(witness.verify(problem), Ok(()), "{about}");
                }
                Verdict::Violated(violation) => {
                    counts.violated += 1;
                    check_core(problem, &violation.counterexample, &about);
                }
                Verdict::Unknown(_) => counts.refused += 1,
            }
        }
    }
    counts
}
