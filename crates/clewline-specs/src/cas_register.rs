//! A register with compare-and-swap.

use clewline_core::{Deterministic, Elements, Footprint, ObjectKind, Role, Value};

use crate::{
    codec,
    entry::{Entry, Visitor},
    operations, parameter,
    register::{self, Register},
};

/// The catalog entry.
pub const ENTRY: Entry = Entry {
    name: "cas-register",
    about: "a register with compare-and-swap: read, write, cas; initially null",
    operations: &Call::OPERATIONS,
    parameter: None,
    build: |parameter| parameter::without_parameter(CasRegister, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("cas-register", CasRegister);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct CasRegister;

operations! {
    /// A call on a register with compare-and-swap.
    enum Call;
    Read = "read" | "get" => Value, "returns the value that was written last, null if there is none";
    Write(value: anything "value") = "write" | "set" => Nothing, "replaces the value";
    Cas(old_value, value: list "[old, new]") = "cas" => Truth,
        "replaces the value by new if it is old; returns whether it was";
}

impl Deterministic for CasRegister {
    type State = Value;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Value {
        Value::NIL
    }

    fn apply(&self, state: &mut Value, call: &Call) -> Option<Value> {
        match *call {
            Call::Read => Register.apply(state, &register::Call::Read),
            Call::Write(value) => Register.apply(state, &register::Call::Write(value)),
            Call::Cas(old, new) => {
                let swaps = *state == old;
                if swaps {
                    *state = new;
                }
                Some(Value::bool(swaps))
            }
        }
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    // Null, the initial value, is an element like any other. The operation that wrote the expected
    // value touches it too, so after linked elements are left out, the remaining operations find
    // the same values as before.
    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        match (call, ret) {
            (Call::Read, _) => Deterministic::footprint(&Register, &register::Call::Read, ret),
            (Call::Write(value), _) => {
                Deterministic::footprint(&Register, &register::Call::Write(*value), ret)
            }
            // It found some value other than the expected one.
            (Call::Cas(..), Some(&Value::FALSE)) => Footprint::Reads(Elements::Any),
            (Call::Cas(old, new), _) => Footprint::Changes(Elements::Two(old.word(), new.word())),
        }
    }

    fn kind(&self) -> Option<ObjectKind> {
        Deterministic::kind(&Register)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        match (call, ret) {
            (Call::Read, _) => Deterministic::role(&Register, &register::Call::Read, ret),
            (Call::Write(value), _) => Deterministic::role(&Register, &register::Call::Write(*value), ret),
            (Call::Cas(old, new), Some(&Value::TRUE) | None) => Some(Role::Replace(old.word(), new.word())),
            (Call::Cas(old, _), Some(&Value::FALSE)) => Some(Role::Absent(old.word())),
            (Call::Cas(..), Some(_)) => None,
        }
    }
}

codec!(CasRegister, name: |_| ENTRY.name.to_owned(), result: |_, call| call.result_kind(), sample: Call::sample);
