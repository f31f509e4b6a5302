//! A replicated map by Paxos (PX).
//!
//! An agent that receives a write forwards the proposal to the leader, which gives it the next
//! number and requests from all agents, including itself, a promise not to take part in anything
//! older. With a quorum of promises it requests acceptance, and with a quorum of acceptances it
//! responds. An agent that has seen a greater number refuses, and the leader retries with a still
//! greater one.
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking
//! for actor-based systems", 2021, section 4. The plain variant does what their code does, which is
//! simpler than their text: the leader alone serves reads, from what it has learned; no agent
//! refuses to accept; and responses to an earlier attempt count for the next one. None of this is
//! visible as long as one leader never fails, since only its state is ever read. Two proposals can
//! block each other's progress forever (livelock): with two writes the state space is infinite.
//!
//! In [`super::multi_paxos`] leaders change, and there the first two are variants that are visible.

use std::collections::BTreeMap;

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::all,
    multi_paxos,
    shape::ReadsAndWrites,
    stateright,
    system::{System, SystemVisitor, Variant, visit_file},
    ticket::Ticket,
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "paxos",
    about: "a replicated map by Paxos",
    source: "L. Lamport, Paxos made simple, 2001; M. S. Al-Mahfoudh et al., Efficient linearizability checking for actor-based systems, 2021",
    spec: "map",
    offers: &["get", "put"],
    shapes: &[ReadsAndWrites::MAP, ReadsAndWrites::REGISTER],
    variants: &[
        Variant { about: "as published: one leader, which serves reads by itself", ..Variant::PLAIN },
        multi_paxos::REPAIRED,
        multi_paxos::LEADER_READS,
        multi_paxos::ACCEPTS_ANYTHING,
        Variant { actors: 3, may_not_return: Some("only one client can write"), ..Variant::STATERIGHT },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, agents: u32, visitor: V) -> V::Output {
    match variant {
        "" => visit_file(include_str!("paxos.harness"), Px { agents }.actors(), Vec::new, visitor),
        "stateright" => {
            let actors = stateright::paxos::Paxos { servers: agents }.actors();
            visit_file(include_str!("put_get.harness"), actors, Vec::new, visitor)
        }
        _ => multi_paxos::visit(variant, agents, visitor),
    }
}

/// Messages between agents and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Write request; the number is that of the client's call.
    ProposeCommand(u32, Entry),
    /// Proposes a write for a client.
    Propose(Ticket, Entry),
    /// Promise to take part in nothing older than this number.
    Prepare(Proposal),
    /// It is promised.
    Promise(Proposal),
    /// A newer proposal is known, with this number.
    Nack(Proposal, u32),
    /// Accept it.
    Accept(Proposal),
    /// It is accepted.
    Accepted(Proposal),
    /// The write with this number is done.
    ClientWriteResponse(u32),
    /// Look up the key; the number is that of the client's call.
    Request(u32, Value),
    /// Forwards a read.
    PrepareRead(Ticket, Value),
    /// This was learned about the key.
    PromiseRead(Ticket, Value, Value),
    /// The response to the read with this number.
    ClientReadResponse(u32, Value),
}

/// A key and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    key: Value,
    value: Value,
}

/// A proposal: the entry, the client's ticket, and the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Proposal {
    ticket: Ticket,
    number: u32,
    entry: Entry,
}

const LEADER: ActorId = ActorId::new(0);

/// Proposer, acceptor and learner in one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    agents: u32,
    // The greatest number seen.
    latest: u32,
    polls: BTreeMap<Ticket, Poll>,
    learned: BTreeMap<Value, Value>,
}

/// The responses to a proposal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Poll {
    promises: u32,
    refusals: u32,
    acceptances: u32,
}

impl Agent {
    fn tell_all(&self, message: Message, context: &mut Context<Message>) {
        all(self.agents).for_each(|it| context.send(it, message));
    }

