//! Histories in files: how they are written and read.

use std::{io::Write, path::Path};

use clewline_core::Recording;
use clewline_formats::{WriteError, formats};
use clewline_report::OutputFile;

use crate::error::Error;

#[cfg(feature = "serde")]
mod typed;

#[cfg(feature = "serde")]
pub use typed::{read_history, save_history};

/// Writes a history, as JSON lines.
pub(crate) fn write_recording(recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
    formats::find("jsonl").expect("it is the native format").write(recording, out)
}

/// Saves a history as JSON lines. A file that is already there is replaced.
pub(crate) fn save_recording(
    path: &Path,
    recording: impl FnOnce() -> Result<Recording, Error>,
) -> Result<(), Error> {
    let save = || -> Result<(), Error> {
        let recording = recording()?;
        let mut out = OutputFile::create(path)?;
        write_recording(&recording, &mut out)?;
        Ok(out.commit()?)
    };
    save().map_err(|it| it.in_file(&path.display().to_string()))
}
