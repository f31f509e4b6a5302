//! The verdict of a monitor, compared with a checker that tries every order.

use clewline_check::{Checker, check, search::SEARCHES};
use clewline_core::{Budget, OperationId, Problem, Retain, Verdict, Witness};
use clewline_monitor::{MonitorVerdict, RuleViolation, Unsupported, Want, judge};

/// How often a monitor had which verdict.
#[derive(Debug, Default)]
pub(crate) struct MonitorVerdicts {
    pub(crate) holds: usize,
    pub(crate) violated: usize,
    pub(crate) refused: usize,
}

pub(crate) fn search(name: &str) -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == name).unwrap()
}

/// The monitor's verdict on each part of `problem` is that of `reference`, and its evidence is
/// right.
#[track_caller]
pub(crate) fn check_verdict(
    problem: Problem<'_>,
    reference: &dyn Checker,
    monitor_verdicts: &mut MonitorVerdicts,
    about: &dyn std::fmt::Display,
) {
    let budget = Budget::unlimited();
    for part in problem.into_parts() {
        let ruling = match judge(&part, Want::Witness, &budget) {
            Ok(ruling) => ruling,
            Err(refusal) => {
                assert_ne!(refusal, Unsupported::Other("no monitor knows this kind of object"));
                monitor_verdicts.refused += 1;
                continue;
            }
        };
        let expected = check(reference, &part, &budget);
        let verdict = judge(&part, Want::Verdict, &budget).unwrap();
        match ruling {
            MonitorVerdict::Holds(order) => {
                monitor_verdicts.holds += 1;
                assert_eq!(expected.word(), "holds", "{about}: {part:#?}");
                assert_eq!(verdict, MonitorVerdict::Holds(None), "{about}: {part:#?}");
                let order = order.expect("a witness was wanted");
                let order: Vec<OperationId> =
                    order.iter().map(|&at| part.operations()[at as usize]).collect();
                if let Err(error) = (Witness { order }).verify(&part) {
                    panic!("{about}: {error} of {part:#?}");
                }
            }
            MonitorVerdict::Violated(violation) => {
                monitor_verdicts.violated += 1;
                assert_eq!(expected.word(), "violated", "{about}: {violation:?} of {part:#?}");
                assert_eq!(verdict, MonitorVerdict::Violated(violation.clone()), "{about}: {part:#?}");
                check_violation(&part, &violation, about);
            }
        }
    }
}

#[track_caller]
fn check_violation(problem: &Problem<'_>, violation: &RuleViolation, about: &dyn std::fmt::Display) {
    let RuleViolation { operations, evidence, .. } = violation;
    assert!(operations.iter().all(|it| evidence.contains(it)), "{about}: {violation:?} of {problem:#?}");
    let is_kept = |at: usize| evidence.contains(&(at as u32));
    let alone = problem.weaken(|at| if is_kept(at) { Retain::All } else { Retain::Drop });
    let verdict = check(search("jit-graph"), &alone, &Budget::unlimited());
    assert!(matches!(verdict, Verdict::Violated(_)), "{about}: {violation:?} alone holds, of {problem:#?}");
}
