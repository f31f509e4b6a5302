//! A log of events, read into a recording: process, call and line.

use std::collections::HashMap;

use clewline_core::{
    Event, EventLog, Malformed, ObjectId, ProcessId, RawCall, RawHistory, Times, Value, Values,
};

use crate::{ReadError, text::brief};

/// Numbers things in the order in which they are first seen.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    names: Vec<Value>,
    // By the word of the value, one more than its number; nearly all have small words.
    small: Vec<u32>,
    large: HashMap<Value, u32>,
}

impl Numbering {
    const SMALL_WORDS_END: u64 = 1 << 16;

    /// The number of `name`.
    pub(crate) fn number(&mut self, name: Value) -> u32 {
        let next = self.names.len() as u32 + 1;
        let word = name.word();
        let place = if word < Self::SMALL_WORDS_END {
            let word = word as usize;
            if self.small.len() <= word {
                self.small.resize(word + 1, 0);
            }
            &mut self.small[word]
        } else {
            self.large.entry(name).or_insert(0)
        };
        if *place == 0 {
            *place = next;
            self.names.push(name);
        }
        *place - 1
    }

    /// The number of `name`, if it has one.
    pub(crate) fn find(&self, name: Value) -> Option<u32> {
        let word = name.word();
        let place =
            if word < Self::SMALL_WORDS_END { self.small.get(word as usize) } else { self.large.get(&name) };
        place.copied().unwrap_or(0).checked_sub(1)
    }

    /// The names in the order of their numbers.
    pub(crate) fn names(&self) -> &[Value] {
        &self.names
    }

    /// The names in the order of their numbers.
    pub(crate) fn into_names(self) -> Vec<Value> {
        self.names
    }
}

/// The times of operations, as long as every event has one.
#[derive(Debug)]
pub(crate) struct EventTimes {
    // None if they are not requested, or one was missing.
    times: Option<Vec<Times>>,
    // By process: its open operation.
    open: HashMap<u32, usize>,
}

impl EventTimes {
    /// None yet; none at all if they are not requested.
    pub(crate) fn new(is_wanted: bool) -> EventTimes {
        EventTimes { times: is_wanted.then(Vec::new), open: HashMap::new() }
    }

    /// Whether times are still kept.
    pub(crate) fn is_wanted(&self) -> bool {
        self.times.is_some()
    }

    /// An operation whose times are on one line.
    pub(crate) fn operation(&mut self, line: usize, called: i64, returned: Option<i64>) {
        if let Some(times) = &mut self.times {
            times.push(Times { line, called, returned });
        }
    }

    /// `process` calls.
    pub(crate) fn call(&mut self, line: usize, process: u32, called: Option<i64>) {
        let (Some(times), Some(called)) = (&mut self.times, called) else { return self.times = None };
        self.open.insert(process, times.len());
        times.push(Times { line, called, returned: None });
    }

    /// The open operation of `process` ends; without a return, its end is not known.
    pub(crate) fn end(&mut self, process: u32, time: Option<i64>, returns: bool) {
        let (Some(times), Some(time)) = (&mut self.times, time) else { return self.times = None };
        if let Some(at) = self.open.remove(&process) {
            times[at].returned = returns.then_some(time);
        }
    }

    /// All of them, if they were requested and none was missing.
    pub(crate) fn finish(self) -> Option<Vec<Times>> {
        self.times
    }
}

/// The lines on which operations or events stand.
#[derive(Debug, Default)]
pub(crate) struct SourceLines {
    len: usize,
    // `None` as long as position `i` is on line `i + 1`.
    lines: Option<Vec<u32>>,
}

