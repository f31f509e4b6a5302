//! Reports out: text, JSON, pages, pictures and summaries, and the files that they are written to.

// Support for pages.
#![cfg_attr(not(feature = "html"), allow(dead_code, unused_imports))]

mod output_file;
mod project;
pub mod render;

pub use output_file::{OutputFile, is_same_file, place_of, remove_unfinished_files, replace_file};
pub use project::{REGRESSIONS_VARIABLE, Regressions, findings_folder, relative_to_project};
