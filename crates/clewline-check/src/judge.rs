//! Judging whole histories: objects and keys apart, parts in parallel, and a counterexample for
//! every violation.
//!
//! Linearizability is local, so each object is judged by itself, and so is each part of an object
//! that its specification declares independent, the shortest first. If one violation is wanted, the
//! first violated part decides: parts after it are stopped, parts before it are finished, so that
//! the reported violation does not depend on the number of threads. If more are wanted, every part
//! is judged.

use std::{
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

use clewline_core::{Budget, ObjectKind, Problem, Reason, Verdict, Violation, Witness, parallel};
use clewline_search::Checker;

use crate::{
    auto,
    by_monitor::ByMonitor,
    competition::compete,
    decided_by::DecidedBy,
    minimize,
    options::{Algorithm, JudgeOptions, PartsJudged, Selection},
};

/// A verdict on a whole history, and how it was reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// The verdict. A witness orders the operations of all objects; a counterexample belongs to one
    /// part. There is no witness if not all parts were judged here.
    pub verdict: Verdict,
    /// The counterexamples of further violated parts, if they are
    /// [wanted](JudgeOptions::violations_max).
    pub others: Vec<Violation>,
    /// How many independent parts (objects, and keys of each) the history has.
    pub parts: usize,
    /// Which checkers decided.
    pub algorithm: String,
    /// How many configurations were visited in all, give or take a few.
    pub configurations: u64,
    /// What was found out about each part.
    pub found: PartsJudged,
}

impl Judgement {
    /// A verdict on a history that was not divided.
    #[must_use]
    pub fn new(verdict: Verdict, parts: usize, algorithm: String, configurations: u64) -> Judgement {
        let (others, found) = (Vec::new(), PartsJudged::default());
        Judgement { verdict, others, parts, algorithm, configurations, found }
    }
}

/// Judges the problems of one history, one for each object.
#[must_use]
pub fn judge(problems: Vec<Problem<'_>>, options: &JudgeOptions) -> Judgement {
    judge_with_deciders(problems, options).0
}

