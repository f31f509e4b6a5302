//! Histories of findings, as files that `clewline check` reads.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use clewline_core::Recording;
use clewline_report::{OutputFile, WriteError, formats};

use super::{
    outcome::{Finding, Saved},
    plan::Stress,
};

// At most this number of files of one name are distinguished by a number.
const SAME_NAME_FILES_MAX: u32 = 1_000;

/// Saves the history of `finding`, if saving is on and possible.
pub(super) fn save(stress: &Stress, finding: &Finding) -> Saved {
    let Some(folder) = &stress.saving else { return Saved::Off };
    let Some(recording) = finding.report.case().recording() else { return Saved::NoNotation };
    match write(&recording, folder, &stem(&stress.name, stress.seed)) {
        Ok(path) => Saved::File(path),
        Err(error) => Saved::Failed(folder.clone(), error.to_string()),
    }
}

/// The name of the file, less its extension: `treiber-stack-no-cas-seed-42`.
fn stem(subject: &str, seed: u64) -> String {
    let plain = |it: char| if it.is_alphanumeric() || it == '_' { it } else { '-' };
    let name: String = subject.chars().map(plain).take(80).collect();
    format!("{name}-seed-{seed}")
}

/// Writes a new file. An existing one may belong to another subject, and is not changed.
fn write(recording: &Recording, folder: &Path, stem: &str) -> Result<PathBuf, WriteError> {
    fs::create_dir_all(folder)?;
    for twin in 1..=SAME_NAME_FILES_MAX {
        let name = if twin == 1 { format!("{stem}.jsonl") } else { format!("{stem}-{twin}.jsonl") };
        // `./` says nothing.
        let path = if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) };
        // The name is taken; the file follows when it is complete.
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            outcome => drop(outcome?),
        }
        let write = || -> Result<(), WriteError> {
            let mut out = OutputFile::create(&path)?;
            formats::find("jsonl").expect("it is the native format").write(recording, &mut out)?;
            Ok(out.commit()?)
        };
        return write().map(|()| path.clone()).inspect_err(|_| {
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
