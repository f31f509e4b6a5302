//! A register replicated on majorities (ABD).
//!
//! Each value has a timestamp. A replica that receives a request first queries the others for their
//! values, and waits for a majority. To write, it gives the value a timestamp greater than all it
//! has received; to read, it takes the value with the greatest timestamp. Then it stores that value
//! at the others, and responds when a majority has it. Any two majorities have a common member.
//!
//! A read stores the value it is about to return: otherwise a value that few replicas hold might be
//! read once, and an older one later. A write queries first: otherwise its timestamp might be less
//! than that of a write that has returned.
//!
//! Source: H. Attiya, A. Bar-Noy, D. Dolev, "Sharing memory robustly in message-passing systems",
//! 1995; for many writers N. Lynch, A. Shvartsman, 1997.

use std::collections::{BTreeMap, BTreeSet};

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::{all, others},
    shape::ReadsAndWrites,
    stateright,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
    ticket::Ticket,
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "abd",
    about: "a register that majorities keep",
    source: "H. Attiya, A. Bar-Noy, D. Dolev, Sharing memory robustly in message-passing systems, 1995",
    spec: "register",
    offers: &["read", "write"],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant { about: "two phases for each call", calls: "1r+1w", ..THREE },
        Variant {
            name: "no-write-back",
            about: "reads do not store the value that they return",
            flaw: Some(Symptom::Violated),
            ..THREE
        },
        Variant {
            name: "no-query",
            about: "writes do not ask which stamps there are",
            flaw: Some(Symptom::Violated),
            calls: "2c",
            ..THREE
        },
        Variant::STATERIGHT,
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

const THREE: Variant = Variant { actors: 3, ..Variant::PLAIN };

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, replicas: u32, visitor: V) -> V::Output {
    let defect = match variant {
        "stateright" => {
            return visit_file(
                include_str!("put_get.harness"),
                stateright::abd::Abd { servers: replicas }.actors(),
                Vec::new,
                visitor,
            );
        }
        "no-write-back" => Some(Defect::NoWriteBack),
        "no-query" => Some(Defect::NoQuery),
        _ => None,
    };
    visit_file(include_str!("abd.harness"), Abd { replicas, defect }.actors(), Vec::new, visitor)
}

/// Messages between replicas and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Write request; the number is that of the client's call.
    Write(u32, Value),
    /// The write with this number is done.
    WriteAck(u32),
    /// Read request; the number is that of the client's call.
    Read(u32),
    /// The response to the read with this number.
    ReadAck(u32, Value),
    /// Query for the value.
    Query(Ticket),
    /// This is held.
    QueryAck(Ticket, Stamped),
    /// Store this, unless the receiver has a newer value.
    Store(Ticket, Stamped),
    /// It is stored, or a newer value is.
    StoreAck(Ticket),
}

/// A value with its timestamp: a number, and the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamped {
    stamp: (u32, ActorId),
    value: Value,
}

/// The omitted step of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    NoWriteBack,
    NoQuery,
}

/// A replica: holds a value, and coordinates the calls it receives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Replica {
    replicas: u32,
    defect: Option<Defect>,
    held: Stamped,
    calls: BTreeMap<Ticket, Phase>,
}

/// The progress of a call. Lists the replicas that have responded, including this one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Queries the greatest timestamp; for a write, with its value.
    Querying { write: Option<Value>, newest: Stamped, responders: BTreeSet<ActorId> },
    /// The replicas that have stored the value, and the response to send then.
    Storing { response: Message, responders: BTreeSet<ActorId> },
}

impl Replica {
    fn is_majority(&self, responders: &BTreeSet<ActorId>) -> bool {
        self.replicas as usize / 2 < responders.len()
    }

    fn begin(&mut self, ticket: Ticket, write: Option<Value>, context: &mut Context<Message>) {
        let me = context.me();
        if let (Some(value), Some(Defect::NoQuery)) = (write, self.defect) {
            let new = Stamped { stamp: (self.held.stamp.0 + 1, me), value };
            return self.store(ticket, new, Message::WriteAck(ticket.n), context);
        }
        self.calls
            .insert(ticket, Phase::Querying { write, newest: self.held, responders: BTreeSet::from([me]) });
        others(self.replicas, me).for_each(|it| context.send(it, Message::Query(ticket)));
    }

    fn on_query_ack(&mut self, from: ActorId, ticket: Ticket, held: Stamped, context: &mut Context<Message>) {
        let replicas = self.replicas;
        let Some(Phase::Querying { write, newest, responders }) = self.calls.get_mut(&ticket) else { return };
        *newest = held.max(*newest);
        responders.insert(from);
        if responders.len() <= replicas as usize / 2 {
            return;
        }
        match (*write, *newest) {
            (Some(value), newest) => {
                let new = Stamped { stamp: (newest.stamp.0 + 1, context.me()), value };
                self.store(ticket, new, Message::WriteAck(ticket.n), context);
            }
            (None, newest) if self.defect == Some(Defect::NoWriteBack) => {
                self.calls.remove(&ticket);
                context.send(ticket.client, Message::ReadAck(ticket.n, newest.value));
            }
            (None, newest) => {
                self.store(ticket, newest, Message::ReadAck(ticket.n, newest.value), context);
            }
        }
    }

    fn store(&mut self, ticket: Ticket, new: Stamped, response: Message, context: &mut Context<Message>) {
        let me = context.me();
        self.held = new.max(self.held);
        self.calls.insert(ticket, Phase::Storing { response, responders: BTreeSet::from([me]) });
        others(self.replicas, me).for_each(|it| context.send(it, Message::Store(ticket, new)));
    }

    fn on_store_ack(&mut self, from: ActorId, ticket: Ticket, context: &mut Context<Message>) {
        let Some(Phase::Storing { response, responders }) = self.calls.get_mut(&ticket) else { return };
        responders.insert(from);
        let (response, responders) = (*response, responders.clone());
        if self.is_majority(&responders) {
            self.calls.remove(&ticket);
            context.send(ticket.client, response);
        }
    }
}

impl Actor for Replica {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Write(n, value) => self.begin(Ticket { client: from, n }, Some(value), context),
            Message::Read(n) => self.begin(Ticket { client: from, n }, None, context),
            Message::Query(ticket) => context.send(from, Message::QueryAck(ticket, self.held)),
            Message::QueryAck(ticket, held) => self.on_query_ack(from, ticket, held, context),
            Message::Store(ticket, new) => {
                self.held = new.max(self.held);
                context.send(from, Message::StoreAck(ticket));
            }
            Message::StoreAck(ticket) => self.on_store_ack(from, ticket, context),
            Message::WriteAck(_) | Message::ReadAck(..) => unreachable!("only clients receive these"),
        }
    }
}

/// The replicas, and how clients talk to them.
#[derive(Clone, Debug)]
struct Abd {
    replicas: u32,
    defect: Option<Defect>,
}

impl Abd {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let replica = Replica {
            replicas: self.replicas,
            defect: self.defect,
            held: Stamped { stamp: (0, ActorId::new(0)), value: Value::NIL },
            calls: BTreeMap::new(),
        };
        all(self.replicas).map(|_| Box::new(replica.clone()) as Box<dyn AnyActor<Message>>).collect()
    }
}
