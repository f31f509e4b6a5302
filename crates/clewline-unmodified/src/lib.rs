//! Unmodified code: C, C++ and Rust that knows nothing of Clewline, compiled so that every interleaving can be explored.
//!
//! Compilers can have each access to memory call a function first, for the sake of a tool called ThreadSanitizer. Here
//! those functions are Clewline's: a shared library, the *runtime*, that controls threads, memory and locks of the program
//! it is linked with. The program explores itself: its `main` is the runtime's, and it takes the arguments of `clewline
//! explore`. What is left to do before that is here: to find a compiler and the runtime, to compile and to link, and to run.
//!
//! ```no_run
//! use clewline_unmodified::{Compiler, Program, Runtime, Sources};
//!
//! let runtime = Runtime::find()?;
//! let compiler = Compiler::find(None)?;
//! let sources = Sources { files: vec!["stack_test.c".into(), "stack.c".into()], flags: Vec::new() };
//! let program = Program::build(&sources, &compiler, &runtime)?;
//! let ran = program.run(&["--preemptions".into(), "3".into()])?;
//! assert!(ran.status.success());
//! # Ok::<(), clewline_unmodified::Error>(())
//! ```
//!
//! Only on Linux and x86-64; elsewhere everything here answers [`Error::Platform`].

mod assembly;
mod cargo;
mod compiler;
mod counted;
mod error;
mod new_crate;
mod program;
mod runtime;
mod scratch;
mod toolchain;

pub use assembly::{Cause, Unseen};
pub use cargo::{Built, Crate, Talk, TestId};
pub use compiler::{Compiler, Kind, Language};
pub use counted::{Asked, CENSUS_VARIABLE, answer, read_answer};
pub use error::{Error, check_platform};
pub use new_crate::NewCrate;
pub use program::{BlindSpot, Program, Ran, Sources, Status};
pub use runtime::{COMMAND_VARIABLE, HEADER, Runtime};
pub use toolchain::{Instrumented, Toolchain};

#[cfg(test)]
mod tests;
