//! Objects to test: correct concurrent objects, and named bugs.
//!
//! Each structure is one file in [`structures`], written with the atomics and locks of
//! [`clewline_threads::sync`], so that noise can reach inside its operations. A file holds the
//! structure and its variants: the plain one, which is correct, and those with a bug. To add one:
//! write its file, export an `ENTRY`, add its name to the list. The plain variant of an entry must
//! hold, and each bug must be found.
//!
//! Classes, in [`classes`], have no specification: they are explored against their serial
//! behaviour.
//!
//! Elements and keys are [`Value`](clewline_core::Value)s: words. Nodes live in an
//! [`Arena`](arena::Arena) and are identified by their index; nothing is freed while a structure
//! lives, as with a late garbage collector.

pub mod arena;
mod by_name;
pub mod census;
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

pub use by_name::{line_up, stress};
pub use class::{Class, ClassVariant, Flaw};
pub use entry::{FoundSubject, Recipe, SubjectEntry, Variant};
pub use explorable::{FoundExplorable, explorables};
pub use find::{UnknownSubject, find, find_explorable, subjects};
