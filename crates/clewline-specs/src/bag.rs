//! A bag: whoever takes gets any of the elements.
//!
//! Its `take` has as many outcomes as there are different elements, so this implements [`Specification`]
//! itself. Once it is known which element was taken there is one outcome, found in place.

use clewline_core::{Dice, Footprint, Kind, Misfit, Notation, Role, Specification, Value, Values, Written};

use crate::{
    Capacity, Copies, Entry,
    given::{Answer, Given},
    parameter,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "bag",
    about: "an unordered collection: add, take (any element)",
    operations: &[
        ("add value", "adds one copy of the value (also: insert)"),
        ("take", "removes and answers any value, null only if there is none (also: remove)"),
    ],
    parameter: None,
    build: |parameter| parameter::none(Bag, parameter),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bag;

/// A call on a bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Adds a value.
    Add(Value),
    /// Takes any value, or answers null if there is none.
    Take,
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
        match call {
            Call::Add(value) => Capacity::UNBOUNDED.added(*value, ret),
            Call::Take => Capacity::taken(ret),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Bag)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        match call {
            Call::Add(value) => parameter::adds(*value, ret),
            Call::Take => Some(parameter::takes(ret)),
        }
    }

    fn state_bytes(&self, state: &Copies<Value>) -> usize {
        state.bytes()
    }
}

impl Notation for Bag {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "add" | "insert" => arg.element().map(Call::Add),
            "take" | "remove" => arg.nothing().map(|()| Call::Take),
            _ => Err(Misfit::method(method, "`add`, `take`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        answer(call).read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::Add(value) => ("add", Written::Value(value)),
            Call::Take => ("take", Written::NOTHING),
        }
    }

    fn write_return(&self, call: &Call, ret: &Value) -> Written {
        answer(call).write(*ret)
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    fn sample(&self, dice: &mut Dice) -> Call {
        match dice.method(&["add", "take"]) {
            "add" => Call::Add(dice.value()),
            _ => Call::Take,
        }
    }
}

fn answer(call: &Call) -> Answer {
    match call {
        Call::Add(_) => Answer::Nothing,
        Call::Take => Answer::Value,
    }
}
