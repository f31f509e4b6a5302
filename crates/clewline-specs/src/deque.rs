//! A double-ended queue, unbounded or with a capacity.

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
    name: "deque",
    about: "a double-ended queue: push-front, push-back, pop-front, pop-back",
    operations: &Call::OPERATIONS,
    parameter: Some("its capacity"),
    is_keyed: false,
    build: |parameter| parameter::boxed(Deque { capacity: Capacity::parse(parameter)? }),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("deque", Deque::new());
    visitor.visit("deque:2", Deque::bounded(2));
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deque {
    /// How many elements fit.
    pub capacity: Capacity,
}

impl Deque {
    /// A deque without a capacity, initially empty.
    #[must_use]
    pub fn new() -> Deque {
        Deque::default()
    }

    /// A deque of at most `capacity` elements, initially empty.
    #[must_use]
    pub fn bounded(capacity: usize) -> Deque {
        Deque { capacity: Capacity::bounded(capacity) }
    }
}

operations! {
    /// A call on a double-ended queue.
    enum Call;
    PushFront(value: element "value") = "push-front" | "push_front" => Room,
        "puts a value at the front; with a capacity, returns false if full";
    PushBack(value: element "value") = "push-back" | "push_back" => Room,
        "puts a value at the back; with a capacity, returns false if full";
    PopFront = "pop-front" | "pop_front" => Value,
        "removes and returns the value at the front, null if there is none";
    PopBack = "pop-back" | "pop_back" => Value,
        "removes and returns the value at the back, null if there is none";
}

impl Call {
    #[inline]
    fn collection_op(&self) -> CollectionOp<Value> {
        match *self {
            Call::PushFront(value) | Call::PushBack(value) => CollectionOp::Add(value),
            Call::PopFront | Call::PopBack => CollectionOp::Remove,
        }
    }
}

impl Deterministic for Deque {
    type State = VecDeque<Value>;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> VecDeque<Value> {
        VecDeque::new()
    }

    fn apply(&self, state: &mut VecDeque<Value>, call: &Call) -> Option<Value> {
        let fits = self.capacity.admits(state.len());
        match *call {
            Call::PushFront(_) | Call::PushBack(_) if !fits => return Some(Value::FALSE),
            Call::PushFront(value) => state.push_front(value),
            Call::PushBack(value) => state.push_back(value),
            Call::PopFront => return Some(state.pop_front().unwrap_or(Value::NIL)),
            Call::PopBack => return Some(state.pop_back().unwrap_or(Value::NIL)),
        }
        Some(Value::TRUE)
    }

    fn apply_undoable(
        &self,
        state: &mut VecDeque<Value>,
        call: &Call,
    ) -> (Option<Value>, Undo<VecDeque<Value>>) {
        type State = VecDeque<Value>;
        let before = state.len();
        let ret = self.apply(state, call);
        let undo = match (*call, ret) {
            _ if state.len() == before => Undo::Nothing,
            (Call::PushFront(_), _) => Undo::change(|state: &mut State| {
                state.pop_front();
            }),
            (Call::PushBack(_), _) => Undo::change(|state: &mut State| {
                state.pop_back();
            }),
            (Call::PopFront, found) => Undo::change(move |state: &mut State| {
                found.into_iter().for_each(|it| state.push_front(it));
            }),
            (Call::PopBack, found) => Undo::change(move |state: &mut State| state.extend(found)),
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

    // An operation that finds no element finds the deque empty.
    fn resets(&self, call: &Call, ret: &Value) -> bool {
        call.collection_op().finds_nothing(ret)
    }

    fn kind(&self) -> Option<ObjectKind> {
        self.capacity.is_unbounded().then_some(ObjectKind::Deque)
    }

    fn kind_without_capacity(&self) -> Option<ObjectKind> {
        (!self.capacity.is_unbounded()).then_some(ObjectKind::Deque)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        let is_back = matches!(call, Call::PushBack(_) | Call::PopBack);
        let word = |value: Value| ObjectKind::at_end(value.word(), is_back);
        match (*call, ret) {
            (Call::PushFront(value) | Call::PushBack(value), None | Some(&Value::TRUE)) => {
                Some(Role::Add(word(value)))
            }
            // No state allows it; and no role says at which end an unknown element is removed.
            (Call::PushFront(_) | Call::PushBack(_), Some(_)) | (Call::PopFront | Call::PopBack, None) => {
                None
            }
            (Call::PopFront | Call::PopBack, Some(&Value::NIL)) => Some(Role::Empty),
            (Call::PopFront | Call::PopBack, Some(&value)) => Some(Role::Remove(word(value))),
        }
    }

    fn state_bytes(&self, state: &VecDeque<Value>) -> usize {
        size_of_val(state) + array_bytes(state.len())
    }
}

codec!(Deque, name: |it| it.capacity.name_with(ENTRY.name), result: |it, call| call.result_kind().within(it.capacity), sample: Call::sample, state: |_, values, initial| crate::operation::initial::elements(values, "push-back", initial));
