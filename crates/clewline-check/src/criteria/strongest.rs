//! The strongest criterion that holds.
//!
//! Strict linearizability implies durable linearizability, which is linearizability where nothing
//! crashes. That implies buffered durable linearizability, sequential consistency and, of
//! registers, regularity; none of these three implies another. They are tried in this order.

use clewline_core::{Criterion, CriterionHistory, ErasedHistory, Problem, Verdict};

use super::{buffered, regular, single::judged};
use crate::{judge::Judgement, options::JudgeOptions};

/// Judges by each criterion, until one that implies the others holds.
pub(super) fn judge<'a>(
    mut history: Box<dyn ErasedHistory + 'a>,
    options: &JudgeOptions,
) -> (Box<dyn ErasedHistory + 'a>, Judgement) {
    let mut verdicts: Vec<(Criterion, &'static str)> = Vec::new();
    let mut judgements: Vec<(Criterion, Judgement)> = Vec::new();
    for criterion in candidates(&*history) {
        let own = CriterionHistory::new(history, criterion);
        let judgement = judged(&own, criterion, options);
        history = own.into_history();
        verdicts.push((criterion, judgement.verdict.word()));
        let holds = matches!(judgement.verdict, Verdict::Holds(_));
        judgements.push((criterion, judgement));
        if holds && criterion.is_local() {
            break;
        }
    }
    let (criterion, judgement) = decided(judgements);
    (Box::new(CriterionHistory::new(history, criterion).tried(verdicts)), judgement)
}

/// The criteria that make sense for this history, the strongest first.
fn candidates(history: &dyn ErasedHistory) -> Vec<Criterion> {
    let problems = history.problems();
    let mut all = Vec::new();
    match history.names().crashes.is_empty() {
        true => all.push(Criterion::Linearizable),
        false => all.extend([Criterion::Strict, Criterion::Durable]),
    }
    if !history.names().crashes.is_empty() && buffered::is_supported(history) {
        all.push(Criterion::BufferedDurable);
    }
    all.push(Criterion::Sequential);
    let is_register = |it: Problem<'_>| it.into_parts().iter().all(regular::is_register);
    if !problems.is_empty() && problems.into_iter().all(is_register) {
        all.push(Criterion::Regular);
    }
    all
}

/// The judgement that counts: the first that holds, unless a stronger one is unknown; else one
/// that is unknown; else the violation of the last one.
fn decided(mut judgements: Vec<(Criterion, Judgement)>) -> (Criterion, Judgement) {
    let word = |it: &(Criterion, Judgement)| it.1.verdict.severity();
    let is_stronger = |it: &(Criterion, Judgement)| it.0.is_local();
    let unknown = judgements.iter().position(|it| word(it) == 1 && is_stronger(it));
    let holds = judgements.iter().position(|it| word(it) == 0);
    let any_unknown = judgements.iter().position(|it| word(it) == 1);
    let last = judgements.len().saturating_sub(1);
    judgements.swap_remove(unknown.or(holds).or(any_unknown).unwrap_or(last))
}
