//! Built-in subjects by name, for a stress test or an exploration.

use clewline_methods::{
    line_up::{BuiltIn, LineUp},
    stress::{Stress, Workload},
};

use crate::{
    entry::Recipe,
    explorable::FoundExplorable,
    find::{UnknownSubject, find, find_explorable},
};

/// A stress test of the subject called `name`, as its entry recommends.
///
/// # Errors
///
/// If there is none of that name.
pub fn stress(name: &str) -> Result<Stress, UnknownSubject> {
    let found = find(name)?;
    Ok(Stress::erased(name, found.spec(), (found.variant.build)(), found.variant.recipe.into()))
}

/// An exploration of the class or structure called `name`.
///
/// # Errors
///
/// If there is none of that name.
pub fn line_up(name: &str) -> Result<LineUp<BuiltIn>, UnknownSubject> {
    let found = find_explorable(name)?;
    let spec = match &found {
        FoundExplorable::Structure(found) => Some(found.entry.spec),
        FoundExplorable::Class(..) => None,
    };
    Ok(LineUp::erased(name, found.build(), spec))
}

impl From<Recipe> for Workload {
    fn from(recipe: Recipe) -> Self {
        let Recipe { threads, operations, mix, keys, values, noise } = recipe;
        let mix = mix.iter().map(|&(method, weight)| (method.to_owned(), weight)).collect();
        Workload { threads, operations, mix, keys, values, noise, ..Workload::PLAIN }
    }
}
