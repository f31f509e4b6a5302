//! A double-ended queue, unbounded or with a capacity.

use std::collections::VecDeque;

use clewline_core::{Deterministic, Dice, Footprint, Misfit, Notation, Value, Values, Written};

use crate::{
    Capacity, Entry,
    copies::array_bytes,
    given::{Answer, Given},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "deque",
    about: "a double-ended queue: push-front, push-back, pop-front, pop-back",
    operations: &[
        (
            "push-front value",
            "puts a value at the front; with a capacity, answers false if full (also: push_front)",
        ),
        (
            "push-back value",
            "puts a value at the back; with a capacity, answers false if full (also: push_back)",
        ),
        ("pop-front", "removes and answers the value at the front, null if there is none (also: pop_front)"),
        ("pop-back", "removes and answers the value at the back, null if there is none (also: pop_back)"),
    ],
    parameter: Some("its capacity"),
    build: |parameter| Ok(Box::new(Deque { capacity: Capacity::parse(parameter)? })),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deque {
    /// How many elements fit.
    pub capacity: Capacity,
}

/// A call on a double-ended queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Puts a value at the front.
    PushFront(Value),
    /// Puts a value at the back.
    PushBack(Value),
    /// Takes the value at the front.
    PopFront,
    /// Takes the value at the back.
    PopBack,
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

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        match call {
            Call::PushFront(value) | Call::PushBack(value) => self.capacity.added(*value, ret),
            Call::PopFront | Call::PopBack => Capacity::taken(ret),
        }
    }

    // Who finds nothing finds it empty.
    fn resets(&self, call: &Call, ret: &Value) -> bool {
        matches!(call, Call::PopFront | Call::PopBack) && *ret == Value::NIL
    }

    fn state_bytes(&self, state: &VecDeque<Value>) -> usize {
        size_of_val(state) + array_bytes(state.len())
    }
}

impl Deque {
    fn answer(&self, call: &Call) -> Answer {
        match call {
            Call::PushFront(_) | Call::PushBack(_) => self.capacity.answer(),
            Call::PopFront | Call::PopBack => Answer::Value,
        }
    }
}

impl Notation for Deque {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "push-front" | "push_front" => arg.element().map(Call::PushFront),
            "push-back" | "push_back" => arg.element().map(Call::PushBack),
            "pop-front" | "pop_front" => arg.nothing().map(|()| Call::PopFront),
            "pop-back" | "pop_back" => arg.nothing().map(|()| Call::PopBack),
            _ => Err(Misfit::method(method, "`push-front`, `push-back`, `pop-front`, `pop-back`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        self.answer(call).read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::PushFront(value) => ("push-front", Written::Value(value)),
            Call::PushBack(value) => ("push-back", Written::Value(value)),
            Call::PopFront => ("pop-front", Written::NOTHING),
            Call::PopBack => ("pop-back", Written::NOTHING),
        }
    }

    fn write_return(&self, call: &Call, ret: &Value) -> Written {
        self.answer(call).write(*ret)
    }

    fn name(&self) -> Option<String> {
        Some(self.capacity.after(ENTRY.name))
    }

    fn sample(&self, dice: &mut Dice) -> Call {
        match dice.method(&["push-front", "push-back", "pop-front", "pop-back"]) {
            "push-front" => Call::PushFront(dice.value()),
            "push-back" => Call::PushBack(dice.value()),
            "pop-front" => Call::PopFront,
            _ => Call::PopBack,
        }
    }
}
