//! A priority queue of integers, the least first: [`PriorityQueue`] the other way round.

use crate::{
    entry::{Entry, Visitor},
    operation::Operation,
    parameter,
    priority_queue::{Call, First, PriorityQueue},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "min-priority-queue",
    about: "a priority queue of integers, least first: add, poll, peek",
    operations: &Operation::doing(
        Call::OPERATIONS,
        [
            "adds an integer of 64 bits",
            "removes and answers the least integer, null if there is none",
            "answers the least integer, null if there is none",
        ],
    ),
    parameter: None,
    build: |parameter| parameter::none(PriorityQueue { first: First::Least }, parameter),
};

/// Hands the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("min-priority-queue", PriorityQueue { first: First::Least });
}
