//! The verdict by a single criterion.

use clewline_core::{Criterion, ErasedHistory, Problem, Reason, Verdict, Violation};

use super::{buffered, procedure::Decide, recheck, regular, sequential, smaller::smaller};
use crate::{
    holds_if::judge_history,
    judge::{Judgement, judge},
    options::{Algorithm, JudgeOptions, Selection},
};

/// Judges a history by one criterion, which is its own.
pub(super) fn judged(history: &dyn ErasedHistory, criterion: Criterion, options: &JudgeOptions) -> Judgement {
    if criterion.is_local() {
        return judge_history(history, options);
    }
    if let Some(reason) = refused(history, criterion, options) {
        return Judgement::new(Verdict::Unknown(reason), 0, NAME.to_owned(), 0);
    }
    let visited = options.budget.visited();
    let (verdict, name) = match criterion {
        Criterion::Regular => (regular::decide(history, &options.budget), regular::NAME),
        Criterion::Sequential => (weaker(history, criterion, options, sequential::decide), sequential::NAME),
        _ => (weaker(history, criterion, options, buffered::decide), buffered::NAME),
    };
    let verdict = match verdict {
        Verdict::Violated(violation) => rechecked(history, criterion, violation, options),
        Verdict::Holds(_) | Verdict::Unknown(_) => verdict,
    };
    // All problems have one specification. If that could not be evaluated, there is no verdict.
    let fault = history.problems().first().and_then(Problem::fault);
    let verdict = fault.map_or(verdict, |why| Verdict::Unknown(Reason::Specification(why)));
    Judgement::new(verdict, 1, name.to_owned(), options.budget.visited() - visited)
}

const NAME: &str = "criteria";

/// Why a criterion that is not local cannot be judged so.
fn refused(history: &dyn ErasedHistory, criterion: Criterion, options: &JudgeOptions) -> Option<Reason> {
    if criterion == Criterion::BufferedDurable && !buffered::is_supported(history) {
        let why = "buffered durable linearizability is defined for crashes of the whole system, and \
                   this history has one of some processes";
        return Some(Reason::Refused(why.to_owned()));
    }
    let whole = format!("whether a history is {} is", criterion.adjective());
    if !matches!(options.selection, Selection::All) {
        return Some(Reason::Refused(format!("{whole} not judged part by part")));
    }
    if let Algorithm::Named(_) = options.algorithm {
        return Some(Reason::Refused(format!("{whole} decided by an algorithm of its own")));
    }
    None
}

// A linearization is looked for with at most this many configurations.
const LINEARIZATION_CONFIGS: u64 = 1 << 20;

/// The violation, and whether it has been verified. A wrong one is an internal error, and no
/// verdict.
fn rechecked(
    history: &dyn ErasedHistory,
    criterion: Criterion,
    mut violation: Violation,
    options: &JudgeOptions,
) -> Verdict {
    let holds = match options.counterexample_configurations {
        0 => None,
        _ => recheck::holds(history, criterion, &violation.counterexample, options),
    };
    if holds == Some(true) {
        let why = format!("the counterexample is {}", criterion.adjective());
        return Verdict::Unknown(Reason::Internal(why));
    }
    violation.is_verified = holds == Some(false);
    Verdict::Violated(violation)
}

/// Decides a criterion that every linearizable history satisfies. A counterexample has been made
/// smaller.
fn weaker(
    history: &dyn ErasedHistory,
    criterion: Criterion,
    options: &JudgeOptions,
    decide: Decide,
) -> Verdict {
    let budget = options.budget.child();
    let most = LINEARIZATION_CONFIGS.min(budget.configurations());
    let quick = JudgeOptions {
        budget: budget.with_configurations(most),
        counterexample_configurations: 0,
        violations_max: 1,
        ..options.clone()
    };
    let problems = history.problems();
    if let Verdict::Holds(witness) = judge(history.problems(), &quick).verdict {
        let keeps = |it| sequential::keeps_processes(history, &problems, it);
        if criterion != Criterion::Sequential || keeps(&witness) {
            return Verdict::Holds(witness);
        }
    }
    // What an object alone cannot do, it cannot do among others.
    if 1 < problems.len() {
        for problem in &problems {
            if let Verdict::Violated(_) = decide(history, std::slice::from_ref(problem), &options.budget) {
                return smaller(history, std::slice::from_ref(problem), decide, options);
            }
        }
    }
    match decide(history, &problems, &options.budget) {
        Verdict::Violated(_) => smaller(history, &problems, decide, options),
        verdict @ (Verdict::Holds(_) | Verdict::Unknown(_)) => verdict,
    }
}
