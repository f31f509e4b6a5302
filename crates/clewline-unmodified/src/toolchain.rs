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
}

// The attributes are there from the start, so that the optimizer adds no reads where the source has
// none: they would be races. The pass for ThreadSanitizer leaves out accesses of other sizes than
// 1, 2, 4, 8 and 16 bytes, which the optimizer makes of copies of small arrays and of padding. That
// for AddressSanitizer knows all sizes: of it, only the calls before accesses are wanted.
const FLAGS: [&str; 12] = [
    "-Cpasses=forceattrs",
    "-Cpasses=tsan",
    "-Cpasses=asan",
    "-Cllvm-args=-force-attribute=sanitize_thread",
    "-Cllvm-args=-force-attribute=sanitize_address",
    "-Cllvm-args=-asan-instrumentation-with-call-threshold=0",
    "-Cllvm-args=-asan-memory-access-callback-prefix=__clewline_",
    "-Cllvm-args=-asan-constructor-kind=none",
    "-Cllvm-args=-asan-globals=0",
    "-Cllvm-args=-asan-stack=0",
    // One call for each access.
    "-Cllvm-args=-asan-opt=0",
    "-Cllvm-args=-asan-instrument-atomics=0",
];

const PROBE: &str = "\
use std::sync::atomic::{AtomicU64, Ordering};
#[unsafe(no_mangle)] pub fn atomic(at: &AtomicU64) -> u64 { at.fetch_add(1, Ordering::AcqRel) }
#[unsafe(no_mangle)] pub fn plain(at: &mut u64) -> u64 { *at += 1; *at }
#[unsafe(no_mangle)] pub fn odd(at: &[u8; 3]) -> [u8; 3] { *at }
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
        let mut command = Command::new(&rustc);
        command.args(["--edition=2024", "--crate-type=lib", "--emit=obj", "-Copt-level=1"]);
        command.args(["--target", TARGET]).args(FLAGS).arg(&source).arg("-o").arg(&object);
        let output = output(&mut command).map_err(ProgramError::io(rustc.to_string_lossy()))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(ProgramError::Toolchain { message });
        }
        let bytes = fs::read(&object).map_err(ProgramError::io(object.display().to_string()))?;
        if let Some(missing) = missing_call(&bytes) {
            let message = format!("`{}` is taken, and makes no call of `{missing}`", FLAGS.join(" "));
            return Err(ProgramError::Toolchain { message });
        }
        Ok(Toolchain { rustc })
    }

    /// The compiler.
    #[must_use]
    pub fn rustc(&self) -> PathBuf {
        self.rustc.clone().into()
    }

    /// The flags of `rustc` that instrument code and link it with the runtime.
    #[must_use]
    pub fn flags(&self, runtime: &Runtime) -> Vec<OsString> {
        let mut flags: Vec<OsString> = FLAGS.iter().map(OsString::from).collect();
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
        // Functions of the standard library are called through pointers, which can be changed.
        flags.push("-Clink-arg=-Wl,--no-relax".into());
        // Restoring data would undo late binding.
        flags.push("-Clink-arg=-Wl,-z,now".into());
        // A vector would be one access of several elements.
        flags.extend(["-Cno-vectorize-loops".into(), "-Cno-vectorize-slp".into()]);
        flags
    }
}

/// The first of the expected calls that object code does not make.
fn missing_call(object: &[u8]) -> Option<&'static str> {
    const EXPECTED: [&str; 3] = ["__tsan_atomic64_fetch_add", "__tsan_write8", "__clewline_loadN"];
    let has = |name: &str| object.windows(name.len()).any(|it| it == name.as_bytes());
    EXPECTED.into_iter().find(|it| !has(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_calls_nothing_is_not_instrumented() {
        assert_eq!(missing_call(b"..__tsan_atomic64_fetch_add..__tsan_write8..__clewline_loadN"), None);
        assert_eq!(missing_call(b"..__tsan_atomic64_fetch_add..__tsan_write8.."), Some("__clewline_loadN"));
        assert_eq!(missing_call(b"..__tsan_atomic64_fetch_add.."), Some("__tsan_write8"));
        assert_eq!(missing_call(b"..core::sync::atomic.."), Some("__tsan_atomic64_fetch_add"));
    }
}
