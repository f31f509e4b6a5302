//! The command line of Clewline, as a library: the binary runs it, and a program that explores itself takes `clewline explore` from it.

mod commands;
mod extensions;

pub use commands::{Registered, explore_registered, run, run_with};
pub use extensions::Extensions;
