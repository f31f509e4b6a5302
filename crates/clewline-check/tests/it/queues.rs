//! What tests of searches for one kind of object share: agreement with the referee and with another
//! search, and random histories.

use clewline_check::{
    Checker, check,
    search::{SEARCHES, found::Found},
};
use clewline_core::{
    Budget, ErasedHistory, Explanation, GeneratorConfig, OperationId, Problem, Random, Reason, Recording,
    Value, Verdict,
};
use clewline_monitor::Columns;
use clewline_specs::find;
use clewline_testing::pick_of_three;

use crate::monitors::{
    referee::{DeadConfigurations, Referee},
    small_histories::{Menu, enough},
};

/// The search that tests trust.
pub(crate) fn oracle() -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == "oracle").unwrap()
}

/// How often each verdict was reached.
#[derive(Debug, Default)]
pub(crate) struct VerdictCounts {
    pub(crate) holds: usize,
    pub(crate) violated: usize,
}

/// The verdict of `checker` is that of `other`, with evidence.
#[track_caller]
pub(crate) fn agree(
    checker: &dyn Checker,
    problem: &Problem<'_>,
    other: &dyn Checker,
    counts: &mut VerdictCounts,
) {
    let budget = Budget::unlimited();
    let expected = check(other, problem, &budget);
    let verdict = check(checker, problem, &budget);
    assert_eq!(verdict.word(), expected.word(), "{problem:#?}");
    match verdict {
        Verdict::Holds(witness) => {
            assert_eq!(witness.verify(problem), Ok(()), "{witness:?} of {problem:#?}");
            counts.holds += 1;
        }
        Verdict::Violated(violation) => {
            let Explanation::Exhausted { prefix, next } = violation.explanation else { panic!("searched") };
            check_prefix(problem, &prefix, next);
            counts.violated += 1;
        }
        Verdict::Unknown(reason) => panic!("{reason}: {problem:#?}"),
    }
}

/// The prefix is allowed, by the specification and by real time, and `next` returns first of the
/// rest.
fn check_prefix(problem: &Problem<'_>, prefix: &[OperationId], next: OperationId) {
    let at = |id| problem.position(id).unwrap();
    let mut replay = problem.replay();
    let mut is_left = vec![true; problem.len()];
    let first_return = |is_left: &[bool]| {
        (0..problem.len()).filter(|&it| is_left[it]).map(|it| problem.spans()[it].end()).min().unwrap()
    };
    for &id in prefix {
        assert!(problem.spans()[at(id)].call() < first_return(&is_left), "{prefix:?} of {problem:#?}");
        assert!(replay.advance(at(id)), "{prefix:?} of {problem:#?}");
        assert!(std::mem::replace(&mut is_left[at(id)], false), "{prefix:?} of {problem:#?}");
    }
    assert!(is_left[at(next)], "{prefix:?}, {next:?} of {problem:#?}");
    // Returns with no call between them come in no order.
    let first = first_return(&is_left);
    let end = problem.spans()[at(next)].end();
    assert!(
        !problem.spans().iter().any(|it| first < it.call() && it.call() < end),
        "{next:?} of {problem:#?}"
    );
}

/// The search agrees with the referee on every history up to a number of operations: in `./test`,
/// in `./test all`, and in hours.
#[track_caller]
pub(crate) fn check_every(
    menu: &Menu,
    most: [usize; 3],
    search: fn(&Columns, &Budget) -> Result<Found, Reason>,
) {
    let [quick, full, hours] = most;
    let budget = Budget::unlimited();
    let mut counts = VerdictCounts::default();
    let mut seen = DeadConfigurations::default();
    for n in 0..=pick_of_three(quick, full, hours) {
        enough(menu, n, &mut |small| {
            let columns = small.columns();
            let referee = Referee::new(small);
            let holds = referee.holds((1 << n) - 1, &mut seen);
            match search(&columns, &budget) {
                Ok(Found::Linearization(order)) => {
                    assert!(holds, "is violated: {}", small.drawing());
                    let fault = referee.fault(&order);
                    assert_eq!(fault, None, "{order:?}: {}", small.drawing());
                    counts.holds += 1;
                }
                Ok(Found::Longest(_)) => {
                    assert!(!holds, "holds: {}", small.drawing());
                    counts.violated += 1;
                }
                Err(reason) => panic!("{reason}: {}", small.drawing()),
            }
        });
    }
    eprintln!("{menu:?}: {counts:?}");
    assert!(counts.holds + counts.violated < 50 * counts.holds.min(counts.violated), "{counts:?}");
}

/// A history of a queue in which some results were exchanged.
pub(crate) fn generated(plan: &GeneratorConfig, swaps: usize) -> Box<dyn ErasedHistory> {
    generated_of("queue", plan, swaps)
}

/// A history in which some results of what removes or peeks were exchanged.
pub(crate) fn generated_of(
    specification: &str,
    plan: &GeneratorConfig,
    swaps: usize,
) -> Box<dyn ErasedHistory> {
    let specification = find(specification).unwrap();
    let Recording { history, values, names, missing, .. } = specification.generate(plan);
    let mut results: Vec<_> = history.operations().map(|it| it.ret.copied()).collect();
    let mut random = Random::new(plan.seed ^ 77);
    // Those that found something, or nothing; adding returns nothing or a truth value.
    let is_found = |it: Value| !matches!(it, Value::ABSENT | Value::TRUE | Value::FALSE);
    let deqs: Vec<usize> = (0..results.len()).filter(|&at| results[at].is_some_and(is_found)).collect();
    for _ in 0..if deqs.len() < 2 { 0 } else { swaps } {
        let place = random.below(deqs.len());
        let near = (place + 1 + random.below(3)).min(deqs.len() - 1);
        results.swap(deqs[place], deqs[near]);
    }
    let history = history.try_map(|id, call, _| Ok::<_, ()>((call, results[id.index()]))).unwrap();
    specification.load(Recording { missing, ..Recording::new(history, values, names) }).unwrap()
}

/// Enqs, and deqs for the rest of a hundred.
pub(crate) fn mix(enq: u32) -> Vec<(String, u32)> {
    vec![("enq".to_owned(), enq), ("deq".to_owned(), 100 - enq)]
}
