//! A register replicated on a chain of nodes (chain replication).
//!
//! Writes enter at the head and are passed down the chain; the tail acknowledges them and serves
//! all reads. So the tail alone determines what is read, and every node before it has what the tail
//! has.
//!
//! The protocol needs FIFO channels between neighbours. Here messages may overtake each other, so
//! the head numbers the writes and every node applies them in the order of their numbers.
//!
//! Source: R. van Renesse, F. Schneider, "Chain replication for supporting high throughput and
//! availability", 2004.

use std::collections::BTreeMap;

use clewline_actors::{Actor, ActorId, AnyActor, Context, GlobalState, Modality, Property};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    ids::all,
    shape::ReadsAndWrites,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
    ticket::{Asker, Ticket},
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "chain",
    about: "a register kept by a chain of nodes",
    source: "R. van Renesse, F. Schneider, Chain replication for supporting high throughput and availability, 2004",
    spec: "register",
    offers: &["read", "write"],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant { about: "writes at the head, reads at the tail", ..THREE },
        Variant {
            name: "unnumbered",
            about: "writes are applied in the order in which they come",
            flaw: Some(Symptom::Property(COPIES)),
            calls: "1r+2w",
            ..THREE
        },
        Variant {
            name: "reads-anywhere",
            about: "the node that receives a read serves it",
            flaw: Some(Symptom::Violated),
            ..THREE
        },
        Variant {
            name: "early-ack",
            about: "the head acknowledges a write before the others have it",
            flaw: Some(Symptom::Violated),
            ..THREE
        },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

const COPIES: &str = "all copies are equal when nothing is on its way";
const THREE: Variant = Variant { actors: 3, ..Variant::PLAIN };

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, nodes: u32, visitor: V) -> V::Output {
    let system = Chain {
        nodes,
        defect: match variant {
            "unnumbered" => Some(Defect::Unnumbered),
            "reads-anywhere" => Some(Defect::ReadsAnywhere),
            "early-ack" => Some(Defect::EarlyAck),
            _ => None,
        },
    };
    visit_file(include_str!("chain.harness"), system.actors(), Chain::properties, visitor)
}

/// Messages between nodes and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Write request.
    Write(Asker, Value),
    /// Pass this write down the chain. It has this number.
    Pass(u32, Ticket, Value),
    /// The write with this number is done.
    WriteAck(u32),
    /// Read request.
    Read(Asker),
    /// The response to the read with this number.
    ReadAck(u32, Value),
}

/// The defects of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    Unnumbered,
    ReadsAnywhere,
    EarlyAck,
}

/// A link of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    nodes: u32,
    defect: Option<Defect>,
    value: Value,
    // The number of writes applied.
    applied: u32,
    // Writes that came before their turn.
    early: BTreeMap<u32, (Ticket, Value)>,
}

const HEAD: ActorId = ActorId::new(0);

impl Node {
    fn tail(&self) -> ActorId {
        ActorId::new(self.nodes - 1)
    }

    /// Applies the write with this number, and the writes that waited for it.
    fn apply(&mut self, number: u32, ticket: Ticket, value: Value, context: &mut Context<Message>) {
        if number != self.applied + 1 && self.defect != Some(Defect::Unnumbered) {
            self.early.insert(number, (ticket, value));
            return;
        }
        self.value = value;
        self.applied += 1;
        let me = context.me();
        let acknowledges = if self.defect == Some(Defect::EarlyAck) { HEAD } else { self.tail() };
        if me == acknowledges {
            context.send(ticket.client, Message::WriteAck(ticket.n));
        }
        if me != self.tail() {
            context.send(ActorId::new(me.index() + 1), Message::Pass(number, ticket, value));
        }
        if let Some((ticket, value)) = self.early.remove(&(number + 1)) {
            self.apply(number + 1, ticket, value, context);
        }
    }
}

impl Actor for Node {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        let me = context.me();
        match *message {
            Message::Write(asker, value) if me == HEAD => {
                self.apply(self.applied + 1, asker.ticket(from), value, context);
            }
            Message::Write(asker, value) => {
                context.send(HEAD, Message::Write(Asker::Actor(asker.ticket(from)), value));
            }
            Message::Pass(number, ticket, value) => self.apply(number, ticket, value, context),
            Message::Read(asker) if me == self.tail() || self.defect == Some(Defect::ReadsAnywhere) => {
                let ticket = asker.ticket(from);
                context.send(ticket.client, Message::ReadAck(ticket.n, self.value));
            }
            Message::Read(asker) => {
                context.send(self.tail(), Message::Read(Asker::Actor(asker.ticket(from))));
            }
            Message::WriteAck(_) | Message::ReadAck(..) => unreachable!("only clients receive these"),
        }
    }
}

fn copies_are_equal(state: &GlobalState<'_, Message>) -> bool {
    let mut values = state.all::<Node>().map(|it| it.value);
    let first = values.next();
    !state.in_flight.is_empty() || values.all(|it| Some(it) == first)
}

/// The nodes, and how clients talk to them.
#[derive(Clone, Debug)]
struct Chain {
    nodes: u32,
    defect: Option<Defect>,
}

impl Chain {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let node = Node {
            nodes: self.nodes,
            defect: self.defect,
            value: Value::NIL,
            applied: 0,
            early: BTreeMap::new(),
        };
        all(self.nodes).map(|_| Box::new(node.clone()) as Box<dyn AnyActor<Message>>).collect()
    }

    /// Properties of global states.
    fn properties() -> Vec<Property<Message>> {
        vec![Property { name: COPIES, when: Modality::Always, holds: copies_are_equal }]
    }
}