    fn is_quorum(&self, count: u32) -> bool {
        self.agents / 2 < count
    }

    /// Begins an attempt with a number greater than all that were seen.
    fn propose(&mut self, ticket: Ticket, known: u32, entry: Entry, context: &mut Context<Message>) {
        self.latest = known + 1;
        self.polls.insert(ticket, Poll::default());
        self.tell_all(Message::Prepare(Proposal { ticket, number: known + 1, entry }), context);
    }

    fn on_prepare(&mut self, from: ActorId, proposal: Proposal, context: &mut Context<Message>) {
        self.latest = self.latest.max(proposal.number);
        self.polls.entry(proposal.ticket).or_default();
        if self.latest == proposal.number {
            context.send(from, Message::Promise(proposal));
        } else {
            context.send(from, Message::Nack(proposal, self.latest));
        }
    }

    fn on_promise(&mut self, proposal: Proposal, context: &mut Context<Message>) {
        let Some(poll) = self.polls.get_mut(&proposal.ticket) else { return };
        poll.promises += 1;
        let poll = *poll;
        if self.is_quorum(poll.promises) {
            self.tell_all(Message::Accept(proposal), context);
        } else if poll.promises + poll.refusals == self.agents {
            let known = self.latest.max(proposal.number);
            self.propose(proposal.ticket, known, proposal.entry, context);
        }
    }

    fn on_nack(&mut self, proposal: Proposal, known: u32, context: &mut Context<Message>) {
        let Some(poll) = self.polls.get_mut(&proposal.ticket) else { return };
        poll.refusals += 1;
        let poll = *poll;
        if self.is_quorum(poll.refusals) || poll.promises + poll.refusals == self.agents {
            self.propose(proposal.ticket, known, proposal.entry, context);
        }
    }

    fn on_accepted(&mut self, Proposal { ticket, entry, .. }: Proposal, context: &mut Context<Message>) {
        let Some(poll) = self.polls.get_mut(&ticket) else { return };
        poll.acceptances += 1;
        let acceptances = poll.acceptances;
        if self.is_quorum(acceptances) {
            self.learned.insert(entry.key, entry.value);
            context.send(ticket.client, Message::ClientWriteResponse(ticket.n));
        }
    }
}

impl Actor for Agent {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::ProposeCommand(n, entry) => {
                context.send(LEADER, Message::Propose(Ticket { client: from, n }, entry));
            }
            Message::Propose(ticket, entry) => self.propose(ticket, self.latest, entry, context),
            Message::Prepare(proposal) => self.on_prepare(from, proposal, context),
            Message::Promise(proposal) => self.on_promise(proposal, context),
            Message::Nack(proposal, known) => self.on_nack(proposal, known, context),
            Message::Accept(proposal) => context.send(from, Message::Accepted(proposal)),
            Message::Accepted(proposal) => self.on_accepted(proposal, context),
            Message::Request(n, key) => {
                context.send(LEADER, Message::PrepareRead(Ticket { client: from, n }, key));
            }
            Message::PrepareRead(ticket, key) => {
                let value = self.learned.get(&key).copied().unwrap_or(Value::NIL);
                context.send(from, Message::PromiseRead(ticket, key, value));
            }
            Message::PromiseRead(ticket, _, value) => {
                context.send(ticket.client, Message::ClientReadResponse(ticket.n, value));
            }
            Message::ClientWriteResponse(_) | Message::ClientReadResponse(..) => {
                unreachable!("only clients receive these")
            }
        }
    }
}

/// The agents, and how clients talk to them.
#[derive(Clone, Debug)]
struct Px {
    agents: u32,
}

impl Px {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let agent =
            Agent { agents: self.agents, latest: 0, polls: BTreeMap::new(), learned: BTreeMap::new() };
        all(self.agents).map(|_| Box::new(agent.clone()) as Box<dyn AnyActor<Message>>).collect()
    }
}
