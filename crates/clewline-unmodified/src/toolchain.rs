//! Rust toolchains: the flags with which `rustc` instruments accesses.
//!
//! The flags are not a stable interface of the compiler, so they are tested on a few lines, and the
//! output is inspected.

use std::{ffi::OsString, fs, path::PathBuf, process::Command};

use super::{
    children::output,
    error::{ProgramError, check_platform},
    runtime::Runtime,
    scratch::Scratch,
};

/// A `rustc` that instruments.
#[derive(Clone, Debug)]
pub struct Toolchain {
    rustc: OsString,
    instrumentation: Instrumentation,
    flags: Vec<&'static str>,
}

/// Which accesses are instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instrumentation {
    /// Atomics, and plain reads and writes.
    Everything,
    /// Only atomics: races of plain accesses, and uses after free, are detected only near atomics.
    Atomics,
}

/// The best first.
// The attribute is there from the start, so that the optimizer adds no reads where the source has
// none: they would be races.
const FLAGS_BY_INSTRUMENTATION: [(Instrumentation, &[&str]); 2] = [
    (
        Instrumentation::Everything,
        &["-Cpasses=forceattrs", "-Cpasses=tsan", "-Cllvm-args=-force-attribute=sanitize_thread"],
    ),
    (Instrumentation::Atomics, &["-Cpasses=tsan"]),
];

const PROBE: &str = "\
use std::sync::atomic::{AtomicU64, Ordering};
#[unsafe(no_mangle)] pub fn atomic(at: &AtomicU64) -> u64 { at.fetch_add(1, Ordering::AcqRel) }
#[unsafe(no_mangle)] pub fn plain(at: &mut u64) -> u64 { *at += 1; *at }
";

/// Build scripts and procedural macros run here as well, and must not be instrumented: an explicit
/// target separates them.
pub(super) const TARGET: &str = "x86_64-unknown-linux-gnu";

impl Toolchain {
    /// The one that `cargo` uses: the value of the environment variable `RUSTC`, or `rustc`.
    ///
    /// # Errors
    ///
    /// If this is the wrong platform, there is none, or it does not instrument.
    pub fn find() -> Result<Toolchain, ProgramError> {
        check_platform()?;
        let rustc = std::env::var_os("RUSTC").filter(|it| !it.is_empty()).unwrap_or_else(|| "rustc".into());
        let scratch = Scratch::new()?;
        let source = scratch.write("probe.rs", PROBE)?;
        let object = scratch.path().join("probe.o");
        let mut message = String::new();
        for (instrumented, flags) in FLAGS_BY_INSTRUMENTATION {
            let mut command = Command::new(&rustc);
            command.args(["--edition=2024", "--crate-type=lib", "--emit=obj", "--target", TARGET]);
            command.args(flags).arg(&source).arg("-o").arg(&object);
            let output = output(&mut command).map_err(ProgramError::io(rustc.to_string_lossy()))?;
            if !output.status.success() {
                message = String::from_utf8_lossy(&output.stderr).into_owned();
                continue;
            }
            let bytes = fs::read(&object).map_err(ProgramError::io(object.display().to_string()))?;
            if calls(&bytes, instrumented) {
                return Ok(Toolchain { rustc, instrumentation: instrumented, flags: flags.to_vec() });
            }
            message = format!("`{}` is taken, and changes nothing", flags.join(" "));
        }
        Err(ProgramError::Toolchain { message })
    }

    /// Which accesses it instruments.
    #[must_use]
    pub fn instrumentation(&self) -> Instrumentation {
        self.instrumentation
    }

    /// The compiler.
    #[must_use]
    pub fn rustc(&self) -> PathBuf {
        self.rustc.clone().into()
    }

    /// The flags of `rustc` that instrument code and link it with the runtime.
    #[must_use]
    pub fn flags(&self, runtime: &Runtime) -> Vec<OsString> {
        let mut flags: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        let folder = runtime.folder().as_os_str();
        let with = |before: &str, after: &str| {
            let mut flag = OsString::from(before);
            flag.push(folder);
            flag.push(after);
            flag
        };
        flags.push(with("-Lnative=", ""));
        flags.push("-ldylib=clewline_tsan".into());
        // Takes precedence over the environment: under Cargo that may lead to an older runtime.
        flags.push(with("-Clink-arg=-Wl,-rpath,", ",--disable-new-dtags"));
        // Restoring data would undo late binding.
        flags.push("-Clink-arg=-Wl,-z,now".into());
        // Vectors of more than 16 bytes are not instrumented.
        flags.extend(["-Cno-vectorize-loops".into(), "-Cno-vectorize-slp".into()]);
        flags
    }
}

/// Whether object code makes the expected calls.
fn calls(object: &[u8], wanted: Instrumentation) -> bool {
    let has = |name: &[u8]| object.windows(name.len()).any(|it| it == name);
    let atomics = has(b"__tsan_atomic64_fetch_add");
    match wanted {
        Instrumentation::Everything => atomics && has(b"__tsan_write8"),
        Instrumentation::Atomics => atomics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_calls_nothing_is_not_instrumented() {
        let all = b"..__tsan_atomic64_fetch_add..__tsan_write8..";
        assert!(calls(all, Instrumentation::Everything) && calls(all, Instrumentation::Atomics));
        let atomics = b"..__tsan_atomic64_fetch_add..";
        assert!(!calls(atomics, Instrumentation::Everything) && calls(atomics, Instrumentation::Atomics));
        assert!(!calls(b"..core::sync::atomic..", Instrumentation::Atomics));
    }
}
