//! A subject that is in no table: a program that was started to be explored.

use std::{fmt, sync::Arc};

use clewline_threads::Explorable;

/// A subject that says itself what it is.
pub(super) struct Registered {
    /// Its name, in reports.
    pub(super) name: String,
    /// The subject.
    pub(super) explorable: Arc<dyn Explorable>,
    /// How it is explored, as it is typed. Called when everything is over.
    pub(super) command: Box<dyn Fn() -> String>,
    /// Whether it is gone: then what was explored last means nothing.
    pub(super) is_lost: Box<dyn Fn() -> bool>,
    /// Whether it is a whole program: whatever it answers is right, if only it comes to an end.
    pub(super) is_body: bool,
    /// Its matrices, if the arguments name none.
    pub(super) matrices: Vec<String>,
    /// The specification, if the arguments name none.
    pub(super) spec: Option<String>,
    /// What `--quasi` says, if the arguments do not.
    pub(super) quasi: Option<String>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("name", &self.name).finish_non_exhaustive()
    }
}
