//! A recording as a log of events, in which each process has one operation at a time.

use std::{borrow::Cow, collections::HashMap, convert::Infallible, io::Write};

use clewline_core::{Datum, End, Note, OperationId, Recording, Value};

use crate::{WriteError, text::brief};

/// One entry of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The operation is called.
    Call(OperationId),
    /// It returns this.
    Return(OperationId, Value),
    /// Its outcome is unknown, and its process continues.
    Info(OperationId),
}

/// The mark of a note in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NoteMark {
    /// The interval ends.
    End,
    /// The note is about this moment.
    Moment,
    /// The interval begins.
    Begin,
}

/// The marks of the notes of `recording`, each with the number of events before it, in order.
fn marks(recording: &Recording) -> Vec<(u32, NoteMark, (usize, &Note))> {
    let mut marks = Vec::new();
    for (at, note) in recording.names.notes.iter().enumerate() {
        let first = if note.is_moment() { NoteMark::Moment } else { NoteMark::Begin };
        marks.push((note.from, first, (at, note)));
        marks.extend(note.until.filter(|_| !note.is_moment()).map(|it| (it, NoteMark::End, (at, note))));
    }
    marks.sort_by_key(|it| (it.0, it.1));
    marks
}

/// The entries of the log of `recording`, each with the rank of its event.
///
/// # Errors
///
/// If a process calls at the very time at which its previous operation returns. In the history
/// these overlap; a log would have to order them.
fn entries(recording: &Recording) -> Result<Vec<(u32, Entry)>, WriteError> {
    let history = &recording.history;
    let mut entries = Vec::with_capacity(2 * history.len());
    // By name: two processes of the same name are one process to a reader of the log.
    let mut open: HashMap<Value, OperationId> = HashMap::new();
    for (id, end) in history.events() {
        let process = process_name(recording, id);
        let span = history.spans()[id.index()];
        match end {
            End::Call => {
                match open.insert(process, id) {
                    Some(other) if history.spans()[other.index()].is_pending() => {
                        entries.push((span.call(), Entry::Info(other)));
                    }
                    Some(_) => {
                        let why = "is called at the time at which its process's previous operation returns, \
                                   and a log of events must put one before the other";
                        return Err(cannot_hold(recording, id, why));
                    }
                    None => (),
                }
                entries.push((span.call(), Entry::Call(id)));
            }
            End::Return => {
                open.remove(&process);
                let ret = history.ret(id).copied().unwrap_or(Value::ABSENT);
                entries.push((span.end(), Entry::Return(id, ret)));
            }
        }
    }
    Ok(entries)
}

/// Writes a line for each entry.
///
/// # Errors
///
/// If there is no such log, an entry cannot be written, or the output fails.
pub(crate) fn write_lines(
    recording: &Recording,
    out: &mut dyn Write,
    write: impl Fn(&Recording, Entry, &mut String) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    write_lines_and_notes(recording, out, write, |_, _, _, _| Ok(()))
}

/// Writes a line for each entry, and lines for each mark of a note.
///
/// # Errors
///
/// If there is no such log, an entry cannot be written, or the output fails.
pub(crate) fn write_lines_and_notes(
    recording: &Recording,
    out: &mut dyn Write,
    write: impl Fn(&Recording, Entry, &mut String) -> Result<(), WriteError>,
    write_note: impl Fn(&Recording, (usize, &Note), NoteMark, &mut String) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut line = String::new();
    let mut marks = marks(recording).into_iter().peekable();
    for (rank, entry) in entries(recording)? {
        line.clear();
        while let Some((_, mark, note)) = marks.next_if(|it| it.0 <= rank) {
            write_note(recording, note, mark, &mut line)?;
        }
        write(recording, entry, &mut line)?;
        out.write_all(line.as_bytes())?;
    }
    line.clear();
    marks.try_for_each(|(_, mark, note)| write_note(recording, note, mark, &mut line))?;
    Ok(out.write_all(line.as_bytes())?)
}

/// The same recording for formats in which a key that was never written reads as null.
///
/// # Errors
///
/// If it reads as a different value, which may also have been written.
pub(crate) fn with_null_missing(recording: &Recording) -> Result<Cow<'_, Recording>, WriteError> {
    let missing = recording.missing;
    if missing == Value::NIL {
        return Ok(Cow::Borrowed(recording));
    }
    let names_missing = |arg: Value| match recording.values.get(arg) {
        Datum::List(items) => items.contains(&missing),
        _ => arg == missing,
    };
    if let Some(operation) = recording.history.operations().find(|it| names_missing(it.call.arg)) {
        let missing = brief(&recording.values, missing);
        let why = format!(
            "writes {missing}, as which a key reads that was never written; the format has null there"
        );
        return Err(cannot_hold(recording, operation.id, &why));
    }
    let Recording { history, values, names, .. } = recording.clone();
    let history = history.try_map(|_, call, ret| {
        Ok::<_, Infallible>((call, ret.map(|it| if it == missing { Value::NIL } else { it })))
    });
    let history = match history {
        Ok(history) => history,
        Err(never) => match never {},
    };
    let initial = recording.initial;
    Ok(Cow::Owned(Recording { initial, ..Recording::new(history, values, names) }))
}

/// The name of the process of `id`: its number, if it has no name.
pub(crate) fn process_name(recording: &Recording, id: OperationId) -> Value {
    let process = recording.history.process(id);
    let named = recording.names.processes.get(process.index()).copied();
    named.unwrap_or_else(|| Value::from(i64::from(process.0)))
}

/// The name of the object of `id`: its number, if it has no name; the first one needs none.
pub(crate) fn object_name(recording: &Recording, id: OperationId) -> Value {
    let object = recording.history.objects()[id.index()];
    let named = recording.names.objects.get(object.index()).copied();
    named.unwrap_or_else(|| match object.0 {
        0 => Value::ABSENT,
        number => Value::from(i64::from(number)),
    })
}

/// The format cannot hold operation `id`, for the reason `why`.
#[cold]
pub(crate) fn cannot_hold(recording: &Recording, id: OperationId, why: &str) -> WriteError {
    let call = recording.history.call(id);
    let name = recording.names.id_of(&recording.history, id);
    let values = &recording.values;
    WriteError::CannotHold(format!(
        "operation {} ({}) {why}",
        brief(values, name),
        brief(values, call.method)
    ))
}
