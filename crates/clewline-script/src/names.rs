//! Names of operations, which are kept as long as the process runs.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// `name`, which is kept once for the whole process.
pub(crate) fn kept(name: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(found) = names.get(name) {
        return found;
    }
    let leaked: &'static str = Box::leak(name.into());
    names.insert(leaked);
    leaked
}
