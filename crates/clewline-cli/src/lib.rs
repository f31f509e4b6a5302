//! The command line of Clewline, as a library: the binary runs it, and so does a program that adds
//! to it.

mod commands;
mod extensions;
pub mod planting;
mod scripts;

#[doc(hidden)]
pub use commands::accepts;
pub use commands::{Decoded, definition, is_compressed, run, run_with, run_words};
pub use extensions::Extensions;
pub use scripts::LOADER;
