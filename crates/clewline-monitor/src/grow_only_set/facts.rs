//! The operations of a history of a set from which nothing is removed.

use clewline_core::{Problem, SetOperation, Span};

/// The operations of a problem, none of which removes anything.
pub(super) struct Facts<'p> {
    pub(super) spans: &'p [Span],
    pub(super) operations: Vec<SetOperation<u32>>,
    /// The element of each number, as the specification names it.
    pub(super) names: Vec<u64>,
    /// The positions of the reads that returned, those with fewer elements first.
    pub(super) reads: Vec<u32>,
    /// Whether there is an operation that would have removed something.
    pub(super) has_removes: bool,
}

impl<'p> Facts<'p> {
    /// `None` if they are not known, or may remove something.
    pub(super) fn new(problem: &'p Problem<'_>) -> Option<Facts<'p>> {
        let all = problem.set_operations()?;
        if all.operations.iter().any(may_remove) {
            return None;
        }
        let is_remove = |it: &SetOperation<u32>| matches!(it, SetOperation::Remove { .. });
        let mut facts = Facts {
            spans: problem.spans(),
            has_removes: all.operations.iter().any(is_remove),
            operations: all.operations,
            names: all.names,
            reads: Vec::new(),
        };
        let is_read = |&at: &u32| facts.elements(at as usize).is_some();
        let mut reads: Vec<u32> = (0..facts.operations.len() as u32).filter(is_read).collect();
        reads.sort_by_key(|&at| facts.elements(at as usize).map_or(0, <[u32]>::len));
        facts.reads = reads;
        Some(facts)
    }

    /// The elements that a read returned, in ascending order.
    pub(super) fn elements(&self, at: usize) -> Option<&[u32]> {
        match &self.operations[at] {
            SetOperation::Read { elements } => elements.as_deref(),
            SetOperation::Add { .. } | SetOperation::Remove { .. } | SetOperation::Contains { .. } => None,
        }
    }

    /// The positions of the operations that returned, in that order.
    pub(super) fn positions_by_return(&self) -> Vec<u32> {
        let has_returned = |&at: &u32| !self.spans[at as usize].is_pending();
        let mut all: Vec<u32> = (0..self.spans.len() as u32).filter(has_returned).collect();
        all.sort_unstable_by_key(|&at| self.spans[at as usize].end());
        all
    }

    /// Approximate size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let elements: usize =
            self.reads.iter().filter_map(|&at| self.elements(at as usize)).map(<[u32]>::len).sum();
        size_of_val(&*self.operations) + size_of_val(&*self.names) + elements * size_of::<u32>()
    }
}

/// Whether the operation may remove something.
pub(super) fn may_remove(operation: &SetOperation<u32>) -> bool {
    match operation {
        SetOperation::Remove { was_there, .. } => *was_there != Some(false),
        SetOperation::Add { .. } | SetOperation::Contains { .. } | SetOperation::Read { .. } => false,
    }
}
