//! A priority queue of integers: the greatest leaves first, or the least.

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
    name: "priority-queue",
    about: "a priority queue of integers, greatest first: add, poll, peek",
    operations: &[
        ("add n", "adds an integer of 64 bits (also: insert, offer)"),
        ("poll", "removes and answers the greatest integer, null if there is none"),
        ("peek", "answers the greatest integer, null if there is none"),
    ],
    parameter: None,
    build: |parameter| parameter::none(PriorityQueue { first: First::Greatest }, parameter),
};

/// The specification.
#[derive(Clone, Copy, Debug)]
pub struct PriorityQueue {
    /// Which integer leaves first.
    pub first: First,
}

/// Which end of the order leaves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The greatest integer.
    Greatest,
    /// The least integer.
    Least,
}

/// A call on a priority queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Adds an integer.
    Add(i64),
    /// Takes the first integer in the order.
    Poll,
    /// Answers the first integer in the order.
    Peek,
}

/// What a priority queue answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// An integer was added; false, a refusal, is never allowed.
    Done(bool),
    /// The first integer in the order, if there is any.
    First(Option<i64>),
}

impl Deterministic for PriorityQueue {
    type State = Copies<i64>;
    type Call = Call;
    type Return = Return;

    fn initial(&self) -> Copies<i64> {
        Copies::new()
    }

    fn apply(&self, state: &mut Copies<i64>, call: &Call) -> Option<Return> {
        let first = match self.first {
            First::Greatest => state.elements().next_back().copied(),
            First::Least => state.elements().next().copied(),
        };
        match *call {
            Call::Add(int) => {
                state.add(int);
                Some(Return::Done(true))
            }
            Call::Poll => {
                first.map(|it| state.remove(&it));
                Some(Return::First(first))
            }
            Call::Peek => Some(Return::First(first)),
        }
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Return>) -> Footprint {
        match (call, ret) {
            // Empty stays empty with less in it.
            (Call::Poll, Some(Return::First(None))) => Footprint::Reads(Elements::None),
            (Call::Peek, Some(Return::First(Some(int)))) => {
                Footprint::Reads(Elements::One(int.cast_unsigned()))
            }
            (Call::Peek, _) => Footprint::Reads(Elements::None),
            (Call::Add(int), _) | (Call::Poll, Some(Return::First(Some(int)))) => {
                Footprint::Changes(Elements::One(int.cast_unsigned()))
            }
            (Call::Poll, None | Some(Return::Done(_))) => Footprint::Changes(Elements::Any),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::PriorityQueue)
    }

    fn role(&self, call: &Call, ret: Option<&Return>) -> Option<Role> {
        // The other way round, the least is the greatest.
        let element = |int: i64| match self.first {
            First::Greatest => int.cast_unsigned(),
            First::Least => (!int).cast_unsigned(),
        };
        Some(match (call, ret) {
            (Call::Add(int), Some(Return::Done(true)) | None) => Role::Add(element(*int)),
            (Call::Poll, Some(Return::First(Some(int)))) => Role::Remove(element(*int)),
            (Call::Peek, Some(Return::First(Some(int)))) => Role::See(element(*int)),
            (Call::Poll | Call::Peek, Some(Return::First(None))) => Role::Empty,
            (Call::Poll, None) => Role::Take,
            (Call::Peek, None) => Role::Nothing,
            (Call::Add(_) | Call::Poll | Call::Peek, Some(Return::Done(_) | Return::First(_))) => {
                return None;
            }
        })
    }

    fn state_bytes(&self, state: &Copies<i64>) -> usize {
        state.bytes()
    }
}

impl Notation for PriorityQueue {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "add" | "insert" | "offer" => arg.integer().map(Call::Add),
            "poll" => arg.nothing().map(|()| Call::Poll),
            "peek" => arg.nothing().map(|()| Call::Peek),
            _ => Err(Misfit::method(method, "`add`, `poll`, `peek`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Return, Misfit> {
        let (method, _) = self.write_call(call);
        match call {
            Call::Add(_) => {
                Answer::Nothing.read(values, method, ret).map(|it| Return::Done(it == Value::TRUE))
            }
            Call::Poll | Call::Peek => {
                Given::answer(values, method, ret).integer_or_null().map(Return::First)
            }
        }
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match *call {
            Call::Add(int) => ("add", Written::Int(int)),
            Call::Poll => ("poll", Written::NOTHING),
            Call::Peek => ("peek", Written::NOTHING),
        }
    }

    fn write_return(&self, _call: &Call, ret: &Return) -> Written {
        match *ret {
            Return::Done(done) => Answer::Nothing.write(Value::bool(done)),
            Return::First(first) => first.map_or(Written::Value(Value::NIL), Written::Int),
        }
    }

    fn name(&self) -> Option<String> {
        let entry = match self.first {
            First::Greatest => ENTRY,
            First::Least => crate::min_priority_queue::ENTRY,
        };
        Some(entry.name.to_owned())
    }

    fn sample(&self, dice: &mut Dice) -> Call {
        match dice.method(&["add", "poll", "peek"]) {
            "add" => Call::Add(dice.int()),
            "poll" => Call::Poll,
            _ => Call::Peek,
        }
    }
}
