//! An object that is too long to be held: its rows are judged while they come.
//!
//! The rows become JSON lines, which is what the streaming judge reads, on a thread of its own.

use std::{
    io::{self, Read},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, JoinHandle},
};

use arrow_array::RecordBatch;
use clewline_columns::read_batches;
use clewline_core::{Datum, Recording, Value, Values};
use clewline_formats::ReadOptions;
use clewline_methods::{Check, Error, LineOrder, Report};
use serde_json::Value as Json;

// How many batches may wait.
const WAITING_MAX: usize = 4;

/// The judge of one object.
#[derive(Debug)]
pub(crate) struct Stream {
    lines: SyncSender<Vec<u8>>,
    judge: JoinHandle<Result<Report<'static>, Error>>,
    // Operations without an id have the number of their row.
    rows: usize,
}

impl Stream {
    /// Begins to judge.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub(crate) fn start(check: Check, spec: String) -> io::Result<Stream> {
        let (lines, receiver) = sync_channel(WAITING_MAX);
        let input = Lines { receiver, piece: io::Cursor::new(Vec::new()) };
        let judge = move || check.stream("the table", input, &spec, LineOrder::Seen).run();
        Ok(Stream { lines, judge: thread::Builder::new().spawn(judge)?, rows: 0 })
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// If they are no operations.
    pub(crate) fn send(&mut self, rows: RecordBatch) -> Result<(), String> {
        let options = ReadOptions { times: true, ..ReadOptions::default() };
        let recording = read_batches([Ok(rows)], &options).map_err(|it| it.to_string())?;
        let lines = lines(&recording, self.rows)?;
        self.rows += recording.history.len();
        // The judge may have ended, by a violation or a limit.
        let _unwanted = self.lines.send(lines.into_bytes());
        Ok(())
    }

    /// All rows have been added.
    pub(crate) fn end(self) -> Result<Report<'static>, Error> {
        drop(self.lines);
        let failed = |_| Err(io::Error::other("the judge failed: please report this bug").into());
        self.judge.join().unwrap_or_else(failed)
    }
}

/// The operations in the order of their rows, as JSON lines.
fn lines(recording: &Recording, before: usize) -> Result<String, String> {
    let Recording { history, values, names, .. } = recording;
    let mut operations: Vec<_> = history.operations().collect();
    operations.sort_by_key(|it| history.source(it.id));
    let mut lines = String::new();
    for it in operations {
        let source = history.source(it.id);
        let times = names.times.as_ref().and_then(|all| all.get(source));
        let times = times.ok_or_else(|| format!("row {} has no times", before + source + 1))?;
        lines.push_str("{\"process\":");
        write_json(values, names.processes[it.process.index()], &mut lines);
        let mut member = |name: &str, value: Value| {
            lines.push_str(&format!(",\"{name}\":"));
            write_json(values, value, &mut lines);
        };
        member("op", it.call.method);
        if !it.call.arg.is_absent() {
            member("arg", it.call.arg);
        }
        if let (Some(ret), Some(_)) = (it.ret, times.returned)
            && !ret.is_absent()
        {
            member("ret", *ret);
        }
        match names.ids {
            Some(_) => member("id", names.id(source)),
            None => lines.push_str(&format!(",\"id\":{}", before + source)),
        }
        lines.push_str(&format!(",\"call\":{}", times.called));
        if let (Some(_), Some(returned)) = (it.ret, times.returned) {
            lines.push_str(&format!(",\"return\":{returned}"));
        }
        lines.push_str("}\n");
    }
    Ok(lines)
}

fn write_json(values: &Values, value: Value, out: &mut String) {
    match values.get(value) {
        Datum::Absent | Datum::Nil => out.push_str("null"),
        Datum::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        Datum::Int(int) => out.push_str(&int.to_string()),
        Datum::Text(text) | Datum::Symbol(text) => out.push_str(&Json::from(text).to_string()),
        // A number that is no integer of 64 bits, or an object: as JSON has it.
        Datum::Other(written) => out.push_str(written),
        Datum::List(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place != 0 {
                    out.push(',');
                }
                write_json(values, *item, out);
            }
            out.push(']');
        }
    }
}

/// The lines that come, one piece after the other.
struct Lines {
    receiver: Receiver<Vec<u8>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.piece.read(buffer)? {
                0 => match self.receiver.recv() {
                    Ok(piece) => self.piece = io::Cursor::new(piece),
                    Err(_) => return Ok(0),
                },
                read => return Ok(read),
            }
        }
    }
}
