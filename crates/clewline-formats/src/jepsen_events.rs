//! Jepsen's events: maps, as in `{:process 0, :type :invoke, :f :read, :value nil}`, the same as
//! objects in JSON, or vectors `[0 :invoke :read nil]`, as in old histories.
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
        Sink, TextError, brief,
        edn::{Edn, FormEnd, NextForm},
        edn_stream::FormStream,
        is_near,
        json::{Json, Scalar},
        objects::{Object, misspelt, without_mark},
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
    /// Each of them.
    pub(crate) const NAMES: [&str; 4] = [":invoke", ":ok", ":fail", ":info"];

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
    /// Whether a failure says that the operation returned false.
    pub is_refusal: bool,
}

/// The tables of the names of events, and their times.
#[derive(Debug)]
pub(crate) struct EventTable {
    sink: Sink,
    processes: Numbering,
    times: EventTimes,
    // Events of processes that are neither clients nor a nemesis.
    skipped: Skipped,
    // The events of clients so far.
    events: usize,
    nemesis: Nemesis,
}

impl EventTable {
    /// Without any event.
    pub(crate) fn new(options: &ReadOptions<'_>) -> EventTable {
        EventTable {
            sink: Sink::default(),
            processes: Numbering::default(),
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

    /// The event on `line`, if it is one of a client.
    fn event(&mut self, line: usize, form: Form) -> Option<ClientEvent> {
        match form {
            Form::Client(Fields { process, kind, method, value, key, time }) => {
                let process = self.processes.number(process);
                match kind {
                    EventKind::Invoke => self.times.call(line, process, time),
                    EventKind::Ok | EventKind::Fail | EventKind::Info => {
                        self.times.end(process, time, kind == EventKind::Ok)
                    }
                }
                self.events += 1;
                return Some(ClientEvent { line, process, kind, method, value, key, is_refusal: false });
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
        None
    }

    /// The event that `object` is, if it is one of a client.
    pub(crate) fn object(&mut self, object: Object<'_>) -> Result<Option<ClientEvent>, ReadError> {
        let form = members(object.text, &mut self.sink).map_err(|it| object.locate(it))?;
        Ok(self.event(object.line, form))
    }
}

/// The events of a file in EDN.
pub(crate) struct ClientEvents<'a> {
    forms: FormStream<'a>,
    around: Enclosing,
    table: EventTable,
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
    /// The events of `input`.
    pub(crate) fn new(input: &'a mut dyn Read, options: &ReadOptions<'a>) -> Self {
        ClientEvents {
            forms: FormStream::new(input, options.progress),
            around: Enclosing::Unknown,
            table: EventTable::new(options),
        }
    }

    /// The values of the events.
    pub(crate) fn values(&mut self) -> &mut Values {
        self.table.values()
    }

    /// The values of the events, the names of their processes, and the notes.
    pub(crate) fn into_names(self) -> (Values, Names) {
        self.table.into_names()
    }

    /// The next event of a client.
    pub(crate) fn next(&mut self) -> Result<Option<ClientEvent>, ReadError> {
        while self.is_event_next()? {
            let line = self.forms.line();
            let EventTable { sink, times, .. } = &mut self.table;
            let keeps_times = times.is_wanted();
            let form = self.forms.next(|edn| fields(edn, sink, keeps_times));
            let form = form.map_err(|mut error| {
                if error.line != line && error.message.ends_with("the end of the file") {
                    error.message.push_str(&format!("; the event begins on line {line}"));
                }
                error
            })?;
            if let Some(event) = self.table.event(line, form) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Skips to the beginning of the next event, past the brackets around all of them.
    fn is_event_next(&mut self) -> Result<bool, ReadError> {
        loop {
            let around = self.around;
            let now = self.forms.next(|edn| {
                Ok(match (edn.next()?, edn.byte()?, around) {
                    (NextForm::End, _, Enclosing::Bracket(close)) => {
                        return Err(edn.error(&format!("a map or `{}`", char::from(close))));
                    }
                    (NextForm::End, ..) => None,
                    (_, _, Enclosing::Closed) => return Err(edn.error("the end of the file")),
                    (NextForm::Open, Some(b'[' | b'('), Enclosing::Unknown) if is_vector(edn)? => {
                        Some(Enclosing::Nothing)
                    }
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

/// Whether the bracket that comes next is that of an event, and not one around all of them.
fn is_vector(edn: &Edn<'_>) -> Result<bool, FormEnd> {
    let mut inside = edn.clone();
    inside.advance();
    Ok(inside.next()? == NextForm::Form && inside.byte()? != Some(b'#'))
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

/// The form of an event of `process`, which is one of a client unless it has another name.
/// `None` if the process has no name.
fn form(
    values: &Values,
    process: Value,
    method: Option<Value>,
    value: Value,
    client: impl FnOnce() -> Result<Fields, FormEnd>,
) -> Result<Option<Form>, FormEnd> {
    Ok(Some(match (values.get(process), method) {
        (Datum::Symbol("nemesis") | Datum::Text("nemesis"), Some(method)) => Form::Nemesis(method, value),
        (Datum::Symbol(_), _) => Form::Other(process),
        (Datum::Int(_) | Datum::Text(_), _) => Form::Client(client()?),
        // Skipped, it could be the event that violates.
        _ => return Ok(None),
    }))
}

const EXPECTED_PROCESS: &str = "a process (an integer, a text or a keyword)";

/// One vector: `[process type f value …]`, or `[type process f value …]`.
fn vector(edn: &mut Edn<'_>, sink: &mut Sink) -> Result<Form, FormEnd> {
    let at = edn.at();
    let whole = edn.value(sink)?;
    let wrong = |values: &Values| {
        let found = brief(values, whole);
        let message = format!(
            "expected an event [process type f value], its type {}, found {found}",
            EventKind::EXPECTED
        );
        FormEnd::Fault(TextError { at, message })
    };
    let kind = |values: &Values, it: Value| match values.get(it) {
        Datum::Symbol(name) => EventKind::find(name),
        _ => None,
    };
    let values = &mut sink.values;
    let Datum::List(items) = values.get(whole) else { return Err(wrong(values)) };
    let &[first, second, method, ref rest @ ..] = items else { return Err(wrong(values)) };
    let (process, kind) = match (kind(values, first), kind(values, second)) {
        (_, Some(kind)) => (first, kind),
        (Some(kind), None) => (second, kind),
        (None, None) => return Err(wrong(values)),
    };
    let value = rest.first().copied().unwrap_or(Value::ABSENT);
    let name = match values.get(method) {
        Datum::Symbol(name) | Datum::Text(name) => name.to_owned(),
        _ => return Err(wrong(values)),
    };
    let method = values.text(&name);
    let fields = Fields { process, kind, method, value, key: Value::ABSENT, time: None };
    let form = form(values, process, Some(method), value, || Ok(fields))?;
    form.ok_or_else(|| edn.error_at(EXPECTED_PROCESS, at))
}

/// The members of an object in JSON.
fn members(text: &str, sink: &mut Sink) -> Result<Form, TextError> {
    let mut json = Json::new(text);
    json.take(b'{');
    let (mut process, mut kind, mut method, mut value, mut key) = (None, None, None, None, None);
    let (mut time, mut read, mut process_at) = (None, 0, 0);
    while let Some(name) = json.member(read)? {
        read += 1;
        json.peek();
        let at = json.at();
        let twice = match &*name {
            "process" => {
                process_at = at;
                process.replace(json.value(sink)?).is_some()
            }
            "type" => {
                let name = word(&mut json, EventKind::EXPECTED)?;
                let found = EventKind::find(&name);
                let wrong = || {
                    let found = format!(":{name}");
                    TextError::expected(EventKind::EXPECTED, text, at, "line")
                        .suggesting(&found, &EventKind::NAMES)
                };
                kind.replace(found.ok_or_else(wrong)?).is_some()
            }
            "f" => {
                let name = word(&mut json, "the name of an operation")?;
                method.replace(sink.values.text(&name)).is_some()
            }
            "value" => value.replace(json.value(sink)?).is_some(),
            "key" => key.replace(json.value(sink)?).is_some(),
            "time" => {
                time = json.value(sink)?.as_int();
                false
            }
            _ => {
                json.skip()?;
                false
            }
        };
        if twice {
            return Err(TextError { at, message: format!("`{name}` is given twice") });
        }
    }
    let end = json.at() - 1;
    if json.peek().is_some() {
        return Err(json.error("the end of the object"));
    }
    let missing = |name: &str| {
        let at = misspelt(text, &[name], |it| MEMBERS.contains(&it)).map_or(end, |it| it.0);
        TextError::expected(&format!("`{name}`"), text, at, "line")
    };
    let process = process.ok_or_else(|| missing("process"))?;
    let value = value.unwrap_or(Value::ABSENT);
    let client = || {
        let kind = kind.ok_or_else(|| missing("type"))?;
        let method = method.ok_or_else(|| missing("f"))?;
        Ok(Fields { process, kind, method, value, key: key.unwrap_or(Value::ABSENT), time })
    };
    match form(&sink.values, process, method, value, client) {
        Ok(Some(form)) => Ok(form),
        Err(FormEnd::Fault(fault)) => Err(fault),
        Ok(None) | Err(FormEnd::More) => {
            Err(TextError::expected("a process (an integer or a text)", text, process_at, "line"))
        }
    }
}

/// A text, without the colon of a keyword.
fn word(json: &mut Json<'_>, expected: &str) -> Result<String, TextError> {
    match json.scalar(expected)? {
        Scalar::Text(text) => Ok(text.strip_prefix(':').unwrap_or(&text).to_owned()),
        Scalar::Int(int) => Ok(int.to_string()),
    }
}

/// One map, or one vector.
fn fields(edn: &mut Edn<'_>, sink: &mut Sink, keeps_times: bool) -> Result<Form, FormEnd> {
    // A window that ended within a list has left its items.
    sink.items.clear();
    edn.record()?;
    if let Some(b'[' | b'(') = edn.byte()? {
        return vector(edn, sink);
    }
    if edn.byte()? != Some(b'{') {
        return Err(edn.error("`{`"));
    }
    edn.advance();
    let start = edn.clone();
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
    let missing = |name: &str| {
        let at = misspelt_key(start.clone(), name).unwrap_or(end);
        edn.error_at(&format!("`:{name}`"), at)
    };
    let process = process.ok_or_else(|| missing("process"))?;
    let value = value.unwrap_or(Value::ABSENT);
    let client = || {
        Ok(Fields {
            process,
            kind: kind.ok_or_else(|| missing("type"))?,
            method: method.ok_or_else(|| missing("f"))?,
            value,
            key: key.unwrap_or(Value::ABSENT),
            time: time.and_then(|it| match sink.values.get(it) {
                Datum::Int(time) => Some(time),
                _ => None,
            }),
        })
    };
    let form = form(&sink.values, process, method, value, client)?;
    form.ok_or_else(|| edn.error_at(EXPECTED_PROCESS, process_at))
}

/// The members that have a meaning, or that Jepsen writes.
const MEMBERS: [&str; 9] = ["process", "type", "f", "value", "key", "time", "index", "node", "error"];

/// The place of a key that may be a misspelt `name`, in the map that `edn` is in, if there is one.
#[cold]
fn misspelt_key(mut edn: Edn<'_>, name: &str) -> Option<usize> {
    while edn.inside(b'}').ok()? {
        let at = edn.at();
        match edn.keyword().ok()? {
            Some(key) if !MEMBERS.contains(&key) && is_near(key, name) => return Some(at),
            Some(_) => (),
            None => edn.skip().ok()?,
        }
        edn.skip().ok()?;
    }
    None
}

fn kind(edn: &mut Edn<'_>) -> Result<EventKind, FormEnd> {
    edn.next()?;
    let at = edn.at();
    let name = edn.keyword()?;
    let wrong = || match edn.error_at(EventKind::EXPECTED, at) {
        FormEnd::Fault(fault) => {
            fault.suggesting(&format!(":{}", name.unwrap_or_default()), &EventKind::NAMES).into()
        }
        FormEnd::More => FormEnd::More,
    };
    name.and_then(EventKind::find).ok_or_else(wrong)
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
    let head = after_comments(head);
    let head = head.strip_prefix(b"[").or(head.strip_prefix(b"(")).unwrap_or(head);
    let head = after_comments(head);
    let head = match head.strip_prefix(b"#") {
        Some(_) => &head[memchr::memchr(b'{', head).unwrap_or(0)..],
        None => head,
    };
    head.strip_prefix(b"{").is_some_and(|it| it.trim_ascii_start().first() == Some(&b':'))
}

/// Whether a file begins with a vector whose first or second member is a keyword, such as the kind
/// of an event, perhaps within brackets and after comments.
pub(crate) fn is_vector_event(head: &[u8]) -> bool {
    let mut head = after_comments(head);
    let mut depth = 0;
    while let Some(inside) = head.strip_prefix(b"[").or(head.strip_prefix(b"(")) {
        head = after_comments(inside);
        depth += 1;
    }
    let words = head.split(|it| it.is_ascii_whitespace() || *it == b',').filter(|it| !it.is_empty());
    (1..=2).contains(&depth) && words.take(2).any(|it| it.starts_with(b":"))
}

fn after_comments(head: &[u8]) -> &[u8] {
    let mut head = without_mark(head).trim_ascii_start();
    while head.first() == Some(&b';') {
        let end = memchr::memchr(b'\n', head).map_or(head.len(), |it| it + 1);
        head = head[end..].trim_ascii_start();
    }
    head
}
