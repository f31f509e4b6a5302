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
        told: String,
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
    /// The program cannot be explored, or not any further, and has said why.
    GaveUp {
        /// What that means for a verdict.
        why: GaveUp,
        /// What it said, if that was kept.
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
            Error::UnfitCompiler { name, told } => {
                write!(f, "{name}: expected gcc or clang with -fsanitize=thread; it says: {}", told.trim())
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
            Error::GaveUp { told, .. } if told.is_empty() => f.write_str("the program gave up"),
            Error::GaveUp { told, .. } => f.write_str(told.trim_end()),
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
