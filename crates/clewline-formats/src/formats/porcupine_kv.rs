//! Histories of a key-value store, as in the test data of the checker porcupine.
//!
//! ```clojure
//! {:process 0, :type :invoke, :f :append, :key "0", :value "x 0 0 y"}
//! {:process 0, :type :ok, :f :append, :key "0", :value "x 0 0 y"}
//! {:process 0, :type :invoke, :f :get, :key "0", :value nil}
//! {:process 0, :type :ok, :f :get, :key "0", :value "x 0 0 y"}
//! ```
//!
//! A key that was never written reads as the empty text. Otherwise as in [`jepsen`](super::jepsen).

use std::io::{Read, Write};

use clewline_core::{Datum, Names, RawCall, Recording, Value, Values};

use crate::{
    Carries, Format, Objects, ReadError, ReadOptions, WriteError,
    event_reader::{EventHistory, OperationOutcome},
    event_writer::{self, Entry, cannot_hold},
    jepsen_events::{ClientEvent, ClientEvents, EventKind, is_map_of_keywords},
    text::{brief, edn},
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &PorcupineKv;

struct PorcupineKv;

impl Format for PorcupineKv {
    fn name(&self) -> &'static str {
        "porcupine-kv"
    }

    fn about(&self) -> &'static str {
        "porcupine's key-value histories: get, put and append with :key and :value"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: true, pending: true, objects: Objects::One, ids: false, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        let first = memchr::memchr(b'}', head).map_or(head, |end| &head[..end]);
        is_map_of_keywords(head) && memchr::memmem::find(first, b":key ").is_some()
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut maps = ClientEvents::new(input, options);
        let mut log = EventHistory::default();
        let fill = |maps: &mut ClientEvents<'_>, log: &mut EventHistory| {
            while let Some(map) = maps.next()? {
                push(log, &map, maps.values())?;
            }
            Ok(())
        };
        fill(&mut maps, &mut log).map_err(|error| ReadError { read: log.len(), ..error })?;
        let (history, lines) = log.finish();
        let (mut values, names) = maps.into_names();
        let missing = values.text("");
        let objects = if history.is_empty() { Vec::new() } else { vec![Value::ABSENT] };
        let names = Names { objects, lines, ..names };
        Ok(Recording { missing, ..Recording::new(history, values, names) })
    }

    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
        write(recording, out)
    }
}

fn push(log: &mut EventHistory, map: &ClientEvent, values: &mut Values) -> Result<(), ReadError> {
    let ClientEvent { line, process, method, key, value, .. } = *map;
    let fault = |message: String| ReadError { line, column: 0, message, read: 0 };
    let is_get = match values.get(method) {
        Datum::Text("get") => true,
        Datum::Text("put" | "append") => false,
        _ => {
            let found = brief(values, method);
            return Err(fault(format!("expected `:get`, `:put` or `:append`, found {found}")));
        }
    };
    if map.kind == EventKind::Invoke {
        if key.is_absent() || (value.is_absent() && !is_get) {
            let lacks = if key.is_absent() { "`:key`" } else { "`:value`" };
            return Err(fault(format!("expected {lacks}, found a call without it")));
        }
        let arg = if is_get { key } else { values.list(&[key, value]) };
        return log.call(line, process, 0, RawCall { method, arg });
    }
    let call = log.open(process).map_or((Value::ABSENT, Value::ABSENT), |it| parts(values, it.call));
    if let (Some(open), false) = (log.open(process), key.is_absent())
        && key != call.0
        && open.call.method == method
    {
        let (expected, found) = (brief(values, call.0), brief(values, key));
        let called = open.line;
        return Err(fault(format!(
            "expected the key {expected}, as in the call on line {called}, found {found}"
        )));
    }
    let outcome = match map.kind {
        EventKind::Ok if !is_get && value == call.1 => OperationOutcome::Return(Value::ABSENT),
        EventKind::Invoke | EventKind::Ok => OperationOutcome::Return(value),
        EventKind::Fail => OperationOutcome::Fail,
        EventKind::Info => OperationOutcome::Info,
    };
    log.end(line, process, Some(method), outcome, values)
}

/// The key and the value of a call.
fn parts(values: &Values, call: RawCall) -> (Value, Value) {
    match (values.get(call.method), values.get(call.arg)) {
        (Datum::Text("put" | "append"), Datum::List(&[key, value])) => (key, value),
        _ => (call.arg, Value::NIL),
    }
}

fn write(recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
    let values = &recording.values;
    if values.get(recording.missing) != Datum::Text("") {
        let missing = values.show(recording.missing);
        let why = format!("in this format a key that was never written reads as \"\", here as {missing}");
        return Err(WriteError::CannotHold(why));
    }
    event_writer::write_lines(recording, out, write_entry)
}

fn write_entry(recording: &Recording, entry: Entry, line: &mut String) -> Result<(), WriteError> {
    let (id, kind) = match entry {
        Entry::Call(id) => (id, "invoke"),
        Entry::Return(id, _) => (id, "ok"),
        Entry::Info(id) => (id, "info"),
    };
    let values = &recording.values;
    let refuse = |why: &str| cannot_hold(recording, id, why);
    let call = *recording.history.call(id);
    let (key, value) = parts(values, call);
    let (method, is_get) = match (values.get(call.method), values.get(call.arg)) {
        (Datum::Text("get"), Datum::Absent) => return Err(refuse("has no key")),
        (Datum::Text("get"), _) => ("get", true),
        (Datum::Text(method @ ("put" | "append")), Datum::List(&[_, _])) => (method, false),
        _ => return Err(refuse("is none of get with a key, put and append with a key and a value")),
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
    let value = match entry {
        Entry::Call(_) | Entry::Info(_) => value,
        Entry::Return(_, ret) if ret == value && !is_get => {
            return Err(refuse("returns its argument, which in this format means that it returns nothing"));
        }
        Entry::Return(_, ret) if ret.is_absent() && !is_get => value,
        Entry::Return(_, ret) => ret,
    };
    line.push_str(&format!("{{:process {process}, :type :{kind}, :f :{method}, :key "));
    let cannot_write = |why: String| refuse(&format!("cannot be written: {why}"));
    edn::write(values, key, line).map_err(cannot_write)?;
    if !value.is_absent() {
        line.push_str(", :value ");
        edn::write(values, value, line).map_err(cannot_write)?;
    }
    line.push_str("}\n");
    Ok(())
}
