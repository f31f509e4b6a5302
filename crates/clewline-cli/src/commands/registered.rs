//! A subject that is not in the table: a program that was started to be explored.

use std::{fmt, sync::Arc};

use clewline_threads::Explorable;

/// A subject that describes itself.
pub(super) struct Registered {
    /// Its name, in reports.
    pub(super) name: String,
    /// The subject.
    pub(super) explorable: Arc<dyn Explorable>,
    /// The command that explores it. Called at the end of the exploration.
    pub(super) command: Box<dyn Fn() -> String>,
    /// Whether the program has ended: then the last execution is invalid.
    pub(super) is_lost: Box<dyn Fn() -> bool>,
    /// Whether it is a whole program: then every result is correct, provided that it terminates.
    pub(super) is_body: bool,
    /// Its number among the programs that the command explores, if there may be several: then the
    /// command writes the files about all of them.
    pub(super) number: Option<usize>,
    /// Its matrices, if the arguments name none.
    pub(super) matrices: Vec<String>,
    /// The specification, if the arguments name none.
    pub(super) spec: Option<String>,
    /// The quasi factors, if the arguments name none.
    pub(super) quasi: Option<String>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("name", &self.name).finish_non_exhaustive()
    }
}
