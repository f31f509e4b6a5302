//! Errors that prevent a check.

use std::{fmt, io};

use clewline_core::{LoadError, Malformed, NotFound, ParseError, visible};
use clewline_formats::{
    ReadError, WriteError,
    formats::{FORMATS, missing_columns},
};
use clewline_specs::{MixError, SpecError};

/// A history could not be checked, because of the settings or of the input.
#[derive(Debug)]
pub struct Error {
    // The file that was being read, if one was.
    file: Option<String>,
    kind: Box<ErrorKind>,
    // The line that it is about, and a mark below its place.
    excerpt: Option<String>,
}

#[derive(Debug)]
pub(crate) enum ErrorKind {
    Specification(SpecError),
    /// The name of an algorithm, or of a format.
    NotFound(NotFound),
    /// A text in a builder's argument.
    Text(ParseError),
    Mix(MixError),
    /// Factors, or a reading, of quasi linearizability.
    Quasi(String),
    /// The beginning of an input in no format.
    Unrecognised(String),
    /// Roles of threads.
    Roles(String),
    Io(io::Error),
    Read(ReadError),
    Load(LoadError),
    Event {
        at: u64,
        reason: &'static str,
    },
    OutOfOrder {
        line: usize,
    },
    /// Events or operations that make no history.
    Malformed(Malformed),
    /// The history of a recorder that drops events.
    LiveRecorder,
    Write(WriteError),
    /// A matrix, or another part of an exploration.
    Matrix(String),
    /// An environment variable with an invalid value.
    Environment {
        variable: Box<str>,
        error: Box<ParseError>,
    },
}

impl Error {
    pub(crate) fn of_file(file: &str, kind: impl Into<ErrorKind>) -> Error {
        Error { file: Some(file.to_owned()), kind: Box::new(kind.into()), excerpt: None }
    }

    /// The same, in a file.
    #[must_use]
    pub fn in_file(self, file: &str) -> Error {
        Error { file: Some(file.to_owned()), ..self }
    }

    /// The file that was being read, if one was.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The same, with the text of the line that it is about.
    #[must_use]
    pub fn with_excerpt(self, excerpt: String) -> Error {
        Error { excerpt: Some(excerpt), ..self }
    }

    /// The text of the line that it is about, if that is known: lines of a message.
    #[must_use]
    pub fn excerpt(&self) -> Option<&str> {
        self.excerpt.as_deref()
    }

    /// Whether operations came out of order, after earlier ones had been forgotten.
    #[must_use]
    pub fn is_out_of_order(&self) -> bool {
        matches!(*self.kind, ErrorKind::OutOfOrder { .. })
    }

    /// The error without the name of the file.
    #[must_use]
    pub fn message(&self) -> String {
        self.kind.to_string()
    }

    /// The line of the file, counting from one, if the error is in one line.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match &*self.kind {
            ErrorKind::Read(error) => Some(error.line),
            ErrorKind::Load(error) => Some(error.line),
            ErrorKind::OutOfOrder { line } => Some(*line),
            ErrorKind::Specification(_)
            | ErrorKind::NotFound(_)
            | ErrorKind::Text(_)
            | ErrorKind::Mix(_)
            | ErrorKind::Matrix(_)
            | ErrorKind::Quasi(_)
            | ErrorKind::Roles(_)
            | ErrorKind::Environment { .. }
            | ErrorKind::Unrecognised(_)
            | ErrorKind::Io(_)
            | ErrorKind::LiveRecorder
            | ErrorKind::Malformed(_)
            | ErrorKind::Write(_)
            | ErrorKind::Event { .. } => None,
        }
    }

    /// The column in that line, counting characters from one, if the error is at one place in it.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match &*self.kind {
            ErrorKind::Read(error) => Some(error.column).filter(|it| *it != 0),
            _ => None,
        }
    }

    /// Whether the error is in the file, and not in the settings.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match *self.kind {
            ErrorKind::Specification(_)
            | ErrorKind::NotFound(_)
            | ErrorKind::Text(_)
            | ErrorKind::Mix(_)
            | ErrorKind::Matrix(_)
            | ErrorKind::Quasi(_)
            | ErrorKind::Roles(_)
            | ErrorKind::LiveRecorder
            | ErrorKind::Write(_)
            | ErrorKind::Environment { .. } => false,
            ErrorKind::Unrecognised(_)
            | ErrorKind::Io(_)
            | ErrorKind::Malformed(_)
            | ErrorKind::Read(_)
            | ErrorKind::Load(_)
            | ErrorKind::Event { .. }
            | ErrorKind::OutOfOrder { .. } => true,
        }
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Error { file: None, kind: Box::new(kind.into()), excerpt: None }
    }
}

macro_rules! kinds_from {
    ($($error:ty => $kind:ident),*) => {
        $(impl From<$error> for ErrorKind {
            fn from(error: $error) -> Self {
                ErrorKind::$kind(error)
            }
        })*
    };
}

kinds_from!(
    SpecError => Specification, NotFound => NotFound, ParseError => Text, MixError => Mix, io::Error => Io, ReadError => Read,
    WriteError => Write, Malformed => Malformed, LoadError => Load
);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", visible(file))?;
        }
        f.write_str(&visible(&self.kind.to_string()))
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Specification(error) => error.fmt(f),
            ErrorKind::NotFound(error) => error.fmt(f),
            ErrorKind::Text(error) => error.fmt(f),
            ErrorKind::Mix(error) => write!(f, "the mix: {error}"),
            ErrorKind::Unrecognised(head) if head.trim().is_empty() => {
                write!(f, "expected a history, found nothing in it")
            }
            ErrorKind::Unrecognised(head) => {
                let is_columns = ["PAR1", "ARROW1"].iter().any(|it| head.starts_with(it));
                if let Some(why) = missing_columns().filter(|_| is_columns) {
                    return f.write_str(why);
                }
                let head: String = head.trim_start().lines().next().unwrap_or("").chars().take(80).collect();
                let (names, head) = (format_names(), visible(&head));
                write!(f, "not recognised as a history; name its format, one of {names}. It begins: {head}")?;
                if 1 < head.matches([',', ';', '\t']).count() && !head.starts_with(['[', '{', '<']) {
                    f.write_str(
                        " (a table, `csv`, has columns such as process, op, arg, ret, call and return; a mapping gives \
                         them other names)",
                    )?;
                }
                Ok(())
            }
            ErrorKind::Io(error) => error.fmt(f),
            ErrorKind::Read(error) => error.fmt(f),
            ErrorKind::Load(error) => error.fmt(f),
            ErrorKind::Event { at, reason } => write!(f, "event {at}: {reason}"),
            ErrorKind::OutOfOrder { line } => write!(
                f,
                "line {line}: expected an operation called after those before it, since earlier ones have been judged \
                 and forgotten; sort the lines by `call`, or judge them from a file",
            ),
            ErrorKind::LiveRecorder => f.write_str(
                "a live recorder drops the events it has judged, so it has no history; use Recorder::new",
            ),
            ErrorKind::Write(error) => error.fmt(f),
            ErrorKind::Malformed(error) => error.fmt(f),
            ErrorKind::Matrix(reason) | ErrorKind::Quasi(reason) | ErrorKind::Roles(reason) => {
                f.write_str(reason)
            }
            ErrorKind::Environment { variable, error } => {
                write!(f, "the environment variable {variable}: {error}")
            }
        }
    }
}

/// Every format, separated by commas.
pub(crate) fn format_names() -> String {
    FORMATS.names().collect::<Vec<_>>().join(", ")
}

impl std::error::Error for Error {}
