//! Sequential specifications, one file each.
//!
//! To add one: write `src/your_object.rs`, implement [`Deterministic`](clewline_core::Deterministic) (or
//! [`Specification`](clewline_core::Specification)) and [`Notation`](clewline_core::Notation) for a type,
//! export an `ENTRY`, and add the module's name to the list below. The conformance suite takes it from there.
//!
//! Elements are [`Value`](clewline_core::Value)s, words that are copied and compared as integers. Null is
//! never an element: as an answer it means that there was none.

pub mod bag;
pub mod cas_register;
pub mod channel;
mod copies;
pub mod counter;
pub mod deque;
mod find;
mod given;
pub mod map;
pub mod min_priority_queue;
pub mod multiset;
pub mod mutex;
mod parameter;
pub mod priority_queue;
pub mod quasi_min_priority_queue;
pub mod quasi_priority_queue;
pub mod quasi_queue;
pub mod quasi_stack;
pub mod queue;
pub mod register;
pub mod relaxed;
pub mod semaphore;
pub mod set;
pub mod stack;

use clewline_core::{Catalogued, Table};

pub use copies::Copies;
pub use find::{MixError, SpecError, check_mix, closest, entry, find};
pub use parameter::Capacity;

/// A specification the command line can name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for `clewline specs` and `--help`.
    pub about: &'static str,
    /// The operations: how each is written in a file, and what it does and answers. Other names by which an
    /// operation is known follow in parentheses.
    pub operations: &'static [(&'static str, &'static str)],
    /// What may follow the name after a colon, if anything may: `queue:8`.
    pub parameter: Option<&'static str>,
    /// The specification with that parameter, or what is wrong with the parameter.
    pub build: Build,
}

impl Entry {
    /// The names of the operations.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> {
        self.operations.iter().filter_map(|it| it.0.split(' ').next())
    }
}

/// Builds a specification, given what follows its name after a colon.
pub type Build = fn(Option<&str>) -> Result<Box<dyn Catalogued>, String>;

/// Every specification, in alphabetical order of the names.
pub static CATALOG: Table<Entry> = Table::new(
    &[
        bag::ENTRY,
        cas_register::ENTRY,
        channel::ENTRY,
        counter::ENTRY,
        deque::ENTRY,
        map::ENTRY,
        min_priority_queue::ENTRY,
        multiset::ENTRY,
        mutex::ENTRY,
        priority_queue::ENTRY,
        quasi_min_priority_queue::ENTRY,
        quasi_priority_queue::ENTRY,
        quasi_queue::ENTRY,
        quasi_stack::ENTRY,
        queue::ENTRY,
        register::ENTRY,
        semaphore::ENTRY,
        set::ENTRY,
        stack::ENTRY,
    ],
    |it| it.name,
);
