//! A register with compare-and-swap.

use clewline_core::{
    Deterministic, Dice, Elements, Footprint, Kind, Misfit, Notation, Role, Value, Values, Written,
};

use crate::{
    Entry,
    given::{Answer, Given},
    parameter,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "cas-register",
    about: "a register with compare-and-swap: read, write, cas; initially null",
    operations: &[
        ("read", "answers the value that was written last, null if there is none (also: get)"),
        ("write value", "replaces the value (also: set)"),
        ("cas [old, new]", "replaces the value by new if it is old; answers whether it was"),
    ],
    parameter: None,
    build: |parameter| parameter::none(CasRegister, parameter),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct CasRegister;

/// A call on a register with compare-and-swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Answers the value.
    Read,
    /// Replaces the value.
    Write(Value),
    /// Replaces the first value by the second; answers whether the first was there.
    Cas(Value, Value),
}

impl Deterministic for CasRegister {
    type State = Value;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Value {
        Value::NIL
    }

    fn apply(&self, state: &mut Value, call: &Call) -> Option<Value> {
        match *call {
            Call::Read => Some(*state),
            Call::Write(value) => {
                *state = value;
                Some(Value::TRUE)
            }
            Call::Cas(old, new) => {
                let swaps = *state == old;
                if swaps {
                    *state = new;
                }
                Some(Value::bool(swaps))
            }
        }
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    // Null, the initial value, is an element like any other. Whatever put the expected value there touches
    // it too, so after leaving out linked elements the rest finds the values that it found before.
    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        match (call, ret) {
            (Call::Read, None) => Footprint::Reads(Elements::None),
            (Call::Read, Some(value)) => Footprint::Reads(Elements::One(value.word())),
            (Call::Write(value), _) => Footprint::Changes(Elements::One(value.word())),
            // It found some value or other that it did not expect.
            (Call::Cas(..), Some(&Value::FALSE)) => Footprint::Reads(Elements::Any),
            (Call::Cas(old, new), _) => Footprint::Changes(Elements::Two(old.word(), new.word())),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Register { initial: Value::NIL.word() })
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        Some(match (call, ret) {
            (Call::Write(value), Some(&Value::TRUE) | None) => Role::Add(value.word()),
            (Call::Read, Some(value)) => Role::See(value.word()),
            (Call::Read, None) => Role::Nothing,
            (Call::Cas(old, new), Some(&Value::TRUE) | None) => Role::Replace(old.word(), new.word()),
            (Call::Cas(old, _), Some(&Value::FALSE)) => Role::Miss(old.word()),
            (Call::Write(_) | Call::Cas(..), Some(_)) => return None,
        })
    }
}

impl Notation for CasRegister {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "read" | "get" => arg.nothing().map(|()| Call::Read),
            "write" | "set" => arg.anything().map(Call::Write),
            "cas" => arg.list("[old, new]").map(|[old, new]| Call::Cas(old, new)),
            _ => Err(Misfit::method(method, "`read`, `write`, `cas`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        answer(call).read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::Read => ("read", Written::NOTHING),
            Call::Write(value) => ("write", Written::Value(value)),
            Call::Cas(old, new) => ("cas", Written::pair(old, new)),
        }
    }

    fn write_return(&self, call: &Call, ret: &Value) -> Written {
        answer(call).write(*ret)
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    fn sample(&self, dice: &mut Dice) -> Call {
        match dice.method(&["read", "write", "cas"]) {
            "read" => Call::Read,
            "write" => Call::Write(dice.value()),
            _ => Call::Cas(dice.old_value(), dice.value()),
        }
    }
}

fn answer(call: &Call) -> Answer {
    match call {
        Call::Read => Answer::Value,
        Call::Write(_) => Answer::Nothing,
        Call::Cas(..) => Answer::Truth,
    }
}
