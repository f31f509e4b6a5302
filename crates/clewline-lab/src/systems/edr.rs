//! A replicated register in which every replica serves reads (EDR).
//!
//! As [`dr`](super::dr), but a write is acknowledged as soon as one replica has it, and a read
//! returns at once. A replica that lags behind returns a value that was overwritten long before.
//!
//! The paper's text also has values from thin air; in its code, replicas would make them up in
//! messages that are never sent. In the variant with them, a replica other than the leader may
//! return a value that no client wrote.
//!
//! Waiting for all replicas is not enough: during a write one read may return the new value from
//! one replica, and the next read the old value from another. In the repaired variant the leader
//! serves all reads.
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking
//! for actor-based systems", 2021, section 4.

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
    name: "edr",
    about: "a replicated register that serves reads locally",
    source: "M. S. Al-Mahfoudh et al., Efficient linearizability checking for actor-based systems, 2021",
    spec: "register",
    offers: &["read", "write"],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant {
            about: "as published: writes wait for one replica, and reads are served by the replica that receives them",
            flaw: Some(Symptom::Violated),
            ..THREE
        },
        Variant {
            name: "waits-for-all",
            about: "writes wait for all replicas; reads are still served by the replica that receives them",
            flaw: Some(Symptom::Violated),
            ..THREE
        },
        Variant {
            name: "thin-air",
            about: "as published, and a replica that is not the leader may return a value from thin air",
            flaw: Some(Symptom::Violated),
            ..THREE
        },
        Variant { name: "repaired", about: "reads are served by the leader", ..THREE },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

const THREE: Variant = Variant { actors: 3, ..Variant::PLAIN };

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, agents: u32, visitor: V) -> V::Output {
    let system = Edr {
        agents,
        policy: match variant {
            "" => Policy { acks: 1, reads: Reads::Anywhere },
            "waits-for-all" => Policy { acks: agents - 1, reads: Reads::Anywhere },
            "thin-air" => Policy { acks: 1, reads: Reads::FromThinAir },
            _ => Policy { acks: 1, reads: Reads::AtTheLeader },
        },
    };
    visit_file(include_str!("edr.harness"), system.actors(), Vec::new, visitor)
}

/// Messages between agents and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Write request.
    Write(Asker, Value),
    /// The leader holds this now: hold it too.
    WriteReplica(Ticket, Value),
    /// It is held.
    WriteReplicaAck(Ticket),
    /// The write with this number is done.
    WriteAck(u32),
    /// Read request.
    Read(Asker),
    /// The response to the read with this number.
    ReadAck(u32, Value),
}

/// When the replicas respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Policy {
    // The number of other replicas that must hold the value before a write returns.
    acks: u32,
    reads: Reads,
}

/// The replicas that serve reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Reads {
    Anywhere,
    AtTheLeader,
    // As `Anywhere`, but replicas other than the leader may make a value up.
    FromThinAir,
}

// A value that no client writes.
const THIN_AIR: i64 = -1;

const LEADER: ActorId = ActorId::new(0);

/// A copy of the register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    agents: u32,
    policy: Policy,
    value: Value,
    // The number of acknowledgements missing before a write returns.
    missing: BTreeMap<Ticket, u32>,
}

impl Actor for Agent {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        let leads = context.me() == LEADER;
        match *message {
            Message::Write(asker, value) if leads => {
                let ticket = asker.ticket(from);
                self.value = value;
                self.missing.insert(ticket, self.policy.acks);
                for peer in others(self.agents, context.me()) {
                    context.send(peer, Message::WriteReplica(ticket, value));
                }
            }
            Message::Write(asker, value) => {
                context.send(LEADER, Message::Write(Asker::Actor(asker.ticket(from)), value));
            }
            Message::WriteReplica(ticket, value) => {
                self.value = value;
                context.send(from, Message::WriteReplicaAck(ticket));
            }
            Message::WriteReplicaAck(ticket) => {
                let Some(missing) = self.missing.get_mut(&ticket) else { return };
                *missing -= 1;
                if *missing == 0 {
                    self.missing.remove(&ticket);
                    context.send(ticket.client, Message::WriteAck(ticket.n));
                }
            }
            Message::Read(asker) if leads || self.policy.reads != Reads::AtTheLeader => {
                let ticket = asker.ticket(from);
                let is_made_up = !leads && self.policy.reads == Reads::FromThinAir && context.choose(2) == 1;
                let value = if is_made_up { Value::from(THIN_AIR) } else { self.value };
                context.send(ticket.client, Message::ReadAck(ticket.n, value));
            }
            Message::Read(asker) => {
                context.send(LEADER, Message::Read(Asker::Actor(asker.ticket(from))));
            }
            Message::WriteAck(_) | Message::ReadAck(..) => unreachable!("only clients receive these"),
        }
    }
}

/// The agents, and how clients talk to them.
#[derive(Clone, Debug)]
struct Edr {
    agents: u32,
    policy: Policy,
}

impl Edr {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let agent =
            Agent { agents: self.agents, policy: self.policy, value: Value::NIL, missing: BTreeMap::new() };
        all(self.agents).map(|_| Box::new(agent.clone()) as Box<dyn AnyActor<Message>>).collect()
    }
}
