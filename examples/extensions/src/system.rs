//! A latch that servers keep: an actor system of a specification that is not built in.
//!
//! A server that receives `Set` notifies the others. With one server this is a latch; with two, one
//! server may still respond that it is not set after the other has responded that it is.

use clewline_actors::{Actor, ActorId, AnyActor, Context, Harness};
use clewline_core::Value;
use clewline_lab::systems::{Symptom, System, Variant};

use crate::specification::{Call, Latch};

/// The entry in the table.
pub const ENTRY: System = System {
    name: "latch-servers",
    about: "a latch that servers keep",
    source: "an example",
    spec: "latch",
    offers: &["set", "is-set"],
    shapes: &[],
    variants: &[
        Variant {
            about: "one server",
            actors: 1,
            range: (1, 1),
            calls: "C1 N1 set; C2 N1 is-set; C2 N1 is-set",
            ..Variant::PLAIN
        },
        Variant {
            name: "hasty",
            about: "two servers, of which the one that is asked does not wait for the other",
            flaw: Some(Symptom::Violated),
            calls: "C1 N1 set; C2 N1 is-set; C2 N2 is-set",
            ..Variant::PLAIN
        },
    ],
    harness: |_variant, servers, usage| usage.of(Servers(servers)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Message {
    Set(u32),
    Notify,
    IsSet(u32),
    Response(u32, bool),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server {
    is_set: bool,
    servers: u32,
}

impl Actor for Server {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Set(number) => {
                self.is_set = true;
                let others = (0..self.servers).map(ActorId::new).filter(|it| *it != context.me());
                others.collect::<Vec<_>>().into_iter().for_each(|it| context.send(it, Message::Notify));
                context.send(from, Message::Response(number, true));
            }
            Message::Notify => self.is_set = true,
            Message::IsSet(number) => context.send(from, Message::Response(number, self.is_set)),
            Message::Response(..) => unreachable!("only clients receive responses"),
        }
    }
}

struct Servers(u32);

impl Harness for Servers {
    type Message = Message;
    type Specification = Latch;

    fn specification(&self) -> Latch {
        Latch
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let server = |_| Box::new(Server { is_set: false, servers: self.0 }) as Box<dyn AnyActor<Message>>;
        (0..self.0).map(server).collect()
    }

    fn request(&self, call: &Call, number: u32) -> Message {
        match call {
            Call::Set => Message::Set(number),
            Call::IsSet => Message::IsSet(number),
        }
    }

    fn response(&self, message: &Message) -> Option<Value> {
        match *message {
            Message::Response(_, is_set) => Some(Value::bool(is_set)),
            Message::Set(_) | Message::Notify | Message::IsSet(_) => None,
        }
    }

    fn is_response_to(&self, request: &Message, response: &Message) -> bool {
        match (request, response) {
            (Message::Set(requested) | Message::IsSet(requested), Message::Response(responded, _)) => {
                requested == responded
            }
            _ => false,
        }
    }
}
