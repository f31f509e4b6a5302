//! Jepsen's maps, one an event: `{:process 0, :type :invoke, :f :read, :value nil}`.
//!
//! A file is a vector or a list of them, or has nothing around them. Unknown keys are skipped.
//! Processes that are integers or texts are clients. Those that are keywords are not: events of
//! `:nemesis` are notes on the history, and those of others are skipped.

mod nemesis;

use std::io::Read;

use clewline_core::{Datum, Names, Skipped, Value, Values};

use crate::{
    ReadError, ReadOptions,
    event_reader::{EventTimes, Numbering},
    jepsen_events::nemesis::Nemesis,
    text::{
        Sink,
        edn::{Edn, FormEnd, NextForm},
        edn_stream::FormStream,
    },
};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// It is called.
    Invoke,
    /// It returns.
    Ok,
    /// It had no effect.
    Fail,
    /// The outcome is unknown.
    Info,
}

impl EventKind {
    /// The expected values of `:type`.
    pub(crate) const EXPECTED: &str = "`:invoke`, `:ok`, `:fail` or `:info`";

    /// The kind of that name.
    pub(crate) fn find(name: &str) -> Option<EventKind> {
        Some(match name {
            "invoke" => EventKind::Invoke,
            "ok" => EventKind::Ok,
            "fail" => EventKind::Fail,
            "info" => EventKind::Info,
            _ => return None,
        })
    }
}

/// An event of a client. Absent values are [`Value::ABSENT`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientEvent {
    /// The line on which it begins.
    pub line: usize,
    /// The number of the process.
    pub process: u32,
    /// The kind of event.
    pub kind: EventKind,
    /// The method's name, a text.
    pub method: Value,
    /// `:value`.
    pub value: Value,
    /// `:key`.
    pub key: Value,
}

/// The events of a file, and the tables of their names.
pub(crate) struct ClientEvents<'a> {
    forms: FormStream<'a>,
    sink: Sink,
    processes: Numbering,
    around: Enclosing,
    times: EventTimes,
    // Events of processes that are neither clients nor a nemesis.
    skipped: Skipped,
    // The events of clients so far.
    events: usize,
    nemesis: Nemesis,
}

#[derive(Clone, Copy)]
enum Enclosing {
    // Nothing has been read.
    Unknown,
    Nothing,
    // A collection that this bracket closes.
    Bracket(u8),
    // A collection that has been closed.
    Closed,
}

impl<'a> ClientEvents<'a> {
    /// The maps of `input`.
    pub(crate) fn new(input: &'a mut dyn Read, options: &ReadOptions<'a>) -> Self {
        ClientEvents {
            forms: FormStream::new(input, options.progress),
            sink: Sink::default(),
            processes: Numbering::default(),
            around: Enclosing::Unknown,
            times: EventTimes::new(options.times),
            skipped: Skipped::default(),
            events: 0,
            nemesis: Nemesis::default(),
        }
    }

    /// The values of the events.
    pub(crate) fn values(&mut self) -> &mut Values {
        &mut self.sink.values
    }

    /// The values of the events, the names of their processes, and the notes.
    pub(crate) fn into_names(self) -> (Values, Names) {
        let names = Names {
            processes: self.processes.into_names(),
            times: self.times.finish(),
            skipped: self.skipped,
            notes: self.nemesis.into_notes(),
            ..Names::default()
        };
        (self.sink.values, names)
    }

    /// The next event of a client.
    pub(crate) fn next(&mut self) -> Result<Option<ClientEvent>, ReadError> {
        while self.is_map_next()? {
            let line = self.forms.line();
            let keeps_times = self.times.is_wanted();
            let fields = self.forms.next(|edn| fields(edn, &mut self.sink, keeps_times))?;
            match fields {
                Form::Client(Fields { process, kind, method, value, key, time }) => {
                    let process = self.processes.number(process);
                    match kind {
                        EventKind::Invoke => self.times.call(line, process, time),
                        EventKind::Ok | EventKind::Fail | EventKind::Info => {
                            self.times.end(process, time, kind == EventKind::Ok)
                        }
                    }
                    self.events += 1;
                    return Ok(Some(ClientEvent { line, process, kind, method, value, key }));
                }
                Form::Nemesis(method, value) => {
                    let values = &self.sink.values;
                    if let Datum::Text(name) = values.get(method) {
                        self.nemesis.log(name, value, self.events, values);
                    }
                }
                Form::Other(process) => {
                    let process = self.sink.values.show(process);
                    self.skipped.add(line, &format!("{{:process {process} …}}"));
                }
            }
        }
        Ok(None)
    }

