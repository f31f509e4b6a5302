//! A register with compare-and-swap.

use clewline_core::{Deterministic, Elements, Footprint, ObjectKind, Role, Value};

use crate::{
    codec,
    entry::{SpecificationEntry, Visitor},
    operations,
    parameter::{self, name_with_value, parse_value},
    register::{self, Register},
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "cas-register",
    about: "a register with compare-and-swap: read, write, cas; initially null",
    operations: &Call::OPERATIONS,
    parameter: Some("its initial value"),
    is_keyed: false,
    build: |parameter| parameter::boxed(CasRegister { initial: parameter.map_or(Value::NIL, parse_value) }),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("cas-register", CasRegister::new());
    visitor.visit("cas-register:0", CasRegister::starting_at(0));
}

/// The specification.
#[derive(Clone, Copy, Debug)]
pub struct CasRegister {
    initial: Value,
}

impl CasRegister {
    /// A register with compare-and-swap, initially null.
    #[must_use]
    pub fn new() -> CasRegister {
        CasRegister::default()
    }

    /// A register with compare-and-swap that holds `initial` until it is changed.
    #[must_use]
    pub fn starting_at(initial: impl Into<Value>) -> CasRegister {
        CasRegister { initial: initial.into() }
    }

    /// The same register, to which reads and writes are left.
    fn plain(&self) -> Register {
        Register::starting_at(self.initial)
    }
}

impl Default for CasRegister {
    fn default() -> Self {
        CasRegister { initial: Value::NIL }
    }
}

operations! {
    /// A call on a register with compare-and-swap.
    enum Call;
    Read = "read" | "get" => Value, "returns the value that was written last, or the initial one";
    Write(value: anything "value") = "write" | "set" => Nothing, "replaces the value";
    Cas(old_value, value: list "[old, new]") = "cas" => Truth,
        "replaces the value by new if it is old; returns whether it was";
}

impl Deterministic for CasRegister {
    type State = Value;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Value {
        self.initial
    }

    fn apply(&self, state: &mut Value, call: &Call) -> Option<Value> {
        match *call {
            Call::Read => self.plain().apply(state, &register::Call::Read),
            Call::Write(value) => self.plain().apply(state, &register::Call::Write(value)),
            Call::Cas(old, new) => {
                let swaps = *state == old;
                if swaps {
                    *state = new;
                }
                Some(Value::bool(swaps))
            }
        }
    }

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Value) -> &'r Value {
        self.result_kind_of(call).canonical(ret)
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    // The initial value is an element like any other. The operation that wrote the expected
    // value touches it too, so after linked elements are left out, the remaining operations find
    // the same values as before.
    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        match (call, ret) {
            (Call::Read, _) => Deterministic::footprint(&self.plain(), &register::Call::Read, ret),
            (Call::Write(value), _) => {
                Deterministic::footprint(&self.plain(), &register::Call::Write(*value), ret)
            }
            // It found some value other than the expected one.
            (Call::Cas(..), Some(&Value::FALSE)) => Footprint::Reads(Elements::Any),
            (Call::Cas(old, new), _) => Footprint::Changes(Elements::Two(old.word(), new.word())),
        }
    }

    fn kind(&self) -> Option<ObjectKind> {
        Deterministic::kind(&self.plain())
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        match (call, ret) {
            (Call::Read, _) => Deterministic::role(&self.plain(), &register::Call::Read, ret),
            (Call::Write(value), _) => {
                Deterministic::role(&self.plain(), &register::Call::Write(*value), ret)
            }
            (Call::Cas(old, new), Some(&Value::TRUE) | None) => Some(Role::Replace(old.word(), new.word())),
            (Call::Cas(old, _), Some(&Value::FALSE)) => Some(Role::Absent(old.word())),
            (Call::Cas(..), Some(_)) => None,
        }
    }
}

codec!(
    CasRegister,
    name: |it| name_with_value(ENTRY.name, it.initial, Value::NIL),
    result: |_, call| call.result_kind(),
    sample: Call::sample,
    state: |_, values, initial| crate::operation::initial::value(values, "write", initial),
    initial: initial
);
