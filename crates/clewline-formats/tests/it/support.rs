//! Circumstances, and showing what was read.

use std::fmt::Write;

use clewline_core::{Datum, OperationId, Recording, Value, Values};
use clewline_formats::{Format, ReadError, ReadOptions, WriteError, formats};

/// Read options without progress reports.
pub(crate) fn options(keyed: bool, jobs: usize) -> ReadOptions<'static> {
    ReadOptions { keyed, jobs, ..ReadOptions::default() }
}

/// The format called `name`.
#[track_caller]
pub(crate) fn format(name: &str) -> &'static dyn Format {
    formats::find(name).expect("a format of that name")
}

/// Reads `text` in the format called `name`.
pub(crate) fn read(name: &str, text: impl AsRef<[u8]>) -> Result<Recording, ReadError> {
    format(name).read(&mut text.as_ref(), &options(false, 1))
}

/// The text of `recording` in the format called `name`.
pub(crate) fn write(name: &str, recording: &Recording) -> Result<String, WriteError> {
    let mut out = Vec::new();
    format(name).write(recording, &mut out)?;
    Ok(String::from_utf8(out).expect("formats write text"))
}

/// One line an operation: process, position, call and result, and further facts.
pub(crate) fn show(recording: &Recording) -> String {
    let mut shown = String::new();
    let values = &recording.values;
    for operation in recording.history.operations() {
        let object = recording.names.objects[operation.object.index()];
        let process = recording.names.processes[operation.process.index()];
        let _ = write!(shown, "{} {:?} ", values.show(process), operation.span);
        if !object.is_absent() {
            let _ = write!(shown, "{}.", values.show(object));
        }
        let Datum::Text(method) = values.get(operation.call.method) else { panic!("a method is a text") };
        let _ = write!(shown, "{method}({})", values.show(operation.call.arg));
        match operation.ret {
            None => shown.push_str(" → ?"),
            Some(ret) if ret.is_absent() => (),
            Some(&ret) => drop(write!(shown, " → {}", values.show(ret))),
        }
        if recording.names.ids.is_some() {
            let id = recording.names.id_of(&recording.history, operation.id);
            let _ = write!(shown, " #{}", values.show(id));
        }
        shown.push('\n');
    }
    shown
}

/// `text` is read as `expected`, in the words of [`show`].
#[track_caller]
pub(crate) fn check(name: &str, text: &str, expected: &str) {
    let recording = read(name, text).unwrap_or_else(|error| panic!("{error}"));
    let expected: String = expected.lines().map(|it| it.trim()).filter(|it| !it.is_empty()).fold(
        String::new(),
        |mut lines, line| {
            lines.push_str(line);
            lines.push('\n');
            lines
        },
    );
    assert_eq!(show(&recording), expected);
}

/// `text` is refused, for that reason, after this number of operations or events.
#[track_caller]
pub(crate) fn check_error(name: &str, text: impl AsRef<[u8]>, expected: &str, read_before: usize) {
    let error = read(name, text).expect_err("this cannot be read");
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.read, read_before, "operations or events read before");
}

/// The common form of equivalent recordings: everything except for numberings.
///
/// Only the order of returns before calls counts, so each end is known by how often a call follows
/// a return before it.
pub(crate) fn canonical(recording: &Recording) -> Vec<String> {
    let mut round = 0;
    let mut returned = false;
    let mut rounds = vec![(0, None); recording.history.len()];
    for (id, end) in recording.history.events() {
        match end {
            clewline_core::End::Call => {
                round += u32::from(std::mem::take(&mut returned));
                rounds[id.index()].0 = round;
            }
            clewline_core::End::Return => {
                returned = true;
                rounds[id.index()].1 = Some(round);
            }
        }
    }
    // Unless it is written, the value of a missing key is only another word for null.
    let is_written = |&it: &Value| match recording.values.get(it) {
        Datum::List(items) => items.contains(&recording.missing),
        _ => it == recording.missing,
    };
    let missing = match recording.history.operations().any(|it| is_written(&it.call.arg)) {
        true => recording.missing,
        false => Value::NIL,
    };
    let result = |&ret: &Value| if ret == recording.missing { missing } else { ret };
    let describe = |at: usize| {
        let operation = recording.history.operation(OperationId::from_index(at));
        let name = |names: &[Value], index: usize| {
            names.get(index).map_or(index.to_string(), |&it| deep(&recording.values, it))
        };
        format!(
            "{:?} process {} object {} {}({}) → {:?} id {}",
            rounds[at],
            name(&recording.names.processes, operation.process.index()),
            name(&recording.names.objects, operation.object.index()),
            deep(&recording.values, operation.call.method),
            deep(&recording.values, operation.call.arg),
            operation.ret.map(result).map(|it| deep(&recording.values, it)),
            match recording.names.ids {
                Some(_) => deep(&recording.values, recording.names.id_of(&recording.history, operation.id)),
                None => "none".to_owned(),
            },
        )
    };
    let mut operations: Vec<String> = (0..recording.history.len()).map(describe).collect();
    operations.sort();
    operations.push(format!("missing {}", deep(&recording.values, missing)));
    operations
}

/// A value with its kind, which [`Values::show`] does not always show.
fn deep(values: &Values, value: Value) -> String {
    match values.get(value) {
        Datum::List(items) => {
            let items: Vec<String> = items.iter().map(|&it| deep(values, it)).collect();
            format!("[{}]", items.join(" "))
        }
        datum => format!("{datum:?}"),
    }
}
