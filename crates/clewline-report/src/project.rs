//! The project whose tests run: where its findings are saved, how its files are named, and failures
//! to replay first.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use crate::output_file::replace_file;

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

/// The failures of one test, each a line of text by which it is replayed: a file that people may
/// read, edit and check in. What cannot be written there is not kept; that is no error of the test.
#[derive(Clone, Debug)]
pub struct Regressions {
    // `None` if none are kept.
    path: Option<PathBuf>,
}

/// The environment variable with the folder of regressions; `off`: none are kept.
pub const REGRESSIONS_VARIABLE: &str = "CLEWLINE_REGRESSIONS";

// File systems allow 255 bytes.
const NAME_CHARACTERS_MAX: usize = 120;

// More would be replayed before anything new is looked at.
const REGRESSIONS_MAX: usize = 16;

impl Regressions {
    /// Those of `subject` in the test `name`. The folder is that of [`REGRESSIONS_VARIABLE`],
    /// relative to the package, or `clewline/regressions` in the target directory of Cargo. Without
    /// a name, and if they are turned off, none are kept.
    #[must_use]
    pub fn of_test(name: Option<&str>, subject: &str) -> Regressions {
        let given = env::var_os(REGRESSIONS_VARIABLE).filter(|it| !it.is_empty());
        let folder = match given {
            Some(given) if given == "off" => return Regressions { path: None },
            Some(given) => PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join(given),
            None => Surroundings::of_process().target().join("clewline").join("regressions"),
        };
        Regressions::of_test_in(&folder, name, subject)
    }

    fn of_test_in(folder: &Path, name: Option<&str>, subject: &str) -> Regressions {
        // Tests of different programs may have the same name.
        let program = env::current_exe().unwrap_or_default();
        let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let program = program.rsplit_once('-').map_or(program.as_str(), |it| it.0);
        let plain = |it: char| if it.is_alphanumeric() || it == '_' { it } else { '-' };
        let file = |name: &str| {
            let name = format!("{program}-{name}-{subject}").replace("::", "-");
            let name: String = name.chars().map(plain).take(NAME_CHARACTERS_MAX).collect();
            folder.join(format!("{name}.txt"))
        };
        Regressions { path: name.map(file) }
    }

    /// Those in this file.
    #[must_use]
    pub fn in_file(path: PathBuf) -> Regressions {
        Regressions { path: Some(path) }
    }

    /// The failures, the latest first.
    fn failures(&self) -> Vec<String> {
        let text = self.path.as_ref().and_then(|it| fs::read_to_string(it).ok()).unwrap_or_default();
        failures_in(&text)
    }

    /// The first failure that `replay` finds again, the latest failures first. One that does not
    /// fit any more, because the test has changed, is dropped, and the file says why.
    pub fn replay<T>(&self, mut replay: impl FnMut(&str) -> Result<Option<T>, String>) -> Option<T> {
        self.failures().into_iter().find_map(|failure| match replay(&failure) {
            Ok(found) => found,
            Err(why) => {
                let why = why.replace('\n', " ");
                self.change(|it| format!("{}# dropped: {failure}\n#   {why}\n", without(&it, &failure)));
                None
            }
        })
    }

    /// Keeps a failure, if there is one that is not kept already.
    pub fn keep(&self, failure: Option<String>) {
        let Some(failure) = failure.filter(|it| !it.contains('\n')) else { return };
        if self.failures().contains(&failure) {
            return;
        }
        self.change(|text| {
            let kept = failures_in(&text);
            if kept.contains(&failure) {
                return text;
            }
            let oldest = kept.last().filter(|_| REGRESSIONS_MAX <= kept.len());
            let text = oldest.map_or_else(|| text.clone(), |oldest| without(&text, oldest));
            format!("{text}{failure}\n")
        });
    }

    fn change(&self, change: impl FnOnce(String) -> String) {
        let Some(path) = &self.path else { return };
        let _locked = lock();
        let text = fs::read_to_string(path).unwrap_or_else(|_| HEADER.to_owned());
        if let Some(folder) = path.parent() {
            let _there = fs::create_dir_all(folder);
        }
        let _best_effort = replace_file(path, change(text));
    }
}

/// Locks the files of regressions against other threads and processes, until it is dropped; `None`
/// if that is not possible. In the target directory, since the files may be checked in.
fn lock() -> Option<fs::File> {
    let folder = Surroundings::of_process().target().join("clewline");
    fs::create_dir_all(&folder).ok()?;
    let file = fs::File::options().create(true).append(true).open(folder.join("regressions.lock")).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// The failures in the text of a file, the latest first.
fn failures_in(text: &str) -> Vec<String> {
    let is_one = |it: &&str| !it.is_empty() && !it.starts_with('#');
    text.lines().rev().map(str::trim).filter(is_one).map(str::to_owned).collect()
}

fn without(text: &str, failure: &str) -> String {
    text.lines().filter(|it| it.trim() != failure).map(|it| format!("{it}\n")).collect()
}

const HEADER: &str = "\
# Failures that this test has found, one a line. The next run replays them first.
# A line that is removed is not replayed. See CLEWLINE_REGRESSIONS in Clewline's manual.
";

#[cfg(test)]
mod tests;
