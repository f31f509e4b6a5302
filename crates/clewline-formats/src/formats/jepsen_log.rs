//! The logs of Jepsen runs: those of old runs, as in the test data of the checker by Horn and
//! Kroening, those of newer ones (`jepsen.log`), and `history.txt`.
//!
//! ```text
//! INFO  jepsen.util - 0 → :invoke → :cas → [1 3]
//! INFO  jepsen.util - 0 → :fail   → :cas → [1 3]
//! 2024-08-10 07:24:27,635{GMT} → INFO → [jepsen worker 2] jepsen.util: 2 → :invoke → :read → nil
//! 2 → :ok → :read → 3
//! ```
//!
//! (An arrow stands for a tab.) An operation is a line with `:invoke`, `:ok`, `:fail` or `:info`
//! between tabs; the last word before it is the process, and what else is before it does not
//! matter. A process that is a keyword (`:nemesis`) is no client. A `:fail` of a `:cas` is one that
//! returned false, unless an error stands behind its value; any other says that the operation had
//! no effect. `:info`, and any completion whose value is `:timed-out`, says that the outcome is
//! unknown. Otherwise values mean what they mean in [`super::jepsen`].
//!
//! All other lines are skipped and counted. A record of another logger, which has a level such as
//! `INFO`, is understood, and so are the lines after it up to the next record: a stack trace, say.
//! Of lines that are neither, a file may have 1 in 20. An operation in which the fields are not
//! between tabs is one of these, whatever its level.

use std::io::{Read, Write};

use clewline_core::{Datum, Names, Recording, Skipped, Value, Values};

use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    event_reader::{Numbering, OperationOutcome},
    event_writer::{self, Entry, cannot_hold},
    formats::jepsen::{self, HistoryReader},
    jepsen_events::{ClientEvent, EventKind},
    text::{
        Sink, TextError,
        blocks::{Blocks, Lines},
        brief,
        edn::{self, Edn, FormEnd, NextForm, Tail},
        shown_in_one_line,
    },
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &JepsenLog;

const MARK: &str = "jepsen.util - ";
// The logger of operations.
const LOGGER: &str = "jepsen.util";

// Of this number of lines one may be of no kind that is known.
const LINES_FOR_ONE_UNKNOWN: usize = 20;

// The level of a record is among its first characters.
const LEVEL_WITHIN_CHARS: usize = 80;
const LEVELS: &[&str] = &["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

struct JepsenLog;

impl Format for JepsenLog {
    fn name(&self) -> &'static str {
        "jepsen-log"
    }

    fn about(&self) -> &'static str {
        "logs of Jepsen runs: jepsen.log and history.txt (written for registers only)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["log"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: true, pending: true, objects: Objects::One, ids: false, times: false }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        let has = |it: &str| memchr::memmem::find(head, it.as_bytes()).is_some();
        let line = head.split(|it| *it == b'\n').find(|it| !it.trim_ascii().is_empty());
        let begins = line.is_some_and(|it| begins_as_operation(&String::from_utf8_lossy(it)));
        has(LOGGER) || has("] jepsen.") || has("\t:invoke\t") || begins
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut reader = Reader::new(options.keyed);
        let mut blocks = Blocks::new(input, options.progress);
        reader.fill(&mut blocks).map_err(|error| ReadError { read: reader.history.len(), ..error })?;
        let Reader { history, sink, processes, skipped, .. } = reader;
        let names = Names { processes: processes.into_names(), skipped, ..Names::default() };
        history.finish(sink.values, names)
    }

    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
        let recording = &*event_writer::with_null_missing(recording)?;
        event_writer::write_lines(recording, out, write_entry)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Read,
    Write,
    Cas,
}

impl Method {
    fn find(name: &str) -> Option<Method> {
        Some(match name {
            "read" => Method::Read,
            "write" => Method::Write,
            "cas" => Method::Cas,
            _ => return None,
        })
    }
}

// One line.
enum Line {
    Operation(LogEntry),
    // An event of a process that is not a client.
    Foreign,
    Other,
}

// An operation, with its values in the sink.
struct LogEntry {
    process: Value,
    kind: EventKind,
    // `None` if it is none of those that are written.
    method: Option<Method>,
    name: Value,
    value: Value,
    has_error: bool,
}

struct Reader {
    history: HistoryReader,
    sink: Sink,
    processes: Numbering,
    skipped: Skipped,
    // How many lines are not blank, and those of them that are of no known kind.
    lines: usize,
    unknown: Skipped,
    // Whether the last record was that of another logger, which may go on.
    is_in_record: bool,
}

impl Reader {
    fn new(is_keyed: bool) -> Reader {
        Reader {
            history: HistoryReader::of_log(is_keyed),
            sink: Sink::default(),
            processes: Numbering::default(),
            skipped: Skipped::default(),
            lines: 0,
            unknown: Skipped::default(),
            is_in_record: false,
        }
    }

