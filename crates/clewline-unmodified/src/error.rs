//! Errors in building or running a program.

use std::{fmt, io, path::PathBuf};

/// Errors in building or running a program.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProgramError {
    /// This is not Linux on x86-64.
    Platform,
    /// There is no compiler of that name, or of any name that was tried.
    NoCompiler {
        /// The names.
        tried: Vec<String>,
    },
    /// A compiler that cannot instrument.
    UnfitCompiler {
        /// Its name.
        name: String,
        /// Its message.
        message: String,
    },
    /// The runtime was not found.
    NoRuntime {
        /// The searched places.
        searched: Vec<PathBuf>,
    },
    /// Nothing to compile.
    NoSources,
    /// A file whose name does not determine its language.
    UnknownLanguage(PathBuf),
    /// The compiler refused a file.
    Compiling {
        /// The file.
        file: PathBuf,
        /// The compiler's message.
        message: String,
    },
    /// The program could not be linked.
    Linking {
        /// The linker's message.
        message: String,
    },
    /// `rustc` does not instrument.
    Toolchain {
        /// Its message.
        message: String,
    },
    /// `cargo` did not build the tests.
    Building {
        /// Its message, or where it failed.
        message: String,
    },
    /// The program cannot be explored, or not any further, and has reported why.
    GaveUp {
        /// The consequence for the verdict.
        why: GaveUp,
        /// Its message, if captured.
        message: String,
    },
    /// The program did not begin its `main` in time.
    Late,
    /// The program ended unexpectedly.
    Killed {
        /// How.
        how: String,
    },
    /// The compiler refused a command, and has printed why.
    Refused,
    /// A program that was linked with TSan's own runtime.
    OtherRuntime(PathBuf),
    /// Something could not be read, written or started.
    Io {
        /// What.
        what: String,
        /// Why.
        error: io::Error,
    },
}

/// The consequence for the verdict if a program was not explored any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// It could not do what was requested.
    Failed,
    /// It could, and does not terminate: the verdict is unknown.
    Unknown,
}

impl ProgramError {
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> ProgramError {
        let what = what.into();
        move |error| ProgramError::Io { what, error }
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::Platform => write!(
                f,
                "unmodified programs are explored on Linux and x86-64 only; here, `clewline explore` and `clewline stress` work"
            ),
            ProgramError::NoCompiler { tried } => {
                write!(
                    f,
                    "no compiler: found none of {}; install gcc or clang, or name one with --compiler",
                    tried.join(", ")
                )
            }
            ProgramError::UnfitCompiler { name, message } => {
                write!(f, "{name}: expected gcc or clang with -fsanitize=thread; it says: {}", message.trim())
            }
            ProgramError::NoRuntime { searched: looked } => {
                let looked: Vec<String> = looked.iter().map(|it| it.display().to_string()).collect();
                write!(
                    f,
                    "no runtime: expected {} at {}; build it with `cargo build --release -p clewline-tsan`, or name it with the \
                     environment variable {}",
                    RUNTIME_FILE,
                    looked.join(" or "),
                    RUNTIME_VARIABLE
                )
            }
            ProgramError::NoSources => write!(
                f,
                "nothing to compile: expected at least one file that ends with .c, .cc, .cpp or .cxx"
            ),
            ProgramError::UnknownLanguage(file) => {
                write!(
                    f,
                    "{}: expected a name that ends with .c, .cc, .cpp, .cxx, .o, .a or .so",
                    file.display()
                )
            }
            ProgramError::Compiling { file, message } => {
                write!(f, "{} does not compile\n{}", file.display(), message.trim_end())
            }
            ProgramError::Linking { message } => {
                write!(f, "the program cannot be linked\n{}", message.trim_end())
            }
            ProgramError::Toolchain { message } => write!(
                f,
                "this rustc does not instrument code (stable 1.85 and later were seen to); it says: {}",
                message.trim()
            ),
            ProgramError::Building { message } => {
                write!(f, "cargo did not build the tests\n{}", message.trim_end())
            }
            ProgramError::GaveUp { message, .. } if message.is_empty() => f.write_str("the program gave up"),
            ProgramError::GaveUp { message, .. } => f.write_str(message.trim_end()),
            ProgramError::Late => {
                f.write_str("time is up before main begins: it starts slowly, or a constructor does not end")
            }
            ProgramError::Killed { how } => write!(f, "the program ended without a verdict: {how}"),
            ProgramError::Refused => f.write_str("the compiler refused the command"),
            ProgramError::OtherRuntime(program) => write!(
                f,
                "{} contains the runtime of ThreadSanitizer, so it cannot be controlled: build it with `CC=\"clewline cc\"` in place \
                 of -fsanitize=thread, or link its object files with `clewline cc -o`",
                program.display()
            ),
            ProgramError::Io { what, error } => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for ProgramError {}

/// Whether programs can be explored here.
///
/// # Errors
///
/// [`ProgramError::Platform`] if not.
pub fn check_platform() -> Result<(), ProgramError> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) { Ok(()) } else { Err(ProgramError::Platform) }
}

/// The file that Cargo builds from the runtime crate.
pub(super) const RUNTIME_FILE: &str = "libclewline_tsan.so";

/// The environment variable with the path of the runtime, or of its folder.
pub(super) const RUNTIME_VARIABLE: &str = "CLEWLINE_RUNTIME";
