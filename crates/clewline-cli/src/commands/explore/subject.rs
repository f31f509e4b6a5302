//! Subjects as `explore` finds them: structures, which have a specification, and classes, which have none.

use std::sync::Arc;

#[cfg(feature = "lab")]
use clewline_lab::{FoundExplorable, find_explorable};
use clewline_methods::line_up::Matrix;
use clewline_report::render::text::shell_word;
use clewline_threads::Explorable;

use crate::commands::{registered::Registered, status::Failure};

/// A subject to explore.
pub(super) struct Subject {
    explorable: Arc<dyn Explorable>,
    spec: Option<String>,
    /// How it is explored, as it is typed, if not by its name.
    command: Option<Box<dyn Fn() -> String>>,
    /// Whether it is a program that is gone.
    is_lost: Box<dyn Fn() -> bool>,
    /// Whether it is a whole program, all of whose answers are right.
    is_body: bool,
    /// Those that it comes with.
    matrices: Vec<Matrix>,
}

/// Nothing is built in.
#[cfg(not(feature = "lab"))]
pub(super) fn find(name: &str) -> Result<Subject, Failure> {
    Err(Failure::Told(format!(
        "unknown subject `{name}`: this binary was built without subjects (feature `lab`)"
    )))
}

/// The subject called `name`: `NAME` or `NAME:VARIANT`.
#[cfg(feature = "lab")]
pub(super) fn find(name: &str) -> Result<Subject, Failure> {
    let found = find_explorable(name).map_err(|unknown| match clewline_lab::find(name) {
        Ok(_) => Failure::Told(format!(
            "`{name}` cannot be explored: it does not use `clewline::sync`, so the scheduler cannot preempt \
             a thread inside a call; try `clewline stress {name}`"
        )),
        Err(_) => Failure::Told(unknown.to_string()),
    })?;
    let spec = match &found {
        FoundExplorable::Structure(found) => Some(found.entry.spec.to_owned()),
        FoundExplorable::Class(..) => None,
    };
    Ok(Subject {
        explorable: Arc::from(found.build()),
        spec,
        command: None,
        is_lost: Box::new(|| false),
        is_body: false,
        matrices: Vec::new(),
    })
}

impl Subject {
    /// A subject that is in no table.
    pub(super) fn registered(given: Registered) -> Result<Subject, Failure> {
        let matrices = given.matrices.iter().map(|it| it.parse().map_err(|error| Failure::at(it, error)));
        Ok(Subject {
            matrices: matrices.collect::<Result<_, _>>()?,
            explorable: given.explorable,
            spec: None,
            command: Some(given.command),
            is_lost: given.is_lost,
            is_body: given.is_body,
        })
    }

    pub(super) fn explorable(&self) -> &dyn Explorable {
        &*self.explorable
    }

    /// The subject, for whoever wants to keep it.
    pub(super) fn into_explorable(self) -> Arc<dyn Explorable> {
        self.explorable
    }

    /// The specification that it has, by name.
    pub(super) fn spec(&self) -> Option<&str> {
        self.spec.as_deref()
    }

    /// How it is explored, as it is typed, if it is called `name`.
    pub(super) fn command(&self, name: &str) -> String {
        match &self.command {
            Some(command) => command(),
            None => format!("clewline explore {}", shell_word(name)),
        }
    }

    /// Whether it is a whole program, all of whose answers are right.
    pub(super) fn is_body(&self) -> bool {
        self.is_body
    }

    /// Whether it is gone: then what was explored last means nothing.
    pub(super) fn is_lost(&self) -> bool {
        (self.is_lost)()
    }

    /// Matrices that it comes with.
    pub(super) fn matrices(&self) -> &[Matrix] {
        &self.matrices
    }

    /// What matrices are made of, if the user does not say.
    pub(super) fn invocations(&self) -> Vec<String> {
        self.explorable.invocations()
    }
}
