//! Several recordings of one history: files that parts of a system wrote, by one clock.

use clewline_core::{Interner, Names, RawCall, Recording, TimedRow, TimedRows, Times, Value, Values};

use crate::ReadError;

/// Joins recordings, each with its name, into one history by the times of their operations. Equal
/// names of processes and objects are the same process and object. Lines are numbered on from file
/// to file. Operations without an id of their own have one of the name of the file and their line.
/// Clocks differ by at most `skew`.
///
/// # Errors
///
/// The name of the recording that has no times of all its operations, or with which the whole is no
/// history, and why.
pub fn join(recordings: Vec<(String, Recording)>, skew: i64) -> Result<Recording, (String, ReadError)> {
    let mut joined = Joined::default();
    for (name, recording) in recordings {
        joined.add(name, recording)?;
    }
    joined.finish(skew)
}

#[derive(Default)]
struct Joined {
    values: Values,
    processes: Interner<Value>,
    objects: Interner<Value>,
    rows: TimedRows,
    // By row.
    ids: Vec<Value>,
    times: Vec<Times>,
    orders: Vec<Option<i64>>,
    missing: Option<Value>,
    initial: Option<Value>,
    // The name of each recording, and how many rows and lines came before it.
    files: Vec<(String, usize, usize)>,
}

impl Joined {
    fn add(&mut self, name: String, recording: Recording) -> Result<(), (String, ReadError)> {
        let Recording { history, values, names, missing, initial } = recording;
        let lines = self.times.last().map_or(0, |it| it.line);
        let Some(times) =
            names.times.as_ref().filter(|it| it.len() == history.len() && names.notes.is_empty())
        else {
            let why = "it has no times of all its operations, or it has notes, so that it cannot be joined with other files";
            return Err((name, ReadError::in_line(1, why.to_owned())));
        };
        let rename = self.values.absorb(&values);
        self.files.push((name.clone(), self.rows.len(), lines));
        self.missing = self.missing.or(Some(rename(missing)));
        let initial = initial.map(&rename);
        if self.initial.zip(initial).is_some_and(|(one, other)| one != other) {
            let why = "its initial state is not that of the files before it".to_owned();
            return Err((name, ReadError::in_line(1, why)));
        }
        self.initial = self.initial.or(initial);
        // In the order of the source, which the times have.
        let mut operations: Vec<_> = history.operations().collect();
        operations.sort_by_key(|it| history.source(it.id));
        for (operation, times) in operations.into_iter().zip(times) {
            let process = names.processes.get(operation.process.index()).copied();
            let object = names.objects.get(operation.object.index()).copied().unwrap_or(Value::ABSENT);
            let own = names.ids.as_ref().and_then(|it| it.get(history.source(operation.id)).copied());
            self.rows.push(TimedRow {
                line: lines + times.line,
                process: self.processes.intern(rename(process.unwrap_or(Value::ABSENT))),
                object: self.objects.intern(rename(object)),
                call: RawCall { method: rename(operation.call.method), arg: rename(operation.call.arg) },
                called: times.called,
                returned: times.returned.zip(operation.ret).map(|(time, ret)| (rename(*ret), time)),
            });
            let order = |orders: &Vec<Option<i64>>| *orders.get(history.source(operation.id))?;
            self.orders.push(names.orders.as_ref().and_then(order));
            self.ids.push(own.map_or(Value::ABSENT, &rename));
            self.times.push(Times { line: lines + times.line, ..*times });
        }
        Ok(())
    }

    fn finish(self, skew: i64) -> Result<Recording, (String, ReadError)> {
        let Joined { mut values, processes, objects, rows, mut ids, times, orders, missing, initial, files } =
            self;
        let place = |row: usize| {
            let at = files.partition_point(|it| it.1 <= row).saturating_sub(1);
            files.get(at).map_or((String::new(), 1), |it| (it.0.clone(), times[row].line - it.2))
        };
        let mut processes = processes.into_values();
        let (columns, own_times) = match skew {
            // A process that is in two files at the same time is an error.
            0 => (rows.into_columns_of_processes(), None),
            _ => {
                let (columns, _, own_times) = rows.into_columns(skew, &mut processes);
                (columns, own_times)
            }
        };
        let history = columns.finish_abandoned().map_err(|malformed| {
            let (name, line) = place(malformed.index());
            let other = malformed.other().map(place);
            let other = other.map(|it| format!(" ({}, line {})", it.0, it.1)).unwrap_or_default();
            (name, ReadError::in_line(line, format!("{}{other}", malformed.reason())))
        })?;
        for (row, id) in ids.iter_mut().enumerate().filter(|it| it.1.is_absent()) {
            let (name, line) = place(row);
            *id = values.text(&format!("{name}:{line}"));
        }
        let lines = times.iter().map(|it| u32::try_from(it.line).unwrap_or(u32::MAX)).collect();
        let names = Names {
            processes,
            objects: objects.into_values(),
            ids: Some(ids),
            lines: Some(lines),
            times: Some(times),
            orders: orders.iter().any(Option::is_some).then_some(orders),
            own_times,
            ..Names::default()
        };
        let missing = missing.unwrap_or(Value::NIL);
        Ok(Recording { missing, initial, ..Recording::new(history, values, names) })
    }
}
