//! Temporary folders that are removed when they are no longer needed.
//!
//! A killed process cannot remove its folders. So the first use in a process removes those whose
//! process has ended: no process has its number, and no process holds the lock on the file inside.
//! (The number alone is not enough: processes that share a folder need not see each other.)

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process,
    sync::{
        Once,
        atomic::{AtomicU32, Ordering},
    },
};

use super::error::ProgramError;

/// A folder that is removed when dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    /// Locked for as long as the folder is used.
    _used: File,
}

const FOLDER_PREFIX: &str = "clewline-";
const LOCK_FILE: &str = ".used";

// More than processes leave behind.
const FOLDER_ATTEMPTS_MAX: u32 = 10_000;

impl Scratch {
    pub(super) fn new() -> Result<Scratch, ProgramError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        static SWEEP: Once = Once::new();
        let within = env::temp_dir();
        SWEEP.call_once(|| remove_stale(&within));
        for _ in 0..FOLDER_ATTEMPTS_MAX {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = within.join(format!("{FOLDER_PREFIX}{}-{number}", process::id()));
            // An existing folder belongs to another process, which may put anything into it.
            match fs::create_dir(&path) {
                Ok(()) => {
                    let used = path.join(LOCK_FILE);
                    let locked = File::create(&used).and_then(|it| it.lock().map(|()| it));
                    let _used = locked.map_err(ProgramError::io(used.display().to_string()))?;
                    return Ok(Scratch { path, _used });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) => return Err(ProgramError::io(path.display().to_string())(error)),
            }
        }
        Err(ProgramError::io(within.display().to_string())(io::ErrorKind::AlreadyExists.into()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A file in a folder in it, with that text.
    pub(super) fn write_within(&self, folder: &str, name: &str, text: &str) -> Result<PathBuf, ProgramError> {
        let path = self.path.join(folder);
        fs::create_dir_all(&path).map_err(ProgramError::io(path.display().to_string()))?;
        self.write(&format!("{folder}/{name}"), text)
    }

    /// A file in it, with that text.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, ProgramError> {
        let path = self.path.join(name);
        fs::write(&path, text).map_err(ProgramError::io(path.display().to_string()))?;
        Ok(path)
    }
}

/// Removes the folders of killed processes.
pub(super) fn remove_stale(within: &Path) {
    // Without `/proc` it is unknown which processes have ended.
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return;
    }
    for entry in fs::read_dir(within).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name.strip_prefix(FOLDER_PREFIX).and_then(|it| it.split('-').next());
        let Some(number) = number.filter(|it| it.parse::<u32>().is_ok()) else { continue };
        let is_free = || File::open(entry.path().join(LOCK_FILE)).is_ok_and(|it| it.try_lock().is_ok());
        if !processes.join(number).exists() && is_free() {
            let _best_effort = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _best_effort = fs::remove_dir_all(&self.path);
    }
}
