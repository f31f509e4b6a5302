//! The engine for other front ends: tasks that run code which was not written for it.
//!
//! The primitives of [`sync`](crate::sync) are one front end of the engine. Another front end may
//! observe accesses in any other way, for example through compiler instrumentation, and reports
//! them to a [`Control`]. Objects are identified by their addresses, and places by addresses of
//! code. [`Foreign`] is the interface in the other direction.

pub use crate::control::{
    Control, Foreign, ForeignAccess, Loaded, Missed, Need, Origin, Place, ReadModifyWrite, Resolver, Site,
    Stored, Updated, WakeCondition, set_resolver,
};