impl SourceLines {
    /// The next one stands on `line`, from 1.
    pub(crate) fn push(&mut self, line: usize) {
        let position = self.len;
        self.len += 1;
        if self.lines.is_none() && line == position + 1 {
            return;
        }
        let lines = self.lines.get_or_insert_with(|| (1..=position as u32).collect());
        lines.push(u32::try_from(line).unwrap_or(u32::MAX));
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The line of the one at `position`.
    pub(crate) fn get(&self, position: usize) -> usize {
        self.lines.as_ref().map_or(position + 1, |it| it[position] as usize)
    }

    /// The line of each, as [`Names`](clewline_core::Names) have it.
    pub(crate) fn into_lines(self) -> Option<Vec<u32>> {
        self.lines
    }

    /// Where and why the input is not a history; the error is on `line`.
    #[cold]
    pub(crate) fn locate(&self, malformed: &Malformed, line: usize) -> ReadError {
        let other = malformed.other().map(|it| format!(" (called on line {})", self.get(it)));
        let message = format!("{}{}", malformed.reason(), other.unwrap_or_default());
        ReadError { line, column: 0, message, read: self.len }
    }
}

impl FromIterator<usize> for SourceLines {
    fn from_iter<I: IntoIterator<Item = usize>>(lines: I) -> SourceLines {
        let mut all = SourceLines::default();
        lines.into_iter().for_each(|it| all.push(it));
        all
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationOutcome {
    /// It returned this.
    Return(Value),
    /// It certainly had no effect.
    Fail,
    /// Unknown.
    Info,
}

/// A history under construction, from events on lines.
#[derive(Debug, Default)]
pub(crate) struct EventHistory {
    log: EventLog<RawCall, Value>,
    lines: SourceLines,
    // By process.
    open: Vec<Option<OpenOperation>>,
}

/// An operation that has not ended yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenOperation {
    /// The call.
    pub call: RawCall,
    /// The number of the object.
    pub object: u32,
    /// The line of the call.
    pub line: usize,
    /// The position of the call among the events.
    pub position: usize,
}

impl EventHistory {
    /// How many events have been taken.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// `process` calls.
    pub(crate) fn call(
        &mut self,
        line: usize,
        process: u32,
        object: u32,
        call: RawCall,
    ) -> Result<(), ReadError> {
        let position = self.lines.len();
        self.push(line, Event::Call(ProcessId(process), ObjectId(object), call))?;
        if self.open.len() <= process as usize {
            self.open.resize(process as usize + 1, None);
        }
        self.open[process as usize] = Some(OpenOperation { call, object, line, position });
        Ok(())
    }

    /// The open operation of `process` ends. If `method` says which it is, it must be that one.
    pub(crate) fn end(
        &mut self,
        line: usize,
        process: u32,
        method: Option<Value>,
        outcome: OperationOutcome,
        values: &Values,
    ) -> Result<(), ReadError> {
        if let (Some(open), Some(method)) = (self.open(process), method)
            && open.call.method != method
        {
            let message = format!(
                "expected the end of {}, called on line {}, found the end of {}",
                brief(values, open.call.method),
                open.line,
                brief(values, method),
            );
            return Err(ReadError { line, column: 0, message, read: self.len() });
        }
        self.push(
            line,
            match outcome {
                OperationOutcome::Return(ret) => Event::Return(ProcessId(process), ret),
                OperationOutcome::Fail => Event::Fail(ProcessId(process)),
                OperationOutcome::Info => Event::Info(ProcessId(process)),
            },
        )?;
        self.open[process as usize] = None;
        Ok(())
    }

    /// The open operation of `process`.
    pub(crate) fn open(&self, process: u32) -> Option<OpenOperation> {
        *self.open.get(process as usize)?
    }

    /// The history, and the line of each event.
    pub(crate) fn finish(self) -> (RawHistory, Option<Vec<u32>>) {
        (self.log.finish(), self.lines.into_lines())
    }

    fn push(&mut self, line: usize, event: Event<RawCall, Value>) -> Result<(), ReadError> {
        self.log.push(event).map_err(|malformed| self.lines.locate(&malformed, line))?;
        self.lines.push(line);
        Ok(())
    }
}
