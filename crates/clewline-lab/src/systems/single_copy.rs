//! A register kept by one server: the smallest actor system.
//!
//! The server responds to each request when it arrives. The order of arrival is a linearization, so
//! this is linearizable. Two independent servers are not.
//!
//! Source: the example `single-copy-register` of stateright, by J. Nadal.

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    shape::ReadsAndWrites,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "single-copy",
    about: "a register that one server keeps",
    source: "J. Nadal, stateright, example single-copy-register",
    spec: "register",
    offers: &["read", "write"],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant { about: "one server", actors: 1, range: (1, 1), ..Variant::PLAIN },
        Variant {
            name: "two-copies",
            about: "two servers that know nothing of each other",
            flaw: Some(Symptom::Violated),
            ..Variant::PLAIN
        },
        Variant { actors: 1, range: (1, 1), calls: "3c", ..Variant::STATERIGHT },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(_variant: &str, servers: u32, visitor: V) -> V::Output {
    visit_file(include_str!("put_get.harness"), Servers(servers).actors(), Vec::new, visitor)
}

/// Messages between servers and clients. The number is that of the client's call: it comes back
/// with the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Please write this.
    Put(u32, Value),
    /// It is written.
    PutOk(u32),
    /// Please read.
    Get(u32),
    /// This was read.
    GetOk(u32, Value),
}

/// The server. Its fields are its state: here the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server {
    value: Value,
}

impl Actor for Server {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Put(n, value) => {
                self.value = value;
                context.send(from, Message::PutOk(n));
            }
            Message::Get(n) => context.send(from, Message::GetOk(n, self.value)),
            Message::PutOk(_) | Message::GetOk(..) => unreachable!("only clients receive these"),
        }
    }
}

/// The number of servers, and how clients talk to them.
#[derive(Clone, Debug)]
struct Servers(u32);

impl Servers {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        (0..self.0).map(|_| Box::new(Server { value: Value::NIL }) as Box<dyn AnyActor<Message>>).collect()
    }
}
