//! All outcomes of small programs.

use std::{collections::BTreeSet, ops::ControlFlow};

use clewline_explore::{
    Coverage, Ending, Scheduler, explore,
    schedulers::{causality::DependenceRelation, dpor::Dpor, exhaustive::Exhaustive},
};
use clewline_threads::control::{Calls, Limits, ThreadProgram};

/// Every outcome of `tasks` tasks that make one call each: their results, `-` for a task that waits
/// forever, and the message if a task panicked. All schedules are explored, without a reduction and
/// with one.
pub(crate) fn outcomes<T: 'static>(
    tasks: usize,
    make: impl Fn() -> T + Clone + 'static,
    call: impl Fn(&T, usize) -> i32 + Clone + 'static,
) -> BTreeSet<String> {
    let all = outcomes_of(&mut Exhaustive::default(), tasks, make.clone(), call.clone());
    let reduced = outcomes_of(&mut Dpor::new(DependenceRelation::Histories), tasks, make, call);
    assert_eq!(all, reduced, "a reduction leaves no outcome out");
    all
}

/// The same with one scheduler.
pub(crate) fn outcomes_of<T: 'static>(
    scheduler: &mut dyn Scheduler,
    tasks: usize,
    make: impl Fn() -> T + 'static,
    call: impl Fn(&T, usize) -> i32 + 'static,
) -> BTreeSet<String> {
    let columns = (0..tasks).map(|it| vec![it]).collect();
    let call = move |it: &T, task: &usize| call(it, *task);
    let calls = Calls { columns, ..Calls::default() };
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    let mut outcomes = BTreeSet::new();
    let (coverage, _) = explore(&mut program, scheduler, 2_000_000, |program, ending, _| {
        assert_ne!(*ending, Ending::Cut, "no execution is too long");
        let outcome = program.outcome();
        let results = outcome.operations.iter().map(|it| match &it.ret {
            Some((_, result)) => result.to_string(),
            None => "-".to_owned(),
        });
        let mut text = results.collect::<Vec<_>>().join(" ");
        text.extend(outcome.panic.map(|it| format!(": {}", it.1.message)));
        outcomes.insert(text);
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    outcomes
}

/// Checks that these are all outcomes.
#[track_caller]
pub(crate) fn check<T: 'static>(
    tasks: usize,
    make: impl Fn() -> T + Clone + 'static,
    call: impl Fn(&T, usize) -> i32 + Clone + 'static,
    expected: &[&str],
) {
    let expected: BTreeSet<String> = expected.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(outcomes(tasks, make, call), expected);
}
