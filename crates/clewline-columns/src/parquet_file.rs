//! Parquet files.

use std::{
    io::{Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use bytes::Bytes;
use clewline_core::Recording;
use clewline_formats::{Carries, Format, Objects, ReadError, ReadOptions, WriteError};
use parquet::{
    arrow::{
        ArrowWriter, ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    basic::{Compression, LogicalType},
    errors::ParquetError,
    file::properties::WriterProperties,
};

use crate::{
    rows::{Rows, after, projection},
    table,
};

/// The entry in the table of formats.
pub(crate) const ENTRY: &dyn Format = &Parquet;

struct Parquet;

// Rows that are converted at a time.
const BATCH_ROWS: usize = 1 << 15;

// Rows of a group that is written.
const GROUP_ROWS: usize = 1 << 18;

impl Format for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn about(&self) -> &'static str {
        "Apache Parquet: one operation per row, in columns"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["parquet"]
    }

    fn carries(&self) -> Carries {
        Carries { is_written: true, pending: true, objects: Objects::Named, ids: true, times: true }
    }

    fn recognises(&self, head: &[u8]) -> bool {
        head.starts_with(b"PAR1")
    }

    fn is_filtered(&self) -> bool {
        true
    }

    fn read(&self, input: &mut dyn Read, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|it| ReadError::in_line(1, it.to_string()))?;
        // The library panics where some damaged files contradict themselves.
        catch_unwind(AssertUnwindSafe(|| read(Bytes::from(bytes), options)))
            .unwrap_or_else(|_| Err(ReadError::in_line(1, "the file is damaged".to_owned())))
    }

    fn write(&self, recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
        let batch = table::of(recording)?;
        let settings = WriterProperties::builder()
            .set_compression(Compression::ZSTD(Default::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .build();
        let failed = |it: ParquetError| WriteError::CannotHold(it.to_string());
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(settings)).map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
        Ok(out.write_all(&writer.into_inner().map_err(failed)?)?)
    }
}

/// The schema with texts that repeat as dictionaries: each is read once, not once a row.
fn with_dictionaries(schema: &Schema) -> SchemaRef {
    let field = |field: &FieldRef| match (field.name().as_str(), field.data_type()) {
        ("process" | "op", DataType::Utf8) => {
            let texts = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            Arc::new(field.as_ref().clone().with_data_type(texts))
        }
        _ => Arc::clone(field),
    };
    let fields: Vec<FieldRef> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn read(bytes: Bytes, options: &ReadOptions<'_>) -> Result<Recording, ReadError> {
    let damaged = |it: &dyn std::fmt::Display| ReadError::in_line(1, format!("no Parquet file: {it}"));
    let about = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()).map_err(|it| damaged(&it))?;
    let options_of = ArrowReaderOptions::new().with_schema(with_dictionaries(about.schema()));
    let about =
        ArrowReaderMetadata::try_new(Arc::clone(about.metadata()), options_of).map_err(|it| damaged(&it))?;
    let schema = Arc::clone(about.schema());
    let places = projection(&schema)?;
    let roots = about.parquet_schema().root_schema().get_fields();
    let is_json = |it: &&parquet::schema::types::TypePtr| {
        matches!(it.get_basic_info().logical_type_ref(), Some(LogicalType::Json))
    };
    let json = roots.iter().filter(is_json).map(|it| it.name().to_owned()).collect();
    let mut rows = Rows::new(options, json);
    let groups = about.metadata().num_row_groups();
    let mut read = 0;
    for group in 0..groups {
        let failed = |rows: &Rows, it: &dyn std::fmt::Display| {
            after(rows.len(), rows.len(), format!("row group {group}: {it}"))
        };
        let mask = ProjectionMask::roots(about.parquet_schema(), places.iter().copied());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), about.clone())
            .with_row_groups(vec![group])
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|it| failed(&rows, &it))?;
        for batch in reader {
            let batch = batch.map_err(|it| failed(&rows, &it))?;
            rows.take(&batch, group)?;
        }
        read += u64::try_from(about.metadata().row_group(group).compressed_size()).unwrap_or(0);
        (options.progress)(read);
    }
    rows.finish()
}
