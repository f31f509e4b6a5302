//! Prefixes of a history, and the shortest one that has no linearization.
//!
//! A prefix of a linearizable history is linearizable, so the first return after which there is no
//! linearization is unique, and found by bisection. Mostly it is known where to begin.

use clewline_core::{Problem, Reason, Retain, Verdict};

/// The history up to the event of rank `last`. An operation that had not returned by then may have
/// any result.
pub fn until<'a>(problem: &Problem<'a>, last: u32) -> Problem<'a> {
    problem.weaken(|at| match problem.spans()[at] {
        span if last < span.call() => Retain::Drop,
        span if last < span.end() => Retain::CallOnly,
        _ => Retain::All,
    })
}

/// The rank of the first return after which there is no linearization, looked for near the return
/// of rank `near`. Prefixes are decided by `decide`.
///
/// # Errors
///
/// If a prefix could not be decided, or the whole history has a linearization.
pub fn first_failing_return(
    problem: &Problem<'_>,
    near: Option<u32>,
    mut decide: impl FnMut(&Problem<'_>) -> Verdict,
) -> Result<u32, Reason> {
    let mut returns: Vec<u32> = problem.spans().iter().filter_map(|it| it.ret()).collect();
    returns.sort_unstable();
    let near = returns.partition_point(|&it| Some(it) <= near);
    let mut is_violated = |count: usize| -> Result<bool, Reason> {
        if count == 0 {
            return Ok(false);
        }
        match decide(&until(problem, returns[count - 1])) {
            Verdict::Holds(_) => Ok(false),
            Verdict::Violated(_) => Ok(true),
            Verdict::Unknown(reason) => Err(reason),
        }
    };
    // With `holds` returns there is a linearization; with `violated` there is none. Strides grow
    // from `near` on until both are known; then bisection.
    let (mut holds, mut violated): (Option<usize>, Option<usize>) = (None, None);
    let mut count = near.saturating_sub(1);
    let mut stride = 1;
    loop {
        if is_violated(count)? {
            violated = Some(count);
        } else if count == returns.len() {
            return Err(Reason::Refused("the operations of the violation can be ordered".to_owned()));
        } else {
            holds = Some(count);
        }
        count = match (holds, violated) {
            (Some(holds), Some(violated)) if holds + 1 == violated => return Ok(returns[holds]),
            (Some(holds), Some(violated)) => holds.midpoint(violated),
            (None, Some(violated)) => violated.saturating_sub(stride),
            (holds, None) => (holds.unwrap_or(0) + stride).min(returns.len()),
        };
        stride *= 2;
    }
}
