//! Tables with a header: an operation a row with its two times, or an event a row in log order.
//!
//! ```text
//! process,op,arg,ret,call,return
//! 1,enq,3,true,12,15
//! 2,put,"[""k"", 1]",,13,18
//! ```
//!
//! Source: RFC 4180, also with semicolons or tabs. Columns may be in any order, and others are
//! skipped. A cell is the JSON value that it holds, or else a text; an empty one is none. A
//! [mapping](crate::Mapping) gives other names to columns.

mod record;

use std::io::{Read, Write};

use clewline_core::{Datum, Names, NotFound, RawCall, Recording, TimedRow, TimedRows, Value};

use self::record::{Cell, Records};
use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    event_reader::{EventHistory, EventTimes, Numbering, OperationOutcome, SourceLines},
    mapping::{ColumnNames, Mapping},
    text::{Sink, blocks::BYTE_ORDER_MARK, json::Json, shown_in_one_line, suggestion},
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &Csv;

struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "tables with a header: process, op, arg, ret, call, return (reading only)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv", "tsv"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: false, pending: true, objects: Objects::Named, ids: true, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
        let line = head.split(|it| *it == b'\n').next().unwrap_or_default();
        let Ok(line) = std::str::from_utf8(line) else { return false };
        let names: Vec<&str> = line.split([',', ';', '\t']).map(|it| it.trim().trim_matches('"')).collect();
        // One more may be misspelt, and the error then says which.
        let known = ["process", "op", "call", "event"].iter().filter(|it| names.contains(it)).count();
        2 <= known && 3 <= names.len() && !line.starts_with(['{', '[', '<', '('])
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut records = Records::new(input, options.progress);
        let Some((line, header)) = records.next()? else {
            return Ok(Recording::new(
                EventHistory::default().finish().0,
                Sink::default().values,
                Names::default(),
            ));
        };
        let header = Header::read(line, &header, &options.circumstances.mapping)?;
        let mut table = Table::new(header, options);
        let fill = |records: &mut Records<'_>, table: &mut Table<'_>| {
            while let Some((line, cells)) = records.next()? {
                table.push(line, &cells)?;
            }
            Ok(())
        };
        fill(&mut records, &mut table)
            .map_err(|error: ReadError| ReadError { read: table.len(), ..error })?;
        table.finish()
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        Err(WriteError::CannotHold("tables are only read".to_owned()))
    }
}

/// The positions of columns.
struct Header {
    count: usize,
    process: usize,
    op: usize,
    args: Vec<usize>,
    is_list: bool,
    ret: Option<usize>,
    object: Option<usize>,
    id: Option<usize>,
    order: Option<usize>,
    outcome: Option<usize>,
    times: Times,
}

enum Times {
    Operations { call: usize, returned: usize },
    Events { event: usize, time: Option<usize> },
}

impl Header {
    fn read(line: usize, cells: &[Cell], mapping: &Mapping) -> Result<Header, ReadError> {
        let names: Vec<&str> = cells.iter().map(|it| it.text.trim()).collect();
        let find = |name: &str| names.iter().position(|it| *it == name);
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                let error = NotFound::new("column", name, names.iter().copied());
                ReadError::in_line(line, shown_in_one_line(&error.to_string()))
            })
        };
        let given = |name: &Option<String>, usual: &'static str| match name {
            Some(name) => need(name).map(Some),
            None => Ok(find(usual)),
        };
        let required = |name: &Option<String>, usual: &'static str| need(name.as_deref().unwrap_or(usual));
        let (args, is_list) = match &mapping.arg {
            None => (find("arg").into_iter().collect(), false),
            Some(ColumnNames::One(name)) => (vec![need(name)?], false),
            Some(ColumnNames::List(names)) => {
                (names.iter().map(|it| need(it)).collect::<Result<_, _>>()?, true)
            }
        };
        let times = match (find("event"), &mapping.call) {
            (Some(event), None) if find("call").is_none() => Times::Events { event, time: find("time") },
            _ => Times::Operations {
                call: required(&mapping.call, "call")?,
                returned: required(&mapping.returned, "return")?,
            },
        };
        Ok(Header {
            count: cells.len(),
            process: required(&mapping.process, "process")?,
            op: required(&mapping.op, "op")?,
            args,
            is_list,
            ret: given(&mapping.ret, "ret")?,
            object: given(&mapping.object, "object")?,
            id: given(&mapping.id, "id")?,
            order: given(&mapping.order, "order")?,
            outcome: given(&mapping.outcome, "outcome")?,
            times,
        })
    }
}

