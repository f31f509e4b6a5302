//! The contents of the lines of a file, until they become a recording.

use clewline_core::{Names, Note, ObjectId, ProcessId, RawCall, Recording, Timed, TimedColumns, Value};

use super::{
    line::{Kind, Row, Scanner},
    note::{self, NoteError, NoteLine},
};
use crate::{
    ReadError,
    event_reader::{EventHistory, EventTimes, OperationOutcome, SourceLines},
    text::{brief, objects::Object},
    timed_rows::{TimedRow, TimedRows},
};

/// The lines so far. Rows are numbered as in its own scanner.
#[derive(Debug)]
pub(super) struct RowBuilder {
    scanner: Scanner,
    // The first line that was not blank.
    first: usize,
    body: Body,
    // By position; empty as long as no operation has an id.
    ids: Vec<Value>,
    times: EventTimes,
    // By position; empty as long as no operation has a hint.
    orders: Vec<Option<i64>>,
    notes: Vec<NoteLine>,
    skew: i64,
}

#[derive(Debug)]
enum Body {
    Nothing,
    Operations(TimedColumns<RawCall, Value>, SourceLines),
    // With a skew.
    Skewed(TimedRows),
    Events(EventHistory),
}

impl RowBuilder {
    /// Without any line; with times of operations, if they are requested, which are certain up to
    /// `skew`.
    pub(super) fn new(times: bool, skew: i64) -> RowBuilder {
        RowBuilder {
            scanner: Scanner::new(times),
            first: 0,
            body: Body::Nothing,
            ids: Vec::new(),
            times: EventTimes::new(times),
            orders: Vec::new(),
            notes: Vec::new(),
            skew,
        }
    }

    /// Whether times of events are read.
    pub(super) fn keeps_times(&self) -> bool {
        self.times.is_wanted()
    }

    /// How many operations or events there are.
    pub(super) fn len(&self) -> usize {
        match &self.body {
            Body::Nothing => 0,
            Body::Operations(columns, _) => columns.len(),
            Body::Skewed(rows) => rows.len(),
            Body::Events(log) => log.len(),
        }
    }

    /// Takes the lines of `block`, which follow, the first of them with the number `first`.
    pub(super) fn scan(&mut self, block: &[u8], first: usize) -> Result<(), ReadError> {
        let outcome = self.scanner.block(block, first);
        self.take_rows()?;
        outcome
    }

    /// Takes an object, which follows.
    pub(super) fn object(&mut self, object: Object<'_>) -> Result<(), ReadError> {
        self.scanner.object(object)?;
        self.take_rows()
    }

    fn take_rows(&mut self) -> Result<(), ReadError> {
        if let (Some((_, line)), true) = (self.scanner.initial, self.len() != 0)
            && self.first < line
        {
            return Err(at_line(line, "expected the initial state once, and first".to_owned()));
        }
        let before = self.len();
        let notes = self.scanner.notes.drain(..);
        self.notes.extend(notes.map(|it| it.after(before)));
        let mut rows = std::mem::take(&mut self.scanner.rows);
        if self.times.is_wanted() {
            let times = std::mem::take(&mut self.scanner.times);
            rows.iter().zip(times).for_each(|(row, time)| self.set_time(row, time));
        }
        rows.drain(..).try_for_each(|row| self.push(&row))?;
        self.scanner.rows = rows;
        Ok(())
    }

    /// Takes the lines that another scanner read, which follow.
    pub(super) fn merge(&mut self, other: &Scanner) -> Result<(), ReadError> {
        // The first block had its chance.
        if let Some((_, line)) = other.initial {
            return Err(at_line(line, "expected the initial state once, and first".to_owned()));
        }
        let before = self.len();
        self.notes.extend(other.notes.iter().map(|it| it.clone().after(before)));
        let rename = self.scanner.values_mut().absorb(other.values());
        let Scanner { processes, objects, .. } = &mut self.scanner;
        let process: Vec<u32> =
            other.processes.names().iter().map(|&it| processes.number(rename(it))).collect();
        let object: Vec<u32> = other.objects.names().iter().map(|&it| objects.number(rename(it))).collect();
        if self.times.is_wanted() {
            let renamed = |row: &Row| Row { process: process[row.process as usize], ..*row };
            other.rows.iter().zip(&other.times).for_each(|(row, &time)| self.set_time(&renamed(row), time));
        }
        other.rows.iter().try_for_each(|row| {
            self.push(&Row {
                process: process[row.process as usize],
                // The end of an operation names no object.
                object: object.get(row.object as usize).copied().unwrap_or(0),
                id: rename(row.id),
                method: rename(row.method),
                arg: rename(row.arg),
                ret: rename(row.ret),
                ..*row
            })
        })
    }

