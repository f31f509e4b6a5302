//! Tables as histories: record batches that are in memory, or come one after the other.

use std::{
    io::{self, Read, Write},
    sync::{Arc, Mutex, PoisonError},
};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use clewline_columns::read_batches;
use clewline_core::Recording;
use clewline_formats::{
    Carries, Circumstances, Format, Objects, ReadError, ReadOptions, WriteError, formats,
};

/// Batches, one after the other.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The recording that is in `batches`.
///
/// # Errors
///
/// If they are no history. Rows are called lines.
pub(crate) fn recording(
    batches: Batches,
    circumstances: &Circumstances,
    times: bool,
) -> Result<Recording, ReadError> {
    let options = ReadOptions { times, circumstances, ..ReadOptions::default() };
    formats::read(&Table(Mutex::new(Some(batches))), &mut io::empty(), &options)
}

/// A table, as if it were a file: so it has an initial state as files do.
struct Table(Mutex<Option<Batches>>);

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn about(&self) -> &'static str {
        "record batches in memory"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: false, pending: true, objects: Objects::Named, ids: true, times: true }
    }

    fn recognises(&self, _head: &[u8]) -> bool {
        false
    }

    fn read(&self, _input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        read_batches(batches.into_iter().flatten(), options)
    }

    fn write(&self, _recording: &Recording, _out: &mut dyn Write) -> Result<(), WriteError> {
        Err(WriteError::CannotHold("a table in memory is only read".to_owned()))
    }
}

/// The column that says of which object an operation is.
#[derive(Clone, Debug)]
pub(crate) struct ObjectColumn {
    pub(crate) name: String,
    /// Whether its values are arguments, too, as the keys of a map are.
    pub(crate) is_key: bool,
}

impl ObjectColumn {
    /// The column called `name`; a column `key` is an argument, too, if `takes_keys`.
    pub(crate) fn new(name: &str, takes_keys: bool) -> ObjectColumn {
        ObjectColumn { name: name.to_owned(), is_key: name == "key" && takes_keys }
    }

    /// The batch with this column as the column `object`, without a copy of its values; and that
    /// column.
    ///
    /// # Errors
    ///
    /// If there is no such column.
    pub(crate) fn apply(&self, batch: &RecordBatch) -> Result<(RecordBatch, ArrayRef), ArrowError> {
        let schema = batch.schema_ref();
        let Some((place, field)) = schema.fields().find(&self.name) else {
            let found: Vec<&str> = schema.fields().iter().map(|it| it.name().as_str()).collect();
            let why = format!("expected a column `{}`, found only {}", self.name, found.join(", "));
            return Err(ArrowError::SchemaError(why));
        };
        let objects = Arc::clone(batch.column(place));
        if self.name == "object" {
            return Ok((batch.clone(), objects));
        }
        let is_kept = |it: &Field| it.name() != "object" && (self.is_key || it.name() != &self.name);
        let kept = schema.fields().iter().zip(batch.columns()).filter(|it| is_kept(it.0));
        let (mut fields, mut columns): (Vec<Arc<Field>>, Vec<ArrayRef>) =
            kept.map(|(field, column)| (Arc::clone(field), Arc::clone(column))).unzip();
        fields.push(Arc::new(Field::clone(field).with_name("object")));
        columns.push(Arc::clone(&objects));
        Ok((RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?, objects))
    }
}
