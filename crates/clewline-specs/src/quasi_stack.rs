//! A stack that may answer out of order by a bound: [`Relaxed`].

use clewline_core::{ObjectKind, Value};

use crate::{
    entry::{Entry, Visitor},
    operation::Operation,
    parameter,
    relaxed::{Deed, Equals, Line, Ordered, Relaxed},
    stack::{Call, Stack},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "quasi-stack",
    about: "a stack out of order by at most K: push, pop, peek",
    operations: &Operation::doing(
        Call::OPERATIONS,
        [
            "puts a value on top",
            "removes and answers one of the K + 1 values on top, of which none is overtaken more than K times; null if there is none",
            "answers what pop could, null if there is none",
        ],
    ),
    parameter: Some("its quasi factor K"),
    build: |parameter| parameter::boxed(Relaxed::parse(Stack::default(), parameter)?),
};

/// Hands the specification to `visitor`, with each factor that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    for (name, factor) in [("quasi-stack:0", 0), ("quasi-stack:1", 1), ("quasi-stack:2", 2)] {
        visitor.visit(name, Relaxed { plain: Stack::default(), factor });
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

    fn deed(&self, call: &Call) -> Deed<Value> {
        call.deed()
    }

    fn added(&self) -> Value {
        Value::TRUE
    }

    fn found(&self, element: Option<Value>) -> Value {
        element.unwrap_or(Value::NIL)
    }

    fn place(&self, _line: &Line<Value>, _element: Value) -> usize {
        0
    }

    fn equals(&self) -> Equals {
        Equals::AnyLeaves
    }

    fn relaxed_kind(&self, factor: u32) -> Option<ObjectKind> {
        Some(ObjectKind::QuasiStack { factor })
    }
}
