//! Violations that vanish if operations may fail.
//!
//! A ring that reports *full* or *empty* while another operation is in flight is not linearizable,
//! and often that is intended. So a history that is violated is judged once more as if the results
//! in its counterexample that look like failures had no effect while an operation overlaps.
//!
//! Cost: one judgement for each such result, and one for all of them, without a counterexample.

use clewline_core::{ErasedHistory, FailsWhen, MayFail, OperationId, Problem, Verdict, failing, weakened};

use crate::{
    judge::{Judgement, judge},
    options::{JudgeOptions, Selection},
};

/// Judges a history. If it is violated, and would hold if operations of the counterexample may fail
/// while others overlap, [`Violation::holds_if`](clewline_core::Violation::holds_if) says so.
#[must_use]
pub fn judge_history(history: &dyn ErasedHistory, options: &JudgeOptions) -> Judgement {
    let mut judgement = judge(history.problems(), options);
    if let Verdict::Violated(violation) = &mut judgement.verdict
        && options.counterexample_configurations != 0
        // A share of the parts is not explained.
        && !matches!(options.selection, Selection::Share { .. })
    {
        violation.holds_if = holds_if(history, &violation.counterexample, options);
    }
    judgement
}

/// The fewest failures with which the history holds, if it does.
fn holds_if(
    history: &dyn ErasedHistory,
    counterexample: &[OperationId],
    options: &JudgeOptions,
) -> Option<MayFail> {
    let budget = options.budget.child();
    let quick =
        JudgeOptions { counterexample_configurations: 0, budget, violations_max: 1, ..options.clone() };
    let holds = |may_fail: &MayFail| {
        let retain = failing(history, may_fail)?;
        matches!(judge(weakened(history, &retain), &quick).verdict, Verdict::Holds(_)).then_some(())
    };
    let mut singles: Vec<MayFail> = Vec::new();
    let mut all = MayFail::new();
    for problem in history.problems() {
        for id in counterexample.iter().filter(|it| problem.position(**it).is_some()) {
            let shown = problem.shown(*id);
            let Some(result) = shown.ret.map(|it| it.to_string()).filter(|it| looks_like_failure(it)) else {
                continue;
            };
            if all.when(&shown.method, Some(&result)).is_none() && !has_effect(&problem, *id) {
                all = all.and(&shown.method, &result, FailsWhen::Overlapping);
                singles.push(MayFail::new().and(&shown.method, &result, FailsWhen::Overlapping));
            }
        }
    }
    let several = (1 < singles.len()).then_some(all);
    singles.into_iter().chain(several).find(|it| holds(it).is_some())
}

// How many states of the specification are tried.
const TRIED_STATES_MAX: usize = 256;

/// Whether the operation, with its result, changes a state of the specification that its problem
/// reaches, as far as that is tried. A result of an operation that had its effect is no failure.
#[must_use]
pub fn has_effect(problem: &Problem<'_>, operation: OperationId) -> bool {
    let Some(at) = problem.position(operation) else { return false };
    if problem.footprint(at).is_read() {
        return false;
    }
    let mut automaton = problem.automaton();
    let labels = automaton.labels().to_vec();
    let mut seen = vec![automaton.initial()];
    let mut next = 0;
    while let Some(&state) = seen.get(next).filter(|_| next < TRIED_STATES_MAX) {
        next += 1;
        for (other, &label) in labels.iter().enumerate() {
            for nth in 0.. {
                let Some(step) = automaton.step(state, label, nth) else { break };
                if other == at && step.state != state {
                    return true;
                }
                if !seen.contains(&step.state) && seen.len() < TRIED_STATES_MAX {
                    seen.push(step.state);
                }
                if !step.has_more {
                    break;
                }
            }
        }
    }
    false
}

/// Whether a result says that nothing was done: `null`, `false`, `None`, `Err(Full)`, `Retry`; not
/// a number, a text, or a success.
#[must_use]
pub fn looks_like_failure(result: &str) -> bool {
    let word: String = result.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    let is_word = word.starts_with(|it: char| it.is_alphabetic());
    is_word && !matches!(word.as_str(), "true" | "Some" | "Ok" | "ok" | "absent" | "nan" | "NaN" | "inf")
}
