//! Elements left inside, removed by additional calls.
//!
//! In the displacement reading a history is compared with orders of its own operations. If an
//! element is left inside at the end, because a run was cut short or because a call returned
//! *empty*, the operation that would have removed it is missing, and the operations that overtook
//! the element look early for no reason. So for each element left inside, one more removing call is
//! added, after all others and pending: it may take effect, with any result, or not. A history that
//! holds also holds with it, and a violation is one that no later operation can explain.

use clewline_core::{Datum, ObjectId, ProcessId, RawCall, Recording, Timed, TimedColumns, Value};
use clewline_matrix::well_formed::ElementCalls;

/// The same history with calls that remove the elements left inside.
pub(crate) fn drained(mut recording: Recording, roles: &ElementCalls) -> Recording {
    let left = elements_left(&recording, roles);
    let last = recording.history.operations().map(|it| it.process.index()).max();
    let after = last.map_or(0, |it| it + 1);
    let operations = recording.history.operations();
    let mut end = 0;
    let mut all = TimedColumns::with_capacity(operations.len() + left);
    for it in operations {
        let (called, returned) = (i64::from(it.span.call()), it.span.ret().map(i64::from));
        end = end.max(called).max(returned.unwrap_or(0));
        let returned = it.ret.copied().zip(returned);
        all.push(Timed { process: it.process, object: it.object, call: *it.call, called, returned });
    }
    let method = recording.values.text(roles.remove());
    for at in 0..left {
        let (process, object) = (ProcessId::from_index(after + at), ObjectId(0));
        let call = RawCall { method, arg: Value::ABSENT };
        all.push(Timed { process, object, call, called: end + 1, returned: None });
    }
    recording.history = all.finish_abandoned().expect("each of the new processes makes one call");
    if !recording.names.processes.is_empty() {
        let number = |at: usize| Value::from((after + at) as i64);
        recording.names.processes.extend((0..left).map(number));
    }
    recording
}

/// How many elements may be left that no pending operation can remove.
pub(crate) fn elements_left(recording: &Recording, roles: &ElementCalls) -> usize {
    let (mut added, mut removed) = (0_usize, 0_usize);
    for operation in recording.history.operations() {
        let Datum::Text(method) = recording.values.get(operation.call.method) else { continue };
        if roles.is_add(method) {
            added += usize::from(operation.ret != Some(&Value::FALSE));
        } else if roles.is_remove(method) {
            removed += usize::from(operation.ret != Some(&Value::NIL));
        }
    }
    added.saturating_sub(removed)
}

#[cfg(test)]
mod tests {
    use clewline_core::{History, Names, Values};

    use super::*;

    /// Whether each operation of a serial history is pending, once it is drained.
    fn pending(calls: &[(&str, Value)]) -> Vec<bool> {
        let mut values = Values::new();
        let mut timed = Vec::new();
        for (at, (method, ret)) in (0_i64..).zip(calls) {
            timed.push(Timed {
                process: ProcessId::from_index(0),
                object: ObjectId(0),
                call: RawCall { method: values.text(method), arg: Value::ABSENT },
                called: 2 * at,
                returned: Some((*ret, 2 * at + 1)),
            });
        }
        let history = History::from_operations(timed).unwrap();
        let queue = ElementCalls::of("queue").unwrap();
        let drained = drained(Recording::new(history, values, Names::default()), &queue);
        drained.history.operations().map(|it| it.span.is_pending()).collect()
    }

    #[test]
    fn elements_left_inside_are_removed_by_pending_calls() {
        let one = Value::from(1);
        assert_eq!(pending(&[("enq", Value::TRUE), ("deq", one)]), [false, false]);
        assert_eq!(
            pending(&[("enq", Value::TRUE), ("enqueue", Value::TRUE), ("deq", one)]),
            [false, false, false, true]
        );
        // An operation that returned *empty* removes nothing, and one that returned *full* adds
        // nothing.
        assert_eq!(pending(&[("deq", Value::NIL), ("enq", Value::TRUE)]), [false, false, true]);
        assert_eq!(pending(&[("enq", Value::FALSE)]), [false]);
    }
}
