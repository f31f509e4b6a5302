//! Entries that another program adds to the command line.

use std::fmt;

use clewline_check::Checker;
use clewline_core::{ExtendError, Table};
use clewline_formats::Format;
use clewline_monitor::Monitor;

use crate::scripts;

/// Entries to add to the built-in tables. Commands, `--help`, suggestions and completions include
/// them.
///
/// `examples/extensions` in the repository has one entry of each kind.
#[derive(Clone, Copy, Default)]
pub struct Extensions {
    /// Specifications, for `--spec`.
    pub specifications: &'static [clewline_specs::SpecificationEntry],
    /// Checkers for all specifications, for `--algorithm`.
    pub checkers: &'static [&'static dyn Checker],
    /// Monitors, used by the algorithm `auto` for the specifications that they support.
    pub monitors: &'static [&'static dyn Monitor],
    /// Formats of files, for `--input-format` and `convert`.
    pub formats: &'static [&'static dyn Format],
    /// Schedulers of threads, for `explore`.
    pub thread_schedulers: &'static [clewline_explore::schedulers::SchedulerEntry],
    /// Schedulers of messages, for `actors`.
    pub message_schedulers: &'static [clewline_actors::schedulers::MessageSchedulerEntry],
    /// Subjects of `stress` and `explore`.
    #[cfg(feature = "lab")]
    pub subjects: &'static [clewline_lab::SubjectEntry],
    /// Classes without a specification, for `explore`.
    #[cfg(feature = "lab")]
    pub classes: &'static [clewline_lab::Class],
    /// Actor systems, for `actors`.
    #[cfg(feature = "lab")]
    pub systems: &'static [clewline_lab::systems::System],
}

impl Extensions {
    /// Adds all of them.
    pub(crate) fn add(self) -> Result<(), String> {
        fn extend<T>(what: &str, table: &Table<T>, entries: &'static [T]) -> Result<(), String> {
            table.extend(entries).map_err(|it: ExtendError| format!("{what}: {it}"))
        }
        clewline_specs::set_loader(scripts::LOADER);
        extend("specifications", &clewline_specs::CATALOG, self.specifications)?;
        extend("checkers", &clewline_check::search::SEARCHES, self.checkers)?;
        extend("monitors", &clewline_monitor::MONITORS, self.monitors)?;
        extend("formats", &clewline_formats::formats::FORMATS, self.formats())?;
        extend("schedulers of threads", &clewline_explore::schedulers::SCHEDULERS, self.thread_schedulers)?;
        extend("schedulers of messages", &clewline_actors::schedulers::SCHEDULERS, self.message_schedulers)?;
        #[cfg(feature = "lab")]
        {
            extend("subjects", &clewline_lab::structures::STRUCTURES, self.subjects)?;
            extend("classes", &clewline_lab::classes::CLASSES, self.classes)?;
            extend("actor systems", &clewline_lab::systems::SYSTEMS, self.systems)?;
        }
        Ok(())
    }
}

impl Extensions {
    /// The formats, with those that a feature adds.
    #[cfg(feature = "columns")]
    fn formats(&self) -> &'static [&'static dyn Format] {
        [clewline_columns::FORMATS, self.formats].concat().leak()
    }

    /// The formats.
    #[cfg(not(feature = "columns"))]
    fn formats(&self) -> &'static [&'static dyn Format] {
        self.formats
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checkers: Vec<&str> = self.checkers.iter().map(|it| it.name()).collect();
        let monitors: Vec<&str> = self.monitors.iter().map(|it| it.name()).collect();
        let formats: Vec<&str> = self.formats.iter().map(|it| it.name()).collect();
        f.debug_struct("Extensions")
            .field("specifications", &self.specifications)
            .field("checkers", &checkers)
            .field("monitors", &monitors)
            .field("formats", &formats)
            .field("thread_schedulers", &self.thread_schedulers)
            .field("message_schedulers", &self.message_schedulers)
            .finish_non_exhaustive()
    }
}
