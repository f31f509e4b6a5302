//! Actor systems, found by their names.

use clewline_core::NotFound;

use super::{
    SYSTEMS, dispatch,
    system::{FoundSystem, SystemVisitor},
};

impl FoundSystem {
    /// Passes the built-in system to `visitor`, with this number of actors: a number in the
    /// variant's [range](crate::systems::Variant::range).
    ///
    /// # Panics
    ///
    /// If the system was added to the table: only the types of built-in systems are known here.
    pub fn visit<V: SystemVisitor>(&self, actors: u32, visitor: V) -> V::Output {
        dispatch(self, actors, visitor)
    }
}

/// Every variant of every system, in the order of the table.
pub fn systems() -> impl Iterator<Item = FoundSystem> {
    SYSTEMS
        .iter()
        .flat_map(|system| system.variants.iter().map(move |variant| FoundSystem { system, variant }))
}

/// The system called `name`: `NAME` or `NAME:VARIANT`.
///
/// # Errors
///
/// If there is none of that name.
pub fn find_system(name: &str) -> Result<FoundSystem, NotFound> {
    systems().find(|it| it.name() == name).ok_or_else(|| {
        let names = systems().map(|it| it.name());
        NotFound::new("actor system", name, names).with_hint("`clewline systems` lists them")
    })
}
