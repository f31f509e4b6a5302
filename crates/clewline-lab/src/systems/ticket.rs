//! Tickets: which call of which client a message is about; and calls, as messages carry them.

use clewline_actors::ActorId;
use clewline_core::Value;
use serde::{Deserialize, Serialize};

/// One call of one client. Actors that process several calls at a time keep the state of a call
/// under its ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// The client.
    pub client: ActorId,
    /// How many calls that client made before.
    pub n: u32,
}

/// The origin of a request: a client, or an actor that forwards the request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Asker {
    /// A client, in its call with this number.
    Client(u32),
    /// An actor, for the client that has this ticket.
    Actor(Ticket),
}

impl Asker {
    /// The ticket, if the message came from `from`.
    #[must_use]
    pub fn ticket(self, from: ActorId) -> Ticket {
        match self {
            Asker::Client(n) => Ticket { client: from, n },
            Asker::Actor(ticket) => ticket,
        }
    }
}

/// A call of a register, as a message carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Call {
    /// Stores the value.
    Write(Value),
    /// Returns the value.
    Read,
}
