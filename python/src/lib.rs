//! The native part of the Python package `clewline`: the judge, and the command line.
//!
//! `clewline/__init__.py` is what users see; the names here are its own. The interpreter is
//! released while a history is read and judged.

mod found;
mod judged;
mod machine;
mod names;
mod page;
mod settings;
mod sorted;
mod stream;
mod table;
mod work;

use std::{ffi::OsString, path::PathBuf, sync::Once};

use clewline_cli::Extensions;
use clewline_formats::formats::FORMATS;
use pyo3::prelude::*;

/// The version of the package, with the revision that it was built from if that is known.
const VERSION: &str = match option_env!("CLEWLINE_BUILD") {
    Some(build) => build,
    None => env!("CARGO_PKG_VERSION"),
};

/// Adds the formats of columns to those that files may have, and scripts to the specifications.
fn add_formats() {
    static ADDED: Once = Once::new();
    ADDED.call_once(|| {
        // The command line may have added them: then they are there.
        let _added_before = FORMATS.extend(clewline_columns::FORMATS);
        clewline_specs::set_loader(clewline_cli::LOADER);
    });
}

/// Runs a command of the command line and returns its exit code. `program` is the file that
/// contains this code. A process calls it once.
#[pyfunction]
fn main(py: Python<'_>, program: PathBuf, words: Vec<OsString>) -> u8 {
    py.detach(|| clewline_cli::run_words(program, words, Extensions::default()))
}

/// The native part of the package.
#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", VERSION)?;
    module.add_class::<found::Found>()?;
    module.add_class::<judged::Judged>()?;
    module.add_class::<settings::Settings>()?;
    module.add_class::<sorted::Sorted>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(judged::check_paths, module)?)?;
    module.add_function(wrap_pyfunction!(judged::check_rows, module)?)?;
    module.add_function(wrap_pyfunction!(judged::check_table, module)?)?;
    module.add_function(wrap_pyfunction!(page::page_of_all, module)?)?;
    module.add_function(wrap_pyfunction!(settings::free_memory, module)?)?;
    module.add_function(wrap_pyfunction!(sorted::check_sorted, module)?)
}
