//! What tests of searches for queues share: agreement with another search, and random histories.

use clewline_check::{Checker, check, search::SEARCHES};
use clewline_core::{
    Budget, ErasedHistory, Explanation, GeneratorConfig, OperationId, Problem, Random, Recording, Verdict,
};
use clewline_specs::find;

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

/// A history of a queue in which some results were exchanged.
pub(crate) fn generated(plan: &GeneratorConfig, swaps: usize) -> Box<dyn ErasedHistory> {
    let queue = find("queue").unwrap();
    let Recording { history, values, names, missing } = queue.generate(plan);
    let mut results: Vec<_> = history.operations().map(|it| it.ret.copied()).collect();
    let mut random = Random::new(plan.seed ^ 77);
    let deqs: Vec<usize> =
        (0..results.len()).filter(|&at| results[at].is_some_and(|it| !it.is_absent())).collect();
    for _ in 0..if deqs.len() < 2 { 0 } else { swaps } {
        let place = random.below(deqs.len());
        let near = (place + 1 + random.below(3)).min(deqs.len() - 1);
        results.swap(deqs[place], deqs[near]);
    }
    let history = history.try_map(|id, call, _| Ok::<_, ()>((call, results[id.index()]))).unwrap();
    queue.load(Recording { history, values, names, missing }).unwrap()
}

/// Enqs, and deqs for the rest of a hundred.
pub(crate) fn mix(enq: u32) -> Vec<(String, u32)> {
    vec![("enq".to_owned(), enq), ("deq".to_owned(), 100 - enq)]
}
