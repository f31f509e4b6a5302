//! The register of Attiya, Bar-Noy and Dolev, as in stateright's example: a server processes one
//! request at a time.

use std::collections::{BTreeMap, BTreeSet};

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::{all, others},
    ticket::Ticket,
};

/// Messages between servers and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Write request; the number is that of the client's call.
    Put(u32, Value),
    /// It is written.
    PutOk(u32),
    /// Read request; the number is that of the client's call.
    Get(u32),
    /// This was read.
    GetOk(u32, Value),
    /// Query for the value.
    Query(Ticket),
    /// This is held.
    AckQuery(Ticket, Held),
    /// Store this, unless the receiver has a newer value.
    Record(Ticket, Held),
    /// Acknowledges it.
    AckRecord(Ticket),
}

/// A value with its timestamp: a number, and the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Held {
    stamp: (u32, ActorId),
    value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server {
    servers: u32,
    held: Held,
    phase: Option<Phase>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Querying { ticket: Ticket, write: Option<Value>, responses: BTreeMap<ActorId, Held> },
    Storing { ticket: Ticket, read: Option<Value>, responders: BTreeSet<ActorId> },
}

impl Server {
    fn majority(&self) -> usize {
        self.servers as usize / 2 + 1
    }

    fn begin(&mut self, ticket: Ticket, write: Option<Value>, context: &mut Context<Message>) {
        let responses = BTreeMap::from([(context.me(), self.held)]);
        self.phase = Some(Phase::Querying { ticket, write, responses });
        others(self.servers, context.me()).for_each(|it| context.send(it, Message::Query(ticket)));
    }

    fn on_ack_query(&mut self, from: ActorId, acked: Ticket, held: Held, context: &mut Context<Message>) {
        let majority = self.majority();
        let Some(Phase::Querying { ticket, write, responses }) = &mut self.phase else { return };
        if *ticket != acked {
            return;
        }
        responses.insert(from, held);
        if responses.len() != majority {
            return;
        }
        let newest = *responses.values().max_by_key(|it| it.stamp).expect("a majority is not empty");
        let (held, read) = match *write {
            Some(value) => (Held { stamp: (newest.stamp.0 + 1, context.me()), value }, None),
            None => (newest, Some(newest.value)),
        };
        self.phase = Some(Phase::Storing { ticket: acked, read, responders: BTreeSet::from([context.me()]) });
        self.record(held);
        others(self.servers, context.me()).for_each(|it| context.send(it, Message::Record(acked, held)));
    }

    fn record(&mut self, held: Held) {
        if self.held.stamp < held.stamp {
            self.held = held;
        }
    }

    fn on_ack_record(&mut self, from: ActorId, acked: Ticket, context: &mut Context<Message>) {
        let majority = self.majority();
        let Some(Phase::Storing { ticket, read, responders }) = &mut self.phase else { return };
        if *ticket == acked && responders.insert(from) && responders.len() == majority {
            let response = match *read {
                Some(value) => Message::GetOk(acked.n, value),
                None => Message::PutOk(acked.n),
            };
            context.send(acked.client, response);
            self.phase = None;
        }
    }
}

impl Actor for Server {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Put(..) | Message::Get(_) if self.phase.is_some() => (),
            Message::Put(n, value) => self.begin(Ticket { client: from, n }, Some(value), context),
            Message::Get(n) => self.begin(Ticket { client: from, n }, None, context),
            Message::Query(ticket) => context.send(from, Message::AckQuery(ticket, self.held)),
            Message::AckQuery(ticket, held) => self.on_ack_query(from, ticket, held, context),
            Message::Record(ticket, held) => {
                self.record(held);
                context.send(from, Message::AckRecord(ticket));
            }
            Message::AckRecord(ticket) => self.on_ack_record(from, ticket, context),
            Message::PutOk(_) | Message::GetOk(..) => unreachable!("only clients receive these"),
        }
    }
}

/// The number of servers.
#[derive(Clone, Debug)]
pub struct Abd {
    /// Their number.
    pub servers: u32,
}

impl Abd {
    /// The initial actors.
    pub(in crate::systems) fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let held = |it| Held { stamp: (0, it), value: Value::NIL };
        let server = |it| Box::new(Server { servers: self.servers, held: held(it), phase: None });
        all(self.servers).map(|it| server(it) as Box<dyn AnyActor<Message>>).collect()
    }
}
