//! Global states, and what can happen in them.

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
    /// What one actor sends to another arrives in the order it was sent.
    FifoPerChannel,
    /// All that is sent to an actor arrives in the order it was sent, as in a mailbox that is filled at once.
    FifoPerReceiver,
}

/// What becomes of a message that its receiver takes no notice of: the receiver stays as it is, and does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ignored {
    /// It is gone, as any other message that was received.
    #[default]
    Gone,
    /// Such a delivery is left out: the message stays in flight. Gives fewer states, and those of other explorers, but what is in
    /// flight then says nothing to properties, nor whether a system is stuck.
    Stays,
}

/// Rules of a system's surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The order in which messages arrive.
    pub delivery: Delivery,
    /// What becomes of messages of which nobody takes notice.
    pub ignored: Ignored,
    /// What may go wrong, and how often.
    pub faults: Faults,
}

/// A global state. Two worlds of one system are equal if and only if they are the same state.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct World {
    /// The actors by slot; `LocalId(u32::MAX)` where there is none (yet).
    pub(crate) locals: Vec<LocalId>,
    /// What is on its way, and the timers that are set: by lane and, in a lane, in the order it was sent.
    pub(crate) in_flight: Vec<EnvelopeId>,
    /// Who is down: a bit for each slot.
    pub(crate) down: u64,
    /// One side of the partition: a bit for each actor the system began with. 0 if there is none.
    pub(crate) cut: u64,
    /// How often each fault has happened.
    pub(crate) used: FaultsUsed,
    /// What clients have seen.
    pub(crate) history: HistoryId,
    /// A hash of all that.
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

    // Keeps the memory that is there.
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

    /// Everything but the fingerprint, in one piece. Two worlds of one system are equal if and only if their keys are.
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

    /// What clients have seen.
    #[must_use]
    pub fn history(&self) -> HistoryId {
        self.history
    }

    /// A hash of the state. It depends on what actors are and say, not on numbers.
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

/// How often each fault has happened.
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

/// Something that can happen in a world. Places are those of that world, and of no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The actors start: happens once, at first.
    Begin {
        /// Which of the ways in which this can go.
        outcome: u16,
    },
    /// A message is received, or a timer goes off.
    Deliver {
        /// Its place among those in flight.
        at: u16,
        /// Which of the ways in which this can go.
        outcome: u16,
    },
    /// A message is lost.
    Lose {
        /// Its place among those in flight.
        at: u16,
    },
    /// A message will arrive twice.
    Duplicate {
        /// Its place among those in flight.
        at: u16,
    },
    /// An actor goes down.
    Crash {
        /// Its slot.
        slot: u16,
    },
    /// An actor that is down starts again.
    Restart {
        /// Its slot.
        slot: u16,
        /// Which of the ways in which this can go.
        outcome: u16,
    },
    /// The actors on this side hear no longer from the others, nor they from them.
    Cut {
        /// A bit for each actor the system began with.
        side: u64,
    },
    /// The partition ends.
    Heal,
}
