//! Two servers that each keep a register and never communicate: a system for tests that violates
//! everything.

use clewline_actors::{Actor, ActorId, AnyActor, ClientCall, Clients, Context, Harness, Scenario};
use clewline_core::Value;
use clewline_specs::register::{Call, Register};

use crate::staged::{DynHarness, OperationFormat, StagedScenario};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Message {
    Put(u32, Value),
    Get(u32),
    Done(u32, Value),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server(Value);

impl Actor for Server {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Put(call, value) => {
                self.0 = value;
                context.send(from, Message::Done(call, Value::TRUE));
            }
            Message::Get(call) => context.send(from, Message::Done(call, self.0)),
            Message::Done(..) => unreachable!("only clients are told"),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Servers;

impl Harness for Servers {
    type Message = Message;
    type Specification = Register;

    fn specification(&self) -> Register {
        Register::new()
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        vec![Box::new(Server(Value::NIL)), Box::new(Server(Value::NIL))]
    }

    fn request(&self, call: &Call, number: u32) -> Message {
        match *call {
            Call::Write(value) => Message::Put(number, value),
            Call::Read => Message::Get(number),
        }
    }

    fn response(&self, message: &Message) -> Option<Value> {
        match *message {
            Message::Done(_, value) => Some(value),
            Message::Put(..) | Message::Get(_) => None,
        }
    }

    fn is_response_to(&self, request: &Message, response: &Message) -> bool {
        match (request, response) {
            (Message::Put(asked, _) | Message::Get(asked), Message::Done(done, _)) => asked == done,
            _ => false,
        }
    }
}

/// `writes` writes to the first server, and `reads` reads of the second, each by its own client.
pub(super) fn calls_of(writes: u32, reads: u32) -> Vec<ClientCall<Call>> {
    let value = |it: u32| Value::from(i64::from(it));
    let write = |at| ClientCall { client: at, to: ActorId::new(0), call: Call::Write(value(at + 1)) };
    let read = |at| ClientCall { client: writes + at, to: ActorId::new(1), call: Call::Read };
    (0..writes).map(write).chain((0..reads).map(read)).collect()
}

/// The system with these calls.
pub(super) fn two_copies(calls: Vec<ClientCall<Call>>) -> Box<dyn DynHarness> {
    let scenario = Scenario { calls, clients: Clients::Tight };
    StagedScenario::boxed(Servers, scenario, OperationFormat::noted())
}
