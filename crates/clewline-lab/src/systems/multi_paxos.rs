//! A replicated map by Paxos with changing leaders: what [`paxos`](super::paxos) should be.
//!
//! Commands are entries of a log, reads as well as writes. A leader gives each an index and has it
//! accepted by a majority; a command that a majority has accepted in one ballot is chosen, and the
//! leader applies the chosen commands, in order, and responds. The second agent leads at first.
//! Later the last one takes over with a greater ballot: it queries a majority for the commands they
//! have accepted, has all of them accepted again, and appends after them. An agent that has
//! promised to take part in its ballot accepts nothing from older ones.
//!
//! The former leader forwards the commands it has not responded to. So a command may be chosen
//! twice; it is applied once.
//!
//! Source: L. Lamport, "Paxos made simple", 2001, section 3.

use std::collections::{BTreeMap, BTreeSet};

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::{all, others},
    system::{Symptom, SystemVisitor, Variant, visit_file},
    ticket::{Asker, Ticket},
};

pub(super) const REPAIRED: Variant =
    Variant { name: "repaired", about: "leaders change, and every call returns", ..THREE };

pub(super) const LEADER_READS: Variant = Variant {
    name: "leader-reads",
    about: "a node that believes to be the leader serves reads by itself",
    flaw: Some(Symptom::Violated),
    ..THREE
};

pub(super) const ACCEPTS_ANYTHING: Variant = Variant {
    name: "accepts-anything",
    about: "agents accept what is older than what they promised to take part in",
    flaw: Some(Symptom::Violated),
    ..THREE
};

const THREE: Variant = Variant { actors: 3, range: (3, 9), calls: "1c", ..Variant::PLAIN };

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, agents: u32, visitor: V) -> V::Output {
    let system = MultiPaxos {
        agents,
        defect: match variant {
            "leader-reads" => Some(Defect::LeaderReads),
            "accepts-anything" => Some(Defect::AcceptsAnything),
            _ => None,
        },
    };
    visit_file(include_str!("multi_paxos.harness"), system.actors(), Vec::new, visitor)
}

/// Messages between agents and clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Please do this.
    Request(Asker, Call),
    /// Take part in nothing older than this ballot.
    Prepare(u32),
    /// Promised; these commands were accepted, each in that ballot.
    Promise(u32, Log),
    /// Accept the command in this ballot, at this log index.
    Accept(u32, u32, Command),
    /// It is accepted.
    Accepted(u32, u32),
    /// The call with this number is done; for a read, the value.
    Answer(u32, Value),
    /// The last agent takes over: a timer.
    TakeOver,
}

/// A call of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Call {
    /// Stores the value under the key.
    Put(Value, Value),
    /// Looks up the key.
    Get(Value),
}

/// The command of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Command {
    ticket: Ticket,
    call: Call,
}

/// Commands by log index, each with the ballot in which it was accepted.
type Log = BTreeMap<u32, (u32, Command)>;

/// The defects of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    LeaderReads,
    AcceptsAnything,
}

/// Proposer, acceptor and learner in one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    agents: u32,
    defect: Option<Defect>,
    // The greatest ballot seen, and its leader.
    ballot: u32,
    leader: ActorId,
    accepted: Log,
    leading: Leading,
}

/// How far a leader is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Leading {
    No,
    /// It takes over: the agents that have promised, the commands they had accepted, and the
    /// commands to propose then.
    Querying {
        promised: BTreeSet<ActorId>,
        log: Log,
        held: Vec<Command>,
    },
    /// It leads.
    Yes(Leader),
}

/// The state of a leader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Leader {
    // The agents that have accepted each proposal, by log index.
    polls: BTreeMap<u32, BTreeSet<ActorId>>,
    // How many commands have been carried out, and what the map holds since.
    done: u32,
    map: BTreeMap<Value, Value>,
    responded: BTreeSet<Ticket>,
}

impl Leader {
    fn apply(&mut self, call: Call) -> Value {
        match call {
            Call::Put(key, value) => {
                self.map.insert(key, value);
                Value::TRUE
            }
            Call::Get(key) => self.map.get(&key).copied().unwrap_or(Value::NIL),
        }
    }
}

impl Agent {
    fn majority(&self) -> usize {
        self.agents as usize / 2 + 1
    }

    fn on_request(&mut self, command: Command, context: &mut Context<Message>) {
        let Command { ticket, call } = command;
        match &mut self.leading {
            Leading::No => context.send(self.leader, Message::Request(Asker::Actor(ticket), call)),
            Leading::Querying { held, .. } => held.push(command),
            Leading::Yes(leader) => {
                if let (Some(Defect::LeaderReads), Call::Get(_)) = (self.defect, call) {
                    let value = leader.apply(call);
                    return context.send(ticket.client, Message::Answer(ticket.n, value));
                }
                let place = u32::try_from(self.accepted.len()).expect("logs are short");
                self.propose(place, command, context);
            }
        }
    }

