//! A register on a replicated log with elected leaders (Raft).
//!
//! Time is divided into terms. A server that hears of no leader is a candidate for the next term,
//! and leads it if a majority votes for it. No server votes twice in a term, nor for a log that is
//! behind its own. The leader appends commands to its log, sends the log to the others, and commits
//! what a majority holds, once that includes an entry of its own term. Reads are commands too.
//!
//! Source: D. Ongaro, J. Ousterhout, "In search of an understandable consensus algorithm", 2014.
//! Differences: a leader sends its whole log each time, so it need not find where logs agree; and
//! every server but the first is a candidate once, which is enough for a change of leaders, and few
//! enough to explore. A command in the log of a replaced leader may be lost, and its call never
//! returns: clients do not retry.

use std::collections::{BTreeMap, BTreeSet};

use clewline_actors::{Actor, ActorId, AnyActor, Context, GlobalState, Modality, Property};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::{all, others},
    shape::ReadsAndWrites,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
    ticket::{Asker, Call, Ticket},
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "raft",
    about: "a register on a replicated log with elected leaders",
    source: "D. Ongaro, J. Ousterhout, In search of an understandable consensus algorithm, 2014",
    spec: "register",
    offers: &["read", "write"],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant { about: "elections and a log; reads are in the log too", ..THREE },
        Variant {
            name: "leader-reads",
            about: "a node that believes to be the leader serves reads by itself",
            flaw: Some(Symptom::Violated),
            ..THREE
        },
        Variant {
            name: "votes-twice",
            about: "servers forget for whom they have voted",
            flaw: Some(Symptom::Property(ONE_LEADER)),
            ..THREE
        },
        Variant {
            name: "any-log-wins",
            about: "servers vote for logs that are behind their own",
            flaw: Some(Symptom::Violated),
            ..THREE
        },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

const ONE_LEADER: &str = "a term has one leader";
const ELECTED: &str = "a leader is elected";
const THREE: Variant = Variant {
    actors: 3,
    range: (3, 9),
    calls: "1c",
    may_not_return: Some("commands of a replaced leader may be lost"),
    ..Variant::PLAIN
};

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, servers: u32, visitor: V) -> V::Output {
    let system = Raft {
        servers,
        defect: match variant {
            "leader-reads" => Some(Defect::LeaderReads),
            "votes-twice" => Some(Defect::VotesTwice),
            "any-log-wins" => Some(Defect::AnyLogWins),
            _ => None,
        },
    };
    visit_file(include_str!("command.harness"), system.actors(), Raft::properties, visitor)
}

/// Messages between servers and clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// A request.
    Request(Asker, Call),
    /// Vote for the sender in this term. Its log ends with an entry of that term, and has that
    /// length.
    RequestVote(u32, (u32, usize)),
    /// The vote, in this term.
    Vote(u32),
    /// The log of the leader of this term.
    Append(u32, Vec<Entry>),
    /// This length of the log is stored; or the term is over, and this is the new one.
    Appended(u32, usize),
    /// The call with this number is done; for a read, the value.
    Answer(u32, Value),
    /// A server has heard of no leader for long: a timer.
    Election,
}

/// A command, and the term in which a leader appended it. A leader's first entry is no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    term: u32,
    command: Option<(Ticket, Call)>,
}

/// The defects of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    LeaderReads,
    VotesTwice,
    AnyLogWins,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server {
    servers: u32,
    defect: Option<Defect>,
    term: u32,
    voted: bool,
    log: Vec<Entry>,
    role: Role,
    // The presumed leader, and the calls to forward as soon as there is one.
    leader: Option<ActorId>,
    held: Vec<(Ticket, Call)>,
    has_stood: bool,
}

/// The role of a server in its term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Role {
    Follower,
    Candidate {
        votes: BTreeSet<ActorId>,
    },
    /// How much of the log the others hold, how much is committed, and the value of the register
    /// then.
    Leader {
        held: BTreeMap<ActorId, usize>,
        committed: usize,
        value: Value,
    },
}

impl Server {
    fn majority(&self) -> usize {
        self.servers as usize / 2 + 1
    }

    /// How recent the log is: the greater one wins.
    fn newness(&self) -> (u32, usize) {
        (self.log.last().map_or(0, |it| it.term), self.log.len())
    }

    /// A greater term has begun.
    fn enter(&mut self, term: u32) {
        if self.term < term {
            (self.term, self.voted, self.role, self.leader) = (term, false, Role::Follower, None);
        }
    }

    fn on_request(&mut self, ticket: Ticket, call: Call, context: &mut Context<Message>) {
        match (&self.role, self.leader) {
            (Role::Leader { value, .. }, _) if self.reads_locally() && call == Call::Read => {
                context.send(ticket.client, Message::Answer(ticket.n, *value));
            }
            (Role::Leader { .. }, _) => self.append(Some((ticket, call)), context),
            (Role::Follower | Role::Candidate { .. }, Some(leader)) => {
                context.send(leader, Message::Request(Asker::Actor(ticket), call));
            }
            (Role::Follower | Role::Candidate { .. }, None) => self.held.push((ticket, call)),
        }
    }

    fn reads_locally(&self) -> bool {
        self.defect == Some(Defect::LeaderReads)
    }

    fn append(&mut self, command: Option<(Ticket, Call)>, context: &mut Context<Message>) {
        self.log.push(Entry { term: self.term, command });
        let append = Message::Append(self.term, self.log.clone());
        others(self.servers, context.me()).for_each(|it| context.send(it, append.clone()));
    }

