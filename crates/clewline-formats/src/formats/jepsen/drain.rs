//! Drains: clients of a queue that dequeue until nothing is left, logged as one operation.
//!
//! A drain is not atomic. Each of its elements was dequeued at some moment between its invocation
//! and its completion; their order is not used.

use clewline_core::{
    Datum, Names, Note, OperationId, ProcessId, RawCall, Recording, Timed, TimedColumns, Value, Values,
};

use crate::ReadError;

/// `recording` with one `dequeue` for each element of each `drain`.
///
/// # Errors
///
/// If it is not known what a drain returned: then it may have taken anything.
pub(super) fn expand(recording: Recording) -> Result<Recording, ReadError> {
    let is_drain = |id: OperationId| {
        let method = recording.history.call(id).method;
        matches!(recording.values.get(method), Datum::Text("drain"))
    };
    if !recording.history.operations().any(|it| is_drain(it.id)) {
        return Ok(recording);
    }
    let history = &recording.history;
    let mut names = recording.names.clone();
    let mut values = recording.values.clone();
    let dequeue = values.text("dequeue");
    let mut columns = TimedColumns::with_capacity(history.len());
    let mut lines = Vec::new();
    for operation in history.operations() {
        let line = recording.names.line(history.source(operation.id));
        // Twice the rank, so that notes are between.
        let called = 2 * i64::from(operation.span.call());
        let returns = |ret: Value| operation.span.ret().map(|it| (ret, 2 * i64::from(it)));
        let (process, object) = (operation.process, operation.object);
        let ret = operation.ret.copied();
        let elements = match is_drain(operation.id) {
            true => elements(&recording.values, ret).ok_or_else(|| unknown(&recording.values, line, ret))?,
            false => {
                let returned = ret.and_then(returns);
                columns.push(Timed { process, object, call: *operation.call, called, returned });
                lines.push(u32::try_from(line).unwrap_or(u32::MAX));
                continue;
            }
        };
        for (number, &element) in elements.iter().enumerate() {
            // They overlap, so each has a process, of the same name.
            let process = match number {
                0 => process,
                _ => {
                    names.processes.push(names.processes[process.index()]);
                    ProcessId(names.processes.len() as u32 - 1)
                }
            };
            let call = RawCall { method: dequeue, arg: Value::ABSENT };
            columns.push(Timed { process, object, call, called, returned: returns(element) });
            lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        }
    }
    names.notes = notes(&names, &columns);
    names.lines = Some(lines);
    let history = columns.finish_abandoned().map_err(|it| ReadError::in_line(1, it.reason().to_owned()))?;
    Ok(Recording { missing: recording.missing, ..Recording::new(history, values, names) })
}

/// The elements of a drain, if they are known.
fn elements(values: &Values, ret: Option<Value>) -> Option<&[Value]> {
    match values.get(ret?) {
        Datum::List(items) => Some(items),
        Datum::Nil | Datum::Absent => Some(&[]),
        _ => None,
    }
}

#[cold]
fn unknown(values: &Values, line: usize, ret: Option<Value>) -> ReadError {
    let found = match ret {
        None => "a drain of unknown outcome, which may have taken anything".to_owned(),
        Some(ret) => values.show(ret).to_string(),
    };
    ReadError::in_line(line, format!("expected the list of elements that `drain` returned, found {found}"))
}

/// The notes, with as many events before them as there are now.
fn notes(names: &Names, columns: &TimedColumns<RawCall, Value>) -> Vec<Note> {
    let before = |events: u32| columns.events_before(&[2 * i64::from(events) - 1])[0];
    let note = |it: &Note| Note { text: it.text.clone(), from: before(it.from), until: it.until.map(before) };
    names.notes.iter().map(note).collect()
}
