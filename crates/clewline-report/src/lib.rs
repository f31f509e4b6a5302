//! History files in, reports out: the only crate that knows how anything is written down.

pub mod formats;
mod log;
mod maps;
pub mod render;
mod script;
mod text;

use std::{
    fmt,
    io::{self, Read, Write},
};

use clewline_core::Recording;

/// One way of writing histories down.
pub trait Format: Sync {
    /// The name used on the command line.
    fn name(&self) -> &'static str;

    /// One line for `--help`.
    fn about(&self) -> &'static str;

    /// How the names of such files usually end.
    fn extensions(&self) -> &'static [&'static str];

    /// What it can say of a history.
    fn carries(&self) -> Carries;

    /// Whether a file that begins with `head` (its first few KiB) looks like this format.
    fn recognises(&self, head: &[u8]) -> bool;

    /// Reads a history.
    ///
    /// # Errors
    ///
    /// Says at which line and column what was expected and what was found.
    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError>;

    /// Writes a history; `read` undoes it.
    ///
    /// # Errors
    ///
    /// If the format cannot hold the recording, or writing fails.
    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError>;

    /// When each operation was called and returned, by the clock of the file, for reports: a history only keeps the order. None if the file does not
    /// say so of every operation.
    fn times(&self, _input: &mut dyn Read, _options: &ReadOptions<'_>) -> Option<Vec<Times>> {
        None
    }
}

/// What a format can say of a history. What it cannot say, [`Format::write`] refuses, but for ids, which are left out.
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
    /// Whether operations may have [times](Format::times) that reports can tell.
    pub times: bool,
}

/// How operations name their objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// They do not: there is one.
    One,
    /// By a name.
    Named,
    /// By the first of two things in their values, which are read so [if that is asked for](ReadOptions::keyed).
    Keys,
}

/// The times of an operation, as they stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The line on which it is called, counting from one.
    pub line: usize,
    /// When it was called.
    pub called: i64,
    /// When it returned; none while it is pending.
    pub returned: Option<i64>,
}

/// The times of operations whose events come one after the other.
#[derive(Debug, Default)]
pub(crate) struct EventTimes {
    times: Vec<Times>,
    // By process: its open operation.
    open: std::collections::HashMap<u32, usize>,
}

impl EventTimes {
    /// `process` calls.
    pub(crate) fn call(&mut self, line: usize, process: u32, called: i64) {
        self.open.insert(process, self.times.len());
        self.times.push(Times { line, called, returned: None });
    }

    /// What `process` called ends; if it does not return, nobody knows when it happened.
    pub(crate) fn end(&mut self, process: u32, returned: Option<i64>) {
        if let Some(at) = self.open.remove(&process) {
            self.times[at].returned = returned;
        }
    }

    /// All of them.
    pub(crate) fn finish(self) -> Vec<Times> {
        self.times
    }
}

/// How to read a history.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Jepsen values are `[key value]` pairs, each key an object of its own.
    pub keyed: bool,
    /// How many threads may parse at once.
    pub jobs: usize,
    /// Told now and then how many bytes have been read.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReadOptions { keyed, jobs, progress: _ } = self;
        f.debug_struct("ReadOptions").field("keyed", keyed).field("jobs", jobs).finish_non_exhaustive()
    }
}

/// A file is not a history in the format it was read as.
#[derive(Debug)]
pub struct ReadError {
    /// The line, counting from one.
    pub line: usize,
    /// The column, counting characters from one; 0 if the whole line is meant.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
    /// How many operations, or events where the file is made of those, had been read before.
    pub read: usize,
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
