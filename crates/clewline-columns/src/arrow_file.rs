//! Arrow IPC, as a file or as a stream.

use std::{
    io::{Cursor, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
};

use arrow_array::RecordBatch;
use arrow_ipc::{
    reader::{FileReader, StreamReader},
    writer::FileWriter,
};
use arrow_schema::ArrowError;
use clewline_core::Recording;
use clewline_formats::{Carries, Format, Objects, ReadError, ReadOptions, WriteError};

use crate::{
    rows::{Rows, after, projection},
    table,
};

/// The entry in the table of formats.
pub(crate) const ENTRY: &dyn Format = &Arrow;

struct Arrow;

// How a file begins, and how a stream does.
const FILE: &[u8] = b"ARROW1";
const STREAM: &[u8] = &[0xff; 4];

impl Format for Arrow {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn about(&self) -> &'static str {
        "Apache Arrow IPC, a file or a stream: one operation per row, in columns"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["arrow", "arrows", "feather"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: true, pending: true, objects: Objects::Named, ids: true, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        head.starts_with(FILE) || head.starts_with(STREAM)
    }

    fn is_filtered(&self) -> bool {
        true
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|it| ReadError::in_line(1, it.to_string()))?;
        // The library panics where some damaged files contradict themselves.
        catch_unwind(AssertUnwindSafe(|| read(bytes, options)))
            .unwrap_or_else(|_| Err(ReadError::in_line(1, "the file is damaged".to_owned())))
    }

    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
        let batch = table::of(recording)?;
        let failed = |it: ArrowError| WriteError::CannotHold(it.to_string());
        let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
        Ok(out.write_all(&writer.into_inner().map_err(failed)?)?)
    }
}

fn read(bytes: Vec<u8>, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
    let damaged = |it: ArrowError| ReadError::in_line(1, format!("no Arrow file: {it}"));
    let length = bytes.len() as u64;
    let mut rows = Rows::new(options, Vec::new());
    if bytes.starts_with(FILE) {
        let all = FileReader::try_new(Cursor::new(&bytes), None).map_err(damaged)?;
        let places = projection(&all.schema())?;
        let reader = FileReader::try_new(Cursor::new(&bytes), Some(places)).map_err(damaged)?;
        take(&mut rows, reader)?;
    } else {
        let reader = StreamReader::try_new(Cursor::new(&bytes), None).map_err(damaged)?;
        projection(&reader.schema())?;
        take(&mut rows, reader)?;
    }
    (options.progress)(length);
    rows.finish()
}

/// Reads record batches in memory, as a file that has them is read.
///
/// # Errors
///
/// If a column is missing or has another type, or the rows are no history. Rows are called lines.
pub fn read_batches(
    batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    options: &ReadOptions<'_>,
) -> Result<Recording, ReadError> {
    let mut rows = Rows::new(options, Vec::new());
    let mut batches = batches.into_iter().peekable();
    if let Some(Ok(first)) = batches.peek() {
        projection(&first.schema())?;
    }
    take(&mut rows, batches)?;
    rows.finish()
}

fn take(
    rows: &mut Rows,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<(), ReadError> {
    for (number, batch) in batches.enumerate() {
        let batch =
            batch.map_err(|it| after(rows.len(), rows.len(), format!("record batch {number}: {it}")))?;
        rows.take(&batch, number)?;
    }
    Ok(())
}
