//! A counting semaphore: acquiring blocks while there are no permits.
//!
//! Releasing is always allowed, also without having acquired before: it makes a permit.

use clewline_core::{Deterministic, Dice, Misfit, Notation, Value, Values, Written};

use crate::{
    Entry,
    given::{Answer, Given},
    parameter::number,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "semaphore",
    about: "a counting semaphore: acquire, release; initially one permit",
    operations: &[
        ("acquire", "waits until there is a permit, and takes it"),
        ("release", "makes a permit, whoever may have acquired one before"),
    ],
    parameter: Some("the number of permits at first"),
    build: |parameter| {
        let permits = parameter.map(|it| number(it, "a number of permits", 0)).transpose()?;
        Ok(Box::new(permits.map_or(Semaphore::default(), |permits| Semaphore { permits })))
    },
};

/// The specification.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    /// How many permits there are at first.
    pub permits: usize,
}

impl Default for Semaphore {
    fn default() -> Self {
        Semaphore { permits: 1 }
    }
}

/// A call on a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Takes a permit; blocks while there is none.
    Acquire,
    /// Makes a permit.
    Release,
}

impl Deterministic for Semaphore {
    type State = usize;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> usize {
        self.permits
    }

    fn apply(&self, state: &mut usize, call: &Call) -> Option<Value> {
        *state = match call {
            Call::Acquire => state.checked_sub(1)?,
            Call::Release => state.checked_add(1)?,
        };
        Some(Value::TRUE)
    }
}

impl Notation for Semaphore {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, Misfit> {
        let arg = Given::argument(values, method, arg);
        match method {
            "acquire" => arg.nothing().map(|()| Call::Acquire),
            "release" => arg.nothing().map(|()| Call::Release),
            _ => Err(Misfit::method(method, "`acquire`, `release`")),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Value, Misfit> {
        Answer::Nothing.read(values, self.write_call(call).0, ret)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Written) {
        match call {
            Call::Acquire => ("acquire", Written::NOTHING),
            Call::Release => ("release", Written::NOTHING),
        }
    }

    fn write_return(&self, _call: &Call, ret: &Value) -> Written {
        Answer::Nothing.write(*ret)
    }

    fn name(&self) -> Option<String> {
        Some(format!("{}:{}", ENTRY.name, self.permits))
    }

    // Whatever the mix: with more acquires than releases, every process would wait in one soon. A release
    // comes first, so that it works without permits too.
    fn sample(&self, dice: &mut Dice) -> Call {
        if dice.turn().is_multiple_of(2) { Call::Release } else { Call::Acquire }
    }
}
