//! A priority queue, the least first, that may answer out of order by a bound: [`Relaxed`].

use crate::{
    Entry,
    priority_queue::{First, PriorityQueue},
    relaxed::Relaxed,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "quasi-min-priority-queue",
    about: "a priority queue, least first, out of order by at most K: add, poll, peek",
    operations: &[
        ("add n", "adds an integer of 64 bits (also: insert, offer)"),
        (
            "poll",
            "removes and answers an integer than which at most K are less, of which none is overtaken more than K times; null if there is none",
        ),
        ("peek", "answers what poll could, null if there is none"),
    ],
    parameter: Some("its quasi factor K"),
    build: |parameter| Ok(Box::new(Relaxed::parse(PriorityQueue { first: First::Least }, parameter)?)),
};
