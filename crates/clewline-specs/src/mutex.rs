//! A mutex: a lock that someone holds blocks.
//!
//! Who unlocks is not looked at, as a specification does not see processes.

use clewline_core::{Deterministic, Dice, Kind, Misfit, Notation, Role, Value, Values, Written};

use crate::{
    Entry,
    given::{Answer, Given},
    parameter,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "mutex",
    about: "a mutex: lock, unlock; initially free",
    operations: &[
        ("lock", "waits until the mutex is free, and holds it then (also: acquire)"),
        ("unlock", "frees the mutex, which must be held (also: release)"),
    ],
    parameter: None,
    build: |parameter| parameter::none(Mutex, parameter),
};

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutex;

/// A call on a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Holds the mutex; blocks while it is held.
    Lock,
    /// Frees the mutex; not allowed while it is free.
    Unlock,
}

/// Whether somebody holds the mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Nobody does.
    Free,
    /// Somebody does.
    Held,
}

impl Deterministic for Mutex {
    type State = State;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> State {
        State::Free
    }

    fn apply(&self, state: &mut State, call: &Call) -> Option<Value> {
        *state = match (call, *state) {
            (Call::Lock, State::Free) => State::Held,
            (Call::Unlock, State::Held) => State::Free,
            (Call::Lock, State::Held) | (Call::Unlock, State::Free) => return None,
        };
        Some(Value::TRUE)
    }

    // Whoever holds it found it free, as at first.
    fn resets(&self, call: &Call, ret: &Value) -> bool {
        matches!(call, Call::Lock) && *ret == Value::TRUE
    }

    // A set of one element: the mutex is held, or it is not.
    fn kind(&self) -> Option<Kind> {
        Some(Kind::Set)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        // A refusal is never allowed.
        ret.is_none_or(|it| *it == Value::TRUE).then_some(match call {
            Call::Lock => Role::Add(0),
            Call::Unlock => Role::Remove(0),
        })
    }
}

impl Notation for Mutex {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "lock" | "acquire" => arg.nothing().map(|()| Call::Lock),
            "unlock" | "release" => arg.nothing().map(|()| Call::Unlock),
            _ => Err(Misfit::method(method, "`lock`, `unlock`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        Answer::Nothing.read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match call {
            Call::Lock => ("lock", Written::NOTHING),
            Call::Unlock => ("unlock", Written::NOTHING),
        }
    }

    fn write_return(&self, _call: &Call, ret: &Value) -> Written {
        Answer::Nothing.write(*ret)
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    // Whatever the mix: with more locks than unlocks, every process would wait in one soon.
    fn sample(&self, dice: &mut Dice) -> Call {
        if dice.turn().is_multiple_of(2) { Call::Lock } else { Call::Unlock }
    }
}
