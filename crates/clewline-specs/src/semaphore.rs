//! A counting semaphore: acquiring blocks while there are no permits.
//!
//! Releasing is always allowed, also without a previous acquire: it adds a permit.

use clewline_core::{Deterministic, Value};

use crate::{
    codec,
    entry::{SpecificationEntry, Visitor},
    operations,
    parameter::{self, parse_number},
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "semaphore",
    about: "a counting semaphore: acquire, release; initially one permit",
    operations: &Call::OPERATIONS,
    parameter: Some("the number of permits at first"),
    is_keyed: false,
    build: |parameter| {
        let permits = parameter.map(|it| parse_number(it, "a number of permits", 0)).transpose()?;
        parameter::boxed(permits.map_or(Semaphore::default(), |permits| Semaphore { permits }))
    },
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("semaphore", Semaphore::new());
    visitor.visit("semaphore:2", Semaphore::starting_at(2));
}

/// The specification.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    /// The initial number of permits.
    pub permits: usize,
}

impl Semaphore {
    /// A semaphore, initially with one permit.
    #[must_use]
    pub fn new() -> Semaphore {
        Semaphore::default()
    }

    /// A semaphore, initially with this number of permits.
    #[must_use]
    pub fn starting_at(permits: usize) -> Semaphore {
        Semaphore { permits }
    }
}

impl Default for Semaphore {
    fn default() -> Self {
        Semaphore { permits: 1 }
    }
}

operations! {
    /// A call on a semaphore.
    enum Call;
    Acquire = "acquire" => Nothing, "waits until there is a permit, and takes it";
    Release = "release" => Nothing, "adds a permit, whichever process acquired one before";
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

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Value) -> &'r Value {
        self.result_kind_of(call).canonical(ret)
    }
}

// Ignores the mix: with more acquires than releases, every process would soon block. A release
// comes first, so that it also works without initial permits.
codec!(
    Semaphore,
    name: |it| format!("{}:{}", ENTRY.name, it.permits),
    result: |_, call| call.result_kind(),
    sample: |sampler| if sampler.turn().is_multiple_of(2) { Call::Release } else { Call::Acquire },
    state: |it, values, initial| {
        let permits = crate::operation::initial::integer(values, initial)?;
        let more = permits.saturating_sub(it.permits as i64);
        let method = if more < 0 { "acquire" } else { "release" };
        Ok(crate::operation::initial::times(values, method, more.unsigned_abs() as usize))
    }
);
