//! A relaxed queue, out of order by at most a bound: [`Relaxed`].

use clewline_core::{ObjectKind, Value};

use crate::{
    entry::{SpecificationEntry, Visitor},
    operation::OperationInfo,
    parameter,
    queue::{Call, Queue},
    relaxed::{CollectionOp, EqualElements, Ordered, OrderedElements, Relaxed},
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "quasi-queue",
    about: "a queue out of order by at most K: enq, deq, peek",
    operations: &OperationInfo::with_descriptions(
        Call::OPERATIONS,
        [
            "puts a value at the back",
            "removes and returns one of the first K + 1 values, of which none is overtaken more than K times; null if there is none",
            "returns what deq could, null if there is none",
        ],
    ),
    parameter: Some("its quasi factor K"),
    is_keyed: false,
    build: |parameter| parameter::boxed(Relaxed::parse(Queue::new(), parameter)?),
};

/// Passes the specification to `visitor`, with each factor that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    for (name, factor) in [("quasi-queue:0", 0), ("quasi-queue:1", 1), ("quasi-queue:2", 2)] {
        visitor.visit(name, Relaxed::new(Queue::new(), factor));
    }
}

/// The specification.
pub type QuasiQueue = Relaxed<Queue>;

// A queue without a capacity: with one, it would have to be defined what a refused `enq` overtakes.
impl Ordered for Queue {
    type Element = Value;

    fn relaxed_name(&self) -> &'static str {
        ENTRY.name
    }

    fn collection_op(&self, call: &Call) -> CollectionOp<Value> {
        call.collection_op()
    }

    fn add_result(&self) -> Value {
        Value::TRUE
    }

    fn remove_result(&self, element: Option<Value>) -> Value {
        element.unwrap_or(Value::NIL)
    }

    fn insert_position(&self, elements: &OrderedElements<Value>, _element: Value) -> usize {
        elements.len()
    }

    fn equal_elements(&self) -> EqualElements {
        EqualElements::FirstLeaves
    }

    fn relaxed_kind(&self, factor: u32) -> Option<ObjectKind> {
        Some(ObjectKind::QuasiQueue { factor })
    }
}
