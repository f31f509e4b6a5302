//! A latch: once it is set, it stays set.

use clewline_core::{Deterministic, ObjectKind, Role, Value};
use clewline_specs::{SpecificationEntry, codec, operations};

/// The entry in the table.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "latch",
    about: "a latch: set, is-set; initially not set",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: false,
    build: |parameter| match parameter {
        None => Ok(Box::new(Latch)),
        Some(found) => Err(format!("takes no parameter, found `{found}`")),
    },
};

/// The kind of object, by which [its monitor](crate::monitor) is found.
pub const KIND: ObjectKind = ObjectKind::Other("latch");

/// The specification.
#[derive(Clone, Copy, Debug)]
pub struct Latch;

operations! {
    /// A call on a latch.
    enum Call;
    Set = "set" => Nothing, "sets the latch";
    IsSet = "is-set" => Truth, "returns whether the latch is set";
}

impl Deterministic for Latch {
    type State = bool;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> bool {
        false
    }

    fn apply(&self, is_set: &mut bool, call: &Call) -> Option<Value> {
        match call {
            Call::Set => {
                *is_set = true;
                Some(Value::TRUE)
            }
            Call::IsSet => Some(Value::bool(*is_set)),
        }
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(KIND)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        match (call, ret) {
            (Call::Set, None | Some(&Value::TRUE)) => Some(Role::Add(0)),
            (Call::IsSet, None) => Some(Role::NoEffect),
            (Call::IsSet, Some(&Value::TRUE)) => Some(Role::Observe(0)),
            (Call::IsSet, Some(&Value::FALSE)) => Some(Role::Absent(0)),
            (Call::Set | Call::IsSet, Some(_)) => None,
        }
    }
}

codec!(
    Latch,
    name: |_| ENTRY.name.to_owned(),
    result: |_, call| call.result_kind(),
    sample: Call::sample
);
