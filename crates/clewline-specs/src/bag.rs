//! A bag: whoever takes gets any of the elements.
//!
//! Its `take` has as many outcomes as there are different elements, so this implements [`Specification`]
//! itself. Once it is known which element was taken there is one outcome, found in place.

use clewline_core::{Footprint, ObjectKind, Role, Specification, Value};

use crate::{
    copies::Copies,
    entry::{Entry, Visitor},
    notation, operations,
    parameter::{self, Capacity},
    relaxed::Deed,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "bag",
    about: "an unordered collection: add, take (any element)",
    operations: &Call::OPERATIONS,
    parameter: None,
    build: |parameter| parameter::none(Bag, parameter),
};

/// Hands the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("bag", Bag);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bag;

operations! {
    /// A call on a bag.
    enum Call;
    Add(value: element "value") = "add" | "insert" => Nothing, "adds one copy of the value";
    Take = "take" | "remove" => Value, "removes and answers any value, null only if there is none";
}

impl Call {
    #[inline]
    fn deed(&self) -> Deed<Value> {
        match *self {
            Call::Add(value) => Deed::Add(value),
            Call::Take => Deed::Remove,
        }
    }
}

impl Bag {
    /// Changes `state` as an operation does whose answer is known; false if it is not allowed.
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
            // Different states stay different, so nothing needs to be merged.
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

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        call.deed().footprint(Capacity::UNBOUNDED, ret)
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Bag)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        call.deed().role(ret)
    }

    fn state_bytes(&self, state: &Copies<Value>) -> usize {
        state.bytes()
    }
}

notation!(Bag, name: |_| ENTRY.name.to_owned(), answer: |_, call| call.answer(), sample: Call::sample);
