//! Unmodified code: C, C++ and Rust without Clewline's types, compiled so that every interleaving
//! can be explored.
//!
//! For ThreadSanitizer, compilers can insert a function call before each memory access. Here those
//! functions are Clewline's: a shared library, the *runtime*, that controls the threads, memory and
//! locks of the program it is linked with. This crate finds a compiler and the runtime, compiles,
//! links and starts the program. Its subject is then explored from this process like any other.
//!
//! ```no_run
//! use clewline_methods::line_up::{LineUpOptions, check};
//! use clewline_unmodified::{Compiler, OutputMode, Program, RunOptions, Runtime, Sources};
//!
//! let runtime = Runtime::find()?;
//! let compiler = Compiler::find(None)?;
//! let files = vec!["stack_test.c".into(), "stack.c".into()];
//! let sources = Sources { files, flags: Vec::new() };
//! let program = Program::build(&sources, &compiler, &runtime)?;
//! let session = program.start(&[], &RunOptions::default(), OutputMode::Inherited)?;
//! let checked = check(&**session.remote(), &"push(1) | pop".parse()?, &LineUpOptions::default());
//! session.finish()?;
//! assert!(checked.is_ok_and(|it| it.finding().is_none()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Only on Linux and x86-64; elsewhere every function here returns [`ProgramError::Platform`].

mod assembly;
mod blind_spots;
mod by_value;
mod cargo;
mod children;
mod compiler;
mod doc_tests;
mod driver;
mod elf;
mod error;
mod exclusion;
mod functions;
mod headers;
mod native;
mod new_crate;
mod program;
mod runtime;
mod scratch;
mod session;
mod sizes;
mod toolchain;
mod unit;

pub use assembly::{UnseenCause, UnseenInstruction};
pub use blind_spots::{BlindSpot, BlindSpots};
pub use cargo::{BuiltTests, Crate, ListedTests, TestId};
pub use children::end_children;
pub use clewline_remote::{
    Points, Remote, RunOptions, Trust, Unseen, read_places, show_address, show_places,
};
pub use compiler::{Compiler, CompilerKind, Language};
pub use driver::{Stage, UnsupportedFlag, drive, unsupported_flag, with_response_files};
pub use error::{GaveUp, ProgramError, check_platform};
pub use functions::Functions;
pub use new_crate::NewCrate;
pub use program::{Program, Sources};
pub use runtime::{CMAKE_MODULE, CXX_HEADER, HEADER, Runtime};
pub use session::{OutputMode, RunningProgram, StartOptions};
pub use toolchain::Toolchain;

#[cfg(test)]
mod tests;
