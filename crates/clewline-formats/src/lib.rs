//! History files: the only crate, beside `clewline-columns`, that knows how they are written.

// Support for other formats than JSON lines.
#![cfg_attr(not(feature = "files"), allow(dead_code, unused_imports))]

mod event_reader;
mod event_writer;
mod filtered_lines;
pub mod formats;
#[cfg(feature = "files")]
mod jepsen_events;
mod join;
mod json_value;
#[cfg(feature = "files")]
mod mapping;
mod text;
#[cfg(feature = "serde")]
pub mod typed;
#[cfg(feature = "files")]
mod wire;

use std::{
    fmt,
    io::{self, Read, Write},
    sync::LazyLock,
};

use clewline_core::{Recording, RowFilter, Value, Values};

pub use join::join;
pub use json_value::json_value;
#[cfg(feature = "files")]
pub use mapping::{ColumnNames, Mapping, MappingError};

/// One way of writing histories down.
pub trait Format: Sync {
    /// The name used on the command line.
    fn name(&self) -> &'static str;

    /// One line for `--help`.
    fn about(&self) -> &'static str;

    /// The usual extensions of such files.
    fn extensions(&self) -> &'static [&'static str];

    /// Its capabilities.
    fn carries(&self) -> Carries;

    /// Whether a file that begins with `head` (its first few KiB) looks like this format.
    fn recognises(&self, head: &[u8]) -> bool;

    /// Whether operations have times, of clocks that may differ. Elsewhere their order is that of
    /// the file.
    fn has_clock(&self) -> bool {
        false
    }

    /// Whether a file can say in which state the object is at first.
    fn has_initial_state(&self) -> bool {
        false
    }

    /// Whether rows can be [left out](Circumstances::rows) while it is read.
    fn is_filtered(&self) -> bool {
        false
    }

    /// Reads a history.
    ///
    /// # Errors
    ///
    /// With line and column, the expected and the found text.
    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError>;

    /// Reads a history while it grows. `None`: it is read as a whole, as by default.
    fn follow(&self) -> Option<Box<dyn Follow>> {
        None
    }

    /// Writes a history; `read` undoes it.
    ///
    /// # Errors
    ///
    /// If the format cannot hold the recording, or writing fails.
    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError>;
}

/// Reads a file, or a live stream, incrementally. It keeps the names, and no line.
pub trait Follow: fmt::Debug {
    /// Takes the next bytes, and passes on the rows that end in them.
    ///
    /// # Errors
    ///
    /// If a row is invalid; those before it have been passed on.
    fn take(&mut self, bytes: &[u8], each: &mut dyn FnMut(&Row)) -> Result<(), ReadError>;

    /// There are no more bytes: the last line may have no line end.
    ///
    /// # Errors
    ///
    /// If what is left is not a row.
    fn finish(&mut self, each: &mut dyn FnMut(&Row)) -> Result<(), ReadError>;

    /// The values of the rows so far.
    fn values(&self) -> &Values;

    /// The names of processes, by number.
    fn processes(&self) -> &[Value];

    /// The names of objects, by number.
    fn objects(&self) -> &[Value];

    /// Whether the input says in which state objects are at first. Then it is read as a whole.
    fn has_initial_state(&self) -> bool {
        false
    }

    /// The line of the first crash so far. A crash says which operations never return, so that
    /// the rest cannot be read without it.
    fn crash(&self) -> Option<usize> {
        None
    }
}

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// An operation: called then, and returned then if it has.
    Operation(i64, Option<i64>),
    /// The event that an operation is called.
    Call,
    /// That it returns.
    Return,
    /// That it had no effect.
    Fail,
    /// An operation of unknown outcome.
    Info,
}

/// An operation or an event of a history that is followed. Absent values are [`Value::ABSENT`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The number of its line, from 1.
    pub line: usize,
    /// Its kind.
    pub kind: RowKind,
    /// The number of the process, in the order of their names' first mention.
    pub process: u32,
    /// The number of the object, likewise; 0 for the end of an operation, which names none.
    pub object: u32,
    /// The operation's own id.
    pub id: Value,
    /// The method.
    pub method: Value,
    /// Its argument.
    pub arg: Value,
    /// Its result.
    pub ret: Value,
    /// When it took effect, relative to others: a hint.
    pub order: Option<i64>,
}

/// What a format can express of a history. [`Format::write`] refuses everything else, except for
/// ids, which are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries {
    /// Whether histories are written at all, or only read.
    pub is_written: bool,
    /// Whether operations may be pending.
    pub pending: bool,
    /// Whether, and how, operations name their objects.
    pub objects: Objects,
    /// Whether operations have ids of their own.
    pub ids: bool,
    /// Whether operations may have [times](ReadOptions) that reports can show.
    pub times: bool,
}

/// How operations name their objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Objects {
    /// They do not: there is one.
    One,
    /// By a name.
    Named,
    /// By the first element of the pairs in their values, which are read so [on
    /// request](ReadOptions::keyed).
    Keys,
}

/// How to read a history.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Jepsen values are `[key value]` pairs, each key an object of its own.
    pub keyed: bool,
    /// How many threads may parse at once.
    pub jobs: usize,
    /// Whether to keep when operations were called and returned, for reports.
    pub times: bool,
    /// What the file does not say.
    pub circumstances: &'a Circumstances,
    /// Called now and then with the number of bytes read.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReadOptions { keyed, jobs, times, circumstances, progress: _ } = self;
        let mut shown = f.debug_struct("ReadOptions");
        shown
            .field("keyed", keyed)
            .field("jobs", jobs)
            .field("times", times)
            .field("circumstances", circumstances);
        shown.finish_non_exhaustive()
    }
}

impl Default for ReadOptions<'_> {
    /// On one thread, without keys or times, and without progress reports.
    fn default() -> Self {
        static NOTHING: LazyLock<Circumstances> = LazyLock::new(Circumstances::default);
        ReadOptions { keyed: false, jobs: 1, times: false, circumstances: &NOTHING, progress: &|_| () }
    }
}

/// What is known of a recording, and not in its file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Circumstances {
    /// By how much the clocks of two processes may differ, in units of the file's times.
    pub skew: i64,
    /// The state of each object before the first operation: JSON, or else a text.
    pub initial: Option<String>,
    /// The names of columns or attributes.
    #[cfg(feature = "files")]
    pub mapping: Mapping,
    /// Which rows are kept; all of them by default.
    pub rows: Option<RowFilter>,
}

/// A file cannot be read as a history in some format, or as calls on a system of actors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The line, counting from one.
    pub line: usize,
    /// The column, counting characters from one; 0 if the whole line is meant.
    pub column: usize,
    /// The expected and the found text.
    pub message: String,
    /// How many operations, or events where the file is made of those, had been read before.
    pub read: usize,
}

impl ReadError {
    /// A whole line is wrong.
    #[must_use]
    pub fn in_line(line: usize, message: String) -> ReadError {
        ReadError { line, column: 0, message, read: 0 }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if self.column != 0 {
            write!(f, ", column {}", self.column)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ReadError {}

/// A history could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The format has no way to say this.
    CannotHold(String),
    /// The file could not be written.
    Io(io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::CannotHold(why) => f.write_str(why),
            WriteError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        WriteError::Io(error)
    }
}
