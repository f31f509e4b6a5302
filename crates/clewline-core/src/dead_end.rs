//! The end of a partial linearization that cannot be extended.

use crate::{id::OperationId, problem::Problem, verdict::DeadEnd};

impl DeadEnd {
    /// Extends `prefix` as long as the operation that returns first can come next. `None` if
    /// `prefix` itself is not allowed, or if no operation is left at the end.
    ///
    /// A search may stop earlier, where it finds a configuration that it has already visited; but
    /// an operation that can come next does not explain anything.
    #[must_use]
    pub fn after(problem: &Problem<'_>, prefix: &[OperationId]) -> Option<DeadEnd> {
        let mut is_done = vec![false; problem.len()];
        let mut replay = problem.replay();
        for &id in prefix {
            let at = problem.position(id)?;
            if !replay.advance(at) {
                return None;
            }
            is_done[at] = true;
        }
        let spans = problem.spans();
        let mut left: Vec<usize> =
            (0..problem.len()).filter(|&at| !is_done[at] && !spans[at].is_pending()).collect();
        left.sort_unstable_by_key(|&at| spans[at].end());
        let mut prefix = prefix.to_vec();
        for at in left {
            let next = problem.operations()[at];
            let instead = replay.could_return(at);
            if !replay.advance(at) {
                return Some(DeadEnd::new(prefix, next, instead));
            }
            prefix.push(next);
        }
        None
    }
}
