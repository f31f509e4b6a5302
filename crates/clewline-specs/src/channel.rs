//! An unbounded channel that can be closed.
//!
//! What was sent before it was closed can still be received afterwards. A receiver is told that the channel is closed
//! only when nothing is left in it.

use std::collections::VecDeque;

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Deterministic, Elements, Encoded, Footprint, Value, Values,
};

use crate::{
    copies::array_bytes,
    entry::{Entry, Visitor},
    operation::Given,
    operations, parameter,
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "channel",
    about: "a channel that can be closed: send, recv, close",
    operations: &Call::OPERATIONS,
    parameter: None,
    build: |parameter| parameter::none(Channel, parameter),
};

/// Hands the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("channel", Channel);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Channel;

operations! {
    /// A call on a channel.
    enum Call;
    Send(value: element "value") = "send" | "push" => Truth,
        "puts a value at the back; answers false if the channel is closed";
    Recv = "recv" | "try-recv" => Value,
        "removes and answers the value at the front; if there is none, null, or \"closed\" if none will come";
    Close = "close" => Nothing, "closes the channel: nothing can be sent any more";
}

/// What a call answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// A value that was received, or null if there is none yet; whether a value was sent.
    Is(Value),
    /// Nothing is left, and nothing will come.
    Closed,
}

/// What is in a channel, and whether more can come.
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

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    // What is closed stays so with less in it, and what is empty is.
    fn footprint(&self, call: &Call, ret: Option<&Return>) -> Footprint {
        match (*call, ret) {
            (Call::Send(_), Some(Return::Is(Value::FALSE)))
            | (Call::Recv, Some(Return::Is(Value::NIL) | Return::Closed)) => Footprint::Reads(Elements::None),
            (Call::Send(value), _) | (Call::Recv, Some(&Return::Is(value))) => {
                Footprint::Changes(Elements::One(value.word()))
            }
            // With less in it, it can be closed as well.
            (Call::Close, _) => Footprint::Changes(Elements::None),
            (Call::Recv, None) => Footprint::Changes(Elements::Any),
        }
    }

    // Who finds nothing finds it empty and open, as at first.
    fn resets(&self, call: &Call, ret: &Return) -> bool {
        matches!((call, ret), (Call::Recv, Return::Is(Value::NIL)))
    }

    fn state_bytes(&self, state: &State) -> usize {
        size_of_val(state) + array_bytes(state.values.len())
    }
}

/// How a file says that a channel is closed.
const CLOSED: &str = "closed";

fn says_closed(values: &Values, value: Value) -> bool {
    !value.is_absent() && matches!(values.get(value), Datum::Text(CLOSED))
}

impl Codec for Channel {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, CodecError> {
        match Call::read(values, method, arg)? {
            Call::Send(value) if says_closed(values, value) => Given::argument(values, method, arg)
                .error("a value other than \"closed\", which is an answer"),
            call => Ok(call),
        }
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Return, CodecError> {
        if *call == Call::Recv && says_closed(values, ret) {
            return Ok(Return::Closed);
        }
        call.answer().read(values, call.name(), ret).map(Return::Is)
    }

    fn write_call(&self, call: &Call) -> (&'static str, Encoded) {
        call.write()
    }

    fn write_return(&self, call: &Call, ret: &Return) -> Encoded {
        match *ret {
            Return::Is(value) => call.answer().write(value),
            Return::Closed => Encoded::Text(CLOSED.into()),
        }
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    fn sample(&self, dice: &mut CallSampler) -> Call {
        Call::sample(dice)
    }
}
