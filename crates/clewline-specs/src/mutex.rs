//! A mutex: `lock` blocks while it is held.
//!
//! The process that unlocks is not checked, because a specification does not see processes.

use clewline_core::{Deterministic, ObjectKind, Role, Value};

use crate::{
    codec,
    entry::{SpecificationEntry, Visitor},
    operations, parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "mutex",
    about: "a mutex: lock, unlock; initially free",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: false,
    build: |parameter| parameter::without_parameter(Mutex, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("mutex", Mutex);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutex;

impl Mutex {
    /// A mutex, initially free.
    #[must_use]
    pub fn new() -> Mutex {
        Mutex
    }
}

operations! {
    /// A call on a mutex.
    enum Call;
    Lock = "lock" | "acquire" => Nothing, "waits until the mutex is free, and holds it then";
    Unlock = "unlock" | "release" => Nothing, "frees the mutex, which must be held";
}

/// Whether the mutex is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It is free.
    Free,
    /// It is held.
    Held,
}

impl Deterministic for Mutex {
    type State = State;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> State {
        State::Free
    }

    fn apply(&self, state: &mut State, call: &Call) -> Option<Value> {
        *state = match (call, *state) {
            (Call::Lock, State::Free) => State::Held,
            (Call::Unlock, State::Held) => State::Free,
            (Call::Lock, State::Held) | (Call::Unlock, State::Free) => return None,
        };
        Some(Value::TRUE)
    }

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Value) -> &'r Value {
        self.result_kind_of(call).canonical(ret)
    }

    // A successful `lock` found it free, as initially.
    fn resets(&self, call: &Call, ret: &Value) -> bool {
        matches!(call, Call::Lock) && *ret == Value::TRUE
    }

    // A set of one element: the mutex is held, or it is not.
    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Set)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        // A refused operation is never allowed.
        ret.is_none_or(|it| *it == Value::TRUE).then_some(match call {
            Call::Lock => Role::Add(0),
            Call::Unlock => Role::Remove(0),
        })
    }
}

// Ignores the mix: with more locks than unlocks, every process would soon block.
codec!(
    Mutex,
    name: |_| ENTRY.name.to_owned(),
    result: |_, call| call.result_kind(),
    sample: |sampler| if sampler.turn().is_multiple_of(2) { Call::Lock } else { Call::Unlock },
    state: |_, values, initial| {
        let is_held = crate::operation::initial::truth(values, initial)?;
        Ok(crate::operation::initial::times(values, "lock", usize::from(is_held)))
    }
);
