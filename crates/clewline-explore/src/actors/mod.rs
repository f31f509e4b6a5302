//! Actor systems: every order of messages, and the histories that clients see.

mod actor;
mod harness;

pub use actor::{Actor, ActorId, AnyActor, Context, Message, Output};
pub use harness::{ClientCall, Clients, Glance, Harness, Property, Scenario, When};
