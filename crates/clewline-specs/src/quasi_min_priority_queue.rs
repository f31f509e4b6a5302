//! A relaxed priority queue, the least first, out of order by at most a bound: [`Relaxed`].

use crate::{
    entry::{SpecificationEntry, Visitor},
    operation::OperationInfo,
    parameter,
    priority_queue::{Call, PriorityQueue},
    relaxed::Relaxed,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "quasi-min-priority-queue",
    about: "a priority queue, least first, out of order by at most K: add, poll, peek",
    operations: &OperationInfo::with_descriptions(
        Call::OPERATIONS,
        [
            "adds an integer of 64 bits",
            "removes and returns an integer than which at most K are less, of which none is overtaken more than K times; null if there is none",
            "returns what poll could, null if there is none",
        ],
    ),
    parameter: Some("its quasi factor K"),
    is_keyed: false,
    build: |parameter| parameter::boxed(Relaxed::parse(PriorityQueue::least_first(), parameter)?),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("quasi-min-priority-queue:2", Relaxed::new(PriorityQueue::least_first(), 2));
}
