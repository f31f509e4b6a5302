//! Typed histories in files: calls and results are written by serde.

use std::{fmt::Debug, fs::File, path::Path};

use clewline_core::History;
use clewline_formats::{ReadOptions, formats, typed};
use serde::{Serialize, de::DeserializeOwned};

use super::save_recording;
use crate::error::Error;

/// Saves a history as JSON lines, which [`read_history`] reads again. A file that is already there
/// is replaced.
///
/// The lines are those of the native format. A call that serde writes as a text is a method without
/// an argument, and one that it writes as an object with one member is a method with one:
/// `Take` becomes `"op": "Take"`, and `Put(3)` becomes `"op": "Put", "arg": 3`.
///
/// ```
/// use clewline::{Event, History, files};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
/// enum Call {
///     Put(u32),
///     Take,
/// }
///
/// # let folder = std::env::temp_dir().join(format!("clewline-save-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("run.jsonl");
/// let history: History<Call, Option<u32>> = History::from_events([
///     Event::call(0, Call::Put(3)),
///     Event::call(1, Call::Take),
///     Event::ret(1, Some(3)),
/// ])?;
/// files::save_history(&history, &path)?;
/// assert_eq!(files::read_history::<Call, Option<u32>>(&path)?.len(), 2);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be written, or serde cannot write a call or a result so that it reads it
/// again.
pub fn save_history<C, R>(history: &History<C, R>, path: impl AsRef<Path>) -> Result<(), Error>
where
    C: Serialize + DeserializeOwned + Clone + PartialEq + Debug,
    R: Serialize + DeserializeOwned + Clone + PartialEq + Debug,
{
    save_recording(path.as_ref(), || Ok(typed::to_recording(history)?))
}

/// Reads a history that [`save_history`] wrote, or one in the native format with such calls.
///
/// # Errors
///
/// If the file cannot be read, or there is no operation in it. The error names the line, and what
/// is wrong with it.
pub fn read_history<C, R>(path: impl AsRef<Path>) -> Result<History<C, R>, Error>
where
    C: DeserializeOwned,
    R: DeserializeOwned,
{
    let path = path.as_ref();
    let read = || -> Result<History<C, R>, Error> {
        let format = formats::find("jsonl").expect("it is the native format");
        let recording = formats::read(format, &mut File::open(path)?, &ReadOptions::default())?;
        Ok(typed::from_recording(recording)?)
    };
    read().map_err(|it| it.in_file(&path.display().to_string()))
}
