//! A priority queue of integers, the least first: [`PriorityQueue`] in the reverse order.

use crate::{
    entry::{SpecificationEntry, Visitor},
    operation::OperationInfo,
    parameter,
    priority_queue::{Call, PriorityQueue},
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "min-priority-queue",
    about: "a priority queue of integers, least first: add, poll, peek",
    operations: &OperationInfo::with_descriptions(
        Call::OPERATIONS,
        [
            "adds an integer of 64 bits",
            "removes and returns the least integer, null if there is none",
            "returns the least integer, null if there is none",
        ],
    ),
    parameter: None,
    is_keyed: false,
    build: |parameter| parameter::without_parameter(PriorityQueue::least_first(), parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("min-priority-queue", PriorityQueue::least_first());
}
