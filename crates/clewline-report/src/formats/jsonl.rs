//! JSON lines, the native format: an operation a line with its two times, or an event a line in log order.
//!
//! ```json
//! {"process": 1, "op": "enq", "arg": 3, "ret": true, "call": 12, "return": 15}
//! {"event": "call", "process": 1, "op": "enq", "arg": 3}
//! ```
//!
//! One file holds one kind of line. Members we do not know are the user's own and are passed over, but must be
//! well-formed JSON. Blank lines are passed over.
//!
//! Large files are cut into blocks of whole lines, which several threads parse at once, each with tables of its
//! own. The tables are merged in the order of the blocks, so the recording is the same, word for word, however
//! many threads there were.
//!
//! Cost: one pass over the bytes; then two sorts by time.

mod book;
mod follow;
mod habits;
mod line;
mod write;

use std::{
    collections::HashMap,
    io::{Read, Write},
    thread,
};

use clewline_core::Recording;
use serde_json::Value as Json;

use self::{book::Book, line::Scanner};
pub use self::{
    follow::Follower,
    line::{Kind, Row},
};
use crate::{
    Carries, EventTimes, Format, Objects, ReadError, ReadOptions, Times, WriteError, text::blocks::Blocks,
};

/// What the command line knows.
pub const ENTRY: &dyn Format = &JsonLines;

struct JsonLines;

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn about(&self) -> &'static str {
        "JSON lines, the native format: an operation or an event a line"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson", "json"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: true, pending: true, objects: Objects::Named, ids: true, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).trim_ascii_start();
        head.strip_prefix(b"{").is_some_and(|it| matches!(it.trim_ascii_start().first(), Some(b'"')))
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut blocks = Blocks::new(input, options.progress);
        let mut book = Book::default();
        match fill(&mut book, &mut blocks, options.jobs) {
            Ok(()) => book.finish(),
            Err(error) => Err(ReadError { read: book.len(), ..error }),
        }
    }

    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
        write::write(recording, out)
    }

    fn times(&self, input: &mut dyn Read, _options: &ReadOptions<'_>) -> Option<Vec<Times>> {
        let mut text = Vec::new();
        input.read_to_end(&mut text).ok()?;
        times(&text)
    }
}

/// The times of all operations; of events, if each has a `time` of its own, which is a whole number.
fn times(text: &[u8]) -> Option<Vec<Times>> {
    let mut rest = text;
    let mut blocks = Blocks::new(&mut rest, &|_| ());
    let (mut block, mut times) = (Vec::new(), Vec::new());
    loop {
        let first = blocks.next(&mut block).ok()?;
        if block.is_empty() {
            return Some(times);
        }
        let mut scanner = Scanner::default();
        scanner.block(&block, first).ok()?;
        for row in &scanner.rows {
            let Kind::Operation(called, returned) = row.kind else { return event_times(text) };
            times.push(Times { line: row.line, called, returned });
        }
    }
}

fn event_times(text: &[u8]) -> Option<Vec<Times>> {
    let mut times = EventTimes::default();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for (at, line) in text.split(|it| *it == b'\n').enumerate().filter(|it| !it.1.trim_ascii().is_empty()) {
        let event: Json = serde_json::from_slice(line).ok()?;
        let time = event["time"].as_i64()?;
        let next = numbers.len() as u32;
        let process = *numbers.entry(event["process"].to_string()).or_insert(next);
        match event["event"].as_str()? {
            "call" => times.call(at + 1, process, time),
            "return" => times.end(process, Some(time)),
            _ => times.end(process, None),
        }
    }
    Some(times.finish())
}

fn fill(book: &mut Book, blocks: &mut Blocks<'_>, jobs: usize) -> Result<(), ReadError> {
    let mut block = Vec::new();
    loop {
        let first = blocks.next(&mut block)?;
        if block.is_empty() {
            return Ok(());
        }
        book.scan(&block, first)?;
        if 1 < jobs && !blocks.is_done() {
            return fill_in_parallel(book, blocks, jobs);
        }
    }
}

// A block, the number of its first line, and what was found in it.
struct Task {
    block: Vec<u8>,
    first: usize,
    scanner: Scanner,
    outcome: Result<(), ReadError>,
}

/// While `jobs` threads parse blocks, this one merges those parsed before and reads the next.
fn fill_in_parallel(book: &mut Book, blocks: &mut Blocks<'_>, jobs: usize) -> Result<(), ReadError> {
    let mut spare: Vec<Vec<u8>> = Vec::new();
    let mut parsed: Vec<Task> = Vec::new();
    let (mut next, mut failed) = read_blocks(blocks, jobs, &mut spare);
    while !next.is_empty() || !parsed.is_empty() {
        let mut now = std::mem::take(&mut next);
        thread::scope(|scope| {
            for task in &mut now {
                scope.spawn(|| task.outcome = task.scanner.block(&task.block, task.first));
            }
            for task in parsed.drain(..) {
                book.merge(&task.scanner)?;
                task.outcome?;
                spare.push(task.block);
            }
            if failed.is_none() {
                (next, failed) = read_blocks(blocks, jobs, &mut spare);
            }
            Ok(())
        })?;
        parsed = now;
    }
    failed.map_or(Ok(()), Err)
}

/// Up to `count` blocks, and what went wrong in reading one after them.
fn read_blocks(
    blocks: &mut Blocks<'_>,
    count: usize,
    spare: &mut Vec<Vec<u8>>,
) -> (Vec<Task>, Option<ReadError>) {
    let mut tasks = Vec::with_capacity(count);
    for _ in 0..count {
        let mut block = spare.pop().unwrap_or_default();
        match blocks.next(&mut block) {
            Err(error) => return (tasks, Some(error)),
            Ok(_) if block.is_empty() => break,
            Ok(first) => tasks.push(Task { block, first, scanner: Scanner::default(), outcome: Ok(()) }),
        }
    }
    (tasks, None)
}
