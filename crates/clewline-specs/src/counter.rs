//! A 64-bit counter, which wraps around as machine integers do.

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Deterministic, Elements, Encoded, Footprint, ObjectKind, RawCall,
    Role, Value, Values,
};

use crate::{
    entry::{SpecificationEntry, Visitor},
    operations, parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "counter",
    about: "a counter: inc, dec, add, read; initially 0",
    operations: &Call::OPERATIONS,
    parameter: Some("its initial value"),
    is_keyed: false,
    build: |parameter| {
        let expected = "expected an initial value after the colon, an integer of 64 bits, found";
        let initial = parameter.map(|it| it.parse().map_err(|_| format!("{expected} `{it}`"))).transpose()?;
        parameter::boxed(Counter { initial: initial.unwrap_or(0) })
    },
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("counter", Counter::new());
    visitor.visit("counter:3", Counter::starting_at(3));
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter {
    initial: i64,
}

impl Counter {
    /// A counter, initially 0.
    #[must_use]
    pub fn new() -> Counter {
        Counter::default()
    }

    /// A counter, initially `initial`.
    #[must_use]
    pub fn starting_at(initial: i64) -> Counter {
        Counter { initial }
    }
}

operations! {
    /// A call on a counter.
    enum Call;
    Inc = "inc" | "increment" => Nothing, "adds 1";
    Dec = "dec" | "decrement" => Nothing, "subtracts 1";
    Add(int: integer "n") = "add" => Nothing, "adds n, which may be negative";
    Read = "read" | "get" => Integer, "returns the sum";
}

/// The result of a call on a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// The sum was changed; false (refused) is never allowed.
    Done(bool),
    /// The sum.
    Sum(i64),
}

impl From<()> for Return {
    /// The sum was changed.
    fn from((): ()) -> Return {
        Return::Done(true)
    }
}

impl From<i64> for Return {
    /// The sum.
    fn from(sum: i64) -> Return {
        Return::Sum(sum)
    }
}

impl Deterministic for Counter {
    type State = i64;
    type Call = Call;
    type Return = Return;

    fn initial(&self) -> i64 {
        self.initial
    }

    fn apply(&self, state: &mut i64, call: &Call) -> Option<Return> {
        let change = match *call {
            Call::Inc => 1,
            Call::Dec => -1,
            Call::Add(number) => number,
            Call::Read => return Some(Return::Sum(*state)),
        };
        *state = state.wrapping_add(change);
        Some(Return::Done(true))
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Return>) -> Footprint {
        match call {
            Call::Inc | Call::Dec | Call::Add(_) => Footprint::Changes(Elements::Any),
            Call::Read => Footprint::Reads(if ret.is_none() { Elements::None } else { Elements::Any }),
        }
    }

    // The result determines the sum.
    fn determines_state(&self, _call: &Call, ret: &Return) -> Option<i64> {
        match *ret {
            Return::Sum(sum) => Some(sum),
            Return::Done(_) => None,
        }
    }

    fn kind(&self) -> Option<ObjectKind> {
        // Monitors know counters that start at 0.
        (self.initial == 0).then_some(ObjectKind::Counter)
    }

    fn role(&self, call: &Call, ret: Option<&Return>) -> Option<Role> {
        Some(match (call, ret) {
            (Call::Inc, Some(Return::Done(true)) | None) => Role::Add(1),
            (Call::Dec, Some(Return::Done(true)) | None) => Role::Add((-1_i64).cast_unsigned()),
            (Call::Add(number), Some(Return::Done(true)) | None) => Role::Add(number.cast_unsigned()),
            (Call::Read, Some(Return::Sum(sum))) => Role::Observe(sum.cast_unsigned()),
            (Call::Read, None) => Role::NoEffect,
            // A refused addition is never allowed.
            (Call::Inc | Call::Dec | Call::Add(_) | Call::Read, Some(Return::Done(_) | Return::Sum(_))) => {
                return None;
            }
        })
    }
}

impl Codec for Counter {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, CodecError> {
        Call::read(values, method, arg)
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Return, CodecError> {
        let ret = call.result_kind().read(values, call.name(), ret)?;
        Ok(match values.get(ret) {
            Datum::Int(sum) => Return::Sum(sum),
            _ => Return::Done(ret == Value::TRUE),
        })
    }

    fn write_call(&self, call: &Call) -> (&'static str, Encoded) {
        call.write()
    }

    fn initial_calls(&self, values: &mut Values, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        let sum = crate::operation::initial::integer(values, initial)?;
        let more = values.int(sum.wrapping_sub(self.initial));
        crate::operation::initial::value(values, "add", more)
    }

    fn write_return(&self, call: &Call, ret: &Return) -> Encoded {
        match *ret {
            Return::Done(done) => call.result_kind().write(Value::bool(done)),
            Return::Sum(sum) => Encoded::Int(sum),
        }
    }

    fn name(&self) -> Option<String> {
        Some(match self.initial {
            0 => ENTRY.name.to_owned(),
            initial => format!("{}:{initial}", ENTRY.name),
        })
    }

    fn sample(&self, sampler: &mut CallSampler) -> Call {
        Call::sample(sampler)
    }
}
