//! Actor systems: every order of messages, and the histories that clients see.
//!
//! Someone who has a system writes [`Actor`]s and a [`Harness`]; with a [`Scenario`] and [`Rules`] that makes an [`ActorSystem`].
//! Its [`Engine`] knows in numbers what can happen in a [`World`] and what comes of it. A [`Walk`] goes through one
//! execution after the other, as schedulers tell it.

mod actor;
mod cast;
mod dependence;
mod engine;
mod faults;
mod graph;
mod harness;
mod hashed;
mod histories;
mod judge;
mod ledger;
pub mod minimize;
mod numbers;
mod paths;
mod plan;
mod refute;
mod schedule;
pub mod schedulers;
mod settings;
mod system;
mod tally;
mod trace;
mod visited;
mod walk;
mod world;

pub use actor::{Actor, ActorId, AnyActor, Context, Message, Output};
pub use cast::{BadScenario, CallOf, Cast, ReturnOf, Returns};
pub use dependence::{Dependence, Footprint, HistoryAware, Keyed, SameReceiver};
pub use engine::Engine;
pub use faults::{Faults, Mailbox, Places, Restart};
pub use graph::{Compare, Count, Ended, Explored, Found, Progress, Search, Until, explore_states};
pub use harness::{ClientCall, Clients, Glance, Harness, Property, Scenario, Watched, When};
pub use histories::{Histories, HistoryEvent, HistoryId, OPERATIONS_MAX, Summary};
pub use judge::{Extend, Judge, Judgement, Stepwise, Verdicts};
pub use numbers::{
    BadHandler, Effect, Envelope, EnvelopeId, Fingerprint, Input, LocalId, MessageId, Misdeed, Numbers,
    Outcome, ReturnId, Start,
};
pub use paths::Paths;
pub use refute::{Difference, Refuted, refute};
pub use schedule::{Schedule, Unfit};
pub use system::ActorSystem;
pub use tally::{FirstViolation, Flow, Tally};
pub use trace::{Reach, Trace, trace};
pub use walk::{Happened, Identity, Kind, Receive, Snapshots, Walk};
pub use world::{Action, Delivery, Ignored, Rules, Used, World};

#[cfg(test)]
mod naive;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod scrambled;