struct Table<'a> {
    header: Header,
    options: &'a ReadOptions<'a>,
    sink: Sink,
    processes: Numbering,
    objects: Numbering,
    rows: TimedRows,
    log: EventHistory,
    times: EventTimes,
    // By position.
    ids: Vec<Value>,
    orders: Vec<Option<i64>>,
}

impl<'a> Table<'a> {
    fn new(header: Header, options: &'a ReadOptions<'a>) -> Table<'a> {
        Table {
            header,
            options,
            sink: Sink::default(),
            processes: Numbering::default(),
            objects: Numbering::default(),
            rows: TimedRows::default(),
            log: EventHistory::default(),
            times: EventTimes::new(options.times),
            ids: Vec::new(),
            orders: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.rows.len() + self.log.len()
    }

    fn push(&mut self, line: usize, cells: &[Cell]) -> Result<(), ReadError> {
        let wrong = |message: String| ReadError::in_line(line, message);
        if cells.len() != self.header.count {
            let (expected, found) = (self.header.count, cells.len());
            return Err(wrong(format!("expected {expected} cells, as in the header, found {found}")));
        }
        let Header { process, op, object, ret, id, order, outcome, is_list, .. } = self.header;
        let process = match name(&mut self.sink, &cells[process]) {
            Value::ABSENT => return Err(wrong("expected a process, found an empty cell".to_owned())),
            process => self.processes.number(process),
        };
        let args: Vec<Value> = self.header.args.iter().map(|&it| value(&mut self.sink, &cells[it])).collect();
        let arg = match args.as_slice() {
            [] => Value::ABSENT,
            [arg] if !is_list => *arg,
            // Empty cells at the end are no members: `get` has a key, `put` a value as well.
            args => match &args[..args.iter().rposition(|it| !it.is_absent()).map_or(0, |it| it + 1)] {
                [] => Value::ABSENT,
                [arg] => *arg,
                args if args.contains(&Value::ABSENT) => {
                    return Err(wrong("expected an argument in each column, found an empty cell".to_owned()));
                }
                args => self.sink.values.list(args),
            },
        };
        let ret = ret.map_or(Value::ABSENT, |it| value(&mut self.sink, &cells[it]));
        let mut optional =
            |at: Option<usize>| at.map_or(Value::ABSENT, |it| name(&mut self.sink, &cells[it]));
        let (object, id) = (optional(object), optional(id));
        let order = order.map(|it| integer(line, &cells[it], "an order")).transpose()?.flatten();
        let name = self.options.circumstances.mapping.method(cells[op].text.trim());
        let method = self.sink.values.text(name);
        let call = RawCall { method, arg };
        let is_unnamed = name.is_empty();
        match self.header.times {
            Times::Operations { call: called, returned } => {
                if is_unnamed {
                    return Err(wrong("expected an operation, found an empty cell".to_owned()));
                }
                let outcome = outcome.map_or("ok", |it| cells[it].text.trim());
                let called = time(line, &cells[called])?
                    .ok_or_else(|| wrong("expected the time of the call, found an empty cell".to_owned()))?;
                let returned = time(line, &cells[returned])?;
                let returned = match outcome {
                    "" | "ok" => returned.map(|time| (ret, time)),
                    "info" => None,
                    "fail" => return Ok(()),
                    other => {
                        let (found, near) =
                            (shown_in_one_line(other), suggestion(other, &["ok", "fail", "info"]));
                        return Err(wrong(format!("expected `ok`, `fail` or `info`, found `{found}`{near}")));
                    }
                };
                self.times.operation(line, called, returned.map(|it| it.1));
                let object = self.objects.number(object);
                self.rows.push(TimedRow { line, process, object, call, called, returned });
                self.ids.push(id);
                self.orders.push(order);
            }
            Times::Events { event, time: at } => {
                let time = at.map(|it| time(line, &cells[it])).transpose()?.flatten();
                let event = cells[event].text.trim();
                self.set_order(event, process, order);
                self.event(line, event, process, (object, call), ret, time)?;
                self.ids.push(if event == "call" { id } else { Value::ABSENT });
            }
        }
        Ok(())
    }

