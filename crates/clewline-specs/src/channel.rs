//! An unbounded channel that can be closed.
//!
//! Values that were sent before the channel was closed can still be received afterwards. `recv`
//! returns *closed* only when the channel is empty.

use std::collections::VecDeque;

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Deterministic, Elements, Encoded, Footprint, ObjectKind, RawCall,
    Role, Value, Values,
};

use crate::{
    copies::array_bytes,
    entry::{SpecificationEntry, Visitor},
    operation::{RawValue, ResultKind},
    operations, parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "channel",
    about: "a channel that can be closed: send, recv, close",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: false,
    build: |parameter| parameter::without_parameter(Channel, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("channel", Channel);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Channel;

impl Channel {
    /// A channel, initially empty and open.
    #[must_use]
    pub fn new() -> Channel {
        Channel
    }
}

operations! {
    /// A call on a channel.
    enum Call;
    Send(value: element "value") = "send" | "push" => Truth,
        "puts a value at the back; returns false if the channel is closed";
    Recv = "recv" | "try-recv" => Value,
        "removes and returns the value at the front; if there is none, null, or \"closed\" if none will come";
    Close = "close" => Nothing, "closes the channel: nothing can be sent any more";
}

/// The result of a call on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// The value that was received, or null if there is none yet; or whether a value was sent.
    Is(Value),
    /// The channel is empty and closed.
    Closed,
}

clewline_core::from_all_that_make_values!(Return, Return::Is);

/// The values in a channel, and whether it is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    values: VecDeque<Value>,
    is_closed: bool,
}

impl Deterministic for Channel {
    type State = State;
    type Call = Call;
    type Return = Return;

    fn initial(&self) -> State {
        State::default()
    }

    fn apply(&self, state: &mut State, call: &Call) -> Option<Return> {
        Some(match *call {
            Call::Send(value) => {
                if !state.is_closed {
                    state.values.push_back(value);
                }
                Return::Is(Value::bool(!state.is_closed))
            }
            Call::Recv => match state.values.pop_front() {
                Some(value) => Return::Is(value),
                None if state.is_closed => Return::Closed,
                None => Return::Is(Value::NIL),
            },
            Call::Close => {
                state.is_closed = true;
                Return::Is(Value::TRUE)
            }
        })
    }

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Return) -> &'r Return {
        match (call.result_kind(), ret) {
            (ResultKind::Nothing, Return::Is(Value::ABSENT | Value::NIL)) => &Return::Is(Value::TRUE),
            _ => ret,
        }
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    // With fewer values in it, a closed channel is still closed and an empty one still empty.
    fn footprint(&self, call: &Call, ret: Option<&Return>) -> Footprint {
        match (*call, ret) {
            (Call::Send(_), Some(Return::Is(Value::FALSE)))
            | (Call::Recv, Some(Return::Is(Value::NIL) | Return::Closed)) => Footprint::Reads(Elements::None),
            (Call::Send(value), _) | (Call::Recv, Some(&Return::Is(value))) => {
                Footprint::Changes(Elements::One(value.word()))
            }
            // With fewer values in it, it can still be closed.
            (Call::Close, _) => Footprint::Changes(Elements::None),
            (Call::Recv, None) => Footprint::Changes(Elements::Any),
        }
    }

    // A call that finds no value finds the channel empty and open, as initially.
    fn resets(&self, call: &Call, ret: &Return) -> bool {
        matches!((call, ret), (Call::Recv, Return::Is(Value::NIL)))
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Channel)
    }

    fn role(&self, call: &Call, ret: Option<&Return>) -> Option<Role> {
        match (*call, ret) {
            (Call::Send(value), None | Some(Return::Is(Value::TRUE))) => Some(Role::Add(value.word())),
            (Call::Send(value), Some(Return::Is(Value::FALSE))) => Some(Role::Absent(value.word())),
            (Call::Close, None | Some(Return::Is(Value::TRUE))) => Some(Role::Add(ObjectKind::CLOSED)),
            (Call::Recv, None) => Some(Role::RemoveUnknown),
            (Call::Recv, Some(Return::Is(Value::NIL))) => Some(Role::Empty),
            (Call::Recv, Some(Return::Closed)) => Some(Role::Observe(ObjectKind::CLOSED)),
            (Call::Recv, Some(Return::Is(value))) => Some(Role::Remove(value.word())),
            // No state allows these.
            (Call::Send(_) | Call::Close, Some(_)) => None,
        }
    }

    fn state_bytes(&self, state: &State) -> usize {
        size_of_val(state) + array_bytes(state.values.len())
    }
}

/// The result in a file that means *closed*.
const CLOSED: &str = "closed";

fn says_closed(values: &Values, value: Value) -> bool {
    !value.is_absent() && matches!(values.get(value), Datum::Text(CLOSED))
}

impl Codec for Channel {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, CodecError> {
        match Call::read(values, method, arg)? {
            Call::Send(value) if says_closed(values, value) => RawValue::argument(values, method, arg)
                .error("a value other than \"closed\", which is a result"),
            call => Ok(call),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Return, CodecError> {
        if *call == Call::Recv && says_closed(values, ret) {
            return Ok(Return::Closed);
        }
        call.result_kind().read(values, call.name(), ret).map(Return::Is)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Encoded) {
        call.write()
    }

    fn initial_calls(&self, values: &mut Values, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        crate::operation::initial::elements(values, "send", initial)
    }

    fn write_return(&self, call: &Call, ret: &Return) -> Encoded {
        match *ret {
            Return::Is(value) => call.result_kind().write(value),
            Return::Closed => Encoded::Text(CLOSED.into()),
        }
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    fn sample(&self, sampler: &mut CallSampler) -> Call {
        Call::sample(sampler)
    }
}
