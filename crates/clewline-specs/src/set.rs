//! A set, checked element by element.

use std::collections::BTreeSet;

use clewline_core::{Deterministic, Elements, Footprint, ObjectKind, Role, RoleKind, Undo, Value};

use crate::{
    codec,
    copies::tree_bytes,
    entry::{SpecificationEntry, Visitor},
    operations, parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "set",
    about: "a set, each element judged by itself: add, remove, contains",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: true,
    build: |parameter| parameter::without_parameter(Set, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("set", Set);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Set;

impl Set {
    /// A set, initially empty.
    #[must_use]
    pub fn new() -> Set {
        Set
    }
}

operations! {
    /// A call on a set, or on a multiset.
    enum Call;
    Add(value: element "value") = "add" | "insert" => Truth, "returns whether the value was not there before";
    Remove(old_value: element "value") = "remove" | "delete" => Truth, "returns whether the value was there";
    Contains(old_value: element "value") = "contains" => Truth, "returns whether the value is there";
}

impl Call {
    /// The element of the call.
    #[inline]
    pub(crate) fn element(&self) -> u64 {
        let (Call::Add(value) | Call::Remove(value) | Call::Contains(value)) = self;
        value.word()
    }
}

impl Deterministic for Set {
    type State = BTreeSet<Value>;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> BTreeSet<Value> {
        BTreeSet::new()
    }

    fn apply(&self, state: &mut BTreeSet<Value>, call: &Call) -> Option<Value> {
        Some(Value::bool(match call {
            Call::Add(value) => state.insert(*value),
            Call::Remove(value) => state.remove(value),
            Call::Contains(value) => state.contains(value),
        }))
    }

    fn apply_undoable(
        &self,
        state: &mut BTreeSet<Value>,
        call: &Call,
    ) -> (Option<Value>, Undo<BTreeSet<Value>>) {
        let ret = self.apply(state, call);
        let undo = match *call {
            Call::Add(value) if ret == Some(Value::TRUE) => {
                Undo::change(move |state: &mut BTreeSet<Value>| {
                    state.remove(&value);
                })
            }
            Call::Remove(value) if ret == Some(Value::TRUE) => {
                Undo::change(move |state: &mut BTreeSet<Value>| {
                    state.insert(value);
                })
            }
            Call::Add(_) | Call::Remove(_) | Call::Contains(_) => Undo::Nothing,
        };
        (ret, undo)
    }

    fn part(&self, call: &Call) -> Option<u64> {
        Some(call.element())
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        let element = Elements::One(call.element());
        match call {
            Call::Contains(_) => Footprint::Reads(element),
            Call::Add(_) | Call::Remove(_) if ret == Some(&Value::FALSE) => Footprint::Reads(element),
            Call::Add(_) | Call::Remove(_) => Footprint::Changes(element),
        }
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Set)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        // By method, and by whether it is pending, returned false or returned true. A table,
        // because a branch would not be predictable.
        const ROLE_KINDS: [[RoleKind; 3]; 3] = [
            [RoleKind::Add, RoleKind::Observe, RoleKind::Add],
            [RoleKind::Remove, RoleKind::Absent, RoleKind::Remove],
            [RoleKind::NoEffect, RoleKind::Absent, RoleKind::Observe],
        ];
        let (method, value) = match call {
            Call::Add(value) => (0, value),
            Call::Remove(value) => (1, value),
            Call::Contains(value) => (2, value),
        };
        let result_index = ret.map_or(0, |it| 1 + usize::from(*it == Value::TRUE));
        Some(ROLE_KINDS[method][result_index].on(value.word()))
    }

    fn state_bytes(&self, state: &BTreeSet<Value>) -> usize {
        size_of_val(state) + tree_bytes::<Value>(state.len())
    }
}

codec!(Set, name: |_| ENTRY.name.to_owned(), result: |_, call| call.result_kind(), sample: Call::sample, state: |_, values, initial| crate::operation::initial::elements(values, "add", initial));
