//! Interned ids of states and messages: all that the exploration below the
//! [`ModelTables`](super::ModelTables) uses.
//!
//! The layers above this module are generic in a harness; those below are not. There a global state
//! is a few small integers, and the search is compiled once.

use std::fmt;

use crate::actor::ActorId;

/// A hash that depends on the value only, and not on ids. Distinguishes states.
pub type Fingerprint = u128;

/// An actor in one of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u32);

/// A message with its sender and receiver; or a timer of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvelopeId(pub u32);

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReturnId(pub u32);

/// The properties of an envelope, without its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The sender, or the actor that set the timer.
    pub from: ActorId,
    /// The receiver.
    pub to: ActorId,
    /// The message or timer.
    pub message: MessageId,
    /// Whether it is a timer.
    pub is_timer: bool,
    /// Whether it is delivered before all others: see
    /// [`Harness::is_immediate`](crate::Harness::is_immediate).
    pub is_immediate: bool,
    /// The slot of the receiver among the actors, or its index as a client.
    pub slot: u32,
    /// The result it carries to a client.
    pub response: Option<ReturnId>,
    /// The operations to which it can be a response, one bit each.
    pub response_to: u64,
    /// The operations of which it may be the request, one bit each.
    pub request_of: u64,
    /// The part of the state it is about: see [`Harness::key`](super::Harness::key).
    pub key: Option<u64>,
    /// A hash of all fields above.
    pub(crate) hash: Fingerprint,
    // Messages of one lane arrive in the order they were sent.
    pub(crate) lane: u32,
}

/// The input of a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A message or a timer.
    Envelope(EnvelopeId),
    /// A restart after a crash.
    Restart,
}

/// One effect of a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A message was sent.
    Send(EnvelopeId),
    /// A timer was set. It may have been set already.
    SetTimer(EnvelopeId),
    /// A timer is no longer set, if it was.
    CancelTimer(EnvelopeId),
    /// An actor was created in this slot.
    Create(u32, LocalId),
}

/// One outcome of a reaction: there are several if the actor chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerOutcome {
    /// The actor afterwards.
    pub local: LocalId,
    /// Its effects, in order. A timer is either set or cancelled at most once.
    pub effects: Vec<Effect>,
}

/// One outcome of starting all actors: the actors, and their effects.
pub type StartOutcome = (Vec<LocalId>, Vec<Effect>);

/// A handler that cannot be explored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadHandler {
    /// The actor.
    pub actor: ActorId,
    /// The input, as `Debug` shows it.
    pub input: String,
    /// The fault.
    pub why: HandlerFault,
}

/// Why a handler cannot be explored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerFault {
    /// It is not a pure function: a second run had a different outcome.
    NotPure,
    /// It panicked with this message.
    Panicked(String),
    /// The actor, of this type, [does not handle](crate::Context::unhandled) the input.
    Unhandled(&'static str),
    /// The actor, of this type, does not handle the timer.
    UnhandledTimer(&'static str),
    /// It sent this message to this actor, which does not exist.
    NoReceiver(String, ActorId),
    /// It sent this message to this client, but the harness does not know it, for this reason.
    Misunderstood(String, ActorId, String),
}

impl fmt::Display for BadHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadHandler { actor, input, why } = self;
        match why {
            HandlerFault::NotPure => write!(
                f,
                "the handler of {actor} is not pure: {input} in the same state did something else the second time"
            ),
            HandlerFault::Panicked(text) => write!(f, "the handler of {actor} panicked at {input}: {text}"),
            HandlerFault::Unhandled(of) => {
                write!(f, "{actor} does not handle {input}: the handler of `{of}` calls `Context::unhandled`")
            }
            HandlerFault::UnhandledTimer(of) => write!(
                f,
                "{actor} does not handle {input}: implement `Actor::on_timer` for `{of}` (`on_message` receives no timers)"
            ),
            HandlerFault::NoReceiver(message, to) => {
                write!(f, "{actor} sends {message} to {to} at {input}, but there is no actor {to}")
            }
            HandlerFault::Misunderstood(message, to, why) => {
                write!(f, "{actor} sends {message} to {to} at {input}: {why}")
            }
        }
    }
}

impl std::error::Error for BadHandler {}

/// The reactions of actors, by interned ids. Implemented by [`ModelTables`](super::ModelTables).
pub trait InternedModel: Send {
    /// The possible outcomes of starting all initial actors.
    ///
    /// # Errors
    ///
    /// If one of them panics.
    fn start(&mut self) -> Result<Vec<StartOutcome>, BadHandler>;

    /// The possible outcomes of `input` to the actor `local`. The handler is run twice.
    ///
    /// # Errors
    ///
    /// If the second run has a different outcome, or if the handler panics. The outcomes of the
    /// first run are returned too; a panic has none.
    fn react(
        &mut self,
        local: LocalId,
        input: Input,
    ) -> Result<Vec<HandlerOutcome>, (BadHandler, Vec<HandlerOutcome>)>;

    /// Describes the fault of a handler.
    fn describe_fault(&self, local: LocalId, input: Input, why: HandlerFault) -> BadHandler;

    /// The request of an operation.
    fn request(&self, operation: u32) -> EnvelopeId;

    /// All envelopes, by id.
    fn envelopes(&self) -> &[Envelope];

    /// A hash of each state of an actor, by id.
    fn local_hashes(&self) -> &[Fingerprint];

    /// A hash of each result, by id.
    fn return_hashes(&self) -> &[Fingerprint];

    /// The actor in each slot.
    fn slots(&self) -> &[ActorId];

    /// The number of properties.
    fn properties(&self) -> usize;

    /// Whether a property holds, given the actors, the messages in flight, and the actors that are
    /// down.
    fn holds(&self, property: usize, locals: &[LocalId], in_flight: &[EnvelopeId], down: u64) -> bool;

    /// Whether a property has read the messages in flight, or the actors that are down.
    fn has_read_network_state(&self) -> bool;

    /// Approximate memory use, in bytes.
    fn bytes(&self) -> usize;
}

/// The slot has no actor (yet).
pub(crate) const ABSENT: LocalId = LocalId(u32::MAX);

/// Spreads the bits of `word`, so that sums of such words rarely coincide. Injective.
pub(crate) fn mix(word: Fingerprint) -> Fingerprint {
    let (mut low, mut high) = (word as u64, (word >> 64) as u64);
    // Each half is changed by the other, in turn.
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
