//! Subjects of `explore`: structures (with a specification) and classes (without one).

use std::sync::Arc;

use clewline_core::{NotFound, Verdict};
#[cfg(feature = "lab")]
use clewline_lab::{FoundExplorable, find_explorable};
use clewline_matrix::{Explorable, method};
use clewline_methods::line_up::{Checked, LineUpOptions, Matrix};
use clewline_report::render::text::shell_word;
use clewline_threads::control::MemoryModel;

use crate::commands::{
    registered::{IsConfirmed, NotSeen, Registered},
    status::Failure,
};

/// A subject to explore.
pub(super) struct Subject<'p> {
    explorable: Arc<dyn Explorable>,
    spec: Option<String>,
    /// The command that explores it, if it is not found by its name.
    command: Option<Box<dyn Fn() -> String>>,
    /// Whether it is a program that has ended.
    is_lost: Box<dyn Fn() -> bool>,
    /// What was not seen of it.
    unseen: Box<dyn Fn() -> NotSeen>,
    /// The scheduling points that were found, if it is a program.
    racing: Option<Box<dyn Fn() -> String>>,
    /// The flag with these points, for a replay.
    racing_flag: Option<Box<dyn Fn() -> String>>,
    /// Whether it is a whole program; then every result is correct.
    is_body: bool,
    /// Its number among several programs.
    number: Option<usize>,
    /// Its own matrices.
    matrices: Vec<Matrix>,
    /// The operations that one thread calls, by the name of its role.
    roles: Vec<(String, Vec<String>)>,
    /// Whether a violation is one without what earlier executions may have left behind.
    is_confirmed: IsConfirmed<'p>,
}

const NOT_CONFIRMED: &str = "uncontrolled nondeterminism: an execution that is wrong was made again in a process of its own, and nothing failed \
                             there. A library that was not compiled for this keeps what it did in the executions before";

/// Without the lab no subject is built in.
#[cfg(not(feature = "lab"))]
pub(super) fn find(name: &str) -> Result<Subject<'static>, Failure> {
    Err(Failure::Message(format!(
        "unknown subject `{name}`: this binary was built without subjects (feature `lab`)"
    )))
}

/// The subject called `name`: `NAME` or `NAME:VARIANT`.
#[cfg(feature = "lab")]
pub(super) fn find(name: &str) -> Result<Subject<'static>, Failure> {
    let found = find_explorable(name).map_err(|unknown| match clewline_lab::find(name) {
        Ok(_) => Failure::Message(format!(
            "`{name}` cannot be explored: it does not use `clewline::sync`, so the scheduler cannot preempt \
             a thread inside a call; try `clewline stress {name}`"
        )),
        Err(_) => Failure::Message(unknown.to_string()),
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
        unseen: Box::new(NotSeen::default),
        racing: None,
        racing_flag: None,
        is_body: false,
        number: None,
        matrices: Vec::new(),
        roles: Vec::new(),
        is_confirmed: Box::new(|_, _| true),
    })
}

impl<'p> Subject<'p> {
    /// A subject that is not in the table.
    pub(super) fn registered(given: Registered<'p>) -> Result<Subject<'p>, Failure> {
        let matrices = given.matrices.iter().map(|it| it.parse().map_err(|error| Failure::at(it, error)));
        let roles = given.roles.iter().map(|it| role(it, &given.explorable.invocations()));
        Ok(Subject {
            roles: roles.collect::<Result<_, _>>()?,
            matrices: matrices.collect::<Result<_, _>>()?,
            explorable: given.explorable,
            spec: None,
            command: Some(given.command),
            is_lost: given.is_lost,
            unseen: given.unseen,
            racing: Some(given.racing),
            racing_flag: Some(given.racing_flag),
            is_body: given.is_body,
            number: given.number,
            is_confirmed: given.is_confirmed,
        })
    }

    pub(super) fn explorable(&self) -> &dyn Explorable {
        &*self.explorable
    }

    /// The owned subject.
    pub(super) fn into_explorable(self) -> Arc<dyn Explorable> {
        self.explorable
    }

    /// The name of its specification.
    pub(super) fn spec(&self) -> Option<&str> {
        self.spec.as_deref()
    }

    /// The command that explores it under the name `name`.
    pub(super) fn command(&self, name: &str) -> String {
        match &self.command {
            Some(command) => command(),
            None => format!("clewline explore {}", shell_word(name)),
        }
    }

    /// Whether it is a whole program; then every result is correct.
    pub(super) fn is_body(&self) -> bool {
        self.is_body
    }

    /// Whether it is a program that was started to be explored.
    pub(super) fn is_program(&self) -> bool {
        self.racing.is_some()
    }

    /// Its number among several programs that the command explores.
    pub(super) fn number(&self) -> Option<usize> {
        self.number
    }

    /// Whether the program has ended: then the last execution is invalid.
    pub(super) fn is_lost(&self) -> bool {
        (self.is_lost)()
    }

    /// What was not seen of it so far, and is not trusted.
    pub(super) fn unseen(&self) -> NotSeen {
        (self.unseen)()
    }

    /// If it is a program: the scheduling points that were found so far.
    pub(super) fn racing(&self) -> Option<String> {
        self.racing.as_ref().map(|it| it())
    }

    /// The flag with these points, which a replay needs.
    pub(super) fn racing_flag(&self) -> String {
        self.racing_flag.as_ref().map_or_else(String::new, |it| it())
    }

    /// What was found, without a violation that executions before it may have caused, or that code
    /// may rule out which was not seen.
    pub(super) fn confirmed(&self, mut checked: Checked, options: &LineUpOptions) -> Checked {
        if checked.finding().is_none() || self.is_lost() {
            return checked;
        }
        let is_weak = options.memory.model != MemoryModel::SequentiallyConsistent;
        if let Some(doubt) = self.unseen().doubt().filter(|_| is_weak) {
            checked.verdict = Verdict::Unknown(doubt);
        } else if !(self.is_confirmed)(&checked, options) {
            checked.verdict = Verdict::Unknown(NOT_CONFIRMED.to_owned());
        }
        checked
    }

    /// The role of the thread that calls `call`, if only one does.
    pub(super) fn role(&self, call: &str) -> Option<String> {
        let calls = |it: &&(String, Vec<String>)| it.1.iter().any(|name| name == method(call));
        self.roles.iter().find(calls).map(|it| it.0.clone())
    }

    /// Its own matrices.
    pub(super) fn matrices(&self) -> &[Matrix] {
        &self.matrices
    }

    /// The default calls of generated matrices.
    pub(super) fn invocations(&self) -> Vec<String> {
        self.explorable.invocations()
    }
}

/// Reads `producer: enq, peek`. Each of these operations has to exist.
fn role(text: &str, known: &[String]) -> Result<(String, Vec<String>), Failure> {
    let error = |why: String| Failure::at("`CLEWLINE_ROLE`", why);
    let (name, calls) = text.split_once(':').ok_or_else(|| {
        error(format!("expected a name and operations, such as `producer: enq`; found `{text}`"))
    })?;
    let calls: Vec<String> = calls.split(',').map(|it| it.trim().to_owned()).collect();
    match calls.iter().find(|it| !known.iter().any(|known| method(known) == it.as_str())) {
        Some(unknown) => {
            let names = known.iter().map(|it| method(it));
            Err(error(NotFound::new("operation", unknown, names).to_string()))
        }
        None => Ok((name.trim().to_owned(), calls)),
    }
}
