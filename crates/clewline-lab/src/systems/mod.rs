//! Actor systems: replicated registers and maps, correct ones and named bugs.
//!
//! A system is one file: the messages, the actors, a harness that maps messages to calls and
//! returns, and an `ENTRY` with its variants. Read [`single_copy`] first, then [`dr`]. To add one:
//! write its file, export `ENTRY` and a function `visit` that passes the harness of each variant to
//! a visitor, declare it and add its name to the list. Its specification may be any that has a
//! [codec](clewline_core::Codec). Variants in the table must hold if they have no flaw, and each
//! flaw must be found. Another program [adds](clewline_core::Table::extend) entries, and needs no
//! `visit`.

pub mod abd;
pub mod adr;
pub mod chain;
pub mod dr;
pub mod edr;
mod found;
mod ids;
pub mod multi_paxos;
mod named;
pub mod open_chord;
pub mod paxos;
pub mod primary_backup;
pub mod raft;
mod sha1;
mod shape;
pub mod single_copy;
pub mod stateright;
mod system;
#[cfg(test)]
mod tests;
mod ticket;
pub mod two_phase_commit;

use clewline_core::Table;

pub use found::{find_system, systems};
pub use shape::{ReadsAndWrites, Shape};
pub use system::{FoundSystem, NamedSystem, Symptom, System, SystemVisitor, Usage, Variant};
pub use ticket::{Asker, Ticket};

/// The table of entries, and the mapping from a built-in entry to its harness, whose types differ.
macro_rules! systems {
    ($($module:ident),+ $(,)?) => {
        /// Every actor system, in alphabetical order of the names.
        pub static SYSTEMS: Table<System> = Table::new(&[$($module::ENTRY),+], |it| it.name);

        fn dispatch<V: SystemVisitor>(found: &FoundSystem, actors: u32, visitor: V) -> V::Output {
            $(if found.system.name == $module::ENTRY.name {
                return $module::visit(found.variant.name, actors, visitor);
            })+
            panic!("{} is not built in: its types are not known", found.system.name)
        }
    };
}

systems![abd, adr, chain, dr, edr, open_chord, paxos, primary_backup, raft, single_copy, two_phase_commit,];
