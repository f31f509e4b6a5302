//! The contents of the lines of a file, until they become a recording.

use clewline_core::{
    Crash, Names, Note, ObjectId, ProcessId, ProcessNames, RawCall, Recording, Timed, TimedColumns,
    TimedCrash, TimedRow, TimedRows, Value,
};

use super::{
    line::Scanner,
    note::{self, CrashLine, NoteError, NoteLine, ProcessName},
};
use crate::{
    ReadError, Row, RowKind,
    event_reader::{EventHistory, EventTimes, OperationOutcome, SourceLines},
    text::{brief, objects::Object},
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
    // How many of them are over, in a file of events.
    passed_notes: usize,
    incarnations: ProcessNames,
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
            passed_notes: 0,
            incarnations: ProcessNames::default(),
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
            RowKind::Operation(called, returned) => self.times.operation(row.line, called, returned),
            RowKind::Call => self.times.call(row.line, row.process, time),
            RowKind::Return | RowKind::Fail | RowKind::Info => {
                self.times.end(row.process, time, row.kind == RowKind::Return);
            }
        }
    }

    /// Keeps the hint of an operation, which may also be given when it returns.
    fn set_order(&mut self, row: &Row, order: i64) {
        let position = match (&self.body, row.kind) {
            (Body::Events(log), RowKind::Return) => log.open(row.process).map(|it| it.position),
            (_, RowKind::Return | RowKind::Fail | RowKind::Info) => None,
            (_, RowKind::Operation(..) | RowKind::Call) => Some(self.len()),
        };
        if let Some(position) = position {
            self.orders.resize(self.orders.len().max(position + 1), None);
            self.orders[position] = Some(order);
        }
    }

    /// The processes that crashed; `None`: all of them.
    fn crashed(&mut self, crash: &CrashLine) -> Option<Vec<Value>> {
        let values = self.scanner.values_mut();
        let name = |it: &ProcessName| match it {
            ProcessName::Int(int) => values.int(*int),
            ProcessName::Text(text) => values.text(text),
        };
        crash.processes.as_ref().map(|all| all.iter().map(name).collect())
    }

    /// Ends the processes of the crashes before the next event.
    fn pass_crashes(&mut self) {
        let events = self.len();
        while let Some(note) = self.notes.get(self.passed_notes).filter(|it| it.rows() <= events) {
            let crash = note.crash().cloned();
            self.passed_notes += 1;
            let Some(crash) = crash else { continue };
            let names = self.crashed(&crash);
            // One that has not called yet has nothing to end.
            let numbers: Option<Vec<u32>> =
                names.map(|all| all.iter().filter_map(|&it| self.scanner.processes.find(it)).collect());
            self.incarnations.crash(numbers.as_deref());
        }
    }

    /// Adds a row. An event is one of the current incarnation of its process.
    fn push(&mut self, row: &Row) -> Result<(), ReadError> {
        if !matches!(self.body, Body::Events(_)) {
            return self.add(row);
        }
        self.pass_crashes();
        let name = self.scanner.processes.names()[row.process as usize];
        let process = self.incarnations.get(row.process, name);
        self.add(&Row { process, ..*row })
    }

    fn add(&mut self, row: &Row) -> Result<(), ReadError> {
        if let Some(order) = row.order {
            self.set_order(row, order);
        }
        let call = RawCall { method: row.method, arg: row.arg };
        match (&mut self.body, row.kind) {
            (Body::Nothing, _) => {
                self.first = row.line;
                self.body = match row.kind {
                    RowKind::Operation(..) if self.skew != 0 => Body::Skewed(TimedRows::default()),
                    RowKind::Operation(..) => {
                        Body::Operations(TimedColumns::with_capacity(0), SourceLines::default())
                    }
                    _ if self.skew != 0 => {
                        let message =
                            "expected an operation with times, where a skew is given, found an event";
                        return Err(at_line(row.line, message.to_owned()));
                    }
                    RowKind::Call | RowKind::Return | RowKind::Fail | RowKind::Info => {
                        Body::Events(EventHistory::default())
                    }
                };
                return self.push(row);
            }
            (Body::Operations(columns, lines), RowKind::Operation(called, returned)) => {
                let (process, object) = (ProcessId(row.process), ObjectId(row.object));
                let returned = returned.map(|time| (row.ret, time));
                columns.push(Timed { process, object, call, called, returned });
                lines.push(row.line);
            }
            (Body::Skewed(rows), RowKind::Operation(called, returned)) => {
                let returned = returned.map(|time| (row.ret, time));
                let Row { line, process, object, .. } = *row;
                rows.push(TimedRow { line, process, object, call, called, returned });
            }
            (Body::Events(log), RowKind::Call) => log.call(row.line, row.process, row.object, call)?,
            (Body::Events(_), RowKind::Return) => self.end(row, OperationOutcome::Return(row.ret))?,
            (Body::Events(_), RowKind::Fail) => self.end(row, OperationOutcome::Fail)?,
            (Body::Events(_), RowKind::Info) => self.end(row, OperationOutcome::Info)?,
            (
                Body::Operations(..) | Body::Skewed(_),
                RowKind::Call | RowKind::Return | RowKind::Fail | RowKind::Info,
            ) => {
                return Err(self.mixed(row.line, "an operation", "an event"));
            }
            (Body::Events(_), RowKind::Operation(..)) => {
                return Err(self.mixed(row.line, "an event", "an operation"));
            }
        }
        if !self.ids.is_empty() || !row.id.is_absent() {
            // The lines before had none.
            self.ids.resize(self.len() - 1, Value::ABSENT);
            let ends = matches!(row.kind, RowKind::Return | RowKind::Fail | RowKind::Info);
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

    /// The crashes among `notes`. What is called after one is given to other processes, whose names
    /// are added to `processes`.
    fn crashes(
        &mut self,
        lines: &[NoteLine],
        notes: &mut [Note],
        processes: &mut Vec<Value>,
    ) -> Result<Vec<Crash>, ReadError> {
        let mut crashes: Vec<Crash> = Vec::new();
        let mut timed: Vec<TimedCrash> = Vec::new();
        for (note, line) in lines.iter().enumerate() {
            let Some(crash) = line.crash() else { continue };
            let named = self.crashed(crash);
            let mut numbers = Vec::new();
            for &name in named.iter().flatten() {
                let number = self.scanner.processes.find(name).ok_or_else(|| {
                    let name = brief(self.scanner.values(), name);
                    at_line(line.line(), format!("process {name} crashes, and makes no call"))
                })?;
                numbers.push(ProcessId(number));
            }
            let numbers = named.as_ref().map(|_| numbers);
            timed.push(TimedCrash { time: line.crash_time().unwrap_or(0), processes: numbers });
            crashes.push(Crash { note, named, node: crash.node.clone(), ended: Vec::new() });
        }
        if crashes.is_empty() && matches!(self.body, Body::Operations(..)) {
            return Ok(crashes);
        }
        let ended = match &mut self.body {
            Body::Nothing | Body::Skewed(_) => Vec::new(),
            Body::Operations(columns, sources) => {
                let made = columns.crash(&timed, processes.len()).map_err(|error| {
                    let crash = lines[crashes[error.crash].note].line();
                    at_line(sources.get(error.operation), format!("{error} (the crash is on line {crash})"))
                })?;
                processes.extend(made.added.iter().map(|it| processes[it.index()]).collect::<Vec<_>>());
                for (crash, &events) in crashes.iter().zip(&made.events) {
                    (notes[crash.note].from, notes[crash.note].until) = (events, Some(events));
                }
                made.ended
            }
            Body::Events(_) => {
                let names = std::mem::take(&mut self.incarnations);
                *processes = names.names;
                names.ended
            }
        };
        crashes.iter_mut().zip(ended).for_each(|(crash, ended)| crash.ended = ended);
        Ok(crashes)
    }

    /// The recording of all this.
    pub(super) fn finish(self) -> Result<Recording, ReadError> {
        let read = self.len();
        let mut builder = self;
        let mut processes = builder.scanner.processes.names().to_vec();
        let mut own_times = None;
        if let Body::Skewed(rows) = &mut builder.body {
            if let Some(crash) = builder.notes.iter().find(|it| it.crash().is_some()) {
                let message =
                    "a crash has no place among operations whose clocks may differ (a skew is given)";
                return Err(ReadError { read, ..at_line(crash.line(), message.to_owned()) });
            }
            let (columns, lines, own) = std::mem::take(rows).into_columns(builder.skew, &mut processes);
            let lines: SourceLines = lines.into_iter().collect();
            own_times = own;
            builder.body = Body::Operations(columns, lines);
        }
        builder.pass_crashes();
        let located = |error| ReadError { read, ..error };
        let lines = builder.notes.clone();
        let mut notes = builder.notes().map_err(located)?;
        let crashes = builder.crashes(&lines, &mut notes, &mut processes).map_err(located)?;
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
        let own = Names { own_times, ..Names::default() };
        let names = Names { processes, objects, ids, lines, times, orders, notes, crashes, ..own };
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
