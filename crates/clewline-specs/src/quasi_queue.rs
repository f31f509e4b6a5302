//! A queue that may answer out of order by a bound: [`Relaxed`].

use clewline_core::{ObjectKind, Value};

use crate::{
    entry::{Entry, Visitor},
    operation::Operation,
    parameter,
    queue::{Call, Queue},
    relaxed::{Deed, Equals, Line, Ordered, Relaxed},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "quasi-queue",
    about: "a queue out of order by at most K: enq, deq, peek",
    operations: &Operation::doing(
        Call::OPERATIONS,
        [
            "puts a value at the back",
            "removes and answers one of the first K + 1 values, of which none is overtaken more than K times; null if there is none",
            "answers what deq could, null if there is none",
        ],
    ),
    parameter: Some("its quasi factor K"),
    build: |parameter| parameter::boxed(Relaxed::parse(Queue::default(), parameter)?),
};

/// Hands the specification to `visitor`, with each factor that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    for (name, factor) in [("quasi-queue:0", 0), ("quasi-queue:1", 1), ("quasi-queue:2", 2)] {
        visitor.visit(name, Relaxed { plain: Queue::default(), factor });
    }
}

/// The specification.
pub type QuasiQueue = Relaxed<Queue>;

// A queue without a capacity: a full one would have to say what is overtaken by a refusal.
impl Ordered for Queue {
    type Element = Value;

    fn relaxed_name(&self) -> &'static str {
        ENTRY.name
    }

    fn deed(&self, call: &Call) -> Deed<Value> {
        call.deed()
    }

    fn added(&self) -> Value {
        Value::TRUE
    }

    fn found(&self, element: Option<Value>) -> Value {
        element.unwrap_or(Value::NIL)
    }

    fn place(&self, line: &Line<Value>, _element: Value) -> usize {
        line.len()
    }

    fn equals(&self) -> Equals {
        Equals::FirstLeaves
    }

    fn relaxed_kind(&self, factor: u32) -> Option<ObjectKind> {
        Some(ObjectKind::QuasiQueue { factor })
    }
}
