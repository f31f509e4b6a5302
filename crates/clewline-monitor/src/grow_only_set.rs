//! Grow-only sets: sets that are read as a whole, and from which nothing is removed.
//!
//! # Idea
//!
//! Where no operation removes anything, an element x appears at one moment p(x), or never, and
//! stays. All that a result says of x is then whether its operation took effect before or after
//! p(x):
//!
//! * An operation that adds x is called before p(x): one of those that returned *new*, or nothing,
//!   or did not return. So p(x) is after the first of these calls.
//! * An operation that returned and added x, or found it, took effect at or after p(x): so p(x) is
//!   before the first of these returns.
//! * An operation that did not find x took effect before p(x), or at p(x) if it is the one that
//!   added x as *new*: so p(x) is after the last of these calls. Of the operations that returned
//!   *new* there is at most one.
//!
//! A read R took effect at a moment q(R) within its interval, after p(x) for each element x in it
//! and before p(x) for each other. So of two reads one contains the other: reads form a chain of
//! groups of equal reads, each larger than the one before. The element x appears after the reads of
//! the last group without it and before those of the first group with it. So all elements and reads
//! come in *stages*: the elements of the first group, its reads, the elements that the second group
//! has more, its reads, and so on; at last the elements that no read found. Within a stage there is
//! no order.
//!
//! # Why this suffices
//!
//! Assign moments stage by stage: to each element or read the latest of its own lower bounds and
//! the moments of all earlier stages. Each of these is a lower bound in every linearization, so
//! there is none if one of them is after the upper bound. Otherwise the moments are a
//! linearization, with ties in the order of stages: an operation that found x takes effect at its
//! call or right after p(x), whichever is later, and one that did not at its call. At p(x) itself
//! takes effect the operation that returned *new*, or else the first that was called: the upper
//! bound of p(x) is not after its return, nor after the return of any other, which then comes
//! later and adds nothing. A pending operation is left out, unless it is the one that added x; and
//! an x that no operation found, and none that returned added, never appears.
//!
//! # Counterexamples
//!
//! The first return after which there is no linearization is found by bisection. The operation that
//! returned then belongs to every counterexample of that prefix, and `counterexample.rs` has the
//! shapes that there are.
//!
//! Source: ours. Jepsen's checker of the workload `set-full` looks at each element by itself: at
//! when it was first seen, and last.
//!
//! Requires: a set whose operations are known ([`Specification::set_operation`]), and no `remove`
//! but those that found nothing. With one of these, only the verdict is found: before it returned,
//! it may have removed something.
//!
//! Cost: time in the number of operations and the sizes of all reads; with their logarithm if it is
//! violated.
//!
//! [`Specification::set_operation`]: clewline_core::Specification::set_operation

mod bounds;
mod counterexample;
mod facts;

use clewline_core::{Budget, Explanation, Problem, Reason, Verdict, Violation, Witness};

use self::{bounds::Bounds, counterexample::counterexample, facts::Facts};
/// Why `problem` cannot be decided here, if it cannot: an operation that may remove something, or
/// it is no set that can be read as a whole.
#[must_use]
pub fn refuses(problem: &Problem<'_>) -> Option<String> {
    let Some(all) = problem.set_operations() else {
        return Some(format!("{NAME} judges sets that can be read as a whole only"));
    };
    let at = all.operations.iter().position(facts::may_remove)?;
    Some(format!("{NAME} does not know {}", problem.label(problem.operations()[at])))
}

/// Its name.
pub const NAME: &str = "grow-only-set";

/// Decides `problem`; `None` if it is refused.
#[must_use]
pub fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    let facts = Facts::new(problem)?;
    let mut charge = budget.charge();
    charge.set(facts.bytes());
    Some(judge(problem, &facts, budget).unwrap_or_else(Verdict::Unknown))
}

fn judge(problem: &Problem<'_>, facts: &Facts<'_>, budget: &Budget) -> Result<Verdict, Reason> {
    budget.allow(0)?;
    let id = |&at: &u32| problem.operations()[at as usize];
    let bounds = Bounds::new(facts, u32::MAX - 1);
    if let Some(order) = bounds.order() {
        return Ok(Verdict::Holds(Witness { order: order.iter().map(id).collect() }));
    }
    let returns = facts.positions_by_return();
    if facts.has_removes {
        let next = returns.last().map(id).expect("what is violated has a return");
        let explanation = Explanation::Exhausted { prefix: Vec::new(), next };
        return Ok(Verdict::Violated(Violation::found(problem.operations().to_vec(), explanation)));
    }
    // With `holds` returns there is a linearization; with `violated` there is none.
    let (mut holds, mut violated) = (0, returns.len());
    while holds + 1 < violated {
        budget.allow(0)?;
        let middle = holds.midpoint(violated);
        let last = facts.spans[returns[middle - 1] as usize].end();
        if Bounds::new(facts, last).order().is_some() { holds = middle } else { violated = middle }
    }
    let found = counterexample(facts, returns[violated - 1] as usize);
    let ids = |all: &[usize]| all.iter().map(|&at| problem.operations()[at]).collect::<Vec<_>>();
    let mut core = ids(&found.core);
    core.sort_unstable();
    let explanation = Explanation::Broken { rule: found.rule, operations: ids(&found.operations) };
    Ok(Verdict::Violated(Violation::found(core, explanation)))
}
