//! Histories in columns: [Parquet](https://parquet.apache.org) and
//! [Arrow IPC](https://arrow.apache.org) files, one operation a row.
//!
//! | column | type | |
//! |---|---|---|
//! | `process` | integer or text | required |
//! | `op` | text | required |
//! | `call` | integer or timestamp | required: the time of the call; one clock. Timestamps of any unit are nanoseconds |
//! | `return` | the same, or null | null, or no such column: the operation is pending |
//! | `arg`, `ret` | boolean, integer, text, lists of these, or text of the logical type JSON | null in `arg`: no argument; null in `ret`: null |
//! | `key` | integer or text | put before `arg`: `put` with key 5 and arg 7 is `put [5, 7]` |
//! | `object` | integer or text | each is judged by itself |
//! | `id` | integer or text | else the number of the row, from 0 |
//!
//! Texts may be dictionaries. Other columns are not read. Values of mixed types need JSON.
//!
//! Without the feature `columns` there is nothing here: the libraries for these formats take as
//! long to build as all of Clewline.

#[cfg(feature = "columns")]
mod arrow_file;
#[cfg(feature = "columns")]
mod cells;
#[cfg(feature = "columns")]
mod parquet_file;
#[cfg(feature = "columns")]
mod rows;
#[cfg(feature = "columns")]
mod table;

use clewline_formats::Format;

#[cfg(feature = "columns")]
pub use arrow_file::read_batches;

/// The formats of this crate, in alphabetical order; none without the feature `columns`.
pub const FORMATS: &[&dyn Format] = &[
    #[cfg(feature = "columns")]
    arrow_file::ENTRY,
    #[cfg(feature = "columns")]
    parquet_file::ENTRY,
];
