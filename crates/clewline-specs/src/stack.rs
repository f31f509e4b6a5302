//! A stack, unbounded or with a capacity.

use clewline_core::{Deterministic, Footprint, ObjectKind, Role, Undo, Value};

use crate::{
    codec,
    copies::array_bytes,
    entry::{SpecificationEntry, Visitor},
    operations,
    parameter::{self, Capacity},
    relaxed::CollectionOp,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "stack",
    about: "a stack: push, pop, peek",
    operations: &Call::OPERATIONS,
    parameter: Some("its capacity"),
    is_keyed: false,
    build: |parameter| parameter::boxed(Stack { capacity: Capacity::parse(parameter)? }),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("stack", Stack::new());
    visitor.visit("stack:2", Stack::bounded(2));
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stack {
    /// How many elements fit.
    pub capacity: Capacity,
}

impl Stack {
    /// A stack without a capacity, initially empty.
    #[must_use]
    pub fn new() -> Stack {
        Stack::default()
    }

    /// A stack of at most `capacity` elements, initially empty.
    #[must_use]
    pub fn bounded(capacity: usize) -> Stack {
        Stack { capacity: Capacity::bounded(capacity) }
    }
}

operations! {
    /// A call on a stack.
    enum Call;
    Push(value: element "value") = "push" => Room, "puts a value on top; with a capacity, returns false if full";
    Pop = "pop" => Value, "removes and returns the value on top, null if there is none";
    Peek = "peek" | "top" => Value, "returns the value on top, null if there is none";
}

impl Call {
    #[inline]
    pub(crate) fn collection_op(&self) -> CollectionOp<Value> {
        match *self {
            Call::Push(value) => CollectionOp::Add(value),
            Call::Pop => CollectionOp::Remove,
            Call::Peek => CollectionOp::Peek,
        }
    }
}

impl Deterministic for Stack {
    // The top is last.
    type State = Vec<Value>;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Vec<Value> {
        Vec::new()
    }

    fn apply(&self, state: &mut Vec<Value>, call: &Call) -> Option<Value> {
        match *call {
            Call::Push(value) => {
                let fits = self.capacity.admits(state.len());
                if fits {
                    state.push(value);
                }
                Some(Value::bool(fits))
            }
            Call::Pop => Some(state.pop().unwrap_or(Value::NIL)),
            Call::Peek => Some(state.last().copied().unwrap_or(Value::NIL)),
        }
    }

    fn apply_undoable(&self, state: &mut Vec<Value>, call: &Call) -> (Option<Value>, Undo<Vec<Value>>) {
        let (before, top) = (state.len(), state.last().copied());
        let ret = self.apply(state, call);
        let undo = match top {
            _ if state.len() == before => Undo::Nothing,
            Some(top) if state.len() < before => Undo::change(move |state: &mut Vec<Value>| state.push(top)),
            Some(_) | None => Undo::change(|state: &mut Vec<Value>| state.truncate(state.len() - 1)),
        };
        (ret, undo)
    }

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Value) -> &'r Value {
        self.result_kind_of(call).canonical(ret)
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        call.collection_op().footprint(self.capacity, ret)
    }

    // Also with a capacity, where no role applies: an operation that finds no element finds the
    // stack empty.
    fn resets(&self, call: &Call, ret: &Value) -> bool {
        call.collection_op().finds_nothing(ret)
    }

    fn kind(&self) -> Option<ObjectKind> {
        self.capacity.is_unbounded().then_some(ObjectKind::Stack)
    }

    fn kind_without_capacity(&self) -> Option<ObjectKind> {
        (!self.capacity.is_unbounded()).then_some(ObjectKind::Stack)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        call.collection_op().role(ret)
    }

    fn state_bytes(&self, state: &Vec<Value>) -> usize {
        size_of_val(state) + array_bytes(state.len())
    }
}

codec!(Stack, name: |it| it.capacity.name_with(ENTRY.name), result: |it, call| call.result_kind().within(it.capacity), sample: Call::sample, state: |_, values, initial| crate::operation::initial::elements(values, "push", initial));
