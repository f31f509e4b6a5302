//! Global states and actions.

use crate::{
    faults::Faults,
    histories::HistoryId,
    interned::{EnvelopeId, Fingerprint, LocalId},
};

/// The order in which messages arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// Any.
    #[default]
    Unordered,
    /// Messages from one actor to another arrive in the order in which they were sent.
    FifoPerChannel,
    /// All messages to an actor arrive in the order in which they were sent, as in a mailbox with
    /// instantaneous delivery.
    FifoPerReceiver,
}

/// What happens to a message that its receiver ignores: the receiver stays as it is and has no
/// outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ignored {
    /// It is consumed, as any other message.
    #[default]
    Gone,
    /// Such a delivery is left out: the message stays in flight. This gives fewer states, and the
    /// states of other explorers. But then the messages in flight mean nothing to properties, nor
    /// does the count of stuck states.
    Stays,
}

/// Rules of a system's surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The order in which messages arrive.
    pub delivery: Delivery,
    /// What happens to ignored messages.
    pub ignored: Ignored,
    /// Which faults may occur, and how often.
    pub faults: Faults,
}

/// A global state. Two worlds of one system are equal if and only if they are the same state.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct World {
    /// The actors by slot; `LocalId(u32::MAX)` where there is none (yet).
    pub(crate) locals: Vec<LocalId>,
    /// The messages in flight, and the timers that are set: by lane and, in a lane, in the order in
    /// which they were sent.
    pub(crate) in_flight: Vec<EnvelopeId>,
    /// The actors that are down: one bit for each slot.
    pub(crate) down: u64,
    /// One side of the partition: one bit for each initial actor. 0 if there is none.
    pub(crate) cut: u64,
    /// The number of faults of each kind so far.
    pub(crate) used: FaultsUsed,
    /// The canonical history so far.
    pub(crate) history: HistoryId,
    /// A hash of all fields above.
    pub(crate) fingerprint: Fingerprint,
    /// Whether the actors have started.
    pub(crate) is_begun: bool,
}

impl Clone for World {
    fn clone(&self) -> Self {
        let mut world = World::default();
        world.clone_from(self);
        world
    }

    // Reuses allocations.
    fn clone_from(&mut self, other: &Self) {
        self.locals.clone_from(&other.locals);
        self.in_flight.clone_from(&other.in_flight);
        self.clone_rest(other);
    }
}

impl World {
    pub(crate) fn clone_rest(&mut self, other: &Self) {
        self.down = other.down;
        self.cut = other.cut;
        self.used = other.used;
        self.history = other.history;
        self.fingerprint = other.fingerprint;
        self.is_begun = other.is_begun;
    }

    /// All fields except the fingerprint, in one slice. Two worlds of one system are equal if and
    /// only if their keys are.
    pub(crate) fn key(&self) -> Box<[u32]> {
        let used = self.used;
        let halves = |it: u64| [it as u32, (it >> 32) as u32];
        let mut words = vec![
            u32::from_le_bytes([used.lose, used.duplicate, used.crash, used.partition]),
            self.history.0,
            self.locals.len() as u32,
        ];
        words.extend(halves(self.down));
        words.extend(halves(self.cut));
        words.extend(self.locals.iter().map(|it| it.0));
        words.extend(self.in_flight.iter().map(|it| it.0));
        words.into_boxed_slice()
    }

    pub(crate) fn key_bytes(&self) -> usize {
        48 + (self.locals.len() + self.in_flight.len()) * size_of::<u32>()
    }

    /// Whether the actors have started.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// The canonical history so far.
    #[must_use]
    pub fn history(&self) -> HistoryId {
        self.history
    }

    /// A hash of the state. It depends on the contents of actors and messages, not on ids.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The actors by slot; `LocalId(u32::MAX)` where there is none (yet).
    #[must_use]
    pub fn locals(&self) -> &[LocalId] {
        &self.locals
    }

    /// The messages in flight and the timers that are set.
    #[must_use]
    pub fn in_flight(&self) -> &[EnvelopeId] {
        &self.in_flight
    }
}

/// The number of faults of each kind so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FaultsUsed {
    /// Messages lost.
    pub lose: u8,
    /// Messages duplicated.
    pub duplicate: u8,
    /// Crashes.
    pub crash: u8,
    /// Partitions.
    pub partition: u8,
}

/// An action in a world. Indices refer to that world only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The actors start: once, as the first action.
    Begin {
        /// The index of the outcome.
        outcome: u16,
    },
    /// A message is received, or a timer fires.
    Deliver {
        /// Its index in the messages in flight.
        at: u16,
        /// The index of the outcome.
        outcome: u16,
    },
    /// A message is lost.
    Lose {
        /// Its index in the messages in flight.
        at: u16,
    },
    /// A message is duplicated.
    Duplicate {
        /// Its index in the messages in flight.
        at: u16,
    },
    /// An actor crashes.
    Crash {
        /// Its slot.
        slot: u16,
    },
    /// A crashed actor restarts.
    Restart {
        /// Its slot.
        slot: u16,
        /// The index of the outcome.
        outcome: u16,
    },
    /// A partition separates the actors on this side from the others.
    Cut {
        /// One bit for each initial actor.
        side: u64,
    },
    /// The partition ends.
    Heal,
}