    fn fill(&mut self, blocks: &mut Blocks<'_>) -> Result<(), ReadError> {
        let mut block = Vec::new();
        loop {
            let first = blocks.next(&mut block)?;
            if block.is_empty() {
                self.history.flush(&self.sink.values)?;
                return self.check_share();
            }
            let mut lines = Lines::new(&block, first);
            loop {
                let number = lines.line;
                let Some(text) = lines.next()? else { break };
                let entered = self.line(text).map_err(|fault| fault.in_line(text, number))?;
                match entered {
                    Line::Operation(entered) => {
                        self.push(number, &entered)?;
                        self.is_in_record = false;
                    }
                    Line::Foreign => {
                        self.skipped.add(number, text);
                        self.is_in_record = false;
                    }
                    Line::Other if text.trim().is_empty() => continue,
                    Line::Other => {
                        self.skipped.add(number, text);
                        self.is_in_record =
                            (self.is_in_record || is_record(text)) && !is_like_operation(text);
                        if !self.is_in_record {
                            self.unknown.add(number, text);
                        }
                    }
                }
                self.lines += 1;
            }
        }
    }

    /// Refuses a file of which more than a small share is not understood. One without operations is
    /// refused for that.
    fn check_share(&self) -> Result<(), ReadError> {
        let Skipped { count, line, ref text } = self.unknown;
        let is_operation = begins_as_operation(text);
        if (self.history.len() == 0 && !is_operation) || count * LINES_FOR_ONE_UNKNOWN <= self.lines {
            return Ok(());
        }
        let expected = match is_operation {
            true => "an operation with tabs between its process, type, name and value",
            false => "a line of a Jepsen log",
        };
        let (lines, text) = (self.lines, shown_in_one_line(text));
        let message = format!(
            "expected {expected}, found `{text}`: {count} of {lines} lines are not understood, and 1 in \
             {LINES_FOR_ONE_UNKNOWN} may be"
        );
        Err(ReadError::in_line(line, message))
    }

    fn line(&mut self, text: &str) -> Result<Line, TextError> {
        let mut fields = Fields { text, at: 0 };
        let mut before = fields.next();
        let (kind, process, at) = loop {
            let (Some((process, at)), Some((field, next))) = (before, fields.next()) else {
                return Ok(Line::Other);
            };
            if let Some(kind) = keyword(field).and_then(EventKind::find) {
                break (kind, process.trim_end(), at);
            }
            before = Some((field, next));
        };
        let end = at + process.len();
        let process = process.split_whitespace().next_back().unwrap_or_default();
        let at = end - process.len();
        if process.starts_with(':') {
            return Ok(Line::Foreign);
        }
        let expected = || TextError::expected("the number of a process", text, at, "line");
        let process = process.parse().map_err(|_| expected())?;
        let process = self.sink.values.int(process);
        let (name, at) = fields.next().unwrap_or(("", text.len()));
        let expected = || TextError::expected("an operation, such as `:read`", text, at, "line");
        let name = keyword(name).filter(|it| !it.is_empty()).ok_or_else(expected)?;
        let method = Method::find(name);
        let name = self.sink.values.text(name);
        let value = self.value(text, fields.next().unwrap_or(("", text.len())))?;
        let has_error = fields.next().is_some_and(|(error, _)| !error.trim().is_empty());
        Ok(Line::Operation(LogEntry { process, kind, method, name, value, has_error }))
    }

    fn value(&mut self, text: &str, (field, at): (&str, usize)) -> Result<Value, TextError> {
        self.sink.items.clear();
        let mut edn = Edn::new(field, Tail::End);
        let mut value = || {
            let value = edn.value(&mut self.sink)?;
            if edn.next()? != NextForm::End {
                return Err(edn.error("the end of the value"));
            }
            Ok(value)
        };
        value().map_err(|stop| match stop {
            FormEnd::Fault(fault) if fault.at < field.len() => TextError { at: at + fault.at, ..fault },
            FormEnd::Fault(_) | FormEnd::More => {
                TextError::expected("a value", text, at + field.len(), "line")
            }
        })
    }

    fn push(&mut self, line: usize, entered: &LogEntry) -> Result<(), ReadError> {
        let &LogEntry { process, kind, method, name, value, has_error } = entered;
        let values = &self.sink.values;
        let process = self.processes.number(process);
        let is_pair = matches!(values.get(value), Datum::List(&[_, _]));
        // A register is read without an argument, and a write returns nothing.
        let value = match (kind, method) {
            (EventKind::Invoke, Some(Method::Read)) if !is_pair => Value::NIL,
            (EventKind::Ok, Some(Method::Write)) if !is_pair => Value::ABSENT,
            _ => value,
        };
        // It failed for the value that it found, and for no other reason.
        let is_refusal = kind == EventKind::Fail && method == Some(Method::Cas) && !has_error;
        let event = ClientEvent { line, process, kind, method: name, value, key: Value::ABSENT, is_refusal };
        self.history.push(event, values)
    }
}

