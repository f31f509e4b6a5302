//! A multiset, judged element by element.

use clewline_core::{
    Deterministic, Dice, Elements, Footprint, Kind, Misfit, Notation, Role, Value, Values, Written,
};

use crate::{
    Copies, Entry,
    given::{Answer, Given},
    parameter,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "multiset",
    about: "a multiset, each element judged by itself: add, remove, contains",
    operations: &[
        ("add value", "adds one copy of the value (also: insert)"),
        ("remove value", "removes one copy; answers whether there was one (also: delete)"),
        ("contains value", "answers whether there is a copy"),
    ],
    parameter: None,
    build: |parameter| parameter::none(Multiset, parameter),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Multiset;

/// A call on a multiset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Adds one copy of a value.
    Add(Value),
    /// Removes one copy of a value; answers whether there was one.
    Remove(Value),
    /// Answers whether there is a copy of a value.
    Contains(Value),
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

    fn part(&self, call: &Call) -> Option<u64> {
        let (Call::Add(value) | Call::Remove(value) | Call::Contains(value)) = call;
        Some(value.word())
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        let (Call::Add(value) | Call::Remove(value) | Call::Contains(value)) = call;
        let element = Elements::One(value.word());
        match call {
            Call::Contains(_) => Footprint::Reads(element),
            Call::Remove(_) if ret == Some(&Value::FALSE) => Footprint::Reads(element),
            Call::Add(_) | Call::Remove(_) => Footprint::Changes(element),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Multiset)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        let truth = ret.map(|it| *it == Value::TRUE);
        Some(match (call, truth) {
            (Call::Add(value), Some(true) | None) => Role::Add(value.word()),
            // A refusal is never allowed.
            (Call::Add(_), Some(false)) => return None,
            (Call::Remove(value), Some(true) | None) => Role::Remove(value.word()),
            (Call::Contains(value), Some(true)) => Role::See(value.word()),
            (Call::Contains(value) | Call::Remove(value), Some(false)) => Role::Miss(value.word()),
            (Call::Contains(_), None) => Role::Nothing,
        })
    }

    fn state_bytes(&self, state: &Copies<Value>) -> usize {
        state.bytes()
    }
}

impl Notation for Multiset {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "add" | "insert" => arg.element().map(Call::Add),
            "remove" | "delete" => arg.element().map(Call::Remove),
            "contains" => arg.element().map(Call::Contains),
            _ => Err(Misfit::method(method, "`add`, `remove`, `contains`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        answer(call).read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::Add(value) => ("add", Written::Value(value)),
            Call::Remove(value) => ("remove", Written::Value(value)),
            Call::Contains(value) => ("contains", Written::Value(value)),
        }
    }

    fn write_return(&self, call: &Call, ret: &Value) -> Written {
        answer(call).write(*ret)
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    fn sample(&self, dice: &mut Dice) -> Call {
        match dice.method(&["add", "remove", "contains"]) {
            "add" => Call::Add(dice.value()),
            "remove" => Call::Remove(dice.old_value()),
            _ => Call::Contains(dice.old_value()),
        }
    }
}

fn answer(call: &Call) -> Answer {
    match call {
        Call::Add(_) => Answer::Nothing,
        Call::Remove(_) | Call::Contains(_) => Answer::Truth,
    }
}
