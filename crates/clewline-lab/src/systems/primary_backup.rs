//! A register kept by a primary and a backup, which may take over at any time.
//!
//! Every call goes to the primary, which processes one at a time: it sends it to the backup, waits
//! for the confirmation, and responds. Later the backup takes over, whether or not the primary has
//! failed: no server can detect that. From then on it confirms nothing. A primary that is refused
//! steps down, and forwards its calls.
//!
//! So reads need confirmation as well: a replaced primary that does not know it would return a
//! stale value. And a write must be confirmed before it is acknowledged, or it is lost when the
//! backup takes over.
//!
//! Source: P. Alsberg, J. Day, "A principle for resilient sharing of distributed resources", 1976.

use std::collections::VecDeque;

use clewline_actors::{Actor, ActorId, AnyActor, Context};
use clewline_core::Value;
use serde::{Deserialize, Serialize};

use crate::systems::{
    shape::ReadsAndWrites,
    system::{Symptom, System, SystemVisitor, Variant, visit_file},
    ticket::{Asker, Call, Ticket},
};

/// The entry of this file in the table.
pub const ENTRY: System = System {
    name: "primary-backup",
    about: "a register kept by a primary and a backup that takes over",
    source: "P. Alsberg, J. Day, A principle for resilient sharing of distributed resources, 1976",
    spec: "register",
    offers: &["read", "write"],
    shapes: &[ReadsAndWrites::REGISTER],
    variants: &[
        Variant { about: "the backup confirms every call", ..TWO },
        Variant {
            name: "local-reads",
            about: "the primary serves reads without asking the backup",
            flaw: Some(Symptom::Violated),
            calls: "2c",
            ..TWO
        },
        Variant {
            name: "early-ack",
            about: "the primary acknowledges a write before the backup has it",
            flaw: Some(Symptom::Violated),
            ..TWO
        },
    ],
    harness: |variant, actors, usage| visit(variant, actors, usage),
};

const TWO: Variant = Variant { range: (2, 2), ..Variant::PLAIN };

/// Hands the harness of a variant to `visitor`.
pub(super) fn visit<V: SystemVisitor>(variant: &str, _servers: u32, visitor: V) -> V::Output {
    let system = PrimaryBackup {
        defect: match variant {
            "local-reads" => Some(Defect::LocalReads),
            "early-ack" => Some(Defect::EarlyAck),
            _ => None,
        },
    };
    visit_file(include_str!("command.harness"), system.actors(), Vec::new, visitor)
}

/// Messages between servers and clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// A request.
    Request(Asker, Call),
    /// Is the sender still the primary? If so, do this too.
    Confirm(Ticket, Call),
    /// It is, and it was done.
    Confirmed,
    /// It is not.
    Refused,
    /// The call with this number is done; for a read, the value.
    Answer(u32, Value),
    /// The backup takes over: a timer.
    TakeOver,
}

/// The defects of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Defect {
    LocalReads,
    EarlyAck,
}

/// The role of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    Primary,
    Backup,
    // It was the backup, and is the primary now, without a backup.
    Alone,
    // It was the primary.
    Retired,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Server {
    defect: Option<Defect>,
    role: Role,
    value: Value,
    // The pending calls of the primary: the first is with the backup.
    calls: VecDeque<(Ticket, Call)>,
}

impl Server {
    /// Applies a call; returns its result.
    fn apply(&mut self, call: Call) -> Value {
        match call {
            Call::Write(value) => {
                self.value = value;
                Value::TRUE
            }
            Call::Read => self.value,
        }
    }

    fn take(&mut self, ticket: Ticket, call: Call, context: &mut Context<Message>) {
        let is_early = match (self.defect, call) {
            (Some(Defect::LocalReads), Call::Read) | (Some(Defect::EarlyAck), Call::Write(_)) => true,
            (_, Call::Read | Call::Write(_)) => false,
        };
        if self.role == Role::Alone || is_early {
            let response = self.apply(call);
            context.send(ticket.client, Message::Answer(ticket.n, response));
        }
        let needs_backup = self.role == Role::Primary && !(is_early && call == Call::Read);
        if needs_backup {
            self.calls.push_back((ticket, call));
            if self.calls.len() == 1 {
                context.send(BACKUP, Message::Confirm(ticket, call));
            }
        }
    }

    fn on_confirmed(&mut self, context: &mut Context<Message>) {
        let Some((ticket, call)) = self.calls.pop_front() else { return };
        // A write that was acknowledged early was done then.
        if self.defect != Some(Defect::EarlyAck) || call == Call::Read {
            let response = self.apply(call);
            context.send(ticket.client, Message::Answer(ticket.n, response));
        }
        if let Some(&(ticket, call)) = self.calls.front() {
            context.send(BACKUP, Message::Confirm(ticket, call));
        }
    }
}

const PRIMARY: ActorId = ActorId::new(0);
const BACKUP: ActorId = ActorId::new(1);

impl Actor for Server {
    type Message = Message;

    fn on_start(&mut self, context: &mut Context<Message>) {
        if self.role == Role::Backup {
            context.set_timer(Message::TakeOver);
        }
    }

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Request(asker, call) => {
                let ticket = asker.ticket(from);
                let pass_on = Message::Request(Asker::Actor(ticket), call);
                match self.role {
                    Role::Primary | Role::Alone => self.take(ticket, call, context),
                    Role::Backup => context.send(PRIMARY, pass_on),
                    Role::Retired => context.send(BACKUP, pass_on),
                }
            }
            Message::Confirm(_, call) if self.role == Role::Backup => {
                self.apply(call);
                context.send(from, Message::Confirmed);
            }
            Message::Confirm(..) => context.send(from, Message::Refused),
            Message::Confirmed => self.on_confirmed(context),
            Message::Refused => {
                self.role = Role::Retired;
                for (ticket, call) in std::mem::take(&mut self.calls) {
                    context.send(BACKUP, Message::Request(Asker::Actor(ticket), call));
                }
            }
            Message::Answer(..) | Message::TakeOver => unreachable!("only clients and timers receive these"),
        }
    }

    fn on_timer(&mut self, _timer: &Message, _context: &mut Context<Message>) {
        self.role = Role::Alone;
    }
}

/// The two, and how clients talk to them.
#[derive(Clone, Debug)]
struct PrimaryBackup {
    defect: Option<Defect>,
}

impl PrimaryBackup {
    /// The initial actors.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let server = |role| Server { defect: self.defect, role, value: Value::NIL, calls: VecDeque::new() };
        vec![Box::new(server(Role::Primary)), Box::new(server(Role::Backup))]
    }
}
