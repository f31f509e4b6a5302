//! How a command ended, and what kept it from its work.

use std::{fmt, io};

use clewline_unmodified as unmodified;

/// How a command ended. The numbers are promised to other people's scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It did what it was asked to do, and every verdict is `holds`.
    Done = 0,
    /// A history is violated.
    Violated = 1,
    /// Bad usage, or an input that cannot be read.
    Failed = 2,
    /// A verdict is unknown, and none is worse.
    Unknown = 3,
}

/// What keeps a command from doing its work; told on standard error, as `error: …`.
#[derive(Debug)]
pub(super) enum Failure {
    /// Told in these words.
    Told(String),
    /// A program that was explored ended in a way that no exploration ends; told in the same way.
    Killed(String),
    /// Standard output was closed by whoever reads it, who has seen enough.
    BrokenPipe,
}

impl Failure {
    /// `error`, which befell `what`.
    pub(super) fn at(what: &str, error: impl fmt::Display) -> Failure {
        Failure::Told(format!("{what}: {error}"))
    }
}

impl From<clewline_methods::Error> for Failure {
    fn from(error: clewline_methods::Error) -> Self {
        Failure::Told(error.to_string())
    }
}

impl From<unmodified::Error> for Failure {
    fn from(error: unmodified::Error) -> Self {
        match error {
            unmodified::Error::Killed { .. } => Failure::Killed(error.to_string()),
            error => Failure::Told(error.to_string()),
        }
    }
}

impl From<unmodified::GaveUp> for Status {
    fn from(why: unmodified::GaveUp) -> Self {
        match why {
            unmodified::GaveUp::Failed => Status::Failed,
            unmodified::GaveUp::Unknown => Status::Unknown,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::at("standard output", error),
        }
    }
}

/// How the command ended. What kept it from doing its work is told.
pub(super) fn told(outcome: Result<Status, Failure>) -> Status {
    match outcome {
        Ok(status) => status,
        Err(Failure::BrokenPipe) => Status::Done,
        Err(Failure::Told(message) | Failure::Killed(message)) => {
            eprintln!("error: {message}");
            Status::Failed
        }
    }
}
