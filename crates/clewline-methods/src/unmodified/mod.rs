//! Unmodified code: C, C++ and Rust that knows nothing of Clewline, compiled so that every interleaving can be explored.
//!
//! Compilers can have each access to memory call a function first, for the sake of a tool called ThreadSanitizer. Here
//! those functions are Clewline's: a shared library, the *runtime*, that controls threads, memory and locks of the program
//! it is linked with. The program explores itself: its `main` is the runtime's, and it takes the arguments of `clewline
//! explore`. What is left to do before that is here: to find a compiler and the runtime, to compile and to link, and to run.
//!
//! ```no_run
//! use clewline_methods::unmodified::{Compiler, Program, Runtime, Sources};
//!
//! let runtime = Runtime::find()?;
//! let compiler = Compiler::find(None)?;
//! let sources = Sources { files: vec!["stack_test.c".into(), "stack.c".into()], flags: Vec::new() };
//! let program = Program::build(&sources, &compiler, &runtime)?;
//! let ran = program.run(&["--preemptions".into(), "3".into()])?;
//! assert!(ran.status.success());
//! # Ok::<(), clewline_methods::unmodified::Error>(())
//! ```
//!
//! Only on Linux and x86-64; elsewhere everything here answers [`Error::Platform`].

mod assembly;
mod cargo;
mod compiler;
mod counted;
mod new_crate;
mod program;
mod runtime;
mod scratch;
mod toolchain;

use std::{fmt, io, path::PathBuf};

pub use assembly::{Cause, Unseen};
pub use cargo::{Built, Crate, Talk, TestId};
pub use compiler::{Compiler, Kind, Language};
pub use counted::{Asked, CENSUS_VARIABLE, answer, read_answer};
pub use new_crate::NewCrate;
pub use program::{BlindSpot, Program, Ran, Sources, Status};
pub use runtime::{COMMAND_VARIABLE, HEADER, Runtime};
pub use toolchain::{Instrumented, Toolchain};

/// What keeps a program from being built or run.
#[derive(Debug)]
pub enum Error {
    /// This is not Linux on x86-64.
    Platform,
    /// There is no compiler of that name, or of any name that was tried.
    NoCompiler {
        /// The names.
        tried: Vec<String>,
    },
    /// A compiler that can do nothing for us.
    UnfitCompiler {
        /// Its name.
        name: String,
        /// What it said.
        told: String,
    },
    /// The runtime is nowhere.
    NoRuntime {
        /// Where it was looked for.
        looked: Vec<PathBuf>,
    },
    /// Nothing to compile.
    NoSources,
    /// A file whose name does not say in which language it is.
    UnknownLanguage(PathBuf),
    /// The compiler refused a file.
    Compiling {
        /// The file.
        file: PathBuf,
        /// What the compiler said.
        told: String,
    },
    /// The program could not be put together.
    Linking {
        /// What the linker said.
        told: String,
    },
    /// `rustc` does not instrument.
    Toolchain {
        /// What it said.
        told: String,
    },
    /// `cargo` did not build the tests.
    Building {
        /// What it said, or where.
        told: String,
    },
    /// The program ended in a way that no exploration ends.
    Killed {
        /// How.
        how: String,
    },
    /// Something could not be read, written or started.
    Io {
        /// What.
        what: String,
        /// Why.
        error: io::Error,
    },
}

impl Error {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |error| Error::Io { what, error }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Platform => write!(
                f,
                "unmodified programs are explored on Linux and x86-64 only; here, `clewline explore` and `clewline stress` work"
            ),
            Error::NoCompiler { tried } => {
                write!(
                    f,
                    "no compiler: found none of {}; install gcc or clang, or name one with --compiler",
                    tried.join(", ")
                )
            }
            Error::UnfitCompiler { name, told } => {
                write!(f, "{name}: expected gcc or clang with -fsanitize=thread; it says: {}", told.trim())
            }
            Error::NoRuntime { looked } => {
                let looked: Vec<String> = looked.iter().map(|it| it.display().to_string()).collect();
                write!(
                    f,
                    "no runtime: expected {} at {}; build it with `cargo build --release -p clewline-tsan`, or name it with the \
                     environment variable {}",
                    runtime::FILE,
                    looked.join(" or "),
                    runtime::VARIABLE
                )
            }
            Error::NoSources => write!(
                f,
                "nothing to compile: expected at least one file that ends with .c, .cc, .cpp or .cxx"
            ),
            Error::UnknownLanguage(file) => {
                write!(
                    f,
                    "{}: expected a name that ends with .c, .cc, .cpp, .cxx, .o, .a or .so",
                    file.display()
                )
            }
            Error::Compiling { file, told } => {
                write!(f, "{} does not compile\n{}", file.display(), told.trim_end())
            }
            Error::Linking { told } => write!(f, "the program cannot be linked\n{}", told.trim_end()),
            Error::Toolchain { told } => write!(
                f,
                "this rustc does not instrument code (stable 1.85 and later were seen to); it says: {}",
                told.trim()
            ),
            Error::Building { told } => write!(f, "cargo did not build the tests\n{}", told.trim_end()),
            Error::Killed { how } => write!(f, "the program ended without a verdict: {how}"),
            Error::Io { what, error } => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for Error {}

/// Whether programs can be explored here.
///
/// # Errors
///
/// [`Error::Platform`] if not.
pub fn check_platform() -> Result<(), Error> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) { Ok(()) } else { Err(Error::Platform) }
}

#[cfg(test)]
mod tests;
