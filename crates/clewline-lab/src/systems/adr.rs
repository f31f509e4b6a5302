//! A replicated register in which every agent coordinates (ADR).
//!
//! There is no leader: the agent that receives a request changes its own copy, sends it to all
//! others, and responds when all have acknowledged. A read queries all others for their copies, and
//! returns if they equal the reader's.
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking
//! for actor-based systems", 2021, section 4. The plain variant does what their code does. A read
//! that finds a disagreement should retry, up to three times, but the test is inverted and it never
//! does. Fixing the test is not enough: two concurrent writes leave the copies different forever.
//!
//! The repaired variant gives each write a timestamp greater than all that its agent has seen, ties
//! broken by the agents' order; copies keep the greatest timestamp. Since a write waits for all,
//! its agent has seen every write that returned before. A read sends its value to all others before
//! it returns.

use std::collections::BTreeMap;

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::{all, others},
    shape::ReadsAndWrites,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
    ticket::Ticket,
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "adr",
    about: "a replicated register without a leader: every agent coordinates",
    source: "M. S. Al-Mahfoudh et al., Efficient linearizability checking for actor-based systems, 2021",
    spec: "register",
    offers: &["read", "write"],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant {
            about: "as published: a read that meets a disagreement never asks again",
            flaw: Some(Symptom::Incomplete),
            ..Variant::PLAIN
        },
        Variant {
            name: "three-rounds",
            about: "a read that meets a disagreement asks again, three times at most",
            flaw: Some(Symptom::Incomplete),
            calls: "1r+2w",
            ..Variant::PLAIN
        },
        Variant { name: "repaired", about: "every call returns: the greatest stamp wins", ..Variant::PLAIN },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, agents: u32, visitor: V) -> V::Output {
    let system = Adr {
        agents,
        retry: match variant {
            "" => Retry::Never,
            "three-rounds" => Retry::ThreeTimes,
            _ => Retry::NoNeed,
        },
    };
    visit_file(include_str!("adr.harness"), system.actors(), Vec::new, visitor)
}

/// Messages between agents and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Write request; the number is that of the client's call.
    Write(u32, Value),
    /// Hold this.
    Replication(Ticket, Copied),
    /// It is held.
    ReplicationAck(Ticket),
    /// The write with this number is done.
    WriteAck(u32),
    /// Read request; the number is that of the client's call.
    Read(u32),
    /// Query for the copy, in this round.
    ReadReplica(Ticket, u32),
    /// The copy, in response to the query of this round.
    ReadReplicaAck(Ticket, u32, Copied),
    /// The response to the read with this number.
    ReadAck(u32, Value),
}

/// A value and its timestamp, which is constant in variants without timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Copied {
    stamp: (u32, Option<ActorId>),
    value: Value,
}

/// What a read does when a copy differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Retry {
    Never,
    ThreeTimes,
    // Copies have stamps: the read makes them equal.
    NoNeed,
}

/// An agent: holds a copy and coordinates the calls it receives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    agents: u32,
    retry: Retry,
    copy: Copied,
    // The response to send when all have acknowledged, and the number of acknowledgements,
    // including this agent.
    replications: BTreeMap<Ticket, (Message, u32)>,
    reads: BTreeMap<Ticket, Round>,
}

/// One attempt to read: the number of responses, including this agent, and how many of them agree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Round {
    number: u32,
    responses: u32,
    agree: u32,
    // The copy when the round began. It is never read: the published code keeps it too, and so the
    // states are the same.
    copy: Copied,
}

impl Agent {
    /// Sends the current copy to all others, and responds when they have it.
    fn replicate(&mut self, ticket: Ticket, response: Message, context: &mut Context<Message>) {
        self.replications.insert(ticket, (response, 1));
        for peer in others(self.agents, context.me()) {
            context.send(peer, Message::Replication(ticket, self.copy));
        }
    }

    fn write(&mut self, ticket: Ticket, value: Value, context: &mut Context<Message>) {
        let stamp = match self.retry {
            Retry::Never | Retry::ThreeTimes => self.copy.stamp,
            Retry::NoNeed => (self.copy.stamp.0 + 1, Some(context.me())),
        };
        self.copy = Copied { stamp, value };
        self.replicate(ticket, Message::WriteAck(ticket.n), context);
    }

    fn read(&mut self, ticket: Ticket, context: &mut Context<Message>) {
        if self.retry == Retry::NoNeed {
            return self.replicate(ticket, Message::ReadAck(ticket.n, self.copy.value), context);
        }
        self.reads.insert(ticket, Round { number: 0, responses: 1, agree: 1, copy: self.copy });
        for peer in others(self.agents, context.me()) {
            context.send(peer, Message::ReadReplica(ticket, 0));
        }
    }

    fn count(&mut self, ticket: Ticket, number: u32, copy: Copied, context: &mut Context<Message>) {
        let Some(round) = self.reads.get_mut(&ticket).filter(|it| it.number == number) else { return };
        round.responses += 1;
        round.agree += u32::from(copy == self.copy);
        if round.agree == self.agents {
            self.reads.remove(&ticket);
            context.send(ticket.client, Message::ReadAck(ticket.n, self.copy.value));
        } else if round.responses == self.agents {
            *round = Round { number: number + 1, responses: 1, agree: 1, copy: self.copy };
            let again = match self.retry {
                // The published test: it should be the one below.
                Retry::Never => 3 <= round.number,
                Retry::ThreeTimes => round.number <= 3,
                Retry::NoNeed => unreachable!("reads are replicated"),
            };
            for peer in others(self.agents, context.me()).filter(|_| again) {
                context.send(peer, Message::ReadReplica(ticket, number + 1));
            }
        }
    }
}

impl Actor for Agent {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Write(n, value) => self.write(Ticket { client: from, n }, value, context),
            Message::Replication(ticket, copy) => {
                if self.copy.stamp <= copy.stamp {
                    self.copy = copy;
                }
                context.send(from, Message::ReplicationAck(ticket));
            }
            Message::ReplicationAck(ticket) => {
                let Some((response, acks)) = self.replications.get_mut(&ticket) else { return };
                *acks += 1;
                if *acks == self.agents {
                    context.send(ticket.client, *response);
                    self.replications.remove(&ticket);
                }
            }
            Message::Read(n) => self.read(Ticket { client: from, n }, context),
            Message::ReadReplica(ticket, round) => {
                context.send(from, Message::ReadReplicaAck(ticket, round, self.copy));
            }
            Message::ReadReplicaAck(ticket, round, copy) => self.count(ticket, round, copy, context),
            Message::WriteAck(_) | Message::ReadAck(..) => unreachable!("only clients receive these"),
        }
    }
}

/// The agents, and how clients talk to them.
#[derive(Clone, Debug)]
struct Adr {
    agents: u32,
    retry: Retry,
}

impl Adr {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let agent = Agent {
            agents: self.agents,
            retry: self.retry,
            copy: Copied { stamp: (0, None), value: Value::NIL },
            replications: BTreeMap::new(),
            reads: BTreeMap::new(),
        };
        all(self.agents).map(|_| Box::new(agent.clone()) as Box<dyn AnyActor<Message>>).collect()
    }
}
