//! Faults: what may go wrong, and how often.
//!
//! Every fault is an action of its own, and has a budget for a whole execution. What was used of it is part of the state, so that
//! every way to spend it is explored. Budgets are best raised from 0: then the smallest scenario that fails comes first.

use crate::actor::ActorId;

/// What may go wrong, and how often in one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// How many messages may be lost.
    pub lose: u8,
    /// How many messages may arrive twice.
    pub duplicate: u8,
    /// How many crashes there may be.
    pub crash: u8,
    /// Whether an actor that crashed comes back.
    pub restart: Restart,
    /// What becomes of messages on their way to an actor that crashes.
    pub mailbox: Mailbox,
    /// How many partitions there may be, one after the other.
    pub partition: u8,
}

/// Whether an actor that crashed comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restart {
    /// Sooner or later.
    #[default]
    Always,
    /// Never.
    Never,
}

/// What becomes of messages on their way to an actor that crashes. Those that are sent to it later wait until it is back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mailbox {
    /// They wait until it is back.
    #[default]
    Kept,
    /// They are lost.
    Lost,
}

/// Where faults happen, of all the places where they can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultPlacement {
    /// At all of them.
    #[default]
    All,
    /// Where it makes a difference: messages are lost last, when nothing else is left to happen, and partitions come after
    /// that; what can be mended is mended at once.
    ///
    /// To lose a message is never to receive it, and to be down or apart for long is to receive nothing for long. So clients
    /// see the same, and so does a property that looks at actors alone; and every execution ends as one of these does. States
    /// and schedules are fewer. If a property looks at what is in flight or at who is down, all places are tried after all. And so they are where
    /// a fault changes what can arrive: if messages have an order, and where those on their way to an actor that crashes are lost.
    Few,
}

/// Whether `actor` is on the side whose bits are set. One that was created is on the side of its creator.
fn is_on_side(actor: ActorId, side: u64) -> bool {
    let mut index = actor.index();
    while ActorId::ROOTS_MAX <= index {
        index = (index - ActorId::ROOTS_MAX) / ActorId::CHILDREN_MAX;
    }
    side >> index & 1 == 1
}

/// Whether a partition keeps `from` and `to` apart. Clients reach everyone.
pub(crate) fn is_apart(from: ActorId, to: ActorId, cut: u64) -> bool {
    cut != 0 && !from.is_client() && !to.is_client() && is_on_side(from, cut) != is_on_side(to, cut)
}
