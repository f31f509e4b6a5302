//! Subjects as `explore` finds them: structures, which have a specification, and classes, which have none.

use std::sync::Arc;

use clewline::{
    Misfit,
    subjects::{self, Class, ClassVariant, Found, classes::CLASSES},
};
use clewline_threads::{
    Explorable, Testable, Trial,
    control::{Calls, Limits},
};

use crate::cli::Failure;

/// A subject to explore.
pub(super) enum Subject {
    Structure(Found, Box<dyn Testable>),
    Class(&'static Class, &'static ClassVariant, Box<dyn Explorable>),
}

/// The subject called `name`: `NAME` or `NAME:VARIANT`.
pub(super) fn find(name: &str) -> Result<Subject, Failure> {
    if let Ok(found) = subjects::find(name) {
        return Ok(Subject::Structure(found, (found.variant.build)()));
    }
    for class in CLASSES {
        if let Some(variant) = class.variants.iter().find(|it| class_name(class, it) == name) {
            return Ok(Subject::Class(class, variant, (variant.build)()));
        }
    }
    let names = CLASSES.iter().flat_map(|class| class.variants.iter().map(|it| class_name(class, it)));
    let names: Vec<String> = names.chain(subjects::subjects().map(|it| it.name())).collect();
    let meant = clewline::specs::closest(name, names.iter().map(String::as_str));
    let meant = meant.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
    Err(Failure::Told(format!("no subject is called `{name}`{meant} (`clewline subjects` lists them)")))
}

/// `NAME` or `NAME:VARIANT`.
pub(in crate::cli) fn class_name(class: &Class, variant: &ClassVariant) -> String {
    match variant.name {
        "" => class.name.to_owned(),
        variant => format!("{}:{variant}", class.name),
    }
}

impl Subject {
    pub(super) fn explorable(&self) -> &dyn Explorable {
        match self {
            Subject::Structure(_, testable) => testable.explorable(),
            Subject::Class(_, _, explorable) => &**explorable,
        }
    }

    /// The subject, for whoever wants to keep it.
    pub(super) fn into_explorable(self) -> Arc<dyn Explorable> {
        match self {
            Subject::Structure(_, testable) => Arc::new(Owned(testable)),
            Subject::Class(_, _, explorable) => Arc::from(explorable),
        }
    }

    /// The specification that it has, by name.
    pub(super) fn spec(&self) -> Option<&'static str> {
        match self {
            Subject::Structure(found, _) => Some(found.entry.spec),
            Subject::Class(..) => None,
        }
    }

    /// What matrices are made of, if the user does not say.
    pub(super) fn invocations(&self) -> Vec<String> {
        let own = self.explorable().invocations();
        match self {
            Subject::Class(..) => own,
            Subject::Structure(..) if !own.is_empty() => own,
            Subject::Structure(found, _) => {
                let spec = found.entry.spec.split(':').next().unwrap_or_default();
                let known = USUAL.iter().find(|it| it.0 == spec).map_or(&[][..], |it| it.1);
                let offers = |call: &&&str| {
                    let method = call.split('(').next().unwrap_or_default();
                    !found.entry.lacks.contains(&method)
                };
                known.iter().filter(offers).map(|it| (*it).to_owned()).collect()
            }
        }
    }
}

/// A structure to explore, with what makes it.
struct Owned(Box<dyn Testable>);

impl Explorable for Owned {
    fn invocations(&self) -> Vec<String> {
        self.0.explorable().invocations()
    }

    fn trial(&self, calls: &Calls<String>, limits: &Limits) -> Result<Box<dyn Trial>, Misfit> {
        self.0.explorable().trial(calls, limits)
    }
}

/// Of each specification, calls that get in each other's way.
const USUAL: &[(&str, &[&str])] = &[
    ("bag", &["add(1)", "add(2)", "take"]),
    ("cas-register", &["write(1)", "read", "cas(0, 1)", "cas(1, 2)"]),
    ("channel", &["send(1)", "recv", "send(2)"]),
    ("counter", &["inc", "read", "dec"]),
    ("deque", &["push-front(1)", "pop-back", "push-back(2)", "pop-front"]),
    ("map", &["put(1, 1)", "get(1)", "remove(1)", "put(1, 2)", "contains(1)", "put(2, 1)", "get(2)"]),
    ("min-priority-queue", &["add(1)", "poll", "add(2)"]),
    ("multiset", &["add(1)", "remove(1)", "contains(1)"]),
    ("mutex", &["lock", "unlock"]),
    ("priority-queue", &["add(1)", "poll", "add(2)"]),
    ("queue", &["enq(1)", "deq", "enq(2)", "peek"]),
    ("register", &["write(1)", "read", "write(2)"]),
    ("semaphore", &["acquire", "release"]),
    ("set", &["add(1)", "remove(1)", "contains(1)", "add(2)", "remove(2)"]),
    ("stack", &["push(1)", "pop", "push(2)"]),
];