/// As [`judge`]; also returns which checkers decided.
pub(crate) fn judge_with_deciders(
    problems: Vec<Problem<'_>>,
    options: &JudgeOptions,
) -> (Judgement, DecidedBy) {
    let visited = options.budget.visited();
    let parts = parts(problems, &options.algorithm).into_iter();
    let mut parts: Vec<(usize, Problem<'_>)> = parts.enumerate().collect();
    // The shortest first, so that a long part does not keep a violation in a short one waiting.
    parts.sort_by_key(|it| it.1.len());
    let (numbers, parts): (Vec<usize>, Vec<Problem<'_>>) = parts.into_iter().unzip();
    let deciders = Mutex::new(DecidedBy::default());
    let verdicts = parallel::map_until_break(options.jobs, parts.len(), &options.budget, |place, budget| {
        if let Some(known) = known(&options.selection, numbers[place]) {
            return ControlFlow::Continue(known);
        }
        let (verdict, by) = decide(&parts[place], &options.algorithm, budget);
        let verdict = verified(&parts[place], verdict, &by, budget);
        let verdict = evaluated(&parts[place], verdict);
        deciders.lock().unwrap_or_else(PoisonError::into_inner).absorb(by);
        let is_last = matches!(verdict, Verdict::Violated(_)) && options.violations_max <= 1;
        if is_last { ControlFlow::Break(Some(verdict)) } else { ControlFlow::Continue(Some(verdict)) }
    });
    let mut found = match &options.selection {
        // Judging the violated parts again is no more work than was done.
        Selection::Judged(all) => PartsJudged::clone(all),
        Selection::All | Selection::Share { .. } => PartsJudged {
            decided_by: deciders.into_inner().unwrap_or_else(PoisonError::into_inner),
            configurations: options.budget.visited() - visited,
            ..PartsJudged::default()
        },
    };
    let visited = options.budget.visited();
    let verdicts: Vec<Option<Verdict>> = verdicts.into_iter().map(Option::flatten).collect();
    if !matches!(options.selection, Selection::Judged(_)) {
        note(&mut found, &numbers, &verdicts);
    }
    // The checker that would have decided, if there was nothing to decide.
    let by = &found.decided_by;
    let algorithm = if by.is_empty() { format!("{:?}", options.algorithm) } else { by.to_string() };
    let (mut verdict, mut others) = merge(&parts, verdicts, options);
    // All parts have one specification. It may have failed while a counterexample was minimized.
    if let Some(first) = parts.first().filter(|it| it.fault().is_some()) {
        verdict = evaluated(first, verdict);
        others.clear();
    }
    let configurations = found.configurations + options.budget.visited() - visited;
    let deciders = found.decided_by.clone();
    (Judgement { verdict, others, parts: parts.len(), algorithm, configurations, found }, deciders)
}

/// The verdict on a part that is not to be judged, if there is one; `None` if it is to be judged.
fn known(selection: &Selection, number: usize) -> Option<Option<Verdict>> {
    match selection {
        Selection::All => None,
        Selection::Share { index, count } => (number % count != *index).then_some(None),
        Selection::Judged(found) if found.violated.binary_search(&number).is_ok() => None,
        Selection::Judged(found) => Some(found.unknown.get(&number).cloned().map(Verdict::Unknown)),
    }
}

/// Notes what was found out about each part.
fn note(found: &mut PartsJudged, numbers: &[usize], verdicts: &[Option<Verdict>]) {
    for (&number, verdict) in numbers.iter().zip(verdicts) {
        found.judged += usize::from(verdict.is_some());
        match verdict {
            Some(Verdict::Violated(_)) => found.violated.push(number),
            Some(Verdict::Unknown(reason)) => _ = found.unknown.insert(number, reason.clone()),
            Some(Verdict::Holds(_)) | None => (),
        }
    }
    found.violated.sort_unstable();
}

/// The independent parts of a history with these problems, in the order of the numbers by which
/// [`PartsJudged`] names them.
#[must_use]
pub fn parts<'a>(problems: Vec<Problem<'a>>, algorithm: &Algorithm) -> Vec<Problem<'a>> {
    problems.into_iter().flat_map(|it| into_parts(it, algorithm)).collect()
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
/// Also further violations, as many as are wanted.
fn merge(
    parts: &[Problem<'_>],
    verdicts: Vec<Option<Verdict>>,
    options: &JudgeOptions,
) -> (Verdict, Vec<Violation>) {
    let mut witnesses: Vec<Witness> = Vec::with_capacity(verdicts.len());
    let mut unknown: Option<Reason> = None;
    let mut violations: Vec<Violation> = Vec::new();
    for (part, verdict) in parts.iter().zip(verdicts) {
        match verdict {
            Some(Verdict::Violated(_)) if options.violations_max.max(1) <= violations.len() => (),
            Some(Verdict::Violated(violation)) => violations.push(match options.selection {
                Selection::Share { .. } => violation,
                Selection::All | Selection::Judged(_) => minimize::shrink(part, violation, options),
            }),
            Some(Verdict::Unknown(reason)) => unknown = unknown.or(Some(reason)),
            Some(Verdict::Holds(witness)) => witnesses.push(witness),
            // Parts behind the last violation that is wanted, and those that are judged elsewhere.
            None => (),
        }
    }
    if !violations.is_empty() {
        let first = violations.remove(0);
        return (Verdict::Violated(first), violations);
    }
    let verdict = match (unknown, &options.selection) {
        (Some(reason), _) => Verdict::Unknown(reason),
        (None, Selection::All) => Verdict::Holds(Problem::merge_witnesses(parts, witnesses)),
        (None, Selection::Share { .. } | Selection::Judged(_)) => Verdict::Holds(Witness::default()),
    };
    (verdict, violations)
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

/// `verdict`, unless the specification could not be evaluated: then there is none.
fn evaluated(part: &Problem<'_>, verdict: Verdict) -> Verdict {
    part.fault().map_or(verdict, |why| Verdict::Unknown(Reason::Specification(why)))
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
