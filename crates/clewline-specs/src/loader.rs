//! Specifications in files, which a program may be able to read.

use std::sync::OnceLock;

use clewline_core::ErasedSpec;

use crate::entry::SpecificationEntry;

/// How specifications in files are read. This crate reads no files.
#[derive(Clone, Copy, Debug)]
pub struct Loader {
    /// The end of the names of such files: `.star`.
    pub suffix: &'static str,
    /// Reads the specification in a file.
    pub load: fn(path: &str) -> Result<Box<dyn ErasedSpec>, String>,
    /// The entry of the specification in a file; `None` if it cannot be read.
    pub entry: fn(path: &str) -> Option<&'static SpecificationEntry>,
}

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Lets [`find`](crate::find) and [`entry`](crate::entry) read specifications in files, for the
/// rest of the program. The first loader counts.
pub fn set_loader(loader: Loader) {
    let _first_counts = LOADER.set(loader);
}

/// The loader for `name`, if it is the name of such a file.
pub(crate) fn loader_of(name: &str) -> Option<&'static Loader> {
    LOADER.get().filter(|it| name.ends_with(it.suffix))
}
