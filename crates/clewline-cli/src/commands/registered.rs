//! A subject that is in no table: a program that explores itself.

use std::{fmt, sync::Arc};

use clewline_threads::Explorable;

/// A subject that says itself what it is.
pub struct Registered {
    /// Its name, in reports.
    pub name: String,
    /// The subject.
    pub explorable: Arc<dyn Explorable>,
    /// How it is explored, as it is typed. Asked when everything is over.
    pub command: Box<dyn Fn() -> String>,
    /// Whether it is a whole program: whatever it answers is right, if only it comes to an end.
    pub is_body: bool,
    /// Its matrices, if the arguments name none.
    pub matrices: Vec<String>,
    /// The specification, if the arguments name none.
    pub spec: Option<String>,
    /// What `--quasi` says, if the arguments do not.
    pub quasi: Option<String>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("name", &self.name).finish_non_exhaustive()
    }
}
