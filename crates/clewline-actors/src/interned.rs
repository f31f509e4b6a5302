//! Numbers for what actors are and say: all that the exploration below the [`ModelTables`](super::ModelTables) sees.
//!
//! To the left of this file everything is generic in a harness. To its right nothing is: a global state is a few small
//! integers, and the search compiles once.

use std::fmt;

use crate::actor::ActorId;

/// A hash of something that depends on what it is, and not on numbers. States are told apart by it.
pub type Fingerprint = u128;

/// An actor in one of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u32);

/// What a message says, from whom, and to whom; or a timer of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvelopeId(pub u32);

/// What an operation returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReturnId(pub u32);

/// What is known about an envelope without looking inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Who sent it; whose timer it is.
    pub from: ActorId,
    /// Who is to receive it.
    pub to: ActorId,
    /// What it says.
    pub message: MessageId,
    /// Whether it is a timer, and no message.
    pub is_timer: bool,
    /// The place of the receiver among the actors, or its number as a client.
    pub slot: u32,
    /// What it returns to a client.
    pub response: Option<ReturnId>,
    /// The operations it can be an answer to, one bit each.
    pub response_to: u64,
    /// The operations it may be the request of, one bit each.
    pub request_of: u64,
    /// Which part of the state it is about: see [`Harness::key`](super::Harness::key).
    pub key: Option<u64>,
    /// A hash of all that.
    pub(crate) hash: Fingerprint,
    // Messages of one lane arrive in the order they were sent.
    pub(crate) lane: u32,
}

/// What an actor reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A message or a timer.
    Envelope(EnvelopeId),
    /// It starts again after a crash.
    Restart,
}

/// One thing that came of a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A message was sent.
    Send(EnvelopeId),
    /// A timer was set; it was set already, perhaps.
    SetTimer(EnvelopeId),
    /// A timer is no longer set, if it was.
    CancelTimer(EnvelopeId),
    /// There is one more actor, in this slot.
    Create(u32, LocalId),
}

/// One thing that may come of a reaction: there are several if the actor chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The actor afterwards.
    pub local: LocalId,
    /// What it did, in order. At most one of setting and cancelling is said of a timer.
    pub effects: Vec<Effect>,
}

/// One thing that may come of starting all actors: who is there, and what they did.
pub type Start = (Vec<LocalId>, Vec<Effect>);

/// A handler that cannot be explored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadHandler {
    /// Who reacted.
    pub actor: ActorId,
    /// To what, as `Debug` shows it.
    pub input: String,
    /// What is wrong with that.
    pub why: HandlerFault,
}

/// What is wrong with a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerFault {
    /// It is not a pure function: what came of it the second time was not what came of it the first time.
    NotPure,
    /// It panicked, and said this.
    Panicked(String),
}

impl fmt::Display for BadHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadHandler { actor, input, why } = self;
        match why {
            HandlerFault::NotPure => write!(
                f,
                "the handler of {actor} is not pure: {input} in the same state did something else the second time"
            ),
            HandlerFault::Panicked(told) => write!(f, "the handler of {actor} panicked at {input}: {told}"),
        }
    }
}

impl std::error::Error for BadHandler {}

/// How actors react, by numbers. [`ModelTables`](super::ModelTables) is the only one who knows.
pub trait InternedModel: Send {
    /// The slots of the actors the system begins with, and what may come of starting them all.
    ///
    /// # Errors
    ///
    /// If one of them panics.
    fn start(&mut self) -> Result<Vec<Start>, BadHandler>;

    /// What may come of `input` to the actor `local`. The reaction is run twice.
    ///
    /// # Errors
    ///
    /// If something else comes of it the second time, or if it panics. What came of it the first time is told all the same; nothing
    /// comes of a panic.
    fn react(&mut self, local: LocalId, input: Input) -> Result<Vec<Outcome>, (BadHandler, Vec<Outcome>)>;

    /// Says what is wrong with a reaction.
    fn describe_fault(&self, local: LocalId, input: Input, why: HandlerFault) -> BadHandler;

    /// The request of an operation.
    fn request(&self, operation: u32) -> EnvelopeId;

    /// Everything about envelopes, by number.
    fn envelopes(&self) -> &[Envelope];

    /// A hash of each state of an actor, by number.
    fn local_hashes(&self) -> &[Fingerprint];

    /// A hash of each return, by number.
    fn return_hashes(&self) -> &[Fingerprint];

    /// Who is in each slot.
    fn slots(&self) -> &[ActorId];

    /// How many properties there are to look at.
    fn properties(&self) -> usize;

    /// Whether a property is true: of the actors, what is in flight, and who is down.
    fn holds(&self, property: usize, locals: &[LocalId], in_flight: &[EnvelopeId], down: u64) -> bool;

    /// Whether a property has looked at what is in flight, or at who is down.
    fn has_read_network_state(&self) -> bool;

    /// About how many bytes everything takes.
    fn bytes(&self) -> usize;
}

/// No actor is there (yet).
pub(crate) const ABSENT: LocalId = LocalId(u32::MAX);

/// Spreads the bits of `word`, so that sums of such words rarely coincide. Different words stay different.
pub(crate) fn mix(word: Fingerprint) -> Fingerprint {
    let (mut low, mut high) = (word as u64, (word >> 64) as u64);
    // Each half is changed by what the other is, in turn.
    for _ in 0..2 {
        low ^= mix_half(high);
        high ^= mix_half(low);
    }
    u128::from(high) << 64 | u128::from(low)
}

fn mix_half(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
