//! A stack that may answer out of order by a bound: [`Relaxed`].

use clewline_core::{Kind, Value};

use crate::{
    Entry,
    relaxed::{Deed, Equals, Line, Ordered, Relaxed},
    stack::{Call, Stack},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "quasi-stack",
    about: "a stack out of order by at most K: push, pop, peek",
    operations: &[
        ("push value", "puts a value on top"),
        (
            "pop",
            "removes and answers one of the K + 1 values on top, of which none is overtaken more than K times; null if there is none",
        ),
        ("peek", "answers what pop could, null if there is none (also: top)"),
    ],
    parameter: Some("its quasi factor K"),
    build: |parameter| Ok(Box::new(Relaxed::parse(Stack::default(), parameter)?)),
};

/// The specification.
pub type QuasiStack = Relaxed<Stack>;

// A stack without a capacity.
impl Ordered for Stack {
    type Element = Value;

    fn relaxed_name(&self) -> &'static str {
        ENTRY.name
    }

    fn deed(&self, call: &Call) -> Deed<Value> {
        match *call {
            Call::Push(value) => Deed::Add(value),
            Call::Pop => Deed::Remove,
            Call::Peek => Deed::Look,
        }
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

    fn relaxed_kind(&self, factor: u32) -> Option<Kind> {
        Some(Kind::QuasiStack { factor })
    }
}
