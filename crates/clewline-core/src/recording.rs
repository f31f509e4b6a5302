//! Recordings: a history as a file stores it, before its specification is known.

use crate::{
    crash::Crash,
    history::History,
    id::{ObjectId, OperationId, ProcessId},
    value::{Datum, Value, Values},
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
    /// The state of each object before the first operation, if it is not the usual one: a value
    /// that [`Codec::initial_calls`](crate::Codec::initial_calls) understands.
    pub initial: Option<Value>,
}

impl Recording {
    /// A recording without names: everything is identified by its number.
    #[must_use]
    pub fn new(history: RawHistory, values: Values, names: Names) -> Self {
        Recording { history, values, names, missing: Value::NIL, initial: None }
    }

    /// Moves into its table whatever values need no table, so that equal contents have equal words.
    pub(crate) fn adopt_all(&mut self) {
        let Recording { history, values, missing, initial, .. } = self;
        for raw in history.calls.iter_mut().filter(|it| it.method.is_shared() || it.arg.is_shared()) {
            *raw = RawCall { method: values.adopt(raw.method), arg: values.adopt(raw.arg) };
        }
        history.rets.iter_mut().flatten().for_each(|it| *it = values.adopt(*it));
        *missing = values.adopt(*missing);
        *initial = initial.map(|it| values.adopt(it));
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
    /// is on line `i + 1`. An operation of an initial state is on line 0.
    pub lines: Option<Vec<u32>>,
    /// The times of calls and returns by the clock of the source; `None` if the source does not
    /// give all of them, or they were not requested.
    pub times: Option<Vec<Times>>,
    /// The order in which operations took effect, as far as the source says so: a number by source
    /// position, the smaller the earlier. These are hints, which a search tries first; they claim
    /// nothing. `None` if the source has none.
    pub orders: Option<Vec<Option<i64>>>,
    /// The process of each operation, by source position, and its times by the clock of that
    /// process; `None` if they are those of the history. They are not where intervals were widened,
    /// or where a process had several operations at a time: it is several processes there.
    pub own_times: Option<Vec<OwnTimes>>,
    /// Notes on the history, in the order of the source.
    pub notes: Vec<Note>,
    /// Its crashes, in the order of the source; each is a note, too.
    pub crashes: Vec<Crash>,
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

/// A note on a history: a moment or an interval in which the surroundings of the operations
/// changed, such as a network partition. It takes no part in any check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The text.
    pub text: String,
    /// The number of events (calls and returns, by rank) before its beginning.
    pub from: u32,
    /// The number of events before its end; `from` for a moment, `None` if it does not end.
    pub until: Option<u32>,
}

impl Note {
    /// Whether the note is about a moment.
    #[must_use]
    pub fn is_moment(&self) -> bool {
        self.until == Some(self.from)
    }
}

/// When an operation was called and returned, by the clock of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnTimes {
    /// The process, by the number of the first that has its name.
    pub process: ProcessId,
    /// The time of the call.
    pub called: i64,
    /// The time of the return; [`i64::MAX`] while pending.
    pub returned: i64,
}

impl OwnTimes {
    /// Whether the process called `other` after this operation had returned.
    #[must_use]
    pub fn precedes(self, other: OwnTimes) -> bool {
        let is_before = self.returned < other.called;
        // It may call at the time of a return, but not before it had called.
        let touches = self.returned == other.called && self.called < other.called;
        self.process == other.process && (is_before || touches)
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

// Beyond it, a process or object keeps the number that the reader gave it: tables are indexed by
// these numbers.
const NUMBER_NAMES_MAX: i64 = 1 << 16;

impl Names {
    /// How many operations stand for the initial state; they come first.
    #[must_use]
    pub fn initial_operations(&self) -> usize {
        self.lines.as_ref().map_or(0, |it| it.iter().take_while(|line| **line == 0).count())
    }

    /// `history` with processes and objects numbered by their names, if these are numbers:
    /// undoes [`numbered_recording`](crate::numbered_recording).
    #[must_use]
    pub fn renumber<C, R>(&self, mut history: History<C, R>, values: &Values) -> History<C, R> {
        // After a crash, two processes have one name.
        if !self.crashes.is_empty() {
            return history;
        }
        let numbers = |names: &[Value]| -> Option<Vec<u32>> {
            let number = |it: &Value| match values.get(*it) {
                Datum::Int(int) if (0..NUMBER_NAMES_MAX).contains(&int) => Some(int as u32),
                _ => None,
            };
            names.iter().map(number).collect()
        };
        if let Some(numbers) = numbers(&self.processes) {
            history.processes.iter_mut().for_each(|it| *it = ProcessId(numbers[it.index()]));
        }
        if let Some(numbers) = numbers(&self.objects) {
            history.objects.iter_mut().for_each(|it| *it = ObjectId(numbers[it.index()]));
        }
        history
    }

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
        own.filter(|it| !it.is_absent()).unwrap_or_else(|| Value::from(self.line(source).saturating_sub(1)))
    }

    /// The external id of an operation of `history`.
    #[must_use]
    pub fn id_of<C, R>(&self, history: &History<C, R>, operation: OperationId) -> Value {
        self.id(history.source(operation))
    }
}
