//! Tests of a Rust crate: built with the instrumentation by `cargo`, listed, and run one process each.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value as Json;

use super::{
    COMMAND_VARIABLE, Error, Ran, Runtime, Toolchain, program::ran, runtime::BODY_VARIABLE, toolchain::TARGET,
};

/// A crate, or a workspace.
#[derive(Clone, Debug)]
pub struct Crate {
    /// The folder with its manifest.
    pub folder: PathBuf,
    /// What `cargo test` is told besides: `-p`, `--features`, `--test` and the like.
    pub arguments: Vec<OsString>,
    /// Where what `cargo` says while it builds goes.
    pub talk: Talk,
}

/// Where a child's talk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    /// Into the error, if there is one.
    Kept,
    /// To our standard error.
    Passed,
}

/// Tests that were built.
#[derive(Clone, Debug)]
pub struct Built {
    executables: Vec<Executable>,
}

#[derive(Clone, Debug)]
struct Executable {
    path: PathBuf,
    /// Where `cargo test` runs it: the folder of its package.
    folder: PathBuf,
}

/// One test.
#[derive(Clone, Debug)]
pub struct TestId {
    /// Its path in the crate: `tests::two_senders`.
    pub name: String,
    executable: PathBuf,
    folder: PathBuf,
}

impl Crate {
    /// Builds its tests, and those of nobody else, with what they depend on, in `target/clewline`.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub fn build(&self, toolchain: &Toolchain, runtime: &Runtime) -> Result<Built, Error> {
        self.build_in(&self.target(), toolchain, runtime)
    }

    /// The same, in another folder.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub fn build_in(&self, target: &Path, toolchain: &Toolchain, runtime: &Runtime) -> Result<Built, Error> {
        let mut command = Command::new(cargo());
        command.current_dir(&self.folder).args(["test", "--no-run", "--target", TARGET]);
        command.arg("--message-format=json-render-diagnostics").args(&self.arguments);
        command.env("CARGO_ENCODED_RUSTFLAGS", encoded(&toolchain.flags(runtime)));
        // Functions of the standard library are inlined, so that lines are those of whoever calls them.
        command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_TEST_OPT_LEVEL", "1");
        // What is instrumented must not be mixed up with what is not.
        command.env("CARGO_TARGET_DIR", target);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(match self.talk {
            Talk::Kept => Stdio::piped(),
            Talk::Passed => Stdio::inherit(),
        });
        let output =
            command.spawn().and_then(std::process::Child::wait_with_output).map_err(Error::io("cargo"))?;
        if !output.status.success() {
            return Err(Error::Building { told: String::from_utf8_lossy(&output.stderr).into_owned() });
        }
        Ok(Built { executables: executables(&String::from_utf8_lossy(&output.stdout)) })
    }

    fn target(&self) -> PathBuf {
        let folder = std::env::var_os("CARGO_TARGET_DIR").filter(|it| !it.is_empty()).map(PathBuf::from);
        folder.unwrap_or_else(|| self.folder.join("target")).join("clewline")
    }
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").filter(|it| !it.is_empty()).unwrap_or_else(|| "cargo".into())
}

/// Flags as `cargo` takes them where they may have blanks. Those of the user come first.
fn encoded(flags: &[OsString]) -> OsString {
    let own = std::env::var("RUSTFLAGS").unwrap_or_default();
    let own = own.split_whitespace().map(OsString::from);
    let all: Vec<OsString> = own.chain(flags.iter().cloned()).collect();
    all.join(OsStr::new("\u{1f}"))
}

/// The tests among what `cargo` says it built, one JSON object a line.
fn executables(messages: &str) -> Vec<Executable> {
    let of = |line: &str| {
        let message: Json = serde_json::from_str(line).ok()?;
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let path = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
        let manifest = Path::new(message["manifest_path"].as_str()?);
        Some(Executable { path, folder: manifest.parent()?.to_owned() })
    };
    messages.lines().filter_map(of).collect()
}

impl Built {
    /// All tests whose names contain `filter`, in their order.
    ///
    /// # Errors
    ///
    /// If an executable cannot be run.
    pub fn tests(&self, filter: Option<&str>) -> Result<Vec<TestId>, Error> {
        let mut tests = Vec::new();
        for executable in &self.executables {
            let shown = executable.path.display().to_string();
            let mut command = Command::new(&executable.path);
            command.args(["--list", "--format", "terse"]).current_dir(&executable.folder);
            let output = command.output().map_err(Error::io(shown.clone()))?;
            if !output.status.success() {
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(Error::Building { told: format!("{shown} does not list its tests: {told}") });
            }
            tests.extend(names(&String::from_utf8_lossy(&output.stdout)).map(|name| TestId {
                name: name.to_owned(),
                executable: executable.path.clone(),
                folder: executable.folder.clone(),
            }));
        }
        tests.retain(|it| filter.is_none_or(|filter| it.name.contains(filter)));
        Ok(tests)
    }
}

/// The names in what `--list` writes: lines that end with `: test`.
fn names(listed: &str) -> impl Iterator<Item = &str> {
    listed.lines().filter_map(|it| it.strip_suffix(": test"))
}

impl TestId {
    /// Explores it, in a process of its own; what that writes goes where ours goes. `arguments` are those of `clewline explore`.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or ends otherwise than an exploration does.
    pub fn run(&self, arguments: &[OsString], command: &str) -> Result<Ran, Error> {
        let status = self.command(arguments, command).status().map_err(Error::io(self.name.clone()))?;
        ran(status, String::new(), String::new())
    }

    /// The same, keeping what it writes.
    ///
    /// # Errors
    ///
    /// As [`TestId::run`].
    pub fn capture(&self, arguments: &[OsString], command: &str) -> Result<Ran, Error> {
        let output = self.command(arguments, command).output().map_err(Error::io(self.name.clone()))?;
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        ran(output.status, text(&output.stdout), text(&output.stderr))
    }

    fn command(&self, arguments: &[OsString], typed: &str) -> Command {
        let mut command = Command::new(&self.executable);
        // The one thread that runs the test is the process's first.
        command.args([self.name.as_str(), "--exact", "--test-threads=1"]).current_dir(&self.folder);
        command.env(COMMAND_VARIABLE, typed);
        command.env(BODY_VARIABLE, arguments.join(OsStr::new("\u{1f}")));
        // The report shows where it panics. A backtrace would look through the runtime's symbols each time.
        command.env("RUST_BACKTRACE", "0");
        call_it(&mut command, &self.name);
        command
    }
}

/// What a program is called is what it calls itself in reports.
#[cfg(unix)]
fn call_it(command: &mut Command, name: &str) {
    std::os::unix::process::CommandExt::arg0(command, name);
}

#[cfg(not(unix))]
fn call_it(_: &mut Command, _: &str) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_among_what_cargo_builds() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","profile":{"test":true},"executable":"/t/a-1"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","profile":{"test":false},"executable":"/t/bin"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/b/Cargo.toml","profile":{"test":true},"executable":null}"#,
            "\nnot JSON\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let found = executables(messages);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].path.as_path(), found[0].folder.as_path()),
            (Path::new("/t/a-1"), Path::new("/a"))
        );
    }

    #[test]
    fn benchmarks_are_not_tests() {
        let listed = "tests::one: test\ntests::two: benchmark\n\n2 tests, 1 benchmark\n";
        assert_eq!(names(listed).collect::<Vec<_>>(), ["tests::one"]);
    }
}
