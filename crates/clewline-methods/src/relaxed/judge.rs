//! Checks that need the whole history: the least factor, and displacement.

use std::collections::BTreeSet;

use clewline_check::{
    JudgeOptions, Judgement, judge,
    relaxed::{LeastFactor, QuasiVerdict, QuasiWitness, Relaxation, displaced, least_factor},
};
use clewline_core::{
    ErasedHistory, Explanation, OperationId, Problem, Reason, Recording, Verdict, Violation, Witness,
};

use super::{
    evidence::QuasiEvidence,
    factors::{ALL, quasi_error, unknown_class},
    quasi::{Plan, Quasi, QuasiReading},
};
use crate::error::Error;

/// A history, its verdict, and further evidence.
pub(crate) struct JudgedRecording {
    pub(crate) case: Box<dyn ErasedHistory>,
    pub(crate) judgement: Judgement,
    pub(crate) evidence: QuasiEvidence,
}

/// Judges a history by `quasi`, and returns the specification used. `name` is for errors.
pub(crate) fn judge_recording(
    name: &str,
    recording: Recording,
    specification: &str,
    (quasi, plan): (&Quasi, &Plan),
    options: &JudgeOptions,
) -> Result<(String, JudgedRecording), Error> {
    let load = |spec: &str, recording: Recording| -> Result<Box<dyn ErasedHistory>, Error> {
        clewline_specs::find(spec)?.load(recording).map_err(|it| Error::of_file(name, it))
    };
    Ok(match plan {
        Plan::LeastRelaxed(relaxed) => {
            let with = |factor: u32| load(&format!("{relaxed}:{factor}"), recording.clone());
            let (factor, outcome) = least_relaxed(quasi, &with, options)?;
            (format!("{relaxed}:{factor}"), outcome)
        }
        Plan::Relaxed(relaxed) => {
            let case = load(relaxed, recording)?;
            let judgement = judge(case.problems(), options);
            (
                relaxed.clone(),
                JudgedRecording {
                    case,
                    judgement,
                    evidence: QuasiEvidence::new(quasi, QuasiReading::Relaxed),
                },
            )
        }
        Plan::Displacement => {
            let case = load(specification, recording)?;
            let (judgement, evidence) = judge_places(&case.problems(), quasi, options);
            (specification.to_owned(), JudgedRecording { case, judgement, evidence })
        }
    })
}

/// The least factor with which a history holds: doubled until it suffices, then found by bisection.
fn least_relaxed(
    quasi: &Quasi,
    with: &dyn Fn(u32) -> Result<Box<dyn ErasedHistory>, Error>,
    options: &JudgeOptions,
) -> Result<(u32, JudgedRecording), Error> {
    // The displaced operations are not requested.
    let quick = JudgeOptions { counterexample_configurations: 0, ..options.clone() };
    let mut evidence = QuasiEvidence::new(quasi, QuasiReading::Relaxed);
    let mut above = 0;
    let mut enough: Option<(u32, Box<dyn ErasedHistory>, Judgement)> = None;
    let mut factor = 0;
    loop {
        let case = with(factor)?;
        let most = case.problems().iter().map(Problem::len).max().unwrap_or(0) as u32;
        let judgement = judge(case.problems(), &quick);
        match &judgement.verdict {
            Verdict::Holds(_) => enough = Some((factor, case, judgement)),
            Verdict::Unknown(_) => {
                evidence.at_least = above;
                return Ok((factor, JudgedRecording { case, judgement, evidence }));
            }
            // No displacement can exceed the number of operations.
            Verdict::Violated(_) if most <= factor => {
                let judgement = judge(case.problems(), options);
                return Ok((factor, JudgedRecording { case, judgement, evidence }));
            }
            Verdict::Violated(_) => above = factor + 1,
        }
        factor = match enough.take_if(|it| it.0 == above) {
            Some((least, case, judgement)) => {
                evidence.least = Some(least);
                return Ok((least, JudgedRecording { case, judgement, evidence }));
            }
            None => enough.as_ref().map_or((2 * factor).max(1).min(most), |it| above.midpoint(it.0)),
        };
    }
}

