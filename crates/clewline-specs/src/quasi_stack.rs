//! A relaxed stack, out of order by at most a bound: [`Relaxed`].

use clewline_core::{ObjectKind, Value};

use crate::{
    entry::{SpecificationEntry, Visitor},
    operation::OperationInfo,
    parameter,
    relaxed::{CollectionOp, EqualElements, Ordered, OrderedElements, Relaxed},
    stack::{Call, Stack},
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "quasi-stack",
    about: "a stack out of order by at most K: push, pop, peek",
    operations: &OperationInfo::with_descriptions(
        Call::OPERATIONS,
        [
            "puts a value on top",
            "removes and returns one of the K + 1 values on top, of which none is overtaken more than K times; null if there is none",
            "returns what pop could, null if there is none",
        ],
    ),
    parameter: Some("its quasi factor K"),
    is_keyed: false,
    build: |parameter| parameter::boxed(Relaxed::parse(Stack::new(), parameter)?),
};

/// Passes the specification to `visitor`, with each factor that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    for (name, factor) in [("quasi-stack:0", 0), ("quasi-stack:1", 1), ("quasi-stack:2", 2)] {
        visitor.visit(name, Relaxed::new(Stack::new(), factor));
    }
}

/// The specification.
pub type QuasiStack = Relaxed<Stack>;

// A stack without a capacity.
impl Ordered for Stack {
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

    fn insert_position(&self, _line: &OrderedElements<Value>, _element: Value) -> usize {
        0
    }

    fn equal_elements(&self) -> EqualElements {
        EqualElements::AnyLeaves
    }

    fn relaxed_kind(&self, factor: u32) -> Option<ObjectKind> {
        Some(ObjectKind::QuasiStack { factor })
    }
}
