//! A multiset, checked element by element.

use clewline_core::{Deterministic, Elements, Footprint, ObjectKind, Role, Undo, Value};

pub use crate::set::Call;
use crate::{
    codec,
    copies::Copies,
    entry::{SpecificationEntry, Visitor},
    operation::{OperationInfo, ResultKind},
    parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "multiset",
    about: "a multiset, each element judged by itself: add, remove, contains",
    operations: &OperationInfo::with_descriptions(
        Call::OPERATIONS,
        [
            "adds one copy of the value",
            "removes one copy; returns whether there was one",
            "returns whether there is a copy",
        ],
    ),
    parameter: None,
    is_keyed: true,
    build: |parameter| parameter::without_parameter(Multiset, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("multiset", Multiset);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Multiset;

impl Multiset {
    /// A multiset, initially empty.
    #[must_use]
    pub fn new() -> Multiset {
        Multiset
    }
}

impl Deterministic for Multiset {
    type State = Copies<Value>;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Copies<Value> {
        Copies::new()
    }

    fn apply(&self, state: &mut Copies<Value>, call: &Call) -> Option<Value> {
        match call {
            Call::Add(value) => {
                state.add(*value);
                Some(Value::TRUE)
            }
            Call::Remove(value) => Some(Value::bool(state.remove(value))),
            Call::Contains(value) => Some(Value::bool(state.contains(value))),
        }
    }

    fn apply_undoable(&self, state: &mut Copies<Value>, call: &Call) -> (Option<Value>, Undo<Copies<Value>>) {
        let ret = self.apply(state, call);
        let undo = match *call {
            Call::Add(value) => Undo::change(move |state: &mut Copies<Value>| {
                state.remove(&value);
            }),
            Call::Remove(value) if ret == Some(Value::TRUE) => {
                Undo::change(move |state: &mut Copies<Value>| state.add(value))
            }
            Call::Remove(_) | Call::Contains(_) => Undo::Nothing,
        };
        (ret, undo)
    }

    fn part(&self, call: &Call) -> Option<u64> {
        Some(call.element())
    }

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Value) -> &'r Value {
        self.result_kind_of(call).canonical(ret)
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        let element = Elements::One(call.element());
        match call {
            Call::Contains(_) => Footprint::Reads(element),
            Call::Remove(_) if ret == Some(&Value::FALSE) => Footprint::Reads(element),
            Call::Add(_) | Call::Remove(_) => Footprint::Changes(element),
        }
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Multiset)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        let truth = ret.map(|it| *it == Value::TRUE);
        Some(match (call, truth) {
            (Call::Add(value), Some(true) | None) => Role::Add(value.word()),
            // A refused addition is never allowed.
            (Call::Add(_), Some(false)) => return None,
            (Call::Remove(value), Some(true) | None) => Role::Remove(value.word()),
            (Call::Contains(value), Some(true)) => Role::Observe(value.word()),
            (Call::Contains(value) | Call::Remove(value), Some(false)) => Role::Absent(value.word()),
            (Call::Contains(_), None) => Role::NoEffect,
        })
    }

    fn state_bytes(&self, state: &Copies<Value>) -> usize {
        state.bytes()
    }
}

codec!(Multiset, name: |_| ENTRY.name.to_owned(), result: |_, call| result_kind(call), sample: Call::sample, state: |_, values, initial| crate::operation::initial::elements(values, "add", initial));

/// A multiset always has room for one more copy.
fn result_kind(call: &Call) -> ResultKind {
    if matches!(call, Call::Add(_)) { ResultKind::Nothing } else { call.result_kind() }
}