/// Checks each object by the displacement of its operations between two orders.
fn judge_places(
    problems: &[Problem<'_>],
    quasi: &Quasi,
    options: &JudgeOptions,
) -> (Judgement, QuasiEvidence) {
    let mut evidence = QuasiEvidence::new(quasi, QuasiReading::Displacement);
    let mut verdict = Verdict::Holds(Witness::default());
    let asked = quasi.factors().asked().map(|it| it.0);
    let visited = options.budget.visited();
    for problem in problems {
        let relaxation = relaxation(problem, quasi);
        let judged = match asked {
            Some(class) => {
                let least = least_factor(problem, &relaxation, class, &options.budget);
                describe_least_factor(problem, least, &mut evidence)
            }
            None => describe_displacement(problem, &relaxation, options, &mut evidence),
        };
        verdict = verdict.merge(judged);
        if let Verdict::Violated(_) = verdict {
            break;
        }
    }
    if !matches!(verdict, Verdict::Holds(_)) {
        evidence.least = None;
    }
    let configurations = options.budget.visited() - visited;
    let algorithm = "displacement search".to_owned();
    (Judgement::new(verdict, problems.len(), algorithm, configurations), evidence)
}

fn describe_displacement(
    problem: &Problem<'_>,
    relaxation: &Relaxation,
    options: &JudgeOptions,
    evidence: &mut QuasiEvidence,
) -> Verdict {
    match displaced(problem, relaxation, &options.budget) {
        QuasiVerdict::Holds(witness) => holds(witness, evidence),
        QuasiVerdict::Violated(violation) => {
            evidence.why = Some(violation.text(problem));
            Verdict::Violated(about(problem, violation.operation))
        }
        QuasiVerdict::Unknown(reason) => Verdict::Unknown(reason),
    }
}

fn describe_least_factor(problem: &Problem<'_>, least: LeastFactor, evidence: &mut QuasiEvidence) -> Verdict {
    match least {
        LeastFactor::Least { factor, witness } => {
            evidence.least = evidence.least.max(Some(factor));
            holds(witness, evidence)
        }
        LeastFactor::Never => match problem.operations().first() {
            Some(&operation) => Verdict::Violated(about(problem, operation)),
            None => Verdict::Unknown(Reason::Refused("there are no operations".to_owned())),
        },
        LeastFactor::Unknown { at_least, reason } => {
            evidence.at_least = evidence.at_least.max(at_least);
            Verdict::Unknown(reason)
        }
    }
}

fn holds(witness: QuasiWitness, evidence: &mut QuasiEvidence) -> Verdict {
    let order = witness.sequentialization.clone();
    evidence.witnesses.push(witness);
    Verdict::Holds(Witness { order })
}

/// Displacement counts all operations, so none can be left out of the counterexample.
fn about(problem: &Problem<'_>, operation: OperationId) -> Violation {
    let explanation = Explanation::Exhausted { prefix: Vec::new(), next: operation };
    Violation::found(problem.operations().to_vec(), explanation)
}

/// Checks a history that a program made: by displacement, as it has no specification of the
/// catalog.
pub(crate) fn judge_program(
    problems: &[Problem<'_>],
    quasi: &Quasi,
    options: &JudgeOptions,
) -> Result<(Judgement, QuasiEvidence), Error> {
    if quasi.chosen() == Some(QuasiReading::Relaxed) {
        return Err(quasi_error(
            "for the relaxed reading, give a relaxed specification and no factors".to_owned(),
        ));
    }
    // A class without operations is a typing error, unless all operations are in another class.
    let methods: BTreeSet<String> = problems.iter().flat_map(methods).collect();
    let is_known = |class: &str| class == ALL || methods.contains(class);
    let classes = quasi.factors().classes();
    let strange = classes.iter().find(|it| !is_known(&it.0));
    let has_class = |method: &String| classes.iter().any(|it| it.0 == *method);
    if let Some((class, _)) = strange.filter(|_| !methods.iter().all(has_class)) {
        return Err(unknown_class(class, methods));
    }
    Ok(judge_places(problems, quasi, options))
}

/// The relaxation of `problem` by `quasi`: the class of each operation is its method.
#[must_use]
pub fn relaxation(problem: &Problem<'_>, quasi: &Quasi) -> Relaxation {
    let methods: Vec<String> = methods(problem).collect();
    quasi.factors().relaxation(methods.iter().map(String::as_str))
}

/// The method that each operation calls.
fn methods(problem: &Problem<'_>) -> impl Iterator<Item = String> {
    problem.operations().iter().map(|&it| problem.method(it))
}
