//! Criteria other than linearizability, and what is left of it after crashes.
//!
//! | criterion | how it is decided |
//! |---|---|
//! | linearizable, durable | by the ordinary checkers: an operation that a crash interrupts is pending |
//! | strict | by the ordinary checkers: such an operation ends with the crash, and need not have taken effect |
//! | buffered durable | [`buffered`]: a search for the cuts of eras that survive |
//! | sequential | [`sequential`]: a search for an order that keeps the order of each process |
//! | regular | [`regular`]: each read by itself |
//!
//! Buffered durable linearizability and sequential consistency are not local: all objects are
//! judged together, as one. Both are weaker than linearizability, so that is tried first.
//! `docs/explanation/criteria.md` has the definitions.

mod buffered;
mod procedure;
mod product;
mod recheck;
mod regular;
mod sequential;
mod single;
mod smaller;
mod strongest;

use clewline_core::{Criterion, CriterionHistory, ErasedHistory};

use crate::{holds_if::judge_history, judge::Judgement, options::JudgeOptions};

/// Judges a history by a criterion. The history that is returned names it; for
/// [`Criterion::Strongest`] it names the one that holds.
#[must_use]
pub fn judge_by<'a>(
    history: Box<dyn ErasedHistory + 'a>,
    criterion: Criterion,
    options: &JudgeOptions,
) -> (Box<dyn ErasedHistory + 'a>, Judgement) {
    if criterion == Criterion::Linearizable {
        let judgement = judge_history(&*history, options);
        return (history, judgement);
    }
    if criterion == Criterion::Strongest {
        return strongest::judge(history, options);
    }
    let history = CriterionHistory::new(history, criterion);
    let judgement = single::judged(&history, criterion, options);
    (Box::new(history), judgement)
}
