//! Competition: several checkers run in parallel, the first verdict wins.
//!
//! Checkers are slow on different histories, so the best of two is often much better than either.
//! The others are stopped as soon as one has a verdict; they check for this about every
//! millisecond.
//!
//! Source: G. Lowe, "Testing for linearizability", 2017, section 6 ("competition parallel").
//! Which of several correct verdicts (which witness, for example) is returned depends on timing.

use std::sync::OnceLock;

use clewline_core::{Budget, Problem, Reason, Verdict, parallel};

use clewline_search::{Checker, check};

/// Lets `checkers` compete for the verdict on `problem`. Returns it, and the index of the winner.
///
/// If none of them knows, the result is that of the first in the list.
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
    let winner = OnceLock::new();
    let run = |number: usize| {
        let verdict = check(checkers[number], problem, &budgets[number]);
        if !matches!(verdict, Verdict::Unknown(_)) && winner.set(number).is_ok() {
            budgets.iter().for_each(|it| it.stop(Reason::Cancelled));
        }
        verdict
    };
    let (first, others) = parallel::run_alongside(1..checkers.len(), run, || run(0));
    let winner = winner.get().copied().unwrap_or(0);
    let verdict = std::iter::once(first).chain(others).nth(winner).expect("every competitor has a verdict");
    (verdict, winner)
}
