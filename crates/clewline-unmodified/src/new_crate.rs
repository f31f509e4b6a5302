//! Small crates that are written to a temporary folder and built.

use std::{fs, path::Path};

use super::{error::ProgramError, scratch::Scratch};

/// A crate in a folder of its own, which is removed when it is dropped.
#[derive(Debug)]
pub struct NewCrate {
    scratch: Scratch,
}

impl NewCrate {
    /// Writes it: its manifest, its lock file if there is one, and its one source file.
    ///
    /// # Errors
    ///
    /// If that cannot be written.
    pub fn write(manifest: &str, lock: &str, source: &str) -> Result<NewCrate, ProgramError> {
        let scratch = Scratch::new()?;
        scratch.write("Cargo.toml", manifest)?;
        if !lock.is_empty() {
            scratch.write("Cargo.lock", lock)?;
        }
        let folder = scratch.path().join("src");
        fs::create_dir(&folder).map_err(ProgramError::io(folder.display().to_string()))?;
        scratch.write("src/lib.rs", source)?;
        Ok(NewCrate { scratch })
    }

    /// A target folder that several of them share, so that common dependencies are built once.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn shared_target() -> Result<NewCrate, ProgramError> {
        Ok(NewCrate { scratch: Scratch::new()? })
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }
}