    fn on_request_vote(
        &mut self,
        from: ActorId,
        term: u32,
        newness: (u32, usize),
        context: &mut Context<Message>,
    ) {
        self.enter(term);
        let may_vote = !self.voted || self.defect == Some(Defect::VotesTwice);
        let is_new = self.newness() <= newness || self.defect == Some(Defect::AnyLogWins);
        if term == self.term && may_vote && is_new {
            self.voted = true;
            context.send(from, Message::Vote(term));
        }
    }

    fn on_vote(&mut self, from: ActorId, context: &mut Context<Message>) {
        let majority = self.majority();
        let Role::Candidate { votes } = &mut self.role else { return };
        votes.insert(from);
        if votes.len() < majority {
            return;
        }
        self.role = Role::Leader { held: BTreeMap::new(), committed: 0, value: Value::NIL };
        self.append(None, context);
        for (ticket, call) in std::mem::take(&mut self.held) {
            self.on_request(ticket, call, context);
        }
    }

    fn on_append(&mut self, from: ActorId, term: u32, log: &[Entry], context: &mut Context<Message>) {
        self.enter(term);
        if term < self.term {
            return context.send(from, Message::Appended(self.term, 0));
        }
        self.leader = Some(from);
        self.role = Role::Follower;
        // A late message is a prefix of the current log.
        if !self.log.starts_with(log) {
            self.log = log.to_vec();
        }
        context.send(from, Message::Appended(term, log.len()));
        for (ticket, call) in std::mem::take(&mut self.held) {
            self.on_request(ticket, call, context);
        }
    }

    fn on_appended(&mut self, from: ActorId, length: usize, context: &mut Context<Message>) {
        let (majority, term) = (self.majority(), self.term);
        let Role::Leader { held, committed, value } = &mut self.role else { return };
        let known = held.entry(from).or_default();
        *known = length.max(*known);
        let is_held = |length: usize| majority <= 1 + held.values().filter(|it| length <= **it).count();
        let is_own = |length: usize| self.log[length - 1].term == term;
        let end = (*committed + 1..=self.log.len()).filter(|it| is_held(*it) && is_own(*it)).max();
        for entry in &self.log[*committed..end.unwrap_or(*committed)] {
            *committed += 1;
            let Some((ticket, call)) = entry.command else { continue };
            let response = match call {
                Call::Write(written) => {
                    *value = written;
                    Value::TRUE
                }
                Call::Read => *value,
            };
            context.send(ticket.client, Message::Answer(ticket.n, response));
        }
    }
}

impl Actor for Server {
    type Message = Message;

    fn on_start(&mut self, context: &mut Context<Message>) {
        if context.me() != ActorId::new(0) {
            context.set_timer(Message::Election);
        }
    }

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Request(asker, call) => self.on_request(asker.ticket(from), call, context),
            Message::RequestVote(term, newness) => self.on_request_vote(from, term, newness, context),
            Message::Vote(term) if term == self.term => self.on_vote(from, context),
            Message::Append(term, ref log) => self.on_append(from, term, log, context),
            Message::Appended(term, length) if term == self.term => self.on_appended(from, length, context),
            Message::Appended(term, _) => self.enter(term),
            Message::Vote(_) => (),
            Message::Answer(..) | Message::Election => unreachable!("only clients and timers receive these"),
        }
    }

    fn on_timer(&mut self, _timer: &Message, context: &mut Context<Message>) {
        let me = context.me();
        self.enter(self.term + 1);
        self.has_stood = true;
        self.voted = true;
        self.role = Role::Candidate { votes: BTreeSet::from([me]) };
        let request = Message::RequestVote(self.term, self.newness());
        others(self.servers, me).for_each(|it| context.send(it, request.clone()));
    }

    // The term, the vote and the log are on disk.
    fn on_restart(&mut self, context: &mut Context<Message>) {
        (self.role, self.leader) = (Role::Follower, None);
        self.held.clear();
        if !self.has_stood {
            Actor::on_start(self, context);
        }
    }
}

fn leaders<'a>(state: &'a GlobalState<'_, Message>) -> impl Iterator<Item = &'a Server> {
    state.all::<Server>().filter(|it| matches!(it.role, Role::Leader { .. }))
}

fn terms_have_one_leader(state: &GlobalState<'_, Message>) -> bool {
    let mut terms = BTreeSet::new();
    leaders(state).all(|it| terms.insert(it.term))
}

/// The servers, and how clients talk to them.
#[derive(Clone, Debug)]
struct Raft {
    servers: u32,
    defect: Option<Defect>,
}

impl Raft {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let server = Server {
            servers: self.servers,
            defect: self.defect,
            term: 0,
            voted: false,
            log: Vec::new(),
            role: Role::Follower,
            leader: None,
            held: Vec::new(),
            has_stood: false,
        };
        all(self.servers).map(|_| Box::new(server.clone()) as Box<dyn AnyActor<Message>>).collect()
    }

    /// Properties of global states.
    fn properties() -> Vec<Property<Message>> {
        vec![
            Property { name: ONE_LEADER, when: Modality::Always, holds: terms_have_one_leader },
            Property { name: ELECTED, when: Modality::Sometimes, holds: |it| leaders(it).next().is_some() },
        ]
    }
}
