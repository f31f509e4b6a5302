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
use clewline_methods::{Check, Error, LineOrder, Report};
use clewline_report::ReadOptions;
use serde_json::{Map, Value as Json};

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
        let lines = lines(&recording, self.rows);
        self.rows += recording.history.len();
        // The judge may have ended, by a violation or a limit.
        let _unwanted = self.lines.send(lines);
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
fn lines(recording: &Recording, before: usize) -> Vec<u8> {
    let Recording { history, values, names, .. } = recording;
    let mut operations: Vec<_> = history.operations().collect();
    operations.sort_by_key(|it| history.source(it.id));
    let mut lines = Vec::new();
    for it in operations {
        let source = history.source(it.id);
        let Some(times) = names.times.as_ref().and_then(|all| all.get(source)) else { continue };
        let mut line = Map::new();
        line.insert("process".to_owned(), json(values, names.processes[it.process.index()]));
        line.insert("op".to_owned(), json(values, it.call.method));
        if !it.call.arg.is_absent() {
            line.insert("arg".to_owned(), json(values, it.call.arg));
        }
        line.insert("call".to_owned(), times.called.into());
        if let (Some(ret), Some(returned)) = (it.ret, times.returned) {
            line.insert("return".to_owned(), returned.into());
            if !ret.is_absent() {
                line.insert("ret".to_owned(), json(values, *ret));
            }
        }
        let id = match names.ids {
            Some(_) => json(values, names.id(source)),
            None => (before + source).into(),
        };
        line.insert("id".to_owned(), id);
        lines.extend(Json::Object(line).to_string().into_bytes());
        lines.push(b'\n');
    }
    lines
}

fn json(values: &Values, value: Value) -> Json {
    match values.get(value) {
        Datum::Absent | Datum::Nil => Json::Null,
        Datum::Bool(truth) => truth.into(),
        Datum::Int(int) => int.into(),
        Datum::Text(text) | Datum::Symbol(text) | Datum::Other(text) => text.into(),
        Datum::List(items) => items.iter().map(|it| json(values, *it)).collect(),
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
