//! A register: a read returns the last value written.

use clewline_core::{Deterministic, Elements, Footprint, ObjectKind, Role, Value};

use crate::{
    codec,
    entry::{SpecificationEntry, Visitor},
    operations,
    parameter::{self, name_with_value, parse_value},
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "register",
    about: "a register: read, write; initially null",
    operations: &Call::OPERATIONS,
    parameter: Some("its initial value"),
    is_keyed: false,
    build: |parameter| parameter::boxed(Register { initial: parameter.map_or(Value::NIL, parse_value) }),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("register", Register::new());
    visitor.visit("register:0", Register::starting_at(0));
}

/// The specification.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    initial: Value,
}

impl Register {
    /// A register, initially null.
    #[must_use]
    pub fn new() -> Register {
        Register::default()
    }

    /// A register that holds `initial` until it is written.
    #[must_use]
    pub fn starting_at(initial: impl Into<Value>) -> Register {
        Register { initial: initial.into() }
    }
}

impl Default for Register {
    fn default() -> Self {
        Register { initial: Value::NIL }
    }
}

operations! {
    /// A call on a register.
    enum Call;
    Read = "read" | "get" => Value, "returns the value that was written last, or the initial one";
    Write(value: anything "value") = "write" | "set" => Nothing, "replaces the value";
}

impl Deterministic for Register {
    type State = Value;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Value {
        self.initial
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

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Value) -> &'r Value {
        self.result_kind_of(call).canonical(ret)
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
        Some(ObjectKind::Register { initial: self.initial.word() })
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

codec!(
    Register,
    name: |it| name_with_value(ENTRY.name, it.initial, Value::NIL),
    result: |_, call| call.result_kind(),
    sample: Call::sample,
    state: |_, values, initial| crate::operation::initial::value(values, "write", initial),
    initial: initial
);
