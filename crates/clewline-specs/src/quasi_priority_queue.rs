//! A priority queue that may answer out of order by a bound: [`Relaxed`]. Equal integers overtake none of each other.

use clewline_core::ObjectKind;

use crate::{
    entry::{Entry, Visitor},
    operation::Operation,
    parameter,
    priority_queue::{Call, First, PriorityQueue, Return},
    relaxed::{Deed, Equals, Line, Ordered, Relaxed},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "quasi-priority-queue",
    about: "a priority queue, greatest first, out of order by at most K: add, poll, peek",
    operations: &Operation::doing(
        Call::OPERATIONS,
        [
            "adds an integer of 64 bits",
            "removes and answers an integer than which at most K are greater, of which none is overtaken more than K times; null if there is none",
            "answers what poll could, null if there is none",
        ],
    ),
    parameter: Some("its quasi factor K"),
    build: |parameter| parameter::boxed(Relaxed::parse(PriorityQueue { first: First::Greatest }, parameter)?),
};

/// Hands the specification to `visitor`, with each factor that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    for (name, factor) in
        [("quasi-priority-queue:0", 0), ("quasi-priority-queue:1", 1), ("quasi-priority-queue:2", 2)]
    {
        visitor.visit(name, Relaxed { plain: PriorityQueue { first: First::Greatest }, factor });
    }
}

/// The specification.
pub type QuasiPriorityQueue = Relaxed<PriorityQueue>;

impl Ordered for PriorityQueue {
    type Element = i64;

    fn relaxed_name(&self) -> &'static str {
        match self.first {
            First::Greatest => ENTRY.name,
            First::Least => crate::quasi_min_priority_queue::ENTRY.name,
        }
    }

    fn deed(&self, call: &Call) -> Deed<i64> {
        match *call {
            Call::Add(int) => Deed::Add(int),
            Call::Poll => Deed::Remove,
            Call::Peek => Deed::Look,
        }
    }

    fn added(&self) -> Return {
        Return::Done(true)
    }

    fn found(&self, element: Option<i64>) -> Return {
        Return::First(element)
    }

    fn place(&self, line: &Line<i64>, element: i64) -> usize {
        line.partition_point(|it| match self.first {
            First::Greatest => element <= it,
            First::Least => it <= element,
        })
    }

    fn equals(&self) -> Equals {
        Equals::Alike
    }

    fn relaxed_kind(&self, factor: u32) -> Option<ObjectKind> {
        Some(ObjectKind::QuasiPriorityQueue { factor })
    }
}
