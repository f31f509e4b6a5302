//! Recordings: a history as some file tells it, before anyone knows what kind of object it is about.

use crate::{
    history::History,
    id::OperationId,
    value::{Value, Values},
};

/// A call as it was written down: a method's name and one argument, which may be a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RawCall {
    /// The method's name, a text.
    pub method: Value,
    /// Its argument; [`Value::ABSENT`] if it has none.
    pub arg: Value,
}

/// A history of raw calls and returns. A complete operation that answered nothing returns [`Value::ABSENT`].
pub type RawHistory = History<RawCall, Value>;

/// A recorded history with the names that its source gave to things.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What happened.
    pub history: RawHistory,
    /// What its values hold.
    pub values: Values,
    /// What things are called.
    pub names: Names,
    /// What a key of a map reads as before anyone has written it: nil, or what the format says.
    pub missing: Value,
}

impl Recording {
    /// A recording in which everything is named by its number.
    #[must_use]
    pub fn new(history: RawHistory, values: Values, names: Names) -> Self {
        Recording { history, values, names, missing: Value::NIL }
    }
}

/// What a source calls its processes, objects and operations.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By process id.
    pub processes: Vec<Value>,
    /// By object id; [`Value::ABSENT`] for the object of operations that name none.
    pub objects: Vec<Value>,
    /// The operation's own id, by source position; none if the source gives no ids. An operation without
    /// one ([`Value::ABSENT`]) is known by its line.
    pub ids: Option<Vec<Value>>,
    /// The line, from 1, of each source position (an operation or an event); none if position `i` is on
    /// line `i + 1`.
    pub lines: Option<Vec<u32>>,
    /// When operations were called and returned, by the clock of the source; none if it does not say so of all of them,
    /// or was not asked.
    pub times: Option<Vec<Times>>,
}

/// The times of an operation, as its source tells them: a history keeps only their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The line on which it is called, counting from one.
    pub line: usize,
    /// When it was called.
    pub called: i64,
    /// When it returned; none while it is pending.
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

    /// The id under which the operation at a source position is known outside: its own, or else its line's
    /// number from 0.
    #[must_use]
    pub fn id(&self, source: usize) -> Value {
        let own = self.ids.as_ref().and_then(|it| it.get(source).copied());
        own.filter(|it| !it.is_absent()).unwrap_or_else(|| {
            // A line's number fits a word: there are at most 2^30 lines in a history we can hold.
            Value::small(self.line(source) as i64 - 1).unwrap_or(Value::ABSENT)
        })
    }

    /// The outside id of an operation of `history`.
    #[must_use]
    pub fn id_of<C, R>(&self, history: &History<C, R>, operation: OperationId) -> Value {
        self.id(history.source(operation))
    }
}
