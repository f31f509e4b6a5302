//! What keeps a program from being built or run.

use std::{fmt, io, path::PathBuf};

/// What keeps a program from being built or run.
#[derive(Debug)]
#[non_exhaustive]
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
        message: String,
    },
    /// The runtime is nowhere.
    NoRuntime {
        /// Where it was looked for.
        searched: Vec<PathBuf>,
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
        message: String,
    },
    /// The program could not be put together.
    Linking {
        /// What the linker said.
        message: String,
    },
    /// `rustc` does not instrument.
    Toolchain {
        /// What it said.
        message: String,
    },
    /// `cargo` did not build the tests.
    Building {
        /// What it said, or where.
        message: String,
    },
    /// The program cannot be explored, or not any further, and has said why.
    GaveUp {
        /// What that means for a verdict.
        why: GaveUp,
        /// What it said, if that was kept.
        message: String,
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

/// What it means for a verdict that a program was not explored any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// It could not do what it was asked to.
    Failed,
    /// It could, and does not come to an end: the verdict is unknown.
    Unknown,
}

impl Error {
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
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
            Error::UnfitCompiler { name, message } => {
                write!(f, "{name}: expected gcc or clang with -fsanitize=thread; it says: {}", message.trim())
            }
            Error::NoRuntime { searched: looked } => {
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
            Error::Compiling { file, message } => {
                write!(f, "{} does not compile\n{}", file.display(), message.trim_end())
            }
            Error::Linking { message } => write!(f, "the program cannot be linked\n{}", message.trim_end()),
            Error::Toolchain { message } => write!(
                f,
                "this rustc does not instrument code (stable 1.85 and later were seen to); it says: {}",
                message.trim()
            ),
            Error::Building { message } => write!(f, "cargo did not build the tests\n{}", message.trim_end()),
            Error::GaveUp { message, .. } if message.is_empty() => f.write_str("the program gave up"),
            Error::GaveUp { message, .. } => f.write_str(message.trim_end()),
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

/// The file that Cargo makes of the crate.
pub(super) const RUNTIME_FILE: &str = "libclewline_tsan.so";

/// Says where the runtime is, or the folder that it is in.
pub(super) const RUNTIME_VARIABLE: &str = "CLEWLINE_RUNTIME";
