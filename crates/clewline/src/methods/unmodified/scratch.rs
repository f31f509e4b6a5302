//! Temporary folders that are gone when they are no longer needed.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use super::Error;

/// A folder of its own; removed when dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
}

// More than anybody leaves behind.
const TRIES: u32 = 10_000;

impl Scratch {
    pub(super) fn new() -> Result<Scratch, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let within = env::temp_dir();
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = within.join(format!("clewline-{}-{number}", process::id()));
            // One that is there already belongs to someone else, who may put anything into it.
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Scratch { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) => return Err(Error::io(path.display().to_string())(error)),
            }
        }
        Err(Error::io(within.display().to_string())(io::ErrorKind::AlreadyExists.into()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it, with that text.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        fs::write(&path, text).map_err(Error::io(path.display().to_string()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _best_effort = fs::remove_dir_all(&self.path);
    }
}