/// How a completion that is written is read.
fn outcome(values: &Values, kind: EventKind, method: Method, value: Value) -> OperationOutcome {
    if values.get(value) == Datum::Symbol(jepsen::TIMED_OUT) {
        return OperationOutcome::Info;
    }
    match (kind, method) {
        (EventKind::Ok | EventKind::Invoke, Method::Read) => OperationOutcome::Return(value),
        (EventKind::Ok | EventKind::Invoke, Method::Write) => OperationOutcome::Return(Value::ABSENT),
        (EventKind::Ok | EventKind::Invoke, Method::Cas) => OperationOutcome::Return(Value::TRUE),
        (EventKind::Fail, Method::Cas) => OperationOutcome::Return(Value::FALSE),
        (EventKind::Fail, Method::Read | Method::Write) => OperationOutcome::Fail,
        (EventKind::Info, _) => OperationOutcome::Info,
    }
}

/// Whether a line is the beginning of a record of a logger: it has a level.
fn is_record(text: &str) -> bool {
    let end = text.char_indices().nth(LEVEL_WITHIN_CHARS).map_or(text.len(), |it| it.0);
    text[..end].split(|it: char| !it.is_ascii_alphabetic()).any(|it| LEVELS.contains(&it))
}

/// Whether a line that is no operation looks like one: it has the kind of an event as a word.
///
/// Behind another keyword, as in `{:type :ok}`, that is part of a map, and other loggers write such
/// maps: the results of a test, say.
fn is_like_operation(text: &str) -> bool {
    let is_in_word = |it: char| it.is_alphanumeric() || ":.-_?!*+/".contains(it);
    let mut before = "";
    for word in text.split(|it| !is_in_word(it)).filter(|it| !it.is_empty()) {
        let is_kind = keyword(word).and_then(EventKind::find).is_some();
        if is_kind && !before.is_empty() && (!before.starts_with(':') || text.contains(LOGGER)) {
            return true;
        }
        before = word;
    }
    false
}

/// Whether a line begins with a process and the kind of an event, with any space between them.
fn begins_as_operation(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let is_process = words.next().is_some_and(|it| it.parse::<i64>().is_ok());
    is_process && words.next().and_then(keyword).and_then(EventKind::find).is_some()
}

fn keyword(field: &str) -> Option<&str> {
    field.trim().strip_prefix(':')
}

// The fields between the tabs of a line, and their positions.
struct Fields<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<(&'a str, usize)> {
        let start = self.at;
        let rest = self.text.get(start..)?;
        let field = rest.split('\t').next()?;
        self.at = start + field.len() + 1;
        Some((field, start))
    }
}

fn write_entry(recording: &Recording, entry: Entry, line: &mut String) -> Result<(), WriteError> {
    let (Entry::Call(id) | Entry::Return(id, _) | Entry::Info(id)) = entry;
    let values = &recording.values;
    let refuse = |why: &str| cannot_hold(recording, id, why);
    let call = *recording.history.call(id);
    let (name, method) = match values.get(call.method) {
        Datum::Text(name) => (name, Method::find(name)),
        _ => ("", None),
    };
    let Some(method) = method else {
        return Err(refuse("is none of read, write and cas"));
    };
    if !event_writer::object_name(recording, id).is_absent() {
        return Err(refuse("names its object, for which this format has no place"));
    }
    let process = event_writer::process_name(recording, id);
    let Datum::Int(process) = values.get(process) else {
        let why =
            format!("is called by {}, and in this format processes are integers", brief(values, process));
        return Err(refuse(&why));
    };
    if call.arg.is_absent() != (method == Method::Read) {
        return Err(refuse("has an argument, or lacks one, unlike those of this format"));
    }
    let argument = if method == Method::Read { Value::NIL } else { call.arg };
    let (kind, value) = match entry {
        Entry::Call(_) => ("invoke", Some(argument)),
        Entry::Info(_) => ("info", None),
        Entry::Return(_, ret) if method == Method::Read => ("ok", Some(ret)),
        Entry::Return(_, Value::FALSE) => ("fail", Some(argument)),
        Entry::Return(..) => ("ok", Some(argument)),
    };
    if let Entry::Return(_, ret) = entry {
        let kind = if kind == "fail" { EventKind::Fail } else { EventKind::Ok };
        let value = value.unwrap_or(Value::ABSENT);
        if outcome(values, kind, method, value) != OperationOutcome::Return(ret) {
            return Err(refuse("has a result that this format cannot express"));
        }
    }
    line.push_str(&format!("INFO  {MARK}{process}\t:{kind}\t:{name}\t"));
    match value {
        Some(value) => {
            edn::write(values, value, line).map_err(|why| refuse(&format!("cannot be written: {why}")))?
        }
        None => line.push_str(":timed-out"),
    }
    line.push('\n');
    Ok(())
}
