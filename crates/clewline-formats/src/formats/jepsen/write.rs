//! Writing Jepsen's histories.

use std::{cell::Cell, io::Write};

use clewline_core::{Datum, Note, OperationId, Recording, Value};

use super::{
    keys::{KeyDetector, Keys},
    meaning::spell,
};
use crate::{
    WriteError,
    event_writer::{self, Entry, NoteMark, cannot_hold},
    jepsen_events::EventKind,
    text::{brief, edn},
};

/// Writes `recording`, a map a line; a keyed history if it names its objects.
pub(super) fn write(recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
    let recording = &*event_writer::with_null_missing(recording)?;
    let mut names = recording.history.operations().map(|it| event_writer::object_name(recording, it.id));
    let is_keyed = names.next().is_some_and(|it| !it.is_absent());
    if names.any(|it| it.is_absent() == is_keyed) {
        let why = "in a Jepsen history either every operation names its object (a key), or none does";
        return Err(WriteError::CannotHold(why.to_owned()));
    }
    let keys = Cell::new(if is_keyed { KeyDetector::keyed() } else { KeyDetector::default() });
    let write_entry = |recording: &Recording, entry: Entry, line: &mut String| {
        let mut seen = keys.get();
        write_entry(recording, entry, &mut seen, line)?;
        keys.set(seen);
        Ok(())
    };
    event_writer::write_lines_and_notes(recording, out, write_entry, write_note)
}

/// The nemesis logs the beginning and the end of each of its operations.
fn write_note(
    _recording: &Recording,
    (_, note): (usize, &Note),
    mark: NoteMark,
    line: &mut String,
) -> Result<(), WriteError> {
    let method = match mark {
        NoteMark::Begin => "start",
        NoteMark::End => "stop",
        NoteMark::Moment => "note",
    };
    for _ in 0..2 {
        line.push_str(&format!("{{:process :nemesis, :type :info, :f :{method}, :value "));
        edn::write_text(&note.text, line);
        line.push_str("}\n");
    }
    Ok(())
}

fn write_entry(
    recording: &Recording,
    entry: Entry,
    keys: &mut KeyDetector,
    line: &mut String,
) -> Result<(), WriteError> {
    let (id, kind, name) = match entry {
        Entry::Call(id) => (id, EventKind::Invoke, "invoke"),
        Entry::Return(id, _) => (id, EventKind::Ok, "ok"),
        Entry::Info(id) => (id, EventKind::Info, "info"),
    };
    let values = &recording.values;
    let call = recording.history.call(id);
    let process = event_writer::process_name(recording, id);
    let Datum::Int(process) = values.get(process) else {
        let why = format!("is called by {}, and in Jepsen processes are integers", brief(values, process));
        return Err(cannot_hold(recording, id, &why));
    };
    let spelled = spell(values, call.method, call.arg, recording.history.ret(id).copied());
    let Some((invoked, completed)) = spelled else {
        let why = "has an argument or a result that in Jepsen would mean something else";
        return Err(cannot_hold(recording, id, why));
    };
    let value = match entry {
        Entry::Call(_) | Entry::Info(_) => invoked,
        Entry::Return(..) => completed.unwrap_or(Value::ABSENT),
    };
    let is_keyed = keys.keys() == Keys::InValues;
    if !is_keyed && keys.see(kind, call.method, value, values) == Keys::InValues {
        return Err(cannot_hold(recording, id, "has an argument that in Jepsen would be a key and nil"));
    }
    if values.get(call.method) == Datum::Text("drain") {
        return Err(cannot_hold(recording, id, "is one `dequeue` for each element in a Jepsen history"));
    }
    line.push_str(&format!("{{:process {process}, :type :{name}, :f "));
    write_method(recording, id, line)?;
    let refuse = |why: String| cannot_hold(recording, id, &format!("cannot be written: {why}"));
    let key = event_writer::object_name(recording, id);
    if !key.is_absent() {
        line.push_str(", :value [");
        edn::write(values, key, line).map_err(refuse)?;
        line.push(' ');
        edn::write(values, value, line).map_err(refuse)?;
        line.push(']');
    } else if !value.is_absent() {
        line.push_str(", :value ");
        edn::write(values, value, line).map_err(refuse)?;
    }
    line.push_str("}\n");
    Ok(())
}

/// A keyword, if the name can be one.
fn write_method(recording: &Recording, id: OperationId, line: &mut String) -> Result<(), WriteError> {
    match recording.values.get(recording.history.call(id).method) {
        Datum::Text(name) | Datum::Symbol(name) => {
            edn::write_name(name, line);
            Ok(())
        }
        _ => Err(cannot_hold(recording, id, "has a name that is no text")),
    }
}
