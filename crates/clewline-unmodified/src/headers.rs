//! The headers that every file is compiled with.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
};

use super::{
    error::ProgramError,
    runtime::{BUILTINS, CXX_CONFIGURATION, CXX_HEADER, HEADER},
    scratch::Scratch,
};

/// A folder with these headers.
#[derive(Debug)]
pub(super) struct Headers {
    folder: PathBuf,
}

impl Headers {
    /// In a temporary folder.
    pub(super) fn within(scratch: &Scratch) -> Result<Headers, ProgramError> {
        scratch.write("clewline.h", HEADER)?;
        scratch.write("clewline.hpp", CXX_HEADER)?;
        scratch.write("clewline-builtins.h", BUILTINS)?;
        scratch.write_within("bits", "c++config.h", CXX_CONFIGURATION)?;
        Ok(Headers { folder: scratch.path().to_owned() })
    }

    /// In a folder that remains, because dependency files name them: in the cache of the user, or
    /// else in a temporary folder.
    pub(super) fn kept(scratch: &Scratch) -> Result<Headers, ProgramError> {
        let cache = env::var_os("XDG_CACHE_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        let cache = cache.or_else(|| env::var_os("HOME").map(|it| PathBuf::from(it).join(".cache")));
        match cache.and_then(|it| written(&it.join("clewline"))) {
            Some(folder) => Ok(Headers { folder }),
            None => Headers::within(scratch),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The header that replaces builtin functions.
    pub(super) fn builtins(&self) -> PathBuf {
        self.folder.join("clewline-builtins.h")
    }
}

/// The headers in a folder that is named by their contents, written at once: other processes may
/// do the same. `None` if it cannot be written.
fn written(within: &Path) -> Option<PathBuf> {
    // FNV-1a, 64 bits.
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let contents = [HEADER, CXX_HEADER, BUILTINS, CXX_CONFIGURATION].iter().flat_map(|it| it.bytes());
    let folder = within.join(format!("include-{:016x}", contents.fold(0xcbf2_9ce4_8422_2325, hash)));
    if folder.is_dir() {
        return Some(folder);
    }
    let aside = within.join(format!("include-{}", process::id()));
    fs::create_dir_all(aside.join("bits")).ok()?;
    fs::write(aside.join("clewline.h"), HEADER).ok()?;
    fs::write(aside.join("clewline.hpp"), CXX_HEADER).ok()?;
    fs::write(aside.join("clewline-builtins.h"), BUILTINS).ok()?;
    fs::write(aside.join("bits/c++config.h"), CXX_CONFIGURATION).ok()?;
    if fs::rename(&aside, &folder).is_err() {
        let _best_effort = fs::remove_dir_all(&aside);
    }
    folder.is_dir().then_some(folder)
}
