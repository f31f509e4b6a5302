//! Single-decree Paxos, as in stateright's example: a register that is written once.
//!
//! A server that receives a write proposes it, unless it has proposed before; the decision is
//! final. A server that knows of no decision ignores reads. Clients that cannot write wait forever.

use std::collections::{BTreeMap, BTreeSet};

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::{all, others},
    ticket::Ticket,
};

/// A round, and its leader.
type Ballot = (u32, ActorId);
/// The client's ticket, and the value to write.
type Proposal = (Ticket, Value);

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
    /// Take part in nothing older.
    Prepare(Ballot),
    /// Agreed; this was accepted last.
    Prepared(Ballot, Option<(Ballot, Proposal)>),
    /// Accept this.
    Accept(Ballot, Proposal),
    /// It is accepted.
    Accepted(Ballot),
    /// It is decided.
    Decided(Ballot, Proposal),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server {
    servers: u32,
    ballot: Ballot,
    // As a leader:
    proposal: Option<Proposal>,
    prepared: BTreeMap<ActorId, Option<(Ballot, Proposal)>>,
    acceptors: BTreeSet<ActorId>,
    // As an acceptor:
    accepted: Option<(Ballot, Proposal)>,
    is_decided: bool,
}

impl Server {
    fn majority(&self) -> usize {
        self.servers as usize / 2 + 1
    }

    fn tell_others(&self, message: Message, context: &mut Context<Message>) {
        others(self.servers, context.me()).for_each(|it| context.send(it, message));
    }

    fn propose(&mut self, proposal: Proposal, context: &mut Context<Message>) {
        self.proposal = Some(proposal);
        self.ballot = (self.ballot.0 + 1, context.me());
        self.prepared = BTreeMap::from([(context.me(), self.accepted)]);
        self.acceptors = BTreeSet::new();
        self.tell_others(Message::Prepare(self.ballot), context);
    }

    fn on_prepared(
        &mut self,
        from: ActorId,
        accepted: Option<(Ballot, Proposal)>,
        context: &mut Context<Message>,
    ) {
        self.prepared.insert(from, accepted);
        if self.prepared.len() != self.majority() {
            return;
        }
        let newest = self.prepared.values().max().copied().flatten();
        let proposal = newest.map(|it| it.1).or(self.proposal).expect("a leader has proposed");
        self.proposal = Some(proposal);
        self.accepted = Some((self.ballot, proposal));
        self.acceptors.insert(context.me());
        self.tell_others(Message::Accept(self.ballot, proposal), context);
    }

    fn on_accepted(&mut self, from: ActorId, context: &mut Context<Message>) {
        self.acceptors.insert(from);
        if self.acceptors.len() == self.majority() {
            self.is_decided = true;
            let (ticket, value) = self.proposal.expect("a leader has proposed");
            self.tell_others(Message::Decided(self.ballot, (ticket, value)), context);
            context.send(ticket.client, Message::PutOk(ticket.n));
        }
    }
}

impl Actor for Server {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        if self.is_decided {
            if let (Message::Get(n), Some((_, (_, value)))) = (*message, self.accepted) {
                context.send(from, Message::GetOk(n, value));
            }
            return;
        }
        match *message {
            Message::Put(n, value) if self.proposal.is_none() => {
                self.propose((Ticket { client: from, n }, value), context);
            }
            Message::Prepare(ballot) if self.ballot < ballot => {
                self.ballot = ballot;
                context.send(from, Message::Prepared(ballot, self.accepted));
            }
            Message::Prepared(ballot, accepted) if ballot == self.ballot => {
                self.on_prepared(from, accepted, context);
            }
            Message::Accept(ballot, proposal) if self.ballot <= ballot => {
                self.ballot = ballot;
                self.accepted = Some((ballot, proposal));
                context.send(from, Message::Accepted(ballot));
            }
            Message::Accepted(ballot) if ballot == self.ballot => self.on_accepted(from, context),
            Message::Decided(ballot, proposal) => {
                self.ballot = ballot;
                self.accepted = Some((ballot, proposal));
                self.is_decided = true;
            }
            Message::Put(..) | Message::Get(_) | Message::PutOk(_) | Message::GetOk(..) => (),
            Message::Prepare(_) | Message::Prepared(..) | Message::Accept(..) | Message::Accepted(_) => (),
        }
    }
}

/// The number of servers.
#[derive(Clone, Debug)]
pub struct Paxos {
    /// Their number.
    pub servers: u32,
}

impl Paxos {
    /// The initial actors.
    pub(in crate::systems) fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let server = Server {
            servers: self.servers,
            ballot: (0, ActorId::new(0)),
            proposal: None,
            prepared: BTreeMap::new(),
            acceptors: BTreeSet::new(),
            accepted: None,
            is_decided: false,
        };
        all(self.servers).map(|_| Box::new(server.clone()) as Box<dyn AnyActor<Message>>).collect()
    }
}
