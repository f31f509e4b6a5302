//! A bag: `take` removes any of the elements.
//!
//! `take` has as many outcomes as there are distinct elements, so this implements [`Specification`]
//! itself. Given the result there is one outcome, which is applied in place.

use clewline_core::{Footprint, ObjectKind, Role, Specification, Value};

use crate::{
    codec,
    copies::Copies,
    entry::{SpecificationEntry, Visitor},
    operations,
    parameter::{self, Capacity},
    relaxed::CollectionOp,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "bag",
    about: "an unordered collection: add, take (any element)",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: false,
    build: |parameter| parameter::without_parameter(Bag, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("bag", Bag);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bag;

impl Bag {
    /// A bag, initially empty.
    #[must_use]
    pub fn new() -> Bag {
        Bag
    }
}

operations! {
    /// A call on a bag.
    enum Call;
    Add(value: element "value") = "add" | "insert" | "enqueue" => Nothing, "adds one copy of the value";
    Take = "take" | "remove" | "dequeue" => Value, "removes and returns any value, null only if there is none";
}

impl Call {
    #[inline]
    fn collection_op(&self) -> CollectionOp<Value> {
        match *self {
            Call::Add(value) => CollectionOp::Add(value),
            Call::Take => CollectionOp::Remove,
        }
    }
}

impl Bag {
    /// Applies an operation with a known result to `state`. Returns false if it is not allowed.
    fn apply(state: &mut Copies<Value>, call: &Call, ret: Value) -> bool {
        match (call, ret) {
            (Call::Add(value), Value::TRUE) => {
                state.add(*value);
                true
            }
            (Call::Add(_), _) => false,
            (Call::Take, Value::NIL) => state.is_empty(),
            (Call::Take, value) => state.remove(&value),
        }
    }
}

impl Specification for Bag {
    type State = Copies<Value>;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Copies<Value> {
        Copies::new()
    }

    fn step(&self, state: &Copies<Value>, call: &Call, ret: Option<&Value>, next: &mut Vec<Copies<Value>>) {
        let possible = match ret {
            Some(ret) => vec![*ret],
            None => self.returns(state, call),
        };
        for ret in possible {
            let mut state = state.clone();
            if Bag::apply(&mut state, call, ret) {
                next.push(state);
            }
        }
    }

    fn advance(&self, states: &mut Vec<Copies<Value>>, call: &Call, ret: Option<&Value>) {
        match ret {
            // Distinct states stay distinct, so nothing needs to be merged.
            Some(ret) => states.retain_mut(|state| Bag::apply(state, call, *ret)),
            None => {
                let mut next = Vec::new();
                states.iter().for_each(|it| self.step(it, call, ret, &mut next));
                let mut seen = std::collections::HashSet::new();
                next.retain(|it| seen.insert(it.clone()));
                *states = next;
            }
        }
    }

    fn returns(&self, state: &Copies<Value>, call: &Call) -> Vec<Value> {
        match call {
            Call::Add(_) => vec![Value::TRUE],
            Call::Take if state.is_empty() => vec![Value::NIL],
            Call::Take => state.elements().copied().collect(),
        }
    }

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Value) -> &'r Value {
        self.result_kind_of(call).canonical(ret)
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        call.collection_op().footprint(Capacity::UNBOUNDED, ret)
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Bag)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        call.collection_op().role(ret)
    }

    fn state_bytes(&self, state: &Copies<Value>) -> usize {
        state.bytes()
    }
}

codec!(Bag, name: |_| ENTRY.name.to_owned(), result: |_, call| call.result_kind(), sample: Call::sample, state: |_, values, initial| crate::operation::initial::elements(values, "add", initial));