    /// Keeps the hint of an operation, which may also be given when it returns.
    fn set_order(&mut self, event: &str, process: u32, order: Option<i64>) {
        self.orders.resize(self.ids.len() + 1, None);
        let place = match event {
            "call" => Some(self.ids.len()),
            "return" => self.log.open(process).map(|it| it.position),
            _ => None,
        };
        if let (Some(place), Some(_)) = (place, order) {
            self.orders[place] = order;
        }
    }

    fn event(
        &mut self,
        line: usize,
        event: &str,
        process: u32,
        (object, call): (Value, RawCall),
        ret: Value,
        time: Option<i64>,
    ) -> Result<(), ReadError> {
        let outcome = match event {
            "call" => {
                self.times.call(line, process, time);
                let object = self.objects.number(object);
                return self.log.call(line, process, object, call);
            }
            "return" => OperationOutcome::Return(ret),
            "fail" => OperationOutcome::Fail,
            "info" => OperationOutcome::Info,
            other => {
                let (found, near) =
                    (shown_in_one_line(other), suggestion(other, &["call", "return", "fail", "info"]));
                let message = format!("expected `call`, `return`, `fail` or `info`, found `{found}`{near}");
                return Err(ReadError::in_line(line, message));
            }
        };
        self.times.end(process, time, matches!(outcome, OperationOutcome::Return(_)));
        let method = Some(call.method).filter(|it| self.sink.values.find_text("") != Some(*it));
        self.log.end(line, process, method, outcome, &self.sink.values)
    }

    fn finish(self) -> Result<Recording, ReadError> {
        let read = self.len();
        let Table { header, options, sink, processes, objects, rows, log, times, ids, orders } = self;
        let mut processes = processes.into_names();
        let mut own_times = None;
        let (history, lines) = match header.times {
            Times::Events { .. } if options.circumstances.skew != 0 => {
                let message = "expected the columns `call` and `return`, where a skew is given";
                return Err(ReadError { read, ..ReadError::in_line(1, message.to_owned()) });
            }
            Times::Events { .. } => log.finish(),
            Times::Operations { .. } => {
                let skew = options.circumstances.skew;
                let (columns, lines, own) = rows.into_columns(skew, &mut processes);
                let lines: SourceLines = lines.into_iter().collect();
                own_times = own;
                let history = columns.finish().map_err(|malformed| ReadError {
                    read,
                    ..lines.locate(&malformed, lines.get(malformed.index()))
                })?;
                (history, lines.into_lines())
            }
        };
        let ids = ids.iter().any(|it| !it.is_absent()).then_some(ids);
        let names = Names {
            processes,
            objects: objects.into_names(),
            ids,
            lines,
            times: times.finish(),
            orders: orders.iter().any(Option::is_some).then_some(orders),
            own_times,
            ..Names::default()
        };
        Ok(Recording::new(history, sink.values, names))
    }
}

/// The value of a cell.
fn value(sink: &mut Sink, cell: &Cell) -> Value {
    let text = cell.text.trim();
    if text.is_empty() && !cell.is_quoted {
        return Value::ABSENT;
    }
    let mut json = Json::new(text);
    sink.items.clear();
    match json.value(sink) {
        Ok(value) if json.peek().is_none() => value,
        _ => sink.values.text(&cell.text),
    }
}

/// The name in a cell: an integer, or a text.
fn name(sink: &mut Sink, cell: &Cell) -> Value {
    let value = value(sink, cell);
    match sink.values.get(value) {
        Datum::Absent | Datum::Int(_) | Datum::Text(_) => value,
        _ => sink.values.text(cell.text.trim()),
    }
}

/// The time in a cell; `None` if it is empty.
fn time(line: usize, cell: &Cell) -> Result<Option<i64>, ReadError> {
    integer(line, cell, "a time")
}

/// The integer in a cell, if there is one.
fn integer(line: usize, cell: &Cell, what: &str) -> Result<Option<i64>, ReadError> {
    let text = cell.text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let found = shown_in_one_line(text);
        ReadError::in_line(line, format!("expected {what}, an integer, found `{found}`"))
    })
}
