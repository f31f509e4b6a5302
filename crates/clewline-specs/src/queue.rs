//! A FIFO queue, unbounded or with a capacity.

use std::collections::VecDeque;

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
    name: "queue",
    about: "a FIFO queue: enq, deq, peek",
    operations: &Call::OPERATIONS,
    parameter: Some("its capacity"),
    is_keyed: false,
    build: |parameter| parameter::boxed(Queue { capacity: Capacity::parse(parameter)? }),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("queue", Queue::new());
    visitor.visit("queue:2", Queue::bounded(2));
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    /// How many elements fit.
    pub capacity: Capacity,
}

impl Queue {
    /// A queue without a capacity, initially empty.
    #[must_use]
    pub fn new() -> Queue {
        Queue::default()
    }

    /// A queue of at most `capacity` elements, initially empty.
    #[must_use]
    pub fn bounded(capacity: usize) -> Queue {
        Queue { capacity: Capacity::bounded(capacity) }
    }
}

operations! {
    /// A call on a queue.
    enum Call;
    Enq(value: element "value") = "enq" | "enqueue" | "offer" => Room,
        "puts a value at the back; with a capacity, returns false if full";
    Deq = "deq" | "dequeue" | "poll" => Value,
        "removes and returns the value at the front, null if there is none";
    Peek = "peek" => Value, "returns the value at the front, null if there is none";
}

impl Call {
    #[inline]
    pub(crate) fn collection_op(&self) -> CollectionOp<Value> {
        match *self {
            Call::Enq(value) => CollectionOp::Add(value),
            Call::Deq => CollectionOp::Remove,
            Call::Peek => CollectionOp::Peek,
        }
    }
}

impl Deterministic for Queue {
    type State = VecDeque<Value>;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> VecDeque<Value> {
        VecDeque::new()
    }

    fn apply(&self, state: &mut VecDeque<Value>, call: &Call) -> Option<Value> {
        match *call {
            Call::Enq(value) => {
                let fits = self.capacity.admits(state.len());
                if fits {
                    state.push_back(value);
                }
                Some(Value::bool(fits))
            }
            Call::Deq => Some(state.pop_front().unwrap_or(Value::NIL)),
            Call::Peek => Some(state.front().copied().unwrap_or(Value::NIL)),
        }
    }

    fn apply_undoable(
        &self,
        state: &mut VecDeque<Value>,
        call: &Call,
    ) -> (Option<Value>, Undo<VecDeque<Value>>) {
        let (before, front) = (state.len(), state.front().copied());
        let ret = self.apply(state, call);
        let undo = match front {
            _ if state.len() == before => Undo::Nothing,
            Some(front) if state.len() < before => {
                Undo::change(move |state: &mut VecDeque<Value>| state.push_front(front))
            }
            Some(_) | None => Undo::change(|state: &mut VecDeque<Value>| state.truncate(state.len() - 1)),
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
    // queue empty.
    fn resets(&self, call: &Call, ret: &Value) -> bool {
        call.collection_op().finds_nothing(ret)
    }

    fn kind(&self) -> Option<ObjectKind> {
        self.capacity.is_unbounded().then_some(ObjectKind::Queue)
    }

    fn kind_without_capacity(&self) -> Option<ObjectKind> {
        (!self.capacity.is_unbounded()).then_some(ObjectKind::Queue)
    }

    fn capacity(&self) -> Option<usize> {
        self.capacity.limit()
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        call.collection_op().role(ret)
    }

    fn state_bytes(&self, state: &VecDeque<Value>) -> usize {
        size_of_val(state) + array_bytes(state.len())
    }
}

codec!(Queue, name: |it| it.capacity.name_with(ENTRY.name), result: |it, call| call.result_kind().within(it.capacity), sample: Call::sample, state: |_, values, initial| crate::operation::initial::elements(values, "enq", initial));
