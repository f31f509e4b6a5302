//! A relaxed priority queue, out of order by at most a bound: [`Relaxed`]. Equal integers do not
//! overtake each other.

use clewline_core::ObjectKind;

use crate::{
    entry::{SpecificationEntry, Visitor},
    operation::OperationInfo,
    parameter,
    priority_queue::{Call, First, PriorityQueue, Return},
    relaxed::{CollectionOp, EqualElements, Ordered, OrderedElements, Relaxed},
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "quasi-priority-queue",
    about: "a priority queue, greatest first, out of order by at most K: add, poll, peek",
    operations: &OperationInfo::with_descriptions(
        Call::OPERATIONS,
        [
            "adds an integer of 64 bits",
            "removes and returns an integer than which at most K are greater, of which none is overtaken more than K times; null if there is none",
            "returns what poll could, null if there is none",
        ],
    ),
    parameter: Some("its quasi factor K"),
    is_keyed: false,
    build: |parameter| parameter::boxed(Relaxed::parse(PriorityQueue::new(), parameter)?),
};

/// Passes the specification to `visitor`, with each factor that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    for (name, factor) in
        [("quasi-priority-queue:0", 0), ("quasi-priority-queue:1", 1), ("quasi-priority-queue:2", 2)]
    {
        visitor.visit(name, Relaxed::new(PriorityQueue::new(), factor));
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

    fn collection_op(&self, call: &Call) -> CollectionOp<i64> {
        match *call {
            Call::Add(int) => CollectionOp::Add(int),
            Call::Poll => CollectionOp::Remove,
            Call::Peek => CollectionOp::Peek,
        }
    }

    fn add_result(&self) -> Return {
        Return::Done(true)
    }

    fn remove_result(&self, element: Option<i64>) -> Return {
        Return::First(element)
    }

    fn insert_position(&self, elements: &OrderedElements<i64>, element: i64) -> usize {
        elements.partition_point(|it| match self.first {
            First::Greatest => element <= it,
            First::Least => it <= element,
        })
    }

    fn equal_elements(&self) -> EqualElements {
        EqualElements::Interchangeable
    }

    fn relaxed_kind(&self, factor: u32) -> Option<ObjectKind> {
        Some(ObjectKind::QuasiPriorityQueue { factor })
    }
}