    fn set_time(&mut self, row: &Row, time: Option<i64>) {
        match row.kind {
            Kind::Operation(called, returned) => self.times.operation(row.line, called, returned),
            Kind::Call => self.times.call(row.line, row.process, time),
            Kind::Return | Kind::Fail | Kind::Info => {
                self.times.end(row.process, time, row.kind == Kind::Return);
            }
        }
    }

    /// Keeps the hint of an operation, which may also be given when it returns.
    fn set_order(&mut self, row: &Row, order: i64) {
        let position = match (&self.body, row.kind) {
            (Body::Events(log), Kind::Return) => log.open(row.process).map(|it| it.position),
            (_, Kind::Return | Kind::Fail | Kind::Info) => None,
            (_, Kind::Operation(..) | Kind::Call) => Some(self.len()),
        };
        if let Some(position) = position {
            self.orders.resize(self.orders.len().max(position + 1), None);
            self.orders[position] = Some(order);
        }
    }

    fn push(&mut self, row: &Row) -> Result<(), ReadError> {
        if let Some(order) = row.order {
            self.set_order(row, order);
        }
        let call = RawCall { method: row.method, arg: row.arg };
        match (&mut self.body, row.kind) {
            (Body::Nothing, _) => {
                self.first = row.line;
                self.body = match row.kind {
                    Kind::Operation(..) if self.skew != 0 => Body::Skewed(TimedRows::default()),
                    Kind::Operation(..) => {
                        Body::Operations(TimedColumns::with_capacity(0), SourceLines::default())
                    }
                    _ if self.skew != 0 => {
                        let message =
                            "expected an operation with times, where a skew is given, found an event";
                        return Err(at_line(row.line, message.to_owned()));
                    }
                    Kind::Call | Kind::Return | Kind::Fail | Kind::Info => {
                        Body::Events(EventHistory::default())
                    }
                };
                return self.push(row);
            }
            (Body::Operations(columns, lines), Kind::Operation(called, returned)) => {
                let (process, object) = (ProcessId(row.process), ObjectId(row.object));
                let returned = returned.map(|time| (row.ret, time));
                columns.push(Timed { process, object, call, called, returned });
                lines.push(row.line);
            }
            (Body::Skewed(rows), Kind::Operation(called, returned)) => {
                let returned = returned.map(|time| (row.ret, time));
                let Row { line, process, object, .. } = *row;
                rows.push(TimedRow { line, process, object, call, called, returned });
            }
            (Body::Events(log), Kind::Call) => log.call(row.line, row.process, row.object, call)?,
            (Body::Events(_), Kind::Return) => self.end(row, OperationOutcome::Return(row.ret))?,
            (Body::Events(_), Kind::Fail) => self.end(row, OperationOutcome::Fail)?,
            (Body::Events(_), Kind::Info) => self.end(row, OperationOutcome::Info)?,
            (Body::Operations(..) | Body::Skewed(_), Kind::Call | Kind::Return | Kind::Fail | Kind::Info) => {
                return Err(self.mixed(row.line, "an operation", "an event"));
            }
            (Body::Events(_), Kind::Operation(..)) => {
                return Err(self.mixed(row.line, "an event", "an operation"));
            }
        }
        if !self.ids.is_empty() || !row.id.is_absent() {
            // The lines before had none.
            self.ids.resize(self.len() - 1, Value::ABSENT);
            let ends = matches!(row.kind, Kind::Return | Kind::Fail | Kind::Info);
            self.ids.push(if ends { Value::ABSENT } else { row.id });
        }
        Ok(())
    }

    fn end(&mut self, row: &Row, outcome: OperationOutcome) -> Result<(), ReadError> {
        let Body::Events(log) = &mut self.body else { return Ok(()) };
        let values = self.scanner.values();
        if let (Some(open), false) = (log.open(row.process), row.id.is_absent()) {
            let called = self.ids.get(open.position).copied().unwrap_or(Value::ABSENT);
            if called != row.id {
                let called = match called {
                    Value::ABSENT => "no id".to_owned(),
                    id => format!("the id {}", brief(values, id)),
                };
                let (line, found) = (open.line, brief(values, row.id));
                let message =
                    format!("expected {called}, as in the call on line {line}, found the id {found}");
                return Err(at_line(row.line, message));
            }
        }
        let method = Some(row.method).filter(|it| !it.is_absent());
        log.end(row.line, row.process, method, outcome, values)
    }

