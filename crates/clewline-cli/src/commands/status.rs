//! Exit status and errors of commands.

use std::{fmt, io};

use clewline_core::{VerdictKind, visible};
use clewline_unmodified as unmodified;

/// How a command ended. The exit codes are stable: scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// The command succeeded, and every verdict is `holds`.
    Done = 0,
    /// A history is violated.
    Violated = 1,
    /// Invalid arguments, or unreadable input.
    Failed = 2,
    /// A verdict is unknown, and none is worse.
    Unknown = 3,
    /// Ctrl-C: what was found until then is reported.
    Interrupted = 130,
    /// The same, by SIGTERM.
    Terminated = 143,
}

impl Status {
    /// The status of a command with this verdict.
    pub(super) fn of(verdict: VerdictKind) -> Status {
        match verdict {
            VerdictKind::Holds(()) => Status::Done,
            VerdictKind::Violated(()) => Status::Violated,
            VerdictKind::Unknown(()) => Status::Unknown,
        }
    }
}

/// An error that ends a command; printed on standard error as `error: …`.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error with this message.
    Message(String),
    /// The explored program ended unexpectedly; printed in the same way.
    Killed(String),
    /// The reader closed standard output.
    BrokenPipe,
}

impl Failure {
    /// An `error` of `what`.
    pub(super) fn at(what: &str, error: impl fmt::Display) -> Failure {
        Failure::Message(format!("{}: {error}", visible(what)))
    }
}

impl From<clewline_methods::Error> for Failure {
    fn from(error: clewline_methods::Error) -> Self {
        Failure::Message(described(&error))
    }
}

/// An error, and the line of the input that it is about.
pub(super) fn described(error: &clewline_methods::Error) -> String {
    match error.excerpt() {
        Some(excerpt) => format!("{error}\n{excerpt}"),
        None => error.to_string(),
    }
}

impl From<unmodified::ProgramError> for Failure {
    fn from(error: unmodified::ProgramError) -> Self {
        match error {
            unmodified::ProgramError::Killed { .. } => Failure::Killed(error.to_string()),
            error => Failure::Message(error.to_string()),
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

/// The exit status of the command. Prints the error, if there is one.
pub(super) fn report_failure(outcome: Result<Status, Failure>) -> Status {
    match outcome {
        Ok(status) => status,
        Err(Failure::BrokenPipe) => Status::Done,
        Err(Failure::Message(message) | Failure::Killed(message)) => {
            print_error(&message);
            Status::Failed
        }
    }
}

/// Prints an error on standard error.
pub(super) fn print_error(message: impl fmt::Display) {
    eprintln!("{}", harmless(&format!("error: {message}")));
}

/// Prints on standard error why the verdict is unknown.
pub(super) fn print_unknown(message: impl fmt::Display) {
    eprintln!("{}", harmless(&format!("unknown: {message}")));
}

/// Prints a note on standard error.
pub(super) fn print_note(message: impl fmt::Display) {
    eprintln!("{}", harmless(&format!("note: {message}")));
}

/// Prints help, or what is wrong with the arguments; returns the status of the command.
pub(super) fn print_usage(error: &clap::Error) -> Result<Status, Failure> {
    if !error.use_stderr() {
        error.print()?;
        return Ok(Status::Done);
    }
    let text = error.to_string();
    let shown = harmless(&text);
    // Only clap knows the colours.
    if shown == text.trim_end() {
        error.print()?;
    } else {
        eprintln!("{shown}");
    }
    Ok(Status::Failed)
}

/// The lines of a message, with every character escaped that a terminal would obey. Messages hold
/// names of files, arguments and what compilers print. GitHub's logs obey lines that begin with
/// `::`, also after spaces.
fn harmless(message: &str) -> String {
    let line = |it: &str| {
        let (shown, rest) = (visible(it), it.trim_start());
        if rest.starts_with("::") { format!("\\{shown}") } else { shown.into_owned() }
    };
    message.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}
