//! Actor systems: exploration of every message order, and the histories that clients observe.
//!
//! A user implements [`Actor`]s and a [`Harness`]. With a [`Scenario`] and [`Rules`] these make an
//! [`ActorSystem`]. Its [`Engine`] computes the actions enabled in a [`World`] and their
//! successors, on interned ids. An [`Execution`] executes steps one by one and takes them back, as
//! schedulers choose.

mod actor;
mod dependence;
mod engine;
mod envelope_table;
mod execution;
mod faults;
mod graph;
mod harness;
#[cfg(feature = "files")]
mod harness_file;
mod hashed_interner;
mod histories;
mod interned;
mod judge;
pub mod minimize;
mod model_tables;
mod paths;
mod plan;
mod refute;
mod schedule;
pub mod schedulers;
mod settings;
mod statistics;
mod system;
mod token;
mod trace;
mod visited;
mod world;

pub use actor::{Actor, ActorId, AnyActor, Context, Message, Output};
pub use dependence::{Dependence, HistoryAware, Keyed, SameReceiver, StepFootprint};
pub use engine::Engine;
pub use execution::{EnabledStep, ExecutedStep, Execution, Snapshots, StepIdentity, StepKind};
pub use faults::{FaultPlacement, Faults, Mailbox, Restart};
pub use graph::{
    Count, Explored, GraphProgress, PropertyVerdict, Search, StateComparison, StopReason, StopWhen,
    explore_states,
};
pub use harness::{ClientCall, Clients, GlobalState, Harness, Modality, Property, Scenario, Tracked};
#[cfg(feature = "files")]
pub use harness_file::{FileHarness, FileMessage, HarnessFile, HarnessFileError};
pub use histories::{Histories, HistoryEvent, HistoryId, HistorySummary, OPERATIONS_MAX};
pub use interned::{
    BadHandler, Effect, Envelope, EnvelopeId, Fingerprint, HandlerFault, HandlerOutcome, Input,
    InternedModel, LocalId, MessageId, ReturnId, StartOutcome,
};
pub use judge::{IncrementalJudge, Judge, Stepwise, Verdicts};
pub use model_tables::{BadScenario, CallOf, ModelTables, ReturnLookup, ReturnOf};
pub use paths::Paths;
pub use refute::{Difference, RefutedIndependence, refute};
pub use schedule::{MessageSchedule, ScheduleMismatch};
pub use settings::{SampledPart, SampledSchedules};
pub use statistics::{FirstViolation, Flow, Statistics};
pub use system::ActorSystem;
pub use token::Token;
pub use trace::{TraceLimits, TraceResult, trace};
pub use world::{Action, Delivery, FaultsUsed, Ignored, Rules, World};

#[cfg(test)]
mod random_systems;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod samples;
