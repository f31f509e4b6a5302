//! JSON lines, the native format: an operation a line with its two times, or an event a line in log
//! order.
//!
//! ```json
//! {"process": 1, "op": "enq", "arg": 3, "ret": true, "call": 12, "return": 15}
//! {"event": "call", "process": 1, "op": "enq", "arg": 3}
//! ```
//!
//! The objects may also be in an array, span several lines, or stand many on one line; the
//! beginning of the file shows which. One file holds one kind of line, and notes on the history
//! (`note.rs`). Unknown members are the user's own and are skipped, but must be well-formed JSON.
//! Blank lines are skipped.
//!
//! Large files are cut into blocks of whole lines, which several threads parse in parallel, each
//! with its own tables. The tables are merged in the order of the blocks, so the recording is the
//! same for any number of threads.
//!
//! Cost: one pass over the bytes; then two sorts by time.

mod field;
mod follow;
mod key_cache;
mod line;
mod note;
mod row_builder;
mod write;

use std::{
    cell::RefCell,
    io::{self, Read, Write},
    ops::ControlFlow,
};

use clewline_core::{Recording, parallel};

use self::{follow::Follower, line::Scanner, row_builder::RowBuilder};
#[cfg(feature = "files")]
use crate::formats::{etcd, jepsen_json, otlp};
use crate::{
    Carries, Follow, Format, Objects, ReadError, ReadOptions, WriteError,
    filtered_lines::FilteredLines,
    text::{
        blocks::Blocks,
        objects::{begins_with_object, for_each_object, is_object_a_line},
    },
};

/// The entry in the table of formats.
pub const ENTRY: &dyn Format = &JsonLines;

struct JsonLines;

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn about(&self) -> &'static str {
        "JSON lines, the native format: one operation or event per line; or an array of them"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson", "json"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: true, pending: true, objects: Objects::Named, ids: true, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        begins_with_object(head) && !is_other_json(head)
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn has_initial_state(&self) -> bool {
        true
    }

    fn is_filtered(&self) -> bool {
        true
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut book = RowBuilder::new(options.times, options.circumstances.skew);
        let filled = match &options.circumstances.rows {
            Some(rows) => fill(&mut book, &mut FilteredLines::new(input, rows), options),
            None => fill(&mut book, input, options),
        };
        match filled {
            Ok(()) => book.finish(),
            Err(error) => Err(ReadError { read: book.len(), ..error }),
        }
    }

    fn follow(&self) -> Option<Box<dyn Follow>> {
        Some(Box::<Follower>::default())
    }

    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
        write::write(recording, out)
    }
}

/// The lines of `recording`. Times are the places of calls and returns among all of them.
///
/// # Errors
///
/// If a value cannot be written.
pub fn lines(recording: &Recording) -> Result<String, WriteError> {
    let mut lines = Vec::new();
    write::write(recording, &mut lines)?;
    Ok(String::from_utf8_lossy(&lines).into_owned())
}

/// Whether a text of objects is in another format, all of which are more special.
#[cfg(feature = "files")]
fn is_other_json(head: &[u8]) -> bool {
    [etcd::ENTRY, jepsen_json::ENTRY, otlp::ENTRY].iter().any(|it| it.recognises(head))
}

#[cfg(not(feature = "files"))]
fn is_other_json(_head: &[u8]) -> bool {
    false
}

fn fill(book: &mut RowBuilder, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<(), ReadError> {
    let head = head(input)?;
    let is_whole = head.len() < LAYOUT_BYTES;
    let mut input = io::Cursor::new(&head).chain(input);
    if is_object_a_line(&head, is_whole) == Some(false) {
        return for_each_object(&mut input, options.progress, |it| book.object(it));
    }
    fill_lines(book, &mut Blocks::new(&mut input, options.progress), options.jobs)
}

// A line that is longer is no line of a file with one object a line.
const LAYOUT_BYTES: usize = 1 << 16;

/// The beginning of a file, from which its layout is known.
fn head(input: &mut dyn Read) -> Result<Vec<u8>, ReadError> {
    let mut head = Vec::new();
    let read = Read::take(&mut *input, LAYOUT_BYTES as u64).read_to_end(&mut head);
    read.map_err(|error| ReadError::in_line(1, format!("cannot be read: {error}")))?;
    Ok(head)
}

fn fill_lines(book: &mut RowBuilder, blocks: &mut Blocks<'_>, jobs: usize) -> Result<(), ReadError> {
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

/// While `jobs` threads parse blocks, this one merges those parsed before and reads the next.
fn fill_in_parallel(book: &mut RowBuilder, blocks: &mut Blocks<'_>, jobs: usize) -> Result<(), ReadError> {
    let spare: RefCell<Vec<Vec<u8>>> = RefCell::default();
    let keeps_times = book.keeps_times();
    let mut failed = None;
    let next = || {
        let mut block = spare.borrow_mut().pop().unwrap_or_default();
        match blocks.next(&mut block) {
            Ok(first) => (!block.is_empty()).then_some((block, first)),
            Err(error) => {
                failed = Some(error);
                None
            }
        }
    };
    let parse = |(block, first): (Vec<u8>, usize)| {
        let mut scanner = Scanner::new(keeps_times);
        let outcome = scanner.block(&block, first);
        (block, scanner, outcome)
    };
    let flow = parallel::map_in_order(jobs, jobs, std::iter::from_fn(next), parse, |parsed| {
        let (block, scanner, outcome) = parsed;
        spare.borrow_mut().push(block);
        match book.merge(&scanner).and(outcome) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    });
    flow.break_value().or(failed).map_or(Ok(()), Err)
}
