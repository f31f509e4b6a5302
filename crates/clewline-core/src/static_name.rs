//! Names of operations that are known only when a file is read.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// `name`, which is kept once for the whole process: a specification has few.
#[must_use]
pub fn static_name(name: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(found) = names.get(name) {
        return found;
    }
    let leaked: &'static str = Box::leak(name.into());
    names.insert(leaked);
    leaked
}
