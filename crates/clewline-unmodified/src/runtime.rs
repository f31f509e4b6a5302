//! The runtime: the shared library that programs are linked with.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::error::{ProgramError, RUNTIME_FILE, RUNTIME_VARIABLE, check_platform};

/// The header that declares tests in C and C++.
pub const HEADER: &str = include_str!("../include/clewline.h");

/// The header that declares tests in C++ with lambdas.
pub const CXX_HEADER: &str = include_str!("../include/clewline.hpp");

/// The module of CMake with which a project adds tests.
pub const CMAKE_MODULE: &str = include_str!("../include/Clewline.cmake");

/// The header that replaces builtin functions, for compilers that inline them without
/// instrumentation.
pub(super) const BUILTINS: &str = include_str!("../include/builtins.h");

/// Functions of the C++ standard library for its containers, in C++.
pub(super) const CONTAINERS: &str = include_str!("../include/containers.cc");

/// A header that stands in front of one of the C++ standard library.
pub(super) const CXX_CONFIGURATION: &str = include_str!("../include/bits/c++config.h");

/// The location of the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    file: PathBuf,
}

impl Runtime {
    /// Looks for it: at the path in the environment variable `CLEWLINE_RUNTIME`, else beside the
    /// executable, else in `lib` beside its folder.
    ///
    /// # Errors
    ///
    /// If this is the wrong platform, or it is in none of these places.
    pub fn find() -> Result<Runtime, ProgramError> {
        check_platform()?;
        let named = env::var_os(RUNTIME_VARIABLE).filter(|it| !it.is_empty()).map(PathBuf::from);
        let executable = env::current_exe().map_err(ProgramError::io("the executable"))?;
        Runtime::first_existing(places(named.as_deref(), &executable))
    }

    fn first_existing(places: Vec<PathBuf>) -> Result<Runtime, ProgramError> {
        let Some(found) = places.iter().find(|it| it.is_file()) else {
            return Err(ProgramError::NoRuntime { searched: places });
        };
        // The path is written into programs, which may be run from anywhere.
        let file = found.canonicalize().map_err(ProgramError::io(found.display().to_string()))?;
        Ok(Runtime { file })
    }

    /// The library.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The folder that it is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }
}

/// The candidate places, best first. An explicitly named place is the only candidate.
fn places(named: Option<&Path>, executable: &Path) -> Vec<PathBuf> {
    if let Some(named) = named {
        return if named.is_dir() { vec![named.join(RUNTIME_FILE)] } else { vec![named.to_owned()] };
    }
    let Some(folder) = executable.parent() else { return Vec::new() };
    // Cargo builds in `deps` and copies the file to the parent folder only on request, and that
    // copy may be old.
    let mut places = vec![folder.join("deps").join(RUNTIME_FILE), folder.join(RUNTIME_FILE)];
    places.extend(folder.parent().map(|it| it.join("lib").join(RUNTIME_FILE)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_searched_beside_the_executable_and_then_in_lib() {
        let all = places(None, Path::new("/opt/bin/clewline"));
        let folders = ["/opt/bin/deps", "/opt/bin", "/opt/lib"];
        assert_eq!(all, folders.map(|it| Path::new(it).join(RUNTIME_FILE)));
    }

    #[test]
    fn an_explicitly_named_runtime_is_the_only_candidate() {
        let all = places(Some(Path::new("/nowhere/it.so")), Path::new("/opt/bin/clewline"));
        assert_eq!(all, [Path::new("/nowhere/it.so")]);
        if check_platform().is_ok() {
            let message = Runtime::first_existing(all).unwrap_err().to_string();
            assert!(message.contains("/nowhere/it.so") && message.contains("-p clewline-tsan"), "{message}");
        }
    }
}
