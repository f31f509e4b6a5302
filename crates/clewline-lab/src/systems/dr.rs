//! A replicated register with a leader (DR).
//!
//! Every call goes to the leader; other replicas forward it. The leader changes its copy, sends it
//! to the others, and responds when a majority of the replicas that responded agree. A read queries
//! the others for their copies, too.
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking
//! for actor-based systems", 2021, section 4. The plain variant does what their code does. It has
//! two bugs, each of which is also a separate variant: a forwarded write is never acknowledged,
//! since the leader mistakes the forwarding replica for the client; and a read never returns if a
//! queried replica holds another value.
//!
//! The repaired variant numbers the writes, and a read sends the leader's value to the others: a
//! replica that lags behind catches up and agrees, and no replica goes back.

use std::collections::BTreeMap;

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::{all, others},
    shape::ReadsAndWrites,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
    ticket::{Asker, Ticket},
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "dr",
    about: "a replicated register with a leader",
    source: "M. S. Al-Mahfoudh et al., Efficient linearizability checking for actor-based systems, 2021",
    spec: "register",
    offers: &["read", "write"],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant {
            about: "as published: some calls never return",
            flaw: Some(Symptom::Incomplete),
            ..Variant::PLAIN
        },
        Variant {
            name: "forgets-client",
            about: "a write that was passed on to the leader is never acknowledged",
            flaw: Some(Symptom::Incomplete),
            calls: "1r+2w",
            ..Variant::PLAIN
        },
        Variant {
            name: "gives-up",
            about: "a read never returns if a replica disagrees",
            flaw: Some(Symptom::Incomplete),
            ..Variant::PLAIN
        },
        Variant { name: "repaired", about: "every call returns", ..Variant::PLAIN },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, agents: u32, visitor: V) -> V::Output {
    let system = Dr {
        agents,
        defects: match variant {
            "" => Defects { forgets_client: true, gives_up: true },
            "forgets-client" => Defects { forgets_client: true, gives_up: false },
            "gives-up" => Defects { forgets_client: false, gives_up: true },
            _ => Defects { forgets_client: false, gives_up: false },
        },
    };
    visit_file(include_str!("dr.harness"), system.actors(), Vec::new, visitor)
}

/// Messages between agents and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Write request.
    Write(Asker, Value),
    /// The leader holds this now: hold it too.
    WriteReplica(Ticket, Version),
    /// It was held.
    WriteReplicaAck(Ticket, Version),
    /// The write with this number is done.
    WriteAck(u32),
    /// Read request.
    Read(Asker),
    /// Query for the copy, with the leader's.
    ReadReplica(Ticket, Version),
    /// This is held.
    ReadReplicaAck(Ticket, Version),
    /// The response to the read with this number.
    ReadAck(u32, Value),
}

/// A value, and the number of writes before. The latter stays 0 in variants without versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Version {
    number: u32,
    value: Value,
}

/// The defects of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Defects {
    // The leader mistakes the forwarding replica for the client.
    forgets_client: bool,
    // A replica that disagrees leaves a read without a response.
    gives_up: bool,
}

const LEADER: ActorId = ActorId::new(0);

/// A copy of the register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    agents: u32,
    defects: Defects,
    held: Version,
    writes: BTreeMap<Ticket, Agreement>,
    reads: BTreeMap<Ticket, Agreement>,
}

/// The number of responses, including the leader, and how many of them equal the leader's copy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agreement {
    held: Version,
    responses: u32,
    agree: u32,
}

impl Agreement {
    fn new(held: Version) -> Self {
        Agreement { held, responses: 1, agree: 1 }
    }

    /// Counts a response; returns whether a majority agrees.
    fn count(&mut self, held: Version) -> bool {
        self.responses += 1;
        self.agree += u32::from(held == self.held);
        self.responses / 2 < self.agree
    }
}

impl Agent {
    /// Takes over the leader's value, unless it is older than the current one.
    fn catch_up(&mut self, held: Version) {
        if self.held.number <= held.number {
            self.held = held;
        }
    }

    fn write(&mut self, from: ActorId, asker: Asker, value: Value, context: &mut Context<Message>) {
        let ticket = asker.ticket(from);
        let number = if self.defects.gives_up { 0 } else { self.held.number + 1 };
        self.held = Version { number, value };
        self.writes.insert(ticket, Agreement::new(self.held));
        let replica_ticket =
            if self.defects.forgets_client { Ticket { client: from, ..ticket } } else { ticket };
        for peer in others(self.agents, context.me()) {
            context.send(peer, Message::WriteReplica(replica_ticket, self.held));
        }
    }

    fn read(&mut self, ticket: Ticket, context: &mut Context<Message>) {
        self.reads.insert(ticket, Agreement::new(self.held));
        for peer in others(self.agents, context.me()) {
            context.send(peer, Message::ReadReplica(ticket, self.held));
        }
    }
}

impl Actor for Agent {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        let leads = context.me() == LEADER;
        match *message {
            Message::Write(asker, value) if leads => self.write(from, asker, value, context),
            Message::Write(asker, value) => {
                context.send(LEADER, Message::Write(Asker::Actor(asker.ticket(from)), value));
            }
            Message::WriteReplica(ticket, held) => {
                self.catch_up(held);
                context.send(from, Message::WriteReplicaAck(ticket, held));
            }
            Message::WriteReplicaAck(ticket, held) => {
                if self.writes.get_mut(&ticket).is_some_and(|it| it.count(held)) {
                    self.writes.remove(&ticket);
                    context.send(ticket.client, Message::WriteAck(ticket.n));
                }
            }
            Message::Read(asker) if leads => self.read(asker.ticket(from), context),
            Message::Read(asker) => {
                context.send(LEADER, Message::Read(Asker::Actor(asker.ticket(from))));
            }
            Message::ReadReplica(ticket, held) if !self.defects.gives_up => {
                self.catch_up(held);
                context.send(from, Message::ReadReplicaAck(ticket, held));
            }
            Message::ReadReplica(ticket, _) => {
                context.send(from, Message::ReadReplicaAck(ticket, self.held));
            }
            Message::ReadReplicaAck(ticket, held) => {
                if self.reads.get_mut(&ticket).is_some_and(|it| it.count(held)) {
                    let tally = self.reads.remove(&ticket).expect("it was there just now");
                    context.send(ticket.client, Message::ReadAck(ticket.n, tally.held.value));
                }
            }
            Message::WriteAck(_) | Message::ReadAck(..) => unreachable!("only clients receive these"),
        }
    }
}

/// The agents, and how clients talk to them.
#[derive(Clone, Debug)]
struct Dr {
    agents: u32,
    defects: Defects,
}

impl Dr {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let agent = Agent {
            agents: self.agents,
            defects: self.defects,
            held: Version { number: 0, value: Value::NIL },
            writes: BTreeMap::new(),
            reads: BTreeMap::new(),
        };
        all(self.agents).map(|_| Box::new(agent.clone()) as Box<dyn AnyActor<Message>>).collect()
    }
}
