//! What a monitor says, compared with what somebody says who tries every order.

use clewline_check::{
    Checker, check,
    monitor::{MonitorVerdict, RuleViolation, Unsupported, Want, judge},
    search::SEARCHES,
};
use clewline_core::{Budget, OperationId, Problem, Retain, Verdict, Witness};

/// How often a monitor said what.
#[derive(Debug, Default)]
pub(crate) struct Rulings {
    pub(crate) holds: usize,
    pub(crate) violated: usize,
    pub(crate) refused: usize,
}

pub(crate) fn search(name: &str) -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == name).unwrap()
}

/// The monitor's ruling on each part of `problem` is the verdict of `reference`, and its evidence is what it claims to be.
#[track_caller]
pub(crate) fn check_ruling(
    problem: Problem<'_>,
    reference: &dyn Checker,
    rulings: &mut Rulings,
    about: &dyn std::fmt::Display,
) {
    let budget = Budget::unlimited();
    for part in problem.into_parts() {
        let ruling = match judge(&part, Want::Witness, &budget) {
            Ok(ruling) => ruling,
            Err(refusal) => {
                assert_ne!(refusal, Unsupported::Other("no monitor knows this kind of object"));
                rulings.refused += 1;
                continue;
            }
        };
        let expected = check(reference, &part, &budget);
        let verdict = judge(&part, Want::Verdict, &budget).unwrap();
        match ruling {
            MonitorVerdict::Holds(order) => {
                rulings.holds += 1;
                assert_eq!(expected.word(), "holds", "{about}: {part:#?}");
                assert_eq!(verdict, MonitorVerdict::Holds(None), "{about}: {part:#?}");
                let order = order.expect("a witness was wanted");
                let order: Vec<OperationId> =
                    order.iter().map(|&at| part.operations()[at as usize]).collect();
                if let Err(error) = (Witness { order }).verify(&part) {
                    panic!("{about}: {error} of {part:#?}");
                }
            }
            MonitorVerdict::Violated(breach) => {
                rulings.violated += 1;
                assert_eq!(expected.word(), "violated", "{about}: {breach:?} of {part:#?}");
                assert_eq!(verdict, MonitorVerdict::Violated(breach.clone()), "{about}: {part:#?}");
                check_breach(&part, &breach, about);
            }
        }
    }
}

#[track_caller]
fn check_breach(problem: &Problem<'_>, breach: &RuleViolation, about: &dyn std::fmt::Display) {
    let RuleViolation { operations, evidence, .. } = breach;
    assert!(operations.iter().all(|it| evidence.contains(it)), "{about}: {breach:?} of {problem:#?}");
    let is_kept = |at: usize| evidence.contains(&(at as u32));
    let alone = problem.weaken(|at| if is_kept(at) { Retain::All } else { Retain::Drop });
    let verdict = check(search("jit-graph"), &alone, &Budget::unlimited());
    assert!(matches!(verdict, Verdict::Violated(_)), "{about}: {breach:?} alone holds, of {problem:#?}");
}
