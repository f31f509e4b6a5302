//! The enumeration as the reference for the search of quasi linearizability by displacement.

use clewline_check::relaxed::{
    LeastFactor, QuasiVerdict, QuasiViolation, Relaxation, Sense, displaced, least_factor,
};
use clewline_core::{Budget, Problem};
use clewline_lab::enumeration::{Enumeration, EnumerationPlan};

/// How often each verdict was reached, and each kind of violation.
#[derive(Debug, Default)]
pub(crate) struct VerdictCounts {
    holds: usize,
    violated: usize,
    pub(crate) alone: usize,
    pub(crate) class: usize,
    everywhere: usize,
    never: usize,
    // Of those that hold, how many have a displaced operation.
    moved: usize,
    // Too much for the enumeration.
    skipped: usize,
}

/// The enumeration, which remembers orders it has judged, and counts of its verdicts.
pub(crate) struct Judge {
    enumeration: Enumeration,
    budget: Budget,
    pub(crate) counts: VerdictCounts,
}

impl Judge {
    pub(crate) fn new(orders: u64) -> Judge {
        Judge {
            enumeration: Enumeration::new(EnumerationPlan::ORACLE),
            budget: Budget::unlimited().with_configurations(orders),
            counts: VerdictCounts::default(),
        }
    }

    fn holds(&mut self, problem: &Problem<'_>, relaxation: &Relaxation) -> Option<bool> {
        self.enumeration.judge(problem, relaxation, &self.budget).ok()
    }

    /// The search agrees with the enumeration, and its evidence is right.
    #[track_caller]
    pub(crate) fn check(&mut self, problem: &Problem<'_>, relaxation: &Relaxation, about: &str) {
        let Some(expected) = self.holds(problem, relaxation) else {
            self.counts.skipped += 1;
            return;
        };
        let quasi = displaced(problem, relaxation, &Budget::unlimited());
        let word = if expected { "holds" } else { "violated" };
        assert_eq!(quasi.word(), word, "{about}: {relaxation:?} of {problem:#?}");
        match quasi {
            QuasiVerdict::Holds(witness) => {
                assert_eq!(witness.verify(problem, relaxation), Ok(()), "{about}: {problem:#?}");
                self.counts.holds += 1;
                self.counts.moved += usize::from(witness.displacement.iter().any(|it| it.1 != 0));
            }
            QuasiVerdict::Violated(violation) => {
                self.counts.violated += 1;
                self.check_violation(problem, relaxation, &violation, about);
            }
            QuasiVerdict::Unknown(reason) => panic!("{about}: {reason}"),
        }
    }

    /// What the violation claims: one place less is not enough, and `at_best` places are.
    #[track_caller]
    fn check_violation(
        &mut self,
        problem: &Problem<'_>,
        relaxation: &Relaxation,
        violation: &QuasiViolation,
        about: &str,
    ) {
        let about = format!("{about}: {violation:?} with {relaxation:?} of {problem:#?}");
        let at = problem.position(violation.operation).unwrap();
        assert_eq!(violation.class, relaxation.class_of[at], "{about}");
        let QuasiViolation { class, at_best, allowed, .. } = *violation;
        assert_eq!(allowed, class.map_or(0, |it| relaxation.factors[it]), "{about}");
        let raised = |by: u32| Relaxation {
            factors: relaxation.factors.iter().map(|it| it + by).collect(),
            ..relaxation.clone()
        };
        let is_off = |by: i32| by.unsigned_abs() == at_best;
        if let Some(nearest) = &violation.nearest {
            let mine = nearest.displacement.iter().find(|it| it.0 == violation.operation);
            assert!(allowed < at_best && mine.is_some_and(|it| is_off(it.1)), "{about}");
        }
        match violation.sense {
            Sense::Alone | Sense::Class => {
                let with = |factor| relaxation.with_factor(class.unwrap(), factor);
                let nearest = violation.nearest.as_ref().unwrap();
                assert_eq!(nearest.verify(problem, &with(at_best)), Ok(()), "{about}");
                assert_ne!(self.holds(problem, &with(at_best - 1)), Some(true), "{about}");
                let is_beyond = |id, by: i32| {
                    let class = relaxation.class_of[problem.position(id).unwrap()].unwrap();
                    relaxation.factors[class] < by.unsigned_abs()
                };
                let beyond = nearest.displacement.iter().filter(|it| is_beyond(it.0, it.1)).count();
                if violation.sense == Sense::Alone {
                    assert_eq!(beyond, 1, "{about}");
                    self.counts.alone += 1;
                } else {
                    assert!(1 < beyond, "{about}");
                    self.counts.class += 1;
                }
            }
            Sense::Everywhere => {
                let by = at_best - allowed;
                let nearest = violation.nearest.as_ref().unwrap();
                assert_eq!(nearest.verify(problem, &raised(by)), Ok(()), "{about}");
                assert_ne!(self.holds(problem, &raised(by - 1)), Some(true), "{about}");
                for class in 0..relaxation.factors.len() {
                    let most = relaxation.with_factor(class, problem.len() as u32);
                    assert_ne!(self.holds(problem, &most), Some(true), "{about}");
                }
                self.counts.everywhere += 1;
            }
            Sense::Never => {
                assert_ne!(self.holds(problem, &raised(problem.len() as u32)), Some(true), "{about}");
                self.counts.never += 1;
            }
            Sense::AtLeast => panic!("{about}: such a small history is searched to the end"),
        }
    }

    /// The least factor is enough, and one less is not.
    #[track_caller]
    pub(crate) fn check_least(
        &mut self,
        problem: &Problem<'_>,
        relaxation: &Relaxation,
        class: usize,
        about: &str,
    ) {
        let about = format!("{about}: class {class} with {relaxation:?} of {problem:#?}");
        match least_factor(problem, relaxation, class, &Budget::unlimited()) {
            LeastFactor::Least { factor, witness } => {
                let with = |factor| relaxation.with_factor(class, factor);
                assert_eq!(witness.verify(problem, &with(factor)), Ok(()), "{about}");
                assert_ne!(self.holds(problem, &with(factor)), Some(false), "{about}");
                if let Some(less) = factor.checked_sub(1) {
                    assert_ne!(self.holds(problem, &with(less)), Some(true), "{about}");
                    let less = displaced(problem, &with(less), &Budget::unlimited());
                    assert_eq!(less.word(), "violated", "{about}");
                }
            }
            LeastFactor::Never => {
                let most = relaxation.with_factor(class, problem.len() as u32);
                assert_ne!(self.holds(problem, &most), Some(true), "{about}");
            }
            LeastFactor::Unknown { reason, .. } => panic!("{about}: {reason}"),
        }
    }

    #[track_caller]
    pub(crate) fn expect_both(&self, at_least: f64, about: &str) {
        let VerdictCounts { holds, violated, moved, skipped, .. } = self.counts;
        let total = (holds + violated) as f64;
        assert!(at_least * total <= holds.min(violated) as f64, "{about}: {:?}", self.counts);
        assert!(0 < moved && skipped * 10 < holds + violated, "{about}: {:?}", self.counts);
    }
}
