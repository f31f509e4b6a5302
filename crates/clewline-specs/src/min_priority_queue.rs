//! A priority queue of integers, the least first: [`PriorityQueue`] the other way round.

use crate::{
    Entry, parameter,
    priority_queue::{First, PriorityQueue},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "min-priority-queue",
    about: "a priority queue of integers, least first: add, poll, peek",
    operations: &[
        ("add n", "adds an integer of 64 bits (also: insert, offer)"),
        ("poll", "removes and answers the least integer, null if there is none"),
        ("peek", "answers the least integer, null if there is none"),
    ],
    parameter: None,
    build: |parameter| parameter::none(PriorityQueue { first: First::Least }, parameter),
};
