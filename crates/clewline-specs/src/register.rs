//! A register: a read answers the value written last.

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
    name: "register",
    about: "a register: read, write; initially null",
    operations: &[
        ("read", "answers the value that was written last, null if there is none (also: get)"),
        ("write value", "replaces the value (also: set)"),
    ],
    parameter: None,
    build: |parameter| parameter::none(Register, parameter),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register;

/// A call on a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Answers the value.
    Read,
    /// Replaces the value.
    Write(Value),
}

impl Deterministic for Register {
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
        }
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        match (call, ret) {
            (Call::Read, None) => Footprint::Reads(Elements::None),
            (Call::Read, Some(value)) => Footprint::Reads(Elements::One(value.word())),
            (Call::Write(value), _) => Footprint::Changes(Elements::One(value.word())),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Register { initial: Value::NIL.word() })
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        Some(match (call, ret) {
            (Call::Write(value), Some(&Value::TRUE) | None) => Role::Add(value.word()),
            // A refusal is never allowed.
            (Call::Write(_), Some(_)) => return None,
            (Call::Read, Some(value)) => Role::See(value.word()),
            (Call::Read, None) => Role::Nothing,
        })
    }
}

impl Notation for Register {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "read" | "get" => arg.nothing().map(|()| Call::Read),
            "write" | "set" => arg.anything().map(Call::Write),
            _ => Err(Misfit::method(method, "`read`, `write`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        answer(call).read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::Read => ("read", Written::NOTHING),
            Call::Write(value) => ("write", Written::Value(value)),
        }
    }

    fn write_return(&self, call: &Call, ret: &Value) -> Written {
        answer(call).write(*ret)
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    fn sample(&self, dice: &mut Dice) -> Call {
        match dice.method(&["read", "write"]) {
            "read" => Call::Read,
            _ => Call::Write(dice.value()),
        }
    }
}

fn answer(call: &Call) -> Answer {
    match call {
        Call::Read => Answer::Value,
        Call::Write(_) => Answer::Nothing,
    }
}
