//! A set, judged element by element.

use std::collections::BTreeSet;

use clewline_core::{
    Act, Deterministic, Dice, Elements, Footprint, Kind, Misfit, Notation, Role, Value, Values, Written,
};

use crate::{
    Entry,
    copies::tree_bytes,
    given::{Answer, Given},
    parameter,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "set",
    about: "a set, each element judged by itself: add, remove, contains",
    operations: &[
        ("add value", "answers whether the value was not there before (also: insert)"),
        ("remove value", "answers whether the value was there (also: delete)"),
        ("contains value", "answers whether the value is there"),
    ],
    parameter: None,
    build: |parameter| parameter::none(Set, parameter),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Set;

/// A call on a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Adds a value; answers whether it is new.
    Add(Value),
    /// Removes a value; answers whether it was there.
    Remove(Value),
    /// Answers whether a value is there.
    Contains(Value),
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
            Call::Add(_) | Call::Remove(_) if ret == Some(&Value::FALSE) => Footprint::Reads(element),
            Call::Add(_) | Call::Remove(_) => Footprint::Changes(element),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Set)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        // By method, and by whether it is pending or answered false or true: a table, because nobody can predict which.
        const ACTS: [[Act; 3]; 3] = [
            [Act::Add, Act::See, Act::Add],
            [Act::Remove, Act::Miss, Act::Remove],
            [Act::Nothing, Act::Miss, Act::See],
        ];
        let (method, value) = match call {
            Call::Add(value) => (0, value),
            Call::Remove(value) => (1, value),
            Call::Contains(value) => (2, value),
        };
        let answer = ret.map_or(0, |it| 1 + usize::from(*it == Value::TRUE));
        Some(ACTS[method][answer].on(value.word()))
    }

    fn state_bytes(&self, state: &BTreeSet<Value>) -> usize {
        size_of_val(state) + tree_bytes::<Value>(state.len())
    }
}

impl Notation for Set {
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
        Answer::Truth.read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::Add(value) => ("add", Written::Value(value)),
            Call::Remove(value) => ("remove", Written::Value(value)),
            Call::Contains(value) => ("contains", Written::Value(value)),
        }
    }

    fn write_return(&self, _call: &Call, ret: &Value) -> Written {
        Answer::Truth.write(*ret)
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
