//! Writing the native format.
//!
//! A history is written as operations whose times are the places of their ends among all ends.
//! Where two processes return and call again at the same time, the history has an overlap that no
//! process can have, so those ends share one time, as they did in the source. A history in which a
//! process continues after an operation of unknown outcome cannot be expressed by times; it is
//! written as events.

use std::{collections::HashMap, io::Write};

use clewline_core::{End, Operation, OperationId, RawCall, Recording, Span, Value};

use crate::{
    WriteError,
    event_writer::{self, Entry},
    text::json,
};

/// Writes `recording`, a line an operation or a line an event.
pub(super) fn write(recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
    let recording = &*event_writer::with_null_missing(recording)?;
    match times(recording)? {
        Some(times) => write_operations(recording, &times, out),
        None => event_writer::write_lines(recording, out, write_event),
    }
}

fn write_operations(recording: &Recording, times: &[u32], out: &mut dyn Write) -> Result<(), WriteError> {
    let mut line = String::new();
    let time = |rank: u32| times[rank as usize];
    let mut operations: Vec<Operation<'_, RawCall, Value>> = recording.history.operations().collect();
    // In the order of the history that is read: at equal times, by return.
    operations.sort_by_key(|it| (time(it.span.call()), it.span.ret().map_or(u32::MAX, time)));
    for operation in operations {
        line.clear();
        write_call(recording, operation.id, &mut line)?;
        if let Some(&ret) = operation.ret {
            member(recording, operation.id, "ret", ret, &mut line)?;
        }
        let span = operation.span;
        line.push_str(&format!(", \"call\": {}", time(span.call())));
        if let Some(ret) = span.ret() {
            line.push_str(&format!(", \"return\": {}", time(ret)));
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn write_event(recording: &Recording, entry: Entry, line: &mut String) -> Result<(), WriteError> {
    let event = match entry {
        Entry::Call(id) => {
            write_call(recording, id, line)?;
            "call"
        }
        Entry::Return(id, ret) => {
            write_process(recording, id, line)?;
            member(recording, id, "ret", ret, line)?;
            "return"
        }
        Entry::Info(id) => {
            write_process(recording, id, line)?;
            "info"
        }
    };
    line.push_str(&format!(", \"event\": \"{event}\"}}\n"));
    Ok(())
}

fn write_process(recording: &Recording, id: OperationId, line: &mut String) -> Result<(), WriteError> {
    line.push_str("{\"process\": ");
    let process = event_writer::process_name(recording, id);
    json::write(&recording.values, process, line).map_err(|why| refuse(recording, id, &why))
}

/// The beginning of a line: everything about a call but its time.
fn write_call(recording: &Recording, id: OperationId, line: &mut String) -> Result<(), WriteError> {
    write_process(recording, id, line)?;
    let call = recording.history.call(id);
    member(recording, id, "op", call.method, line)?;
    member(recording, id, "arg", call.arg, line)?;
    member(recording, id, "object", event_writer::object_name(recording, id), line)?;
    if recording.names.ids.is_some() {
        member(recording, id, "id", recording.names.id_of(&recording.history, id), line)?;
    }
    Ok(())
}

fn member(
    recording: &Recording,
    id: OperationId,
    name: &str,
    value: Value,
    line: &mut String,
) -> Result<(), WriteError> {
    if value.is_absent() {
        return Ok(());
    }
    line.push_str(&format!(", \"{name}\": "));
    json::write(&recording.values, value, line).map_err(|why| refuse(recording, id, &why))
}

#[cold]
fn refuse(recording: &Recording, id: OperationId, why: &str) -> WriteError {
    event_writer::cannot_hold(recording, id, &format!("cannot be written: {why}"))
}

/// A time for each rank; `None` if some process continues after a pending operation.
fn times(recording: &Recording) -> Result<Option<Vec<u32>>, WriteError> {
    let history = &recording.history;
    let ranks = history.spans().iter().map(|it| it.ret().unwrap_or(it.call()) + 1).max().unwrap_or(0);
    // How many ties begin after this rank, less those that end with it.
    let mut ties: Vec<i32> = vec![0; ranks as usize + 1];
    let mut last: HashMap<Value, Span> = HashMap::new();
    for (id, span) in history.operations().map(|it| (it.id, it.span)) {
        match last.insert(event_writer::process_name(recording, id), span).map(Span::end) {
            Some(end) if end == u32::MAX => return Ok(None),
            Some(end) if span.call() < end => {
                ties[span.call() as usize] += 1;
                ties[end as usize] -= 1;
            }
            Some(_) | None => (),
        }
    }
    let mut times: Vec<u32> = vec![0; ranks as usize + 1];
    let (mut open, mut time, mut previous) = (0, 0, End::Return);
    let mut tied: Vec<Value> = Vec::new();
    for (id, end) in history.events() {
        let span = history.spans()[id.index()];
        let rank = if end == End::Call { span.call() } else { span.end() } as usize;
        let refuse = || {
            let why = "overlaps another operation of its process, which no process can do";
            Err(event_writer::cannot_hold(recording, id, why))
        };
        if open == 0 {
            time += 1;
            tied.clear();
        } else if (previous, end) == (End::Return, End::Call) {
            return refuse();
        }
        times[rank] = time - 1;
        let process = event_writer::process_name(recording, id);
        if 0 < ties[rank] && !tied.contains(&process) {
            tied.push(process);
        }
        open += ties[rank];
        // Of one process alone, a reader would know the order.
        if open == 0 && tied.len() == 1 {
            return refuse();
        }
        previous = end;
    }
    Ok(Some(times))
}