    /// Skips to the beginning of the next map, past the brackets around all of them.
    fn is_map_next(&mut self) -> Result<bool, ReadError> {
        loop {
            let around = self.around;
            let now = self.forms.next(|edn| {
                Ok(match (edn.next()?, edn.byte()?, around) {
                    (NextForm::End, _, Enclosing::Bracket(close)) => {
                        return Err(edn.error(&format!("a map or `{}`", char::from(close))));
                    }
                    (NextForm::End, ..) => None,
                    (_, _, Enclosing::Closed) => return Err(edn.error("the end of the file")),
                    (NextForm::Open, Some(b'['), Enclosing::Unknown) => {
                        edn.advance();
                        Some(Enclosing::Bracket(b']'))
                    }
                    (NextForm::Open, Some(b'('), Enclosing::Unknown) => {
                        edn.advance();
                        Some(Enclosing::Bracket(b')'))
                    }
                    (NextForm::Close, found, Enclosing::Bracket(close)) if found == Some(close) => {
                        edn.advance();
                        Some(Enclosing::Closed)
                    }
                    (_, _, Enclosing::Unknown) => Some(Enclosing::Nothing),
                    (_, _, Enclosing::Nothing | Enclosing::Bracket(_)) => Some(around),
                })
            })?;
            let Some(now) = now else { return Ok(false) };
            self.around = now;
            // After a bracket, try again.
            if !matches!((around, now), (Enclosing::Unknown, Enclosing::Bracket(_)) | (_, Enclosing::Closed))
            {
                return Ok(true);
            }
        }
    }
}

enum Form {
    Client(Fields),
    // Its `:f`, a text, and its `:value`.
    Nemesis(Value, Value),
    // Its process.
    Other(Value),
}

struct Fields {
    process: Value,
    kind: EventKind,
    method: Value,
    value: Value,
    key: Value,
    time: Option<i64>,
}

/// One map.
fn fields(edn: &mut Edn<'_>, sink: &mut Sink, keeps_times: bool) -> Result<Form, FormEnd> {
    // A window that ended within a list has left its items.
    sink.items.clear();
    edn.record()?;
    if edn.byte()? != Some(b'{') {
        return Err(edn.error("`{`"));
    }
    edn.advance();
    let (mut process, mut kind, mut method, mut value, mut key) = (None, None, None, None, None);
    let (mut time, mut process_at) = (None, 0);
    while edn.inside(b'}')? {
        let at = edn.at();
        let name = edn.keyword()?;
        if name.is_none() {
            edn.skip()?;
        }
        if !edn.inside(b'}')? {
            return Err(edn.error_at("a value for each key", edn.at() - 1));
        }
        let twice = match name {
            Some("process") => {
                process_at = edn.at();
                process.replace(edn.value(sink)?).is_some()
            }
            Some("type") => kind.replace(self::kind(edn)?).is_some(),
            Some("f") => method.replace(self::method(edn, sink)?).is_some(),
            Some("value") => value.replace(edn.value(sink)?).is_some(),
            Some("key") => key.replace(edn.value(sink)?).is_some(),
            Some("time") if keeps_times => {
                time = Some(edn.value(sink)?);
                false
            }
            Some(_) | None => {
                edn.skip()?;
                false
            }
        };
        if twice {
            return Err(edn.error_at("each key once", at));
        }
    }
    let end = edn.at() - 1;
    let missing = |expected| edn.error_at(expected, end);
    let process = process.ok_or_else(|| missing("`:process`"))?;
    match (sink.values.get(process), method) {
        (Datum::Symbol("nemesis") | Datum::Text("nemesis"), Some(method)) => {
            return Ok(Form::Nemesis(method, value.unwrap_or(Value::ABSENT)));
        }
        (Datum::Symbol(_), _) => return Ok(Form::Other(process)),
        (Datum::Int(_) | Datum::Text(_), _) => (),
        // Skipped, it could be the event that violates.
        _ => {
            return Err(edn.error_at("a process (an integer, a text or a keyword)", process_at));
        }
    }
    Ok(Form::Client(Fields {
        process,
        kind: kind.ok_or_else(|| missing("`:type`"))?,
        method: method.ok_or_else(|| missing("`:f`"))?,
        value: value.unwrap_or(Value::ABSENT),
        key: key.unwrap_or(Value::ABSENT),
        time: time.and_then(|it| match sink.values.get(it) {
            Datum::Int(time) => Some(time),
            _ => None,
        }),
    }))
}

fn kind(edn: &mut Edn<'_>) -> Result<EventKind, FormEnd> {
    edn.next()?;
    let at = edn.at();
    edn.keyword()?.and_then(EventKind::find).ok_or_else(|| edn.error_at(EventKind::EXPECTED, at))
}

/// A method's name: that of the keyword, or any other text there.
fn method(edn: &mut Edn<'_>, sink: &mut Sink) -> Result<Value, FormEnd> {
    if let Some(name) = edn.keyword()? {
        return Ok(sink.values.text(name));
    }
    let value = edn.value(sink)?;
    if let Datum::Text(_) = sink.values.get(value) {
        return Ok(value);
    }
    let shown = sink.values.show(value).to_string();
    Ok(sink.values.text(&shown))
}

/// Whether a file begins with a map that has a keyword first, perhaps within brackets and after
/// comments.
pub(crate) fn is_map_of_keywords(head: &[u8]) -> bool {
    let mut head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).trim_ascii_start();
    while head.first() == Some(&b';') {
        let end = memchr::memchr(b'\n', head).map_or(head.len(), |it| it + 1);
        head = head[end..].trim_ascii_start();
    }
    let head = head.strip_prefix(b"[").or(head.strip_prefix(b"(")).unwrap_or(head).trim_ascii_start();
    let head = match head.strip_prefix(b"#") {
        Some(_) => &head[memchr::memchr(b'{', head).unwrap_or(0)..],
        None => head,
    };
    head.strip_prefix(b"{").is_some_and(|it| it.trim_ascii_start().first() == Some(&b':'))
}