    fn propose(&mut self, place: u32, command: Command, context: &mut Context<Message>) {
        let Leading::Yes(leader) = &mut self.leading else { return };
        let me = context.me();
        leader.polls.insert(place, BTreeSet::from([me]));
        self.accepted.insert(place, (self.ballot, command));
        others(self.agents, me).for_each(|it| context.send(it, Message::Accept(self.ballot, place, command)));
    }

    /// Another agent leads a greater ballot. The former leader forwards the commands it has not
    /// responded to.
    fn follow(&mut self, leader: ActorId, ballot: u32, context: &mut Context<Message>) {
        (self.ballot, self.leader) = (ballot, leader);
        if let Leading::Yes(led) = std::mem::replace(&mut self.leading, Leading::No) {
            let commands = self.accepted.values().map(|it| it.1);
            for Command { ticket, call } in commands.filter(|it| !led.responded.contains(&it.ticket)) {
                context.send(leader, Message::Request(Asker::Actor(ticket), call));
            }
        }
    }

    fn on_prepare(&mut self, from: ActorId, ballot: u32, context: &mut Context<Message>) {
        if self.ballot < ballot {
            self.follow(from, ballot, context);
            context.send(from, Message::Promise(ballot, self.accepted.clone()));
        }
    }

    fn on_promise(&mut self, from: ActorId, log: &Log, context: &mut Context<Message>) {
        let majority = self.majority();
        let Leading::Querying { promised, log: newest, held } = &mut self.leading else { return };
        promised.insert(from);
        for (place, entry) in log {
            let known = newest.entry(*place).or_insert(*entry);
            if known.0 < entry.0 {
                *known = *entry;
            }
        }
        if promised.len() < majority {
            return;
        }
        let (newest, held) = (std::mem::take(newest), std::mem::take(held));
        self.leading = Leading::Yes(Leader::default());
        // Nothing was chosen at an index that no agent reported, so no later command was applied:
        // the log may close the gap.
        let found = newest.into_values().map(|it| it.1).collect::<Vec<_>>();
        self.accepted.clear();
        for (place, command) in (0..).zip(found.into_iter().chain(held)) {
            self.propose(place, command, context);
        }
    }

    fn on_accept(&mut self, from: ActorId, ballot: u32, at: (u32, Command), context: &mut Context<Message>) {
        if ballot < self.ballot && self.defect != Some(Defect::AcceptsAnything) {
            return;
        }
        if self.ballot < ballot {
            self.follow(from, ballot, context);
        }
        let (place, command) = at;
        self.accepted.insert(place, (ballot, command));
        context.send(from, Message::Accepted(ballot, place));
    }

    fn on_accepted(&mut self, from: ActorId, place: u32, context: &mut Context<Message>) {
        let majority = self.majority();
        let Leading::Yes(leader) = &mut self.leading else { return };
        leader.polls.entry(place).or_default().insert(from);
        while leader.polls.get(&leader.done).is_some_and(|it| majority <= it.len()) {
            let Command { ticket, call } = self.accepted[&leader.done].1;
            leader.polls.remove(&leader.done);
            leader.done += 1;
            if leader.responded.insert(ticket) {
                let value = leader.apply(call);
                context.send(ticket.client, Message::Answer(ticket.n, value));
            }
        }
    }
}

impl Actor for Agent {
    type Message = Message;

    fn on_start(&mut self, context: &mut Context<Message>) {
        if context.me() == ActorId::new(self.agents - 1) {
            context.set_timer(Message::TakeOver);
        }
    }

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Request(asker, call) => {
                self.on_request(Command { ticket: asker.ticket(from), call }, context);
            }
            Message::Prepare(ballot) => self.on_prepare(from, ballot, context),
            Message::Promise(ballot, ref log) if ballot == self.ballot => self.on_promise(from, log, context),
            Message::Accept(ballot, place, command) => {
                self.on_accept(from, ballot, (place, command), context);
            }
            Message::Accepted(ballot, place) if ballot == self.ballot => {
                self.on_accepted(from, place, context);
            }
            Message::Promise(..) | Message::Accepted(..) => (),
            Message::Answer(..) | Message::TakeOver => unreachable!("only clients and timers receive these"),
        }
    }

    fn on_timer(&mut self, _timer: &Message, context: &mut Context<Message>) {
        let me = context.me();
        (self.ballot, self.leader) = (self.ballot + 1, me);
        let log = self.accepted.clone();
        self.leading = Leading::Querying { promised: BTreeSet::from([me]), log, held: Vec::new() };
        others(self.agents, me).for_each(|it| context.send(it, Message::Prepare(self.ballot)));
    }
}

/// The agents, and how clients talk to them.
#[derive(Clone, Debug)]
struct MultiPaxos {
    agents: u32,
    defect: Option<Defect>,
}

impl MultiPaxos {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let first = ActorId::new(1);
        let agent = |it| Agent {
            agents: self.agents,
            defect: self.defect,
            ballot: 1,
            leader: first,
            accepted: Log::new(),
            // No agent can have accepted anything before: there is nothing to query.
            leading: if it == first { Leading::Yes(Leader::default()) } else { Leading::No },
        };
        all(self.agents).map(|it| Box::new(agent(it)) as Box<dyn AnyActor<Message>>).collect()
    }
}
