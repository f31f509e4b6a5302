//! A FIFO queue, unbounded or with a capacity.

use std::collections::VecDeque;

use clewline_core::{Deterministic, Dice, Footprint, Kind, Misfit, Notation, Role, Value, Values, Written};

use crate::{
    Capacity, Entry,
    copies::array_bytes,
    given::{Answer, Given},
    parameter::{self, looked},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "queue",
    about: "a FIFO queue: enq, deq, peek",
    operations: &[
        (
            "enq value",
            "puts a value at the back; with a capacity, answers false if full (also: enqueue, offer)",
        ),
        ("deq", "removes and answers the value at the front, null if there is none (also: dequeue, poll)"),
        ("peek", "answers the value at the front, null if there is none"),
    ],
    parameter: Some("its capacity"),
    build: |parameter| Ok(Box::new(Queue { capacity: Capacity::parse(parameter)? })),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    /// How many elements fit.
    pub capacity: Capacity,
}

/// A call on a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Puts a value at the back.
    Enq(Value),
    /// Takes the value at the front.
    Deq,
    /// Answers the value at the front.
    Peek,
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

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        match call {
            Call::Enq(value) => self.capacity.added(*value, ret),
            Call::Deq => Capacity::taken(ret),
            Call::Peek => looked(ret),
        }
    }

    // Also with a limit, where no role says so: who finds nothing finds it empty.
    fn resets(&self, call: &Call, ret: &Value) -> bool {
        matches!(call, Call::Deq | Call::Peek) && *ret == Value::NIL
    }

    fn kind(&self) -> Option<Kind> {
        self.capacity.is_unbounded().then_some(Kind::Queue)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        match call {
            Call::Enq(value) => parameter::adds(*value, ret),
            Call::Deq => Some(parameter::takes(ret)),
            Call::Peek => Some(parameter::looks(ret)),
        }
    }

    fn state_bytes(&self, state: &VecDeque<Value>) -> usize {
        size_of_val(state) + array_bytes(state.len())
    }
}

impl Queue {
    fn answer(&self, call: &Call) -> Answer {
        match call {
            Call::Enq(_) => self.capacity.answer(),
            Call::Deq | Call::Peek => Answer::Value,
        }
    }
}

impl Notation for Queue {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "enq" | "enqueue" | "offer" => arg.element().map(Call::Enq),
            "deq" | "dequeue" | "poll" => arg.nothing().map(|()| Call::Deq),
            "peek" => arg.nothing().map(|()| Call::Peek),
            _ => Err(Misfit::method(method, "`enq`, `deq`, `peek`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        self.answer(call).read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::Enq(value) => ("enq", Written::Value(value)),
            Call::Deq => ("deq", Written::NOTHING),
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
        match dice.method(&["enq", "deq", "peek"]) {
            "enq" => Call::Enq(dice.value()),
            "deq" => Call::Deq,
            _ => Call::Peek,
        }
    }
}
