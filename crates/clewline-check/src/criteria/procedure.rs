//! What procedures for all objects together have in common.

use clewline_core::{Budget, ErasedHistory, Explanation, OperationId, Problem, Rule, Verdict, Violation};

/// A decision procedure for all objects together: the verdict on the problems of a history.
pub(super) type Decide = fn(&dyn ErasedHistory, &[Problem<'_>], &Budget) -> Verdict;

/// A violation as one of these procedures finds it.
pub(super) fn violation(operations: Vec<OperationId>) -> Violation {
    Violation::found(operations, Explanation::Broken { rule: Rule::Other(""), operations: Vec::new() })
}
