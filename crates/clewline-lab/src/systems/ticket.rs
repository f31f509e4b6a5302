//! Tickets: which call of which client a message is about.

use clewline_actors::ActorId;

/// One call of one client. Actors that process several calls at a time keep the state of a call
/// under its ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    /// The client.
    pub client: ActorId,
    /// How many calls that client made before.
    pub n: u32,
}

/// The origin of a request: a client, or an actor that forwards the request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
