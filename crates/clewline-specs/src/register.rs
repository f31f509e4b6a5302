//! A register: a read returns the last value written.

use clewline_core::{Deterministic, Elements, Footprint, ObjectKind, Role, Value};

use crate::{
    codec,
    entry::{Entry, Visitor},
    operations, parameter,
};

/// The catalog entry.
pub const ENTRY: Entry = Entry {
    name: "register",
    about: "a register: read, write; initially null",
    operations: &Call::OPERATIONS,
    parameter: None,
    build: |parameter| parameter::without_parameter(Register, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("register", Register);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register;

operations! {
    /// A call on a register.
    enum Call;
    Read = "read" | "get" => Value, "returns the value that was written last, null if there is none";
    Write(value: anything "value") = "write" | "set" => Nothing, "replaces the value";
}

impl Deterministic for Register {
    type State = Value;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Value {
        Value::NIL
    }

    fn apply(&self, state: &mut Value, call: &Call) -> Option<Value> {
        match *call {
            Call::Read => Some(*state),
            Call::Write(value) => {
                *state = value;
                Some(Value::TRUE)
            }
        }
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        match (call, ret) {
            (Call::Read, None) => Footprint::Reads(Elements::None),
            (Call::Read, Some(value)) => Footprint::Reads(Elements::One(value.word())),
            (Call::Write(value), _) => Footprint::Changes(Elements::One(value.word())),
        }
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Register { initial: Value::NIL.word() })
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        Some(match (call, ret) {
            (Call::Write(value), Some(&Value::TRUE) | None) => Role::Add(value.word()),
            // A refused write is never allowed.
            (Call::Write(_), Some(_)) => return None,
            (Call::Read, Some(value)) => Role::Observe(value.word()),
            (Call::Read, None) => Role::NoEffect,
        })
    }
}

codec!(Register, name: |_| ENTRY.name.to_owned(), result: |_, call| call.result_kind(), sample: Call::sample);
