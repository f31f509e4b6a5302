//! Histories in files: in which folder, and how they are written and read.

use std::{
    env,
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
};

use clewline_core::Recording;
use clewline_report::{WriteError, formats};

#[cfg(feature = "serde")]
mod typed;

#[cfg(feature = "serde")]
pub use typed::{read_history, save_history};

/// Writes a history, as JSON lines.
pub(crate) fn write_recording(recording: &Recording, out: &mut dyn Write) -> Result<(), WriteError> {
    formats::find("jsonl").expect("it is the native format").write(recording, out)
}

/// The folder for histories of findings, in the target directory of Cargo.
pub(crate) fn findings_folder() -> PathBuf {
    Surroundings::of_process().target().join("clewline").join("failures")
}

/// How a report names a file: relative to the project, if it is inside of it.
pub(crate) fn relative_to_project(path: &Path) -> &Path {
    let surroundings = Surroundings::of_process();
    let inside = path.strip_prefix(surroundings.project());
    inside.or_else(|_| path.strip_prefix(&surroundings.current)).unwrap_or(path)
}

/// What a process knows of the project whose tests it runs.
struct Surroundings {
    // The variables of Cargo, if they are set.
    target: Option<OsString>,
    manifest: Option<OsString>,
    program: Option<PathBuf>,
    current: PathBuf,
}

impl Surroundings {
    fn of_process() -> Surroundings {
        let variable = |name| env::var_os(name).filter(|it| !it.is_empty());
        Surroundings {
            target: variable("CARGO_TARGET_DIR"),
            manifest: variable("CARGO_MANIFEST_DIR"),
            program: env::current_exe().ok(),
            current: env::current_dir().unwrap_or_default(),
        }
    }

    /// The target directory of Cargo, which may have to be created.
    fn target(&self) -> PathBuf {
        match &self.target {
            Some(target) if Path::new(target).is_absolute() => return target.into(),
            Some(_) | None => (),
        }
        // Cargo tags its target directory, and the one of `clewline cargo test` in it. Documentation
        // tests run elsewhere.
        let is_tagged = |it: &&Path| it.join("CACHEDIR.TAG").is_file() && !it.ends_with("clewline/build");
        let tagged = self.program.as_deref().and_then(|it| it.ancestors().find(is_tagged));
        match (tagged, &self.target) {
            (Some(tagged), _) => tagged.to_owned(),
            (None, Some(relative)) => self.project().join(relative),
            (None, None) => self.project().join("target"),
        }
    }

    /// The folder of the workspace, or of the package; without Cargo, the current one.
    fn project(&self) -> &Path {
        let Some(manifest) = self.manifest.as_ref().map(Path::new) else { return &self.current };
        manifest.ancestors().find(|it| it.join("Cargo.lock").is_file()).unwrap_or(manifest)
    }
}

#[cfg(test)]
mod tests;
