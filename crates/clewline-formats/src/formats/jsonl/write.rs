//! Writing the native format.
//!
//! A history is written as operations whose times are the places of their ends among all ends.
//! Where two processes return and call again at the same time, the history has an overlap that no
//! process can have, so those ends share one time, as they did in the source. A history in which a
//! process continues after an operation of unknown outcome cannot be expressed by times; it is
//! written as events.

use std::{collections::HashMap, io::Write};

use clewline_core::{Crash, End, Note, Operation, OperationId, RawCall, Recording, Span, Value};

use crate::{
    WriteError,
    event_writer::{self, Entry, NoteMark},
    text::json,
};

/// Writes `recording`, a line an operation or a line an event.
pub(super) fn write(recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
    let recording = &*event_writer::with_null_missing(recording)?;
    if let Some(initial) = recording.initial {
        let mut line = "{\"initial\": ".to_owned();
        json::write(&recording.values, initial, &mut line).map_err(WriteError::CannotHold)?;
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
    }
    match times(recording)? {
        Some(times) => write_operations(recording, &times, out),
        None => event_writer::write_lines_and_notes(recording, out, write_event, write_note),
    }
}

fn write_operations(recording: &Recording, times: &[u32], out: &mut dyn Write) -> Result<(), WriteError> {
    let mut line = String::new();
    // Where there are notes, times are twice the ranks, so that there is room between two.
    let scale = if recording.names.notes.is_empty() { 1 } else { 2 };
    let time = |rank: u32| scale * u64::from(times[rank as usize]);
    let mut operations: Vec<Operation<'_, RawCall, Value>> = recording.history.operations().collect();
    // In the order of the history that is read: at equal times, by return.
    operations.sort_by_key(|it| (time(it.span.call()), it.span.ret().map_or(u64::MAX, time)));
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
    // After the operations, which may be named by the numbers of their lines.
    line.clear();
    if !recording.names.notes.is_empty() {
        let ranks = recording.history.spans().iter().flat_map(|it| [Some(it.call()), it.ret()]).flatten();
        let mut ends: Vec<(u32, i64)> = ranks.map(|it| (it, time(it).cast_signed())).collect();
        ends.sort_unstable();
        for (at, note) in recording.names.notes.iter().enumerate() {
            write_timed_note(recording, (at, note), &ends, &mut line)?;
        }
    }
    Ok(out.write_all(line.as_bytes())?)
}

/// A note among calls and returns of these ranks and times, which are even.
fn write_timed_note(
    recording: &Recording,
    (at, note): (usize, &Note),
    ends: &[(u32, i64)],
    line: &mut String,
) -> Result<(), WriteError> {
    let time = |events: u32| {
        let at = ends.partition_point(|it| it.0 < events);
        match (ends[..at].last(), ends.get(at)) {
            // Between two events, or at their time if that is the same.
            (Some(&(_, last)), Some(&(_, next))) => last.midpoint(next),
            (Some(&(_, last)), None) => last + 1,
            (None, Some(&(_, next))) => next - 1,
            (None, None) => 0,
        }
    };
    if let Some(crash) = recording.names.crashes.iter().find(|it| it.note == at) {
        write_crash(recording, crash, line)?;
        line.push_str(&format!(", \"time\": {}}}\n", time(note.from)));
        return Ok(());
    }
    line.push_str("{\"note\": ");
    json::write_text(&note.text, line);
    line.push_str(&format!(", \"time\": {}", time(note.from)));
    match note.until {
        Some(_) if note.is_moment() => (),
        Some(until) => line.push_str(&format!(", \"until\": {}", time(until))),
        None => line.push_str(", \"until\": null"),
    }
    line.push_str("}\n");
    Ok(())
}

/// The line of a crash, but for its time and its end.
fn write_crash(recording: &Recording, crash: &Crash, line: &mut String) -> Result<(), WriteError> {
    line.push_str("{\"event\": \"crash\"");
    if let Some(node) = &crash.node {
        line.push_str(", \"node\": ");
        json::write_text(node, line);
    }
    for (place, &name) in crash.named.iter().flatten().enumerate() {
        line.push_str(if place == 0 { ", \"process\": [" } else { ", " });
        json::write(&recording.values, name, line).map_err(WriteError::CannotHold)?;
    }
    line.push_str(if crash.is_of_all() { "" } else { "]" });
    Ok(())
}

fn write_note(
    recording: &Recording,
    (at, note): (usize, &Note),
    mark: NoteMark,
    line: &mut String,
) -> Result<(), WriteError> {
    if let Some(crash) = recording.names.crashes.iter().find(|it| it.note == at) {
        write_crash(recording, crash, line)?;
        line.push_str("}\n");
        return Ok(());
    }
    let event = match mark {
        NoteMark::Begin => "begin",
        NoteMark::End => "end",
        NoteMark::Moment => "note",
    };
    line.push_str(&format!("{{\"event\": \"{event}\", \"note\": "));
    json::write_text(&note.text, line);
    line.push_str("}\n");
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
        // The crash says so.
        Entry::Info(id) if is_interrupted(recording, id) => return Ok(()),
        Entry::Info(id) => {
            write_process(recording, id, line)?;
            "info"
        }
    };
    line.push_str(&format!(", \"event\": \"{event}\"}}\n"));
    Ok(())
}

/// Whether a crash ended the process of `id`.
fn is_interrupted(recording: &Recording, id: OperationId) -> bool {
    let process = recording.history.process(id);
    recording.names.crashes.iter().any(|it| it.ended.binary_search(&process).is_ok())
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
    let source = recording.history.source(id);
    if let Some(order) = recording.names.orders.as_ref().and_then(|it| *it.get(source)?) {
        line.push_str(&format!(", \"order\": {order}"));
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
    let mut times: Vec<u32> = (0..=ranks).collect();
    // Notes may begin or end at the ranks of operations that failed, so these keep a time.
    let keeps_ranks = !recording.names.notes.is_empty();
    let (mut open, mut time, mut previous) = (0, 0, End::Return);
    let mut tied: Vec<Value> = Vec::new();
    for (id, end) in history.events() {
        let span = history.spans()[id.index()];
        let rank = if end == End::Call { span.call() } else { span.end() } as usize;
        let refuse = || {
            let why = "overlaps another operation of its process, so that their order is not known";
            Err(event_writer::cannot_hold(recording, id, why))
        };
        if open == 0 {
            time = if keeps_ranks { rank as u32 } else { time } + 1;
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
