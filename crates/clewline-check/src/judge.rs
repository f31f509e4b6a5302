//! Judging whole histories: objects and keys apart, parts in parallel, and a counterexample for
//! every violation.
//!
//! Linearizability is local, so each object is judged by itself, and so is each part of an object
//! that its specification declares independent, the shortest first. The first violated part
//! decides: parts after it are stopped, parts before it are finished, so that the reported
//! violation does not depend on the number of threads.

use std::{
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

use clewline_core::{Budget, ObjectKind, Problem, Reason, Verdict, Witness, parallel};

use crate::{
    auto::{self, DecidedBy},
    by_monitor::ByMonitor,
    checker::Checker,
    competition::compete,
    minimize,
    options::{Algorithm, Options},
};

/// A verdict on a whole history, and how it was reached.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The verdict. A witness orders the operations of all objects; a counterexample belongs to one
    /// part.
    pub verdict: Verdict,
    /// How many independent parts (objects, and keys of each) the history has.
    pub parts: usize,
    /// Which checkers decided.
    pub algorithm: String,
    /// How many configurations were visited in all, give or take a few.
    pub configurations: u64,
}

/// Judges the problems of one history, one for each object.
#[must_use]
pub fn judge(problems: Vec<Problem<'_>>, options: &Options) -> Judgement {
    judge_with_deciders(problems, options).0
}

/// As [`judge`]; also returns which checkers decided.
pub(crate) fn judge_with_deciders(problems: Vec<Problem<'_>>, options: &Options) -> (Judgement, DecidedBy) {
    let visited = options.budget.visited();
    let mut parts: Vec<Problem<'_>> =
        problems.into_iter().flat_map(|it| into_parts(it, &options.algorithm)).collect();
    // The shortest first, so that a long part does not keep a violation in a short one waiting.
    parts.sort_by_key(Problem::len);
    let deciders = Mutex::new(DecidedBy::default());
    let verdicts = parallel::map_until_break(options.jobs, parts.len(), &options.budget, |number, budget| {
        let (verdict, by) = decide(&parts[number], &options.algorithm, budget);
        let verdict = verified(&parts[number], verdict, &by, budget);
        deciders.lock().unwrap_or_else(PoisonError::into_inner).absorb(by);
        match verdict {
            Verdict::Violated(_) => ControlFlow::Break(verdict),
            Verdict::Holds(_) | Verdict::Unknown(_) => ControlFlow::Continue(verdict),
        }
    });
    let deciders = deciders.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The checker that would have decided, if there was nothing to decide.
    let algorithm =
        if deciders.is_empty() { format!("{:?}", options.algorithm) } else { deciders.to_string() };
    let verdict = merge(&parts, verdicts, options);
    let configurations = options.budget.visited() - visited;
    (Judgement { verdict, parts: parts.len(), algorithm, configurations }, deciders)
}

/// The independent parts of `problem`. The monitor for sets judges all elements in one pass, which
/// takes less time than separating them.
fn into_parts<'a>(problem: Problem<'a>, algorithm: &Algorithm) -> Vec<Problem<'a>> {
    let asks_monitor = match algorithm {
        Algorithm::Auto => true,
        Algorithm::Named(checkers) => checkers.iter().all(|it| it.name() == ByMonitor.name()),
    };
    if asks_monitor && problem.kind() == Some(ObjectKind::Set) { vec![problem] } else { problem.into_parts() }
}

/// The verdict on the whole: the first violation, or the first unknown, or all witnesses merged.
fn merge(parts: &[Problem<'_>], verdicts: Vec<Option<Verdict>>, options: &Options) -> Verdict {
    let mut witnesses: Vec<Witness> = Vec::with_capacity(verdicts.len());
    let mut unknown: Option<Reason> = None;
    for (part, verdict) in parts.iter().zip(verdicts) {
        match verdict {
            Some(Verdict::Violated(violation)) => {
                return Verdict::Violated(minimize::shrink(part, violation, options));
            }
            Some(Verdict::Unknown(reason)) => unknown = unknown.or(Some(reason)),
            Some(Verdict::Holds(witness)) => witnesses.push(witness),
            // Only parts behind a violation are not judged.
            None => (),
        }
    }
    match unknown {
        Some(reason) => Verdict::Unknown(reason),
        None => Verdict::Holds(Problem::merge_witnesses(parts, witnesses)),
    }
}

/// `verdict`; *holds* only after its witness has been verified. A wrong one is an internal
/// error, and no verdict.
fn verified(part: &Problem<'_>, verdict: Verdict, by: &DecidedBy, budget: &Budget) -> Verdict {
    let Verdict::Holds(witness) = verdict else { return verdict };
    match witness.verify_within(part, budget) {
        Ok(Ok(())) => Verdict::Holds(witness),
        Ok(Err(wrong)) => {
            Verdict::Unknown(Reason::Internal(format!("the linearization found by {by} is wrong ({wrong})")))
        }
        Err(limit) => Verdict::Unknown(limit),
    }
}

/// Decides one part; also returns which checkers did.
fn decide(part: &Problem<'_>, algorithm: &Algorithm, budget: &Budget) -> (Verdict, DecidedBy) {
    match algorithm {
        Algorithm::Auto => auto::decide(part, budget),
        Algorithm::Named(checkers) => {
            let (verdict, winner) = compete(checkers, part, budget);
            let name = checkers[winner].name();
            let name = if checkers.len() == 1 { name.to_owned() } else { format!("{name} in {algorithm:?}") };
            (verdict, DecidedBy::search(name, part.len()))
        }
    }
}
