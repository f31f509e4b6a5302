//! Jepsen's maps, one an event: `{:process 0, :type :invoke, :f :read, :value nil}`.
//!
//! A file is a vector or a list of them, or has nothing around them. Keys we do not know are passed over, and so
//! are events of whoever is not a client: a nemesis has a `:process` that is no integer.

use std::io::Read;

use clewline_core::{Datum, Names, Value, Values};

use crate::{
    ReadError, ReadOptions,
    event_reader::{EventTimes, Numbering},
    text::{
        Sink,
        edn::{Edn, Next, Stop},
        edn_stream::Forms,
    },
};

/// What an event says about its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is called.
    Invoke,
    /// It returns.
    Ok,
    /// It had no effect.
    Fail,
    /// Nobody knows.
    Info,
}

impl Kind {
    /// What a map expects as its `:type`.
    pub(crate) const EXPECTED: &str = "`:invoke`, `:ok`, `:fail` or `:info`";

    /// The kind of that name.
    pub(crate) fn find(name: &str) -> Option<Kind> {
        Some(match name {
            "invoke" => Kind::Invoke,
            "ok" => Kind::Ok,
            "fail" => Kind::Fail,
            "info" => Kind::Info,
            _ => return None,
        })
    }
}

/// An event of a client. Absent values are [`Value::ABSENT`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map {
    /// The line on which it begins.
    pub line: usize,
    /// The number of the process.
    pub process: u32,
    /// What happened.
    pub kind: Kind,
    /// The method's name, a text.
    pub method: Value,
    /// `:value`.
    pub value: Value,
    /// `:key`.
    pub key: Value,
}

/// The maps of a file, and the tables of what they name.
pub(crate) struct Maps<'a> {
    forms: Forms<'a>,
    sink: Sink,
    processes: Numbering,
    around: Around,
    times: EventTimes,
}

#[derive(Clone, Copy)]
enum Around {
    // Nothing has been read.
    Unknown,
    Nothing,
    // Something that this bracket closes.
    Bracket(u8),
    // Something that has been closed.
    Closed,
}

impl<'a> Maps<'a> {
    /// The maps of `input`.
    pub(crate) fn new(input: &'a mut dyn Read, options: &ReadOptions<'a>) -> Self {
        Maps {
            forms: Forms::new(input, options.progress),
            sink: Sink::default(),
            processes: Numbering::default(),
            around: Around::Unknown,
            times: EventTimes::new(options.times),
        }
    }

    /// What the maps hold.
    pub(crate) fn values(&mut self) -> &mut Values {
        &mut self.sink.values
    }

    /// What the maps hold, and what they call their processes.
    pub(crate) fn into_names(self) -> (Values, Names) {
        let names =
            Names { processes: self.processes.into_names(), times: self.times.finish(), ..Names::default() };
        (self.sink.values, names)
    }

    /// The next event of a client.
    pub(crate) fn next(&mut self) -> Result<Option<Map>, ReadError> {
        while self.is_map_next()? {
            let line = self.forms.line();
            let keeps_times = self.times.is_wanted();
            let fields = self.forms.next(|edn| fields(edn, &mut self.sink, keeps_times))?;
            if let Some(Fields { process, kind, method, value, key, time }) = fields {
                let process = self.processes.number(process);
                match kind {
                    Kind::Invoke => self.times.call(line, process, time),
                    Kind::Ok | Kind::Fail | Kind::Info => self.times.end(process, time, kind == Kind::Ok),
                }
                return Ok(Some(Map { line, process, kind, method, value, key }));
            }
        }
        Ok(None)
    }

    /// Goes to where the next map begins, past the brackets around all of them.
    fn is_map_next(&mut self) -> Result<bool, ReadError> {
        loop {
            let around = self.around;
            let now = self.forms.next(|edn| {
                Ok(match (edn.next()?, edn.byte()?, around) {
                    (Next::End, _, Around::Bracket(close)) => {
                        return Err(edn.fault(&format!("a map or `{}`", char::from(close))));
                    }
                    (Next::End, ..) => None,
                    (_, _, Around::Closed) => return Err(edn.fault("the end of the file")),
                    (Next::Open, Some(b'['), Around::Unknown) => {
                        edn.advance();
                        Some(Around::Bracket(b']'))
                    }
                    (Next::Open, Some(b'('), Around::Unknown) => {
                        edn.advance();
                        Some(Around::Bracket(b')'))
                    }
                    (Next::Close, found, Around::Bracket(close)) if found == Some(close) => {
                        edn.advance();
                        Some(Around::Closed)
                    }
                    (_, _, Around::Unknown) => Some(Around::Nothing),
                    (_, _, Around::Nothing | Around::Bracket(_)) => Some(around),
                })
            })?;
            let Some(now) = now else { return Ok(false) };
            self.around = now;
            // Having passed a bracket, look again.
            if !matches!((around, now), (Around::Unknown, Around::Bracket(_)) | (_, Around::Closed)) {
                return Ok(true);
            }
        }
    }
}

struct Fields {
    process: Value,
    kind: Kind,
    method: Value,
    value: Value,
    key: Value,
    time: Option<i64>,
}

/// One map; `None` if it is not a client's.
fn fields(edn: &mut Edn<'_>, sink: &mut Sink, keeps_times: bool) -> Result<Option<Fields>, Stop> {
    // A window that ended within a list has left its items.
    sink.items.clear();
    edn.record()?;
    if edn.byte()? != Some(b'{') {
        return Err(edn.fault("`{`"));
    }
    edn.advance();
    let (mut process, mut kind, mut method, mut value, mut key) = (None, None, None, None, None);
    let mut time = None;
    while edn.inside(b'}')? {
        let at = edn.at();
        let name = edn.keyword()?;
        if name.is_none() {
            edn.skip()?;
        }
        if !edn.inside(b'}')? {
            return Err(edn.fault_at("a value for each key", edn.at() - 1));
        }
        let twice = match name {
            Some("process") => process.replace(edn.value(sink)?).is_some(),
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
            return Err(edn.fault_at("each key once", at));
        }
    }
    let end = edn.at() - 1;
    let missing = |expected| edn.fault_at(expected, end);
    let process = process.ok_or_else(|| missing("`:process`"))?;
    if !matches!(sink.values.get(process), Datum::Int(_)) {
        return Ok(None);
    }
    Ok(Some(Fields {
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

fn kind(edn: &mut Edn<'_>) -> Result<Kind, Stop> {
    edn.next()?;
    let at = edn.at();
    edn.keyword()?.and_then(Kind::find).ok_or_else(|| edn.fault_at(Kind::EXPECTED, at))
}

/// A method's name: that of the keyword, or whatever else is written there.
fn method(edn: &mut Edn<'_>, sink: &mut Sink) -> Result<Value, Stop> {
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

/// Whether a file begins with a map that has a keyword first, perhaps within brackets and after comments.
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
