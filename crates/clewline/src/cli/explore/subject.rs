//! Subjects as `explore` finds them: structures, which have a specification, and classes, which have none.

use std::sync::Arc;

use clewline::subjects::{self, FoundExplorable, find_explorable};
use clewline_threads::Explorable;

use crate::cli::Failure;

/// A subject to explore.
pub(super) struct Subject {
    found: FoundExplorable,
    explorable: Arc<dyn Explorable>,
}

/// The subject called `name`: `NAME` or `NAME:VARIANT`.
pub(super) fn find(name: &str) -> Result<Subject, Failure> {
    let found = find_explorable(name).map_err(|unknown| match subjects::find(name) {
        Ok(_) => Failure::Told(format!(
            "`{name}` cannot be explored: it is not written with `clewline::sync`, so that no thread would ever be interrupted \
             in the middle of a call; try `clewline stress {name}`"
        )),
        Err(_) => Failure::Told(unknown.to_string()),
    })?;
    Ok(Subject { found, explorable: Arc::from(found.build()) })
}

impl Subject {
    pub(super) fn explorable(&self) -> &dyn Explorable {
        &*self.explorable
    }

    /// The subject, for whoever wants to keep it.
    pub(super) fn into_explorable(self) -> Arc<dyn Explorable> {
        self.explorable
    }

    /// The specification that it has, by name.
    pub(super) fn spec(&self) -> Option<&'static str> {
        match &self.found {
            FoundExplorable::Structure(found) => Some(found.entry.spec),
            FoundExplorable::Class(..) => None,
        }
    }

    /// What matrices are made of, if the user does not say.
    pub(super) fn invocations(&self) -> Vec<String> {
        self.explorable.invocations()
    }
}
