//! Problems in which operations have other spans, or may lack their results.

use super::{
    Problem,
    retain::{Retain, Retained},
};
use crate::{history::Span, id::OperationId};

impl<'a> Problem<'a> {
    /// The same operations with other spans. Those that `is_optional` need not have taken effect,
    /// although they end: a crash interrupted them.
    #[must_use]
    pub fn with_spans(
        &self,
        span: impl Fn(OperationId) -> Span,
        is_optional: impl Fn(OperationId) -> bool,
    ) -> Problem<'a> {
        let retained = |(at, id): (usize, &OperationId)| {
            if is_optional(*id) { Retained::Optional } else { self.retained(at) }
        };
        Problem {
            spans: self.operations.iter().map(|it| span(*it)).collect(),
            retained: self.operations.iter().enumerate().map(retained).collect(),
            ..self.clone()
        }
    }

    /// Each operation twice, for its [`automaton`](Problem::automaton): at position `2 * at` as it
    /// is, and at `2 * at + 1` without its result.
    #[must_use]
    pub fn with_and_without_results(&self) -> Problem<'a> {
        let alone = self.weaken(|_| Retain::CallOnly);
        let retained = (0..self.len()).flat_map(|at| [self.retained(at), Retained::CallOnly]);
        Problem {
            operations: self.operations.iter().flat_map(|it| [*it, *it]).collect(),
            spans: self.spans.iter().zip(&alone.spans).flat_map(|(one, other)| [*one, *other]).collect(),
            retained: retained.collect(),
            ..self.clone()
        }
    }
}