    #[cold]
    fn mixed(&self, line: usize, expected: &str, found: &str) -> ReadError {
        let first = self.first;
        at_line(
            line,
            format!(
                "expected {expected}, as on line {first}, found {found}: one file holds one kind of line"
            ),
        )
    }

    /// The notes, each in its place.
    fn notes(&mut self) -> Result<Vec<Note>, ReadError> {
        let lines = std::mem::take(&mut self.notes);
        let Some(first) = lines.first() else { return Ok(Vec::new()) };
        let nothing = TimedColumns::with_capacity(0);
        let columns = match &self.body {
            Body::Operations(columns, _) => Some(columns),
            Body::Nothing if first.is_timed() => Some(&nothing),
            Body::Nothing | Body::Skewed(_) | Body::Events(_) => None,
        };
        let others = format!("as on line {}: one file holds one kind of line", self.first.max(1));
        match columns {
            Some(columns) => note::by_time(lines, columns).map_err(|line| {
                at_line(line, format!("expected a note with `time`, not with `event`, {others}"))
            }),
            None => note::by_event(lines).map_err(|error| match error {
                NoteError::Timed(line) => {
                    at_line(line, format!("expected a note with `event`: `note`, `begin` or `end`, {others}"))
                }
                NoteError::Read(error) => error,
            }),
        }
    }

    /// The recording of all this.
    pub(super) fn finish(self) -> Result<Recording, ReadError> {
        let read = self.len();
        let mut builder = self;
        let mut processes = builder.scanner.processes.names().to_vec();
        if let Body::Skewed(rows) = &mut builder.body {
            let (columns, lines) = std::mem::take(rows).into_columns(builder.skew, &mut processes);
            builder.body = Body::Operations(columns, lines);
        }
        let notes = builder.notes().map_err(|error| ReadError { read, ..error })?;
        let RowBuilder { scanner, body, ids, times, orders, .. } = builder;
        let initial = scanner.initial.map(|it| it.0);
        let (values, objects) = scanner.into_names();
        let (history, lines) = match body {
            Body::Nothing | Body::Skewed(_) => EventHistory::default().finish(),
            Body::Operations(columns, lines) => {
                let history = columns.finish().map_err(|malformed| ReadError {
                    read,
                    ..lines.locate(&malformed, lines.get(malformed.index()))
                })?;
                (history, lines.into_lines())
            }
            Body::Events(log) => log.finish(),
        };
        let ids = (!ids.is_empty()).then_some(ids);
        let ids = if has_shared_line(lines.as_deref()) { Some(positions(ids, read)) } else { ids };
        let (times, orders) = (times.finish(), (!orders.is_empty()).then_some(orders));
        let names = Names { processes, objects, ids, lines, times, orders, notes, ..Names::default() };
        let calls = history.operations().map(|it| history.source(it.id));
        if let Some((first, again)) = reused(&names, calls) {
            let (id, line) = (brief(&values, names.id(again)), names.line(first));
            let message = format!("the id {id} is already that of line {line}");
            return Err(ReadError { line: names.line(again), column: 0, message, read });
        }
        Ok(Recording { initial, ..Recording::new(history, values, names) })
    }
}

/// Whether two operations or events stand on one line, which does not identify them then.
fn has_shared_line(lines: Option<&[u32]>) -> bool {
    lines.is_some_and(|lines| lines.windows(2).any(|pair| pair[0] == pair[1]))
}

/// The ids of `count` positions: their own, or else the positions.
fn positions(ids: Option<Vec<Value>>, count: usize) -> Vec<Value> {
    let mut ids = ids.unwrap_or_default();
    ids.resize(count, Value::ABSENT);
    for (position, id) in ids.iter_mut().enumerate().filter(|it| it.1.is_absent()) {
        *id = Value::from(position);
    }
    ids
}

/// Two positions with the same id, if there are such: the earliest that repeats one, and the one
/// before it.
fn reused(names: &Names, calls: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    let own = names.ids.as_ref()?;
    let has_own = |it: &usize| own.get(*it).is_some_and(|id| !id.is_absent());
    // An operation without effect is not in the history, but its id is still used up.
    let owners = (0..own.len()).filter(has_own);
    let others = calls.filter(|it| !has_own(it));
    let mut ids: Vec<(Value, usize)> = owners.chain(others).map(|it| (names.id(it), it)).collect();
    ids.sort_unstable();
    let twice = ids.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    twice.map(|pair| (pair[0].1, pair[1].1)).min_by_key(|&(_, again)| again)
}

#[cold]
fn at_line(line: usize, message: String) -> ReadError {
    ReadError { line, column: 0, message, read: 0 }
}
