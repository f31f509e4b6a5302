//! A stack, unbounded or with a capacity.

use clewline_core::{Deterministic, Dice, Footprint, Kind, Misfit, Notation, Role, Value, Values, Written};

use crate::{
    Capacity, Entry,
    copies::array_bytes,
    given::{Answer, Given},
    parameter::{self, looked},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "stack",
    about: "a stack: push, pop, peek",
    operations: &[
        ("push value", "puts a value on top; with a capacity, answers false if full"),
        ("pop", "removes and answers the value on top, null if there is none"),
        ("peek", "answers the value on top, null if there is none (also: top)"),
    ],
    parameter: Some("its capacity"),
    build: |parameter| Ok(Box::new(Stack { capacity: Capacity::parse(parameter)? })),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stack {
    /// How many elements fit.
    pub capacity: Capacity,
}

/// A call on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Puts a value on top.
    Push(Value),
    /// Takes the value on top.
    Pop,
    /// Answers the value on top.
    Peek,
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

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        match call {
            Call::Push(value) => self.capacity.added(*value, ret),
            Call::Pop => Capacity::taken(ret),
            Call::Peek => looked(ret),
        }
    }

    // Also with a limit, where no role says so: who finds nothing finds it empty.
    fn resets(&self, call: &Call, ret: &Value) -> bool {
        matches!(call, Call::Pop | Call::Peek) && *ret == Value::NIL
    }

    fn kind(&self) -> Option<Kind> {
        self.capacity.is_unbounded().then_some(Kind::Stack)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        match call {
            Call::Push(value) => parameter::adds(*value, ret),
            Call::Pop => Some(parameter::takes(ret)),
            Call::Peek => Some(parameter::looks(ret)),
        }
    }

    fn state_bytes(&self, state: &Vec<Value>) -> usize {
        size_of_val(state) + array_bytes(state.len())
    }
}

impl Stack {
    fn answer(&self, call: &Call) -> Answer {
        match call {
            Call::Push(_) => self.capacity.answer(),
            Call::Pop | Call::Peek => Answer::Value,
        }
    }
}

impl Notation for Stack {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "push" => arg.element().map(Call::Push),
            "pop" => arg.nothing().map(|()| Call::Pop),
            "peek" | "top" => arg.nothing().map(|()| Call::Peek),
            _ => Err(Misfit::method(method, "`push`, `pop`, `peek`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        self.answer(call).read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::Push(value) => ("push", Written::Value(value)),
            Call::Pop => ("pop", Written::NOTHING),
            Call::Peek => ("peek", Written::NOTHING),
        }
    }

    fn write_return(&self, call: &Call, ret: &Value) -> Written {
        self.answer(call).write(*ret)
    }

    fn name(&self) -> Option<String> {
        Some(self.capacity.after(ENTRY.name))
    }

    fn sample(&self, dice: &mut Dice) -> Call {
        match dice.method(&["push", "pop", "peek"]) {
            "push" => Call::Push(dice.value()),
            "pop" => Call::Pop,
            _ => Call::Peek,
        }
    }
}
