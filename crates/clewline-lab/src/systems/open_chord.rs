//! A distributed hash table on a ring, which a second node is just joining (Open Chord, OC).
//!
//! Nodes and keys have positions on a ring. A key belongs to the first node at or after its
//! position. The first node is initially alone and has all entries; the second one requests its
//! successor from it, and both are neighbours from then on. A node that receives a request for a
//! key of another node forwards it to its successor. The node that has the result sends it to the
//! node that the client called, which responds to the client.
//!
//! Source: Open Chord 1.0 as modelled in M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan,
//! "Efficient linearizability checking for actor-based systems", 2021, section 4 and figure 7.
//! Positions are SHA-1 digests compared from the last byte, as there. There are always two nodes,
//! so the finger table never matters and is left out.
//!
//! The plain variant does what their code does. A node responds before it has joined, from an empty
//! table; no entries are handed over when it has; and a second value of a key is stored behind the
//! first, which alone is ever read. Each of these is also a separate variant, except the second,
//! which needs keys that no scenario here has. Their copy of a node's references drops the
//! predecessor, which is set again in the same step and is not visible; where it is not set again,
//! a node that learns its predecessor before its successor loses it, and requests circulate
//! forever: a variant, too. In the repaired variant a joining node queues requests until it has
//! joined, its entries come with the message that it has joined, and a write replaces the value.

use std::collections::BTreeMap;

use clewline_actors::{Actor, ActorId, AnyActor, Context, GlobalState, Modality, Property};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    sha1::sha1,
    shape::ReadsAndWrites,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
    ticket::{Asker, Ticket},
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "open-chord",
    about: "a map on a ring of nodes, one of which is just joining",
    source: "Open Chord 1.0; M. S. Al-Mahfoudh et al., Efficient linearizability checking for actor-based systems, 2021",
    spec: "map",
    offers: &["get", "put"],
    shapes: &[ReadsAndWrites::MAP],
    variants: &[
        Variant {
            about: "as published: a node responds before it has joined",
            flaw: Some(Symptom::Violated),
            ..TWO
        },
        Variant {
            name: "answers-early",
            about: "a node responds before it has joined; nothing else is wrong",
            flaw: Some(Symptom::Violated),
            ..TWO
        },
        Variant {
            name: "keeps-first",
            about: "of the values that were written to a key the first is read",
            flaw: Some(Symptom::Violated),
            calls: "2c",
            ..TWO
        },
        Variant {
            name: "copy-resets",
            about: "a node that copies its references forgets its predecessor",
            flaw: Some(Symptom::Property(NEIGHBOURS)),
            ..TWO
        },
        Variant { name: "repaired", about: "none of this", ..TWO },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

const NEIGHBOURS: &str = "nodes know their predecessors once all were notified";
const TWO: Variant = Variant { range: (2, 2), ..Variant::PLAIN };

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, _nodes: u32, visitor: V) -> V::Output {
    let right =
        Defects { responds_early: false, hands_nothing_over: false, keeps_first: false, copy_resets: false };
    let system = OpenChord {
        defects: match variant {
            "" => Defects { responds_early: true, hands_nothing_over: true, keeps_first: true, ..right },
            "answers-early" => Defects { responds_early: true, ..right },
            "keeps-first" => Defects { keeps_first: true, ..right },
            "copy-resets" => Defects { copy_resets: true, ..right },
            _ => right,
        },
    };
    let properties = if system.defects.copy_resets { OpenChord::properties } else { Vec::new };
    let harness = match system.defects.responds_early {
        true => include_str!("open_chord_early.harness"),
        false => "",
    };
    let harness = [include_str!("open_chord.harness"), harness].concat();
    visit_file(&harness, system.actors(), properties, visitor)
}

type Entries = BTreeMap<Value, Vec<Value>>;

/// Messages between nodes and clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Request for the successor on the ring.
    FindSuccessor,
    /// The sender does; these entries are yours.
    SuccessorFound(Entries),
    /// And it comes before you.
    UpdatePredecessor,
    /// Request to store the value under the key.
    UploadEntry(Asker, Value, Value),
    /// It is stored under the key.
    UploadEntryResponse(Ticket, Value),
    /// Look up the key. A forwarded request names the node that the client called.
    Request(Asker, Value, Option<ActorId>),
    /// The values stored under the key.
    Response(Ticket, Value, Vec<Value>),
    /// The write with this number is done.
    WriteResponse(u32),
    /// The response to the read with this number.
    ReadResponse(u32, Value),
}

/// The defects of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Defects {
    // It responds before it has joined.
    responds_early: bool,
    // It does not hand over what belongs to another node now.
    hands_nothing_over: bool,
    // A key's values are kept in the order of the writes, and the first is read.
    keeps_first: bool,
    // A node that learns its successor forgets its predecessor.
    copy_resets: bool,
}

/// The position of a node or a key on the ring: its digest, the last byte first.
type Place = [u8; 20];

fn place(name: &str) -> Place {
    let mut place = sha1(name);
    place.reverse();
    place
}

fn place_of_node(node: ActorId) -> Place {
    place(&(node.index() + 1).to_string())
}

fn place_of_key(key: Value) -> Place {
    place(&format!("k{}", key.get::<i64>()))
}

