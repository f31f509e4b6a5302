//! The formats that histories are written in, one file each.
//!
//! A new one has to meet three requirements, which are tested for every entry of the table: it
//! reads what it writes, its errors name line and column, and no input makes it panic.

#[cfg(feature = "files")]
pub mod csv;
#[cfg(feature = "files")]
pub mod etcd;
#[cfg(feature = "files")]
pub mod jepsen;
#[cfg(feature = "files")]
pub mod jepsen_json;
#[cfg(feature = "files")]
pub mod jepsen_log;
pub mod jsonl;
#[cfg(feature = "files")]
pub mod observations;
/// Line-Up's observation files, which are written only.
#[cfg(not(feature = "files"))]
pub mod observations {
    pub mod write;
}
#[cfg(feature = "files")]
pub mod otlp;
#[cfg(feature = "files")]
pub mod otlp_proto;
#[cfg(feature = "files")]
pub mod porcupine_kv;

use std::{fmt, io::Read, path::Path, str::FromStr};

use clewline_core::{Names, NotFound, Recording, Table};

use crate::{
    Format, ReadError, ReadOptions,
    text::{Sink, json::initial_state, shown_in_one_line},
};

#[cfg(feature = "files")]
const BUILT_IN: &[&dyn Format] = &[
    csv::ENTRY,
    etcd::ENTRY,
    jepsen::ENTRY,
    jepsen_json::ENTRY,
    jepsen_log::ENTRY,
    jsonl::ENTRY,
    observations::ENTRY,
    otlp::ENTRY,
    otlp_proto::ENTRY,
    porcupine_kv::ENTRY,
];
#[cfg(not(feature = "files"))]
const BUILT_IN: &[&dyn Format] = &[jsonl::ENTRY];

/// Every format, by name. JSON lines are always there, the others with the feature `files`.
pub static FORMATS: Table<&dyn Format> = Table::new(BUILT_IN, |it| it.name());

/// The format called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Format> {
    FORMATS.find(name).copied()
}

/// How files in columns are read, if this binary has no format for them.
#[must_use]
pub fn missing_columns() -> Option<&'static str> {
    const WHY: &str = "Parquet and Arrow files are read and written by a binary that is built with \
        `cargo build --release --features columns`, and by the Python package";
    find("parquet").is_none().then_some(WHY)
}

/// Reads a history as `format` does, and refuses an input without any operation.
///
/// # Errors
///
/// If the format cannot read it, or there is no operation in it. One that had no effect is an
/// operation.
pub fn read(
    format: &dyn Format,
    input: &mut dyn Read,
    options: &ReadOptions<'_>,
) -> Result<Recording, ReadError> {
    if options.circumstances.skew != 0 && !format.has_clock() {
        let name = format.name();
        let why = format!("the order of events in the format `{name}` is that of the file: there is no skew");
        return Err(ReadError::in_line(1, why));
    }
    if options.circumstances.rows.is_some() && !format.is_filtered() {
        let why = format!("a file in the format `{}` is read whole: no rows can be left out", format.name());
        return Err(ReadError::in_line(1, why));
    }
    let mut recording = format.read(input, options)?;
    if let Some(initial) = &options.circumstances.initial {
        if recording.initial.is_some() {
            let why = "expected one initial state, found one in the file and one that was given";
            return Err(ReadError::in_line(1, why.to_owned()));
        }
        let values = std::mem::take(&mut recording.values);
        let mut sink = Sink { values, ..Sink::default() };
        let state = initial_state(initial, &mut sink);
        recording.values = sink.values;
        let state =
            state.map_err(|it| ReadError::in_line(1, format!("the initial state: {}", it.message)))?;
        recording.initial = Some(state);
    }
    // A process has a name also if all its operations failed.
    if recording.history.is_empty() && recording.names.processes.is_empty() {
        return Err(no_operation(&recording.names));
    }
    Ok(recording)
}

fn no_operation(Names { skipped, notes, .. }: &Names) -> ReadError {
    // A text that quotes something has an end of its own.
    let first = shown_in_one_line(&skipped.text);
    let first = if first.contains('`') { first } else { format!("`{first}`") };
    let message = match skipped.count {
        0 if !notes.is_empty() => "expected an operation, found only notes".to_owned(),
        0 => "expected an operation, found none: there is nothing in it".to_owned(),
        1 => format!("expected an operation, found only {first}"),
        count => format!(
            "expected an operation, found none: all {count} lines were skipped, and this one, the first, is {first}"
        ),
    };
    ReadError::in_line(skipped.line.max(1), message)
}

/// Which format an input has.
#[derive(Clone, Copy, Default)]
pub enum InputFormat {
    /// The one that is [recognised](detect).
    #[default]
    Detect,
    /// This one.
    Given(&'static dyn Format),
}

impl FromStr for InputFormat {
    type Err = NotFound;

    /// `auto`, or the name of a format.
    fn from_str(name: &str) -> Result<InputFormat, NotFound> {
        if name == "auto" {
            return Ok(InputFormat::Detect);
        }
        let names = std::iter::once("auto").chain(FORMATS.names());
        find(name).map(InputFormat::Given).ok_or_else(|| NotFound::new("format", name, names))
    }
}

impl fmt::Debug for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InputFormat::Detect => "auto",
            InputFormat::Given(format) => format.name(),
        })
    }
}

// The extensions of compressed files, whose contents are named by the extension before.
const COMPRESSED: &[&str] = &["gz", "zst", "bz2"];

/// The extension of a file called `name`: `edn`, also of `history.edn.gz`.
#[must_use]
pub fn extension_of(name: &str) -> Option<&str> {
    let path = Path::new(name);
    let extension = path.extension()?.to_str()?;
    if COMPRESSED.contains(&extension) {
        return Path::new(path.file_stem()?).extension()?.to_str();
    }
    Some(extension)
}

/// The format of a file that begins with `head`, its first few KiB, and whose name ends in
/// `.extension`.
///
/// The contents of a file take precedence over its name: the extension decides only between formats
/// that look alike, and for empty files.
#[must_use]
pub fn detect(head: &[u8], extension: Option<&str>) -> Option<&'static dyn Format> {
    let named = |it: &&dyn Format| extension.is_some_and(|extension| it.extensions().contains(&extension));
    let alike: Vec<&'static dyn Format> = FORMATS.iter().copied().filter(|it| it.recognises(head)).collect();
    let named = if alike.is_empty() {
        FORMATS.iter().copied().find(named)
    } else {
        alike.iter().copied().find(named)
    };
    named.or(alike.first().copied())
}
