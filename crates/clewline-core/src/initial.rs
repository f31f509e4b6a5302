//! Initial states: operations that are complete before a history begins.
//!
//! An object that is not in its usual state when a recording begins is brought there by calls of a
//! process of its own, one after the other, before everything else. So every search and every
//! monitor knows the state, and reports can show it.

use crate::{
    history::{Malformed, Timed, TimedColumns},
    id::{ObjectId, ProcessId},
    recording::{Names, Note, OwnTimes, RawCall, Recording},
    value::Value,
};

/// `recording` with `calls` on each of its objects before all others, and the number of these
/// operations. Each of them returned true, as those do that return nothing.
///
/// # Errors
///
/// If there are too many operations then.
pub(crate) fn with_initial(
    mut recording: Recording,
    calls: &[RawCall],
) -> Result<(Recording, usize), Malformed> {
    let history = &recording.history;
    let objects = history.objects().iter().map(|it| it.0 + 1).max().unwrap_or(0);
    let count = objects as usize * calls.len();
    if count == 0 {
        return Ok((recording, 0));
    }
    let names = &recording.names;
    let process =
        history.processes.iter().map(|it| it.0 + 1).max().unwrap_or(0).max(names.processes.len() as u32);
    let mut columns = TimedColumns::with_capacity(history.len() + count);
    let (mut lines, mut ids) = (Vec::new(), Vec::new());
    let mut orders = names.orders.as_ref().map(|_| vec![None; count]);
    let mut own_times = names.own_times.as_ref().map(|_| Vec::new());
    let process_name = recording.values.text("initial");
    let mut time = -2 * count as i64;
    for object in 0..objects {
        for &call in calls {
            let returned = Some((Value::TRUE, time + 1));
            let (process, object) = (ProcessId(process), ObjectId(object));
            if let Some(all) = &mut own_times {
                all.push(OwnTimes { process, called: time, returned: time + 1 });
            }
            columns.push(Timed { process, object, call, called: time, returned });
            lines.push(0);
            ids.push(process_name);
            time += 2;
        }
    }
    for operation in history.operations() {
        let source = history.source(operation.id);
        let rank = |it: u32| i64::from(it);
        let returned = operation.ret.copied().zip(operation.span.ret().map(rank));
        columns.push(Timed {
            process: operation.process,
            object: operation.object,
            call: *operation.call,
            called: rank(operation.span.call()),
            returned,
        });
        lines.push(u32::try_from(names.line(source)).unwrap_or(u32::MAX));
        if let (Some(orders), Some(given)) = (&mut orders, &names.orders) {
            orders.push(given.get(source).copied().flatten());
        }
        if let (Some(all), Some(given)) = (&mut own_times, &names.own_times) {
            all.extend(given.get(source));
        }
        ids.push(names.ids.as_ref().and_then(|it| it.get(source).copied()).unwrap_or(Value::ABSENT));
    }
    let notes = shifted_notes(&recording, 2 * count as u32);
    // Ranks are distinct, and each process has one operation at a time, as before; it may have gone
    // on from a pending one.
    let history = columns.finish_abandoned()?;
    let mut processes = names.processes.clone();
    let unnamed = processes.len() as u32..process;
    processes.extend(unnamed.map(|it| recording.values.int(i64::from(it))));
    processes.push(process_name);
    let names = std::mem::take(&mut recording.names);
    let (ids, lines) = (Some(ids), Some(lines));
    recording.names = Names { processes, ids, lines, notes, orders, own_times, times: None, ..names };
    recording.history = history;
    Ok((recording, count))
}

/// The notes, if `by` more events come before everything.
fn shifted_notes(recording: &Recording, by: u32) -> Vec<Note> {
    let ranks = recording.history.spans().iter().flat_map(|it| [Some(it.call()), it.ret()]).flatten();
    let mut ranks: Vec<u32> = ranks.collect();
    ranks.sort_unstable();
    // Ranks are dense afterwards, and may not be before.
    let shift = |it: u32| by + ranks.partition_point(|&rank| rank < it) as u32;
    let note = |it: &Note| Note { text: it.text.clone(), from: shift(it.from), until: it.until.map(shift) };
    recording.names.notes.iter().map(note).collect()
}
