//! Actor systems: replicated registers and maps, right ones and named bugs.
//!
//! A system is one file: the messages, the actors, a harness that says how calls and returns look among the messages, and an
//! `ENTRY` with its variants. Read [`single_copy`] first, then [`dr`]. To add one: write its file, export `ENTRY` and a
//! function `visit` that hands the harness of each variant to whoever wants it, add its name to the list. Being in the table
//! it owes that variants without a flaw hold, and that each flaw shows.

pub mod multi_paxos;
mod named;
mod sha1;
mod shape;
pub mod stateright;
mod system;
#[cfg(test)]
mod tests;
mod ticket;

use clewline_actors::ActorId;

pub use named::Named;
pub use shape::{BadShape, Shape};
pub use system::{
    FoundSystem, ReadsAndWrites, Symptom, System, SystemVisitor, UnknownSystem, Variant, find_system, systems,
};
pub use ticket::{Asker, Ticket};

/// Declares one module per line, the table of their entries, and who leads from an entry to its harness.
macro_rules! systems {
    ($($module:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every actor system, in alphabetical order of the names.
        pub static SYSTEMS: &[System] = &[$($module::ENTRY),+];

        fn dispatch<V: SystemVisitor>(found: &FoundSystem, actors: u32, visitor: V) -> V::Output {
            $(if found.system.name == $module::ENTRY.name {
                return $module::visit(found.variant.name, actors, visitor);
            })+
            unreachable!("what was found is in the table")
        }
    };
}

systems! {
    abd,
    adr,
    chain,
    dr,
    edr,
    open_chord,
    paxos,
    primary_backup,
    raft,
    single_copy,
    two_phase_commit,
}

/// The first `count` actors of a system.
fn all(count: u32) -> impl Iterator<Item = ActorId> {
    (0..count).map(ActorId::new)
}

/// The first `count` actors of a system, without `me`.
fn others(count: u32, me: ActorId) -> impl Iterator<Item = ActorId> {
    all(count).filter(move |it| *it != me)
}
