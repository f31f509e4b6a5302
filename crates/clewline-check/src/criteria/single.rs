//! The verdict by a single criterion.

use clewline_core::{Criterion, ErasedHistory, Reason, Verdict};

use super::{buffered, procedure::Decide, regular, sequential, spare};
use crate::{
    holds_if::judge_history,
    judge::{Judgement, judge},
    options::{Algorithm, Options, Selection},
};

/// Judges a history by one criterion, which is its own.
pub(super) fn judged(history: &dyn ErasedHistory, criterion: Criterion, options: &Options) -> Judgement {
    if criterion.is_local() {
        return judge_history(history, options);
    }
    if let Some(reason) = refused(history, criterion, options) {
        return Judgement::new(Verdict::Unknown(reason), 0, NAME.to_owned(), 0);
    }
    let visited = options.budget.visited();
    let (verdict, name) = match criterion {
        Criterion::Regular => (regular::decide(history, &options.budget), regular::NAME),
        Criterion::Sequential => (weaker(history, options, sequential::decide), sequential::NAME),
        _ => (weaker(history, options, buffered::decide), buffered::NAME),
    };
    Judgement::new(verdict, 1, name.to_owned(), options.budget.visited() - visited)
}

const NAME: &str = "criteria";

/// Why a criterion that is not local cannot be judged so.
fn refused(history: &dyn ErasedHistory, criterion: Criterion, options: &Options) -> Option<Reason> {
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

/// Decides a criterion that every linearizable history satisfies. A counterexample has been made
/// smaller.
fn weaker(history: &dyn ErasedHistory, options: &Options, decide: Decide) -> Verdict {
    let budget = options.budget.child();
    let most = LINEARIZATION_CONFIGS.min(budget.configurations());
    let quick = Options {
        budget: budget.with_configurations(most),
        counterexample_configurations: 0,
        violations_max: 1,
        ..options.clone()
    };
    if let holds @ Verdict::Holds(_) = judge(history.problems(), &quick).verdict {
        return holds;
    }
    let problems = history.problems();
    // What an object alone cannot do, it cannot do among others.
    if 1 < problems.len() {
        for problem in &problems {
            if let Verdict::Violated(_) = decide(history, std::slice::from_ref(problem), &options.budget) {
                return spare::spared(history, std::slice::from_ref(problem), decide, options);
            }
        }
    }
    match decide(history, &problems, &options.budget) {
        Verdict::Violated(_) => spare::spared(history, &problems, decide, options),
        verdict @ (Verdict::Holds(_) | Verdict::Unknown(_)) => verdict,
    }
}
