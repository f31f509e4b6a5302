//! Histories of findings, as files that `clewline check` reads, or a person.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use clewline_core::{ErasedHistory, OperationId};
use clewline_formats::WriteError;
use clewline_report::OutputFile;

use super::{
    outcome::{Saved, StressFinding},
    plan::Stress,
};
use crate::saving::write_recording;

// At most this number of files of one name are distinguished by a number.
const SAME_NAME_FILES_MAX: u32 = 1_000;

/// Saves the history of `finding`, if saving is on and possible.
pub(super) fn save(stress: &Stress, finding: &StressFinding) -> Saved {
    let Some(folder) = &stress.saving else { return Saved::Off };
    let (case, stem) = (finding.report.case(), stem(&stress.name, stress.seed));
    let saved = match case.recording() {
        Some(recording) => {
            create(folder, &stem, "jsonl", |file| write_recording(&recording, file)).map(Saved::File)
        }
        None => create(folder, &stem, "txt", |file| write_text(stress, case, file)).map(Saved::Text),
    };
    saved.unwrap_or_else(|error| Saved::Failed(folder.clone(), error.to_string()))
}

/// Writes operations as `Debug` shows them, in the order of their calls.
fn write_text(stress: &Stress, case: &dyn ErasedHistory, out: &mut dyn Write) -> Result<(), WriteError> {
    let Stress { name, spec, seed, .. } = stress;
    writeln!(out, "A history of {name}, recorded by a stress test as a {spec} with seed {seed}.\n")?;
    writeln!(out, "{FOR_PEOPLE}\n")?;
    writeln!(out, "process    call  return  operation")?;
    for (at, span) in case.spans().iter().enumerate() {
        let id = OperationId::from_index(at);
        let returned = span.ret().map_or_else(|| "-".to_owned(), |it| it.to_string());
        writeln!(
            out,
            "{:>7} {:>7} {returned:>7}  {}",
            case.process(id).index(),
            span.call(),
            case.label(id)
        )?;
    }
    Ok(())
}

const FOR_PEOPLE: &str = "\
This file is for people: operations are written as `Debug` shows them, which Clewline cannot read.
For a file that it can read, implement serde's traits for calls and results and use
`Stress::drawing_with_serde`, or implement `Codec` and use `Stress::new`.

Calls and returns are numbered in the order in which they happened; equal numbers overlap.";

/// The name of the file, less its extension: `treiber-stack-no-cas-seed-42`.
fn stem(subject: &str, seed: u64) -> String {
    let plain = |it: char| if it.is_alphanumeric() || it == '_' { it } else { '-' };
    let name: String = subject.chars().map(plain).take(80).collect();
    format!("{name}-seed-{seed}")
}

/// Writes a new file. An existing one may belong to another subject, and is not changed.
fn create(
    folder: &Path,
    stem: &str,
    extension: &str,
    write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<PathBuf, WriteError> {
    fs::create_dir_all(folder)?;
    for twin in 1..=SAME_NAME_FILES_MAX {
        let number = if twin == 1 { String::new() } else { format!("-{twin}") };
        let name = format!("{stem}{number}.{extension}");
        // `./` says nothing.
        let path = if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) };
        // The name is taken; the file follows when it is complete.
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            outcome => drop(outcome?),
        }
        let whole = || -> Result<(), WriteError> {
            let mut out = OutputFile::create(&path)?;
            write(&mut out)?;
            Ok(out.commit()?)
        };
        return whole().map(|()| path.clone()).inspect_err(|_| {
            let _best_effort = fs::remove_file(&path);
        });
    }
    Err(WriteError::CannotHold(format!("there are {SAME_NAME_FILES_MAX} files called {stem} already")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(stem("register:unsynchronized", 42), "register-unsynchronized-seed-42");
        assert_eq!(stem("../../etc/passwd", 1), "------etc-passwd-seed-1");
    }
}
