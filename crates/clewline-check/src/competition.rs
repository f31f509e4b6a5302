//! Competition: several checkers at once, the first to know wins.
//!
//! Checkers err in different places, so the best of two is often much better than either. The others are told
//! to stop as soon as one has an answer, and look up every thousand configurations or so.
//!
//! Source: G. Lowe, "Testing for linearizability", 2017, section 6 ("competition parallel").
//! Which of several right answers (which witness, say) is given depends on who is first.

use std::{sync::mpsc, thread};

use clewline_core::{Budget, Problem, Reason, Verdict};

use crate::{Checker, check};

/// Lets `checkers` compete for the verdict on `problem`; answers it, and the index of who found it.
///
/// If none of them knows, the answer is that of the first in the list.
///
/// # Panics
///
/// If there are no checkers.
pub fn compete(checkers: &[&dyn Checker], problem: &Problem<'_>, budget: &Budget) -> (Verdict, usize) {
    assert!(!checkers.is_empty(), "a competition has competitors");
    if let [checker] = checkers {
        return (check(*checker, problem, budget), 0);
    }
    let budgets: Vec<Budget> = checkers.iter().map(|_| budget.child()).collect();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for (number, (&checker, budget)) in checkers.iter().zip(&budgets).enumerate() {
            let sender = sender.clone();
            scope.spawn(move || {
                // The receiver is gone only if a competitor panicked; that panic is what matters then.
                let _ = sender.send((number, check(checker, problem, budget)));
            });
        }
        drop(sender);
        let mut unknown: Option<(Verdict, usize)> = None;
        for (number, verdict) in receiver {
            match verdict {
                Verdict::Unknown(_) => {
                    if unknown.as_ref().is_none_or(|&(_, first)| number < first) {
                        unknown = Some((verdict, number));
                    }
                }
                Verdict::Holds(_) | Verdict::Violated(_) => {
                    budgets.iter().for_each(|it| it.stop(Reason::Outrun));
                    return (verdict, number);
                }
            }
        }
        unknown.expect("every competitor answers")
    })
}
