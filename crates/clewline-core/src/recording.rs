//! Recordings: a history as a file stores it, before its specification is known.

use crate::{
    history::History,
    id::OperationId,
    value::{Value, Values},
};

/// A call as a file stores it: a method's name and one argument, which may be a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RawCall {
    /// The method's name, a text.
    pub method: Value,
    /// Its argument; [`Value::ABSENT`] if it has none.
    pub arg: Value,
}

/// A history of raw calls and results. A complete operation without a result returns
/// [`Value::ABSENT`].
pub type RawHistory = History<RawCall, Value>;

/// A recorded history with the names from its source.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The operations.
    pub history: RawHistory,
    /// The table of its values.
    pub values: Values,
    /// The names of processes, objects and operations.
    pub names: Names,
    /// The value that a key of a map has before it is written: nil, or the value that the format
    /// specifies.
    pub missing: Value,
}

impl Recording {
    /// A recording without names: everything is identified by its number.
    #[must_use]
    pub fn new(history: RawHistory, values: Values, names: Names) -> Self {
        Recording { history, values, names, missing: Value::NIL }
    }
}

/// The names of processes, objects and operations in the source.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By process id.
    pub processes: Vec<Value>,
    /// By object id; [`Value::ABSENT`] for the object of operations that name none.
    pub objects: Vec<Value>,
    /// The operation's own id, by source position; `None` if the source has no ids. An operation
    /// without one ([`Value::ABSENT`]) is identified by its line.
    pub ids: Option<Vec<Value>>,
    /// The line, from 1, of each source position (an operation or an event); none if position `i`
    /// is on line `i + 1`.
    pub lines: Option<Vec<u32>>,
    /// The times of calls and returns by the clock of the source; `None` if the source does not
    /// give all of them, or they were not requested.
    pub times: Option<Vec<Times>>,
    /// What of the source is not about operations, and was skipped.
    pub skipped: Skipped,
}

/// Lines, or other entries, of a source that are no operations of its history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many there are.
    pub count: usize,
    /// The line of the first of them, from 1; 0 if there is none.
    pub line: usize,
    /// The beginning of the first of them.
    pub text: String,
}

impl Skipped {
    // Longer texts are cut.
    const TEXT_CHARS_MAX: usize = 120;

    /// One more, which is on `line` and looks so.
    pub fn add(&mut self, line: usize, text: &str) {
        if self.count == 0 {
            self.line = line;
            self.text = text.chars().take(Skipped::TEXT_CHARS_MAX).collect();
        }
        self.count += 1;
    }
}

/// The times of an operation in its source; a history keeps only their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The line of its call, from 1.
    pub line: usize,
    /// The time of the call.
    pub called: i64,
    /// The time of the return; `None` while pending.
    pub returned: Option<i64>,
}

impl Names {
    /// The line, from 1, of a source position.
    #[must_use]
    pub fn line(&self, source: usize) -> usize {
        match &self.lines {
            Some(lines) => lines.get(source).map_or(source + 1, |&it| it as usize),
            None => source + 1,
        }
    }

    /// The external id of the operation at a source position: its own id, or else the number of its
    /// line from 0.
    #[must_use]
    pub fn id(&self, source: usize) -> Value {
        let own = self.ids.as_ref().and_then(|it| it.get(source).copied());
        own.filter(|it| !it.is_absent()).unwrap_or_else(|| {
            // A line number fits in a word: a history in memory has at most 2^30 lines.
            Value::small(self.line(source) as i64 - 1).unwrap_or(Value::ABSENT)
        })
    }

    /// The external id of an operation of `history`.
    #[must_use]
    pub fn id_of<C, R>(&self, history: &History<C, R>, operation: OperationId) -> Value {
        self.id(history.source(operation))
    }
}