/// Whether `it` is between `left` and `right`, in the direction of growing positions.
fn is_between(it: Place, left: Place, right: Place) -> bool {
    if left < right { left < it && it < right } else { left < it || it < right }
}

/// A node of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    defects: Defects,
    predecessor: Option<ActorId>,
    successor: Option<ActorId>,
    entries: Entries,
    // The requests received before this node had joined; `None` at the first node.
    waiting: Option<Vec<(ActorId, Message)>>,
}

impl Node {
    fn owns(&self, key: Value, me: ActorId) -> bool {
        let between = |it| is_between(place_of_key(key), place_of_node(it), place_of_node(me));
        self.predecessor.is_some_and(between)
    }

    /// The node to forward the request for the key to; `None` if the key is here.
    fn next(&self, key: Value, me: ActorId) -> Option<ActorId> {
        if self.owns(key, me) { None } else { self.successor }
    }

    fn store(&mut self, key: Value, value: Value) {
        let values = self.entries.entry(key).or_default();
        if !self.defects.keeps_first {
            *values = vec![value];
        } else if !values.contains(&value) {
            values.push(value);
        }
    }

    /// The new node is a neighbour on both sides: the ring has two nodes.
    fn admit(&mut self, new: ActorId, context: &mut Context<Message>) {
        (self.predecessor, self.successor) = (Some(new), Some(new));
        let me = context.me();
        let mut handed = Entries::new();
        if !self.defects.hands_nothing_over {
            let (mine, theirs) = self.entries.clone().into_iter().partition(|(key, _)| self.owns(*key, me));
            (self.entries, handed) = (mine, theirs);
        }
        context.send(new, Message::SuccessorFound(handed));
        context.send(new, Message::UpdatePredecessor);
    }

    fn join(&mut self, other: ActorId, entries: &Entries, context: &mut Context<Message>) {
        self.predecessor = if self.defects.copy_resets { None } else { Some(other) };
        self.successor = Some(other);
        for (key, values) in entries {
            self.entries.insert(*key, values.clone());
        }
        for (from, message) in self.waiting.take().unwrap_or_default() {
            Actor::on_message(self, from, &message, context);
        }
    }
}

impl Actor for Node {
    type Message = Message;

    fn on_start(&mut self, context: &mut Context<Message>) {
        if context.me() != FIRST {
            context.send(FIRST, Message::FindSuccessor);
        }
    }

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        let me = context.me();
        if let (Message::UploadEntry(..) | Message::Request(..), Some(waiting)) = (message, &mut self.waiting)
        {
            return waiting.push((from, message.clone()));
        }
        match *message {
            Message::FindSuccessor => self.admit(from, context),
            Message::SuccessorFound(ref entries) => self.join(from, entries, context),
            Message::UpdatePredecessor => self.predecessor = Some(from),
            Message::UploadEntry(asker, key, value) => {
                let ticket = asker.ticket(from);
                if let Some(next) = self.next(key, me) {
                    return context.send(next, Message::UploadEntry(Asker::Actor(ticket), key, value));
                }
                self.store(key, value);
                context.send(me, Message::UploadEntryResponse(ticket, key));
            }
            Message::UploadEntryResponse(ticket, _) => {
                context.send(ticket.client, Message::WriteResponse(ticket.n));
            }
            Message::Request(asker, key, first) => {
                let (ticket, first) = (asker.ticket(from), first.unwrap_or(me));
                if let Some(next) = self.next(key, me) {
                    return context.send(next, Message::Request(Asker::Actor(ticket), key, Some(first)));
                }
                let values = self.entries.get(&key).cloned().unwrap_or_default();
                context.send(first, Message::Response(ticket, key, values));
            }
            Message::Response(ticket, _, ref values) => {
                let value = values.first().copied().unwrap_or(Value::NIL);
                context.send(ticket.client, Message::ReadResponse(ticket.n, value));
            }
            Message::WriteResponse(_) | Message::ReadResponse(..) => {
                unreachable!("only clients receive these")
            }
        }
    }
}

const FIRST: ActorId = ActorId::new(0);

fn know_their_predecessors(state: &GlobalState<'_, Message>) -> bool {
    let is_about_the_ring = |message: &Message| {
        matches!(message, Message::FindSuccessor | Message::SuccessorFound(_) | Message::UpdatePredecessor)
    };
    state.in_flight.iter().any(|it| is_about_the_ring(it.2))
        || state.all::<Node>().all(|it| it.predecessor.is_some())
}

/// The two nodes, and how clients talk to them.
#[derive(Clone, Debug)]
struct OpenChord {
    defects: Defects,
}

impl OpenChord {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let first = Node {
            defects: self.defects,
            predecessor: None,
            successor: None,
            entries: Entries::new(),
            waiting: None,
        };
        let waiting = if self.defects.responds_early { None } else { Some(Vec::new()) };
        vec![Box::new(first.clone()), Box::new(Node { waiting, ..first })]
    }

    /// Properties of global states.
    fn properties() -> Vec<Property<Message>> {
        vec![Property { name: NEIGHBOURS, when: Modality::Always, holds: know_their_predecessors }]
    }
}
