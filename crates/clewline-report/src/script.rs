//! A recording as a log tells it: event by event, each process one operation at a time.

use std::collections::HashMap;

use clewline_core::{End, OperationId, Recording, Value};

use crate::{WriteError, text::brief};

/// One entry of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The operation is called.
    Call(OperationId),
    /// It returns this.
    Return(OperationId, Value),
    /// Nobody knows what became of it, and its process goes on.
    Info(OperationId),
}

/// The entries of a log that tells `recording`.
///
/// # Errors
///
/// If a process calls at the very time at which its previous operation returns. The history says that these
/// overlap; a log would have to put one before the other.
pub(crate) fn entries(recording: &Recording) -> Result<Vec<Entry>, WriteError> {
    let history = &recording.history;
    let mut entries = Vec::with_capacity(2 * history.len());
    // By name: what two processes are called the same is one process to whoever reads the log.
    let mut open: HashMap<Value, OperationId> = HashMap::new();
    for (id, end) in history.events() {
        let process = process_name(recording, id);
        match end {
            End::Call => {
                match open.insert(process, id) {
                    Some(other) if history.spans()[other.index()].is_pending() => {
                        entries.push(Entry::Info(other));
                    }
                    Some(_) => {
                        let why = "is called at the time at which its process's previous operation returns, \
                                   and a log of events must put one before the other";
                        return Err(cannot_hold(recording, id, why));
                    }
                    None => (),
                }
                entries.push(Entry::Call(id));
            }
            End::Return => {
                open.remove(&process);
                entries.push(Entry::Return(id, history.ret(id).copied().unwrap_or(Value::ABSENT)));
            }
        }
    }
    Ok(entries)
}

/// Formats that have no place for what a missing key reads as take it to be null.
pub(crate) fn missing_is_null(recording: &Recording) -> Result<(), WriteError> {
    if recording.missing == Value::NIL {
        return Ok(());
    }
    let missing = brief(&recording.values, recording.missing);
    let why = format!("the format cannot say that a key which was never written reads as {missing}");
    Err(WriteError::CannotHold(why))
}

/// What the process of `id` is called: its number, if it has no name.
pub(crate) fn process_name(recording: &Recording, id: OperationId) -> Value {
    let process = recording.history.process(id);
    let named = recording.names.processes.get(process.index()).copied();
    named.unwrap_or_else(|| Value::small(i64::from(process.0)).unwrap_or(Value::ABSENT))
}

/// What the object of `id` is called: its number, if it has no name; the first one needs none.
pub(crate) fn object_name(recording: &Recording, id: OperationId) -> Value {
    let object = recording.history.objects()[id.index()];
    let named = recording.names.objects.get(object.index()).copied();
    named.unwrap_or_else(|| match object.0 {
        0 => Value::ABSENT,
        number => Value::small(i64::from(number)).unwrap_or(Value::ABSENT),
    })
}

/// The format cannot hold operation `id`, because it does what `why` says.
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
