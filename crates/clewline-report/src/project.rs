//! The project whose tests run: where its findings are saved, and how its files are named.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The folder for histories of findings, in the target directory of Cargo.
#[must_use]
pub fn findings_folder() -> PathBuf {
    Surroundings::of_process().target().join("clewline").join("failures")
}

/// How a report names a file: relative to the project, if it is inside of it.
#[must_use]
pub fn relative_to_project(path: &Path) -> &Path {
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
        // Cargo tags its target directory, and the one of `clewline cargo test` in it.
        // Documentation tests run elsewhere.
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
