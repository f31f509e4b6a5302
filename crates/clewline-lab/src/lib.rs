//! Things to test: concurrent objects that are right, and named bugs.
//!
//! Each structure is one file in [`structures`], written with the atomics and locks of
//! [`clewline_threads::sync`], so that noise can reach inside its operations. A file holds the structure and its variants:
//! the plain one, which is right, and those with a bug. To add one: write its file, export an `ENTRY`, add its name to the
//! list. Being in the table it owes that the plain variant holds, and that each bug is found.
//!
//! Classes, in [`classes`], have no specification: they are explored against what they do one call at a time.
//!
//! Elements and keys are [`Value`](clewline_core::Value)s: words. Nodes live in an [`Arena`](arena::Arena) and are named by
//! their index; nothing is freed while a structure lives, as with a garbage collector that comes late.

pub mod arena;
mod class;
pub mod classes;
mod container;
#[cfg(feature = "crates")]
pub mod crates;
pub mod ds2;
mod entry;
pub mod enumeration;
mod explorable;
mod find;
pub mod link;
mod locking;
mod map_calls;
mod monitor;
mod nodes;
pub mod reproduce;
pub mod structures;
pub mod systems;
mod tried;

pub use class::{Class, ClassVariant, Flaw};
pub use entry::{Entry, Found, Recipe, Variant};
pub use explorable::{FoundExplorable, explorables};
pub use find::{UnknownSubject, find, find_explorable, subjects};
pub use tried::{line_up, stress};
