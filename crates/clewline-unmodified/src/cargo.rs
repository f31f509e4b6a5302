//! Tests of a Rust crate: built with instrumentation by `cargo`, listed, and run in one process
//! each.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use clewline_remote::RunOptions;
use serde_json::Value as Json;

use super::{
    assembly::{self, UnseenInstruction},
    blind_spots::{BlindSpot, BlindSpots},
    children::{output, output_of},
    doc_tests::has_doc_tests,
    elf,
    error::ProgramError,
    native,
    runtime::Runtime,
    session::{OutputMode, RunningProgram, StartOptions, set_argv0},
    toolchain::{TARGET, Toolchain},
};

/// A crate, or a workspace.
#[derive(Clone, Debug)]
pub struct Crate {
    /// The folder with its manifest.
    pub folder: PathBuf,
    /// Additional arguments of `cargo test`: `-p`, `--features`, `--test` and similar ones.
    pub arguments: Vec<OsString>,
    /// Where the output of `cargo` goes.
    pub output: OutputMode,
}

/// Built tests.
#[derive(Clone, Debug)]
pub struct BuiltTests {
    executables: Vec<Executable>,
    unseen: Vec<BlindSpot>,
    documented: Vec<String>,
}

#[derive(Clone, Debug)]
struct Executable {
    path: PathBuf,
    /// The options of `cargo test` that select it: `-p bank --lib`.
    selection: String,
    /// The working directory in which `cargo test` runs it: the folder of its package.
    folder: PathBuf,
    blind_spots: BlindSpots,
    fingerprint: u64,
}

/// One test.
#[derive(Clone, Debug)]
pub struct TestId {
    /// Its path in the crate: `tests::two_senders`.
    pub name: String,
    /// The options of `cargo test` that select its executable, if there are several: `-p bank
    /// --lib`.
    pub selection: Option<String>,
    /// Whether it has the attribute by which it is run only on request.
    pub is_ignored: bool,
    executable: PathBuf,
    folder: PathBuf,
    blind_spots: BlindSpots,
    fingerprint: u64,
}

/// What the executables of a crate list.
#[derive(Clone, Debug, Default)]
pub struct ListedTests {
    /// Their tests, in their order.
    pub tests: Vec<TestId>,
    /// Executables that list no tests, since they have a harness of their own.
    pub unlisted: Vec<PathBuf>,
}

impl Crate {
    /// Builds only its own tests, with their dependencies, in `target/clewline/build`.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub fn build(&self, toolchain: &Toolchain, runtime: &Runtime) -> Result<BuiltTests, ProgramError> {
        self.build_in(&self.target(), toolchain, runtime)
    }

    /// The same, in another folder.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub fn build_in(
        &self,
        target: &Path,
        toolchain: &Toolchain,
        runtime: &Runtime,
    ) -> Result<BuiltTests, ProgramError> {
        let mut command = Command::new(cargo());
        command.current_dir(&self.folder).args(["test", "--no-run", "--target", TARGET]);
        let mut flags = toolchain.flags(runtime);
        flags.push(EMIT_ASSEMBLY_FLAG.into());
        add_flags(&mut command, &self.folder, &flags);
        command.arg("--message-format=json-render-diagnostics").args(&self.arguments);
        // Functions of the standard library are inlined, so that lines are those of their callers.
        command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_TEST_OPT_LEVEL", "1");
        // Instrumented code must not be mixed with other code.
        command.env("CARGO_TARGET_DIR", target);
        command.stdout(Stdio::piped());
        command.stderr(match self.output {
            OutputMode::Captured => Stdio::piped(),
            OutputMode::Inherited => Stdio::inherit(),
        });
        let output = output_of(&mut command).map_err(ProgramError::io("cargo"))?;
        if !output.status.success() {
            return Err(ProgramError::Building {
                message: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let mut executables = executables(&messages);
        let unseen = unseen_in(&messages, &mut executables)?;
        Ok(BuiltTests { executables, unseen, documented: documented(&messages) })
    }

    fn target(&self) -> PathBuf {
        let folder = std::env::var_os("CARGO_TARGET_DIR").filter(|it| !it.is_empty()).map(PathBuf::from);
        folder.unwrap_or_else(|| self.folder.join("target")).join("clewline").join("build")
    }
}

/// Keeps the assembly beside the object files.
const EMIT_ASSEMBLY_FLAG: &str = "--emit=asm";

fn cargo() -> OsString {
    std::env::var_os("CARGO").filter(|it| !it.is_empty()).unwrap_or_else(|| "cargo".into())
}

/// Adds flags of the compiler to those of the user. Cargo takes the user's from the environment, or
/// else from its configuration: of the target, or else of the build.
fn add_flags(command: &mut Command, folder: &Path, flags: &[OsString]) {
    let environment = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
    let encoded = environment("CARGO_ENCODED_RUSTFLAGS");
    let encoded = encoded.map(|it| it.split(SEPARATOR).map(OsString::from).collect::<Vec<_>>());
    let plain = || environment("RUSTFLAGS").map(|it| words(&it));
    match encoded.or_else(plain) {
        Some(mut all) => {
            all.extend(flags.iter().cloned());
            command.env("CARGO_ENCODED_RUSTFLAGS", all.join(OsStr::new(SEPARATOR)));
        }
        None => {
            // Cargo joins this with what its configuration has for the target; flags of the build
            // count only if a target has none.
            let all = flags_of_build(folder).into_iter().chain(flags.iter().cloned());
            let all: Vec<String> = all.map(|it| it.to_string_lossy().into_owned()).collect();
            command.arg("--config").arg(format!("target.{TARGET}.rustflags={}", Json::from(all)));
        }
    }
}

// Between encoded flags, which may contain spaces.
const SEPARATOR: &str = "\u{1f}";

fn words(flags: &str) -> Vec<OsString> {
    flags.split_whitespace().map(OsString::from).collect()
}

/// The flags that Cargo's configuration has in `build.rustflags`, as it is for this folder.
fn flags_of_build(folder: &Path) -> Vec<OsString> {
    let mut command = Command::new(cargo());
    command.current_dir(folder).args(["-Zunstable-options", "config", "get", "--format", "json-value"]);
    // The command is not stable.
    command.arg("build.rustflags").env("RUSTC_BOOTSTRAP", "1");
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(output) = output_of(&mut command) else { return Vec::new() };
    match serde_json::from_slice(&output.stdout) {
        Ok(Json::Array(flags)) => flags.iter().filter_map(Json::as_str).map(OsString::from).collect(),
        Ok(Json::String(flags)) => words(&flags),
        // It has none.
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// The tests among the artifacts that `cargo` reports, one JSON object per line.
fn executables(messages: &str) -> Vec<Executable> {
    let of = |line: &str| {
        let message: Json = serde_json::from_str(line).ok()?;
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let path = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
        let manifest = Path::new(message["manifest_path"].as_str()?);
        let selection = selection(&message);
        let folder = manifest.parent()?.to_owned();
        Some(Executable { path, selection, folder, blind_spots: BlindSpots::default(), fingerprint: 0 })
    };
    messages.lines().filter_map(of).collect()
}

/// The libraries among the tests that Cargo built whose doc tests it would run besides.
fn documented(messages: &str) -> Vec<String> {
    let of = |line: &str| {
        let message: Json = serde_json::from_str(line).ok()?;
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let target = Some(&message["target"]).filter(|it| is_test && it["doctest"] == true)?;
        let folder = Path::new(target["src_path"].as_str()?).parent()?;
        has_doc_tests(folder).then(|| target["name"].as_str().unwrap_or_default().to_owned())
    };
    messages.lines().filter_map(of).collect()
}

/// `-p bank --test transfers`, for an artifact.
fn selection(message: &Json) -> String {
    // `path+file:///home/me/bank#0.1.0`, or `…#bank@0.1.0`.
    let id = message["package_id"].as_str().unwrap_or_default();
    let (place, version) = id.split_once('#').unwrap_or((id, ""));
    let package = version.split_once('@').map_or(place.rsplit('/').next().unwrap_or_default(), |it| it.0);
    let (kind, name) =
        (&message["target"]["kind"][0], message["target"]["name"].as_str().unwrap_or_default());
    let target = match kind.as_str() {
        Some(kind @ ("test" | "bin" | "example" | "bench")) => format!("--{kind} {name}"),
        Some(_) | None => "--lib".to_owned(),
    };
    format!("-p {package} {target}")
}

/// The unseen instructions of the crates that `cargo` built, as far as they are linked into the
/// tests. Each executable gets its own.
fn unseen_in(messages: &str, executables: &mut [Executable]) -> Result<Vec<BlindSpot>, ProgramError> {
    let mut found = native::functions(messages);
    for (folder, start) in artifacts(messages) {
        let Ok(files) = fs::read_dir(&folder) else { continue };
        for file in files.filter_map(Result::ok) {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.starts_with(&start) && name.ends_with(".s") {
                let text = fs::read(file.path()).map_err(ProgramError::io(name))?;
                let read = assembly::read(&String::from_utf8_lossy(&text));
                found.extend(read.unseen.into_iter().chain(read.parts));
                found.extend(read.fences.into_iter().map(|it| it.instruction));
            }
        }
    }
    // Most of a crate is not linked into a test that uses it.
    let mut linked = BTreeSet::new();
    for executable in executables.iter_mut() {
        let bytes =
            fs::read(&executable.path).map_err(ProgramError::io(executable.path.display().to_string()))?;
        let functions = elf::functions(&bytes);
        let is_linked = |it: &&UnseenInstruction| functions.contains_key(it.symbol.as_str());
        let own: Vec<UnseenInstruction> = found.iter().filter(is_linked).cloned().collect();
        linked.extend(own.iter().cloned());
        let own = own.into_iter().map(BlindSpot::Instruction).collect();
        executable.blind_spots = BlindSpots::new(own, &bytes);
        executable.fingerprint = elf::fingerprint(&bytes);
    }
    Ok(linked.into_iter().map(BlindSpot::Instruction).collect())
}

/// The built artifacts, as folders and file name prefixes: `deps` and `flume-0123.`.
fn artifacts(messages: &str) -> BTreeSet<(PathBuf, String)> {
    let of = |line: &str| {
        let message: Json =
            serde_json::from_str(line).ok().filter(|it: &Json| it["reason"] == "compiler-artifact")?;
        let files = message["filenames"].as_array()?.iter().filter_map(Json::as_str).map(PathBuf::from);
        let start = |it: PathBuf| {
            let stem = it.file_stem()?.to_string_lossy().into_owned();
            let stem = if it.extension().is_some() { stem.strip_prefix("lib")?.to_owned() } else { stem };
            Some((it.parent()?.to_owned(), format!("{stem}.")))
        };
        Some(files.filter_map(start).collect::<Vec<_>>())
    };
    messages.lines().filter_map(of).flatten().collect()
}

impl BuiltTests {
    /// The unseen instructions in its tests.
    #[must_use]
    pub fn blind_spots(&self) -> &[BlindSpot] {
        &self.unseen
    }

    /// The libraries that have doc tests, which are not built.
    #[must_use]
    pub fn documented(&self) -> &[String] {
        &self.documented
    }

    /// All tests whose names contain `filter`, in their order.
    ///
    /// # Errors
    ///
    /// If an executable cannot be run.
    pub fn tests(&self, filter: Option<&str>) -> Result<ListedTests, ProgramError> {
        let mut found = ListedTests::default();
        for executable in &self.executables {
            let Some(all) = executable.listed(&[])? else {
                found.unlisted.push(executable.path.clone());
                continue;
            };
            let ignored: BTreeSet<String> =
                executable.listed(&["--ignored"])?.into_iter().flatten().collect();
            found.tests.extend(all.into_iter().map(|name| TestId {
                is_ignored: ignored.contains(&name),
                name,
                selection: (1 < self.executables.len()).then(|| executable.selection.clone()),
                executable: executable.path.clone(),
                folder: executable.folder.clone(),
                blind_spots: executable.blind_spots.clone(),
                fingerprint: executable.fingerprint,
            }));
        }
        found.tests.retain(|it| filter.is_none_or(|filter| it.name.contains(filter)));
        Ok(found)
    }
}

impl Executable {
    /// The names of its tests; `None` if it does not list them.
    fn listed(&self, more: &[&str]) -> Result<Option<Vec<String>>, ProgramError> {
        let mut command = Command::new(&self.path);
        command.arg("--list").args(more).current_dir(&self.folder).stdin(Stdio::null());
        let output = output(&mut command).map_err(ProgramError::io(self.path.display().to_string()))?;
        let listed = output.status.success().then(|| names(&String::from_utf8_lossy(&output.stdout)));
        Ok(listed.flatten())
    }
}

/// The names in the output of `--list`: lines that end with `: test`, before the last, which counts
/// them. `None` if nothing is counted.
fn names(listed: &str) -> Option<Vec<String>> {
    let counts = listed.trim_end().lines().last()?;
    let is_count = counts.ends_with(" benchmarks") || counts.ends_with(" benchmark");
    let names = listed.lines().filter_map(|it| it.strip_suffix(": test")).map(str::to_owned);
    is_count.then(|| names.collect())
}

impl TestId {
    /// Starts it in its own process, with these run options.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or ends immediately.
    pub fn start(
        &self,
        wanted: &RunOptions,
        options: impl Into<StartOptions>,
    ) -> Result<RunningProgram, ProgramError> {
        let mut command = Command::new(&self.executable);
        // The only thread that runs the test is the first thread of the process. Panic messages go
        // to the runtime.
        let arguments = [self.name.as_str(), "--exact", "--test-threads=1", "--nocapture"];
        command.args(arguments).current_dir(&self.folder);
        if self.is_ignored {
            command.arg("--include-ignored");
        }
        // The report shows the place of a panic. A backtrace would search the runtime's symbols
        // each time.
        command.env("RUST_BACKTRACE", "0");
        // The test harness would read the terminal database in each execution.
        command.env_remove("TERM");
        set_argv0(&mut command, OsStr::new(&self.name));
        let wanted = RunOptions { watched: self.blind_spots.watched(), ..wanted.clone() };
        RunningProgram::start(command, &wanted, options.into())
    }

    /// A hash of the code and data of its executable.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The program that contains it.
    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// The parts of its executable that are not observed.
    #[must_use]
    pub fn blind_spots(&self) -> &BlindSpots {
        &self.blind_spots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn tests_are_found_among_what_cargo_builds() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","package_id":"path+file:///a#bank@0.1.0","target":{"kind":["test"],"name":"it"},"#,
            r#""manifest_path":"/a/Cargo.toml","profile":{"test":true},"executable":"/t/a-1"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","profile":{"test":false},"executable":"/t/bin"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/b/Cargo.toml","profile":{"test":true},"executable":null}"#,
            "\nnot JSON\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let found = executables(messages);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].selection, "-p bank --test it");
        assert_eq!(
            (found[0].path.as_path(), found[0].folder.as_path()),
            (Path::new("/t/a-1"), Path::new("/a"))
        );
    }

    #[test]
    fn artifacts_are_identified_by_their_files() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","filenames":["/t/deps/libflume-01.rlib","/t/deps/libflume-01.rmeta"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","filenames":["/t/deps/a-02"],"executable":"/t/deps/a-02"}"#,
            "\n",
            r#"{"reason":"build-script-executed","filenames":["/t/deps/libno-03.rlib"]}"#,
        );
        let deps = PathBuf::from("/t/deps");
        let expected = [(deps.clone(), "a-02.".to_owned()), (deps, "flume-01.".to_owned())];
        assert_eq!(artifacts(messages), BTreeSet::from(expected));
    }

    #[test]
    fn libraries_with_doc_tests_are_named() {
        let scratch = Scratch::new().unwrap();
        let source = scratch.path().join("lib.rs");
        let message = |kind: &str, doctest: bool| {
            let target =
                serde_json::json!({"kind": [kind], "name": "bank", "src_path": source, "doctest": doctest});
            serde_json::json!({"reason": "compiler-artifact", "profile": {"test": true}, "target": target})
                .to_string()
        };
        fs::write(&source, "/// A bank.\npub struct Bank;\n").unwrap();
        assert_eq!(documented(&message("lib", true)), [""; 0]);
        fs::write(&source, "/// ```\n/// bank::Bank;\n/// ```\npub struct Bank;\n").unwrap();
        assert_eq!(documented(&message("lib", true)), ["bank"]);
        assert_eq!(documented(&message("test", false)), [""; 0]);
    }

    #[test]
    fn flags_of_the_configuration_are_kept() {
        let scratch = Scratch::new().unwrap();
        let folder = scratch.path().join(".cargo");
        fs::create_dir(&folder).unwrap();
        let flags = |text: &str| {
            fs::write(folder.join("config.toml"), text).unwrap();
            flags_of_build(scratch.path())
        };
        assert_eq!(flags("[build]\nrustflags = [\"--cfg\", \"a b\"]\n"), ["--cfg", "a b"]);
        assert_eq!(flags("[build]\nrustflags = \"--cfg a\"\n"), ["--cfg", "a"]);
        assert_eq!(flags("[term]\nquiet = true\n"), [""; 0]);
    }

    #[test]
    fn benchmarks_are_not_tests() {
        let listed = "tests::one: test\ntests::two: benchmark\n\n1 test, 1 benchmark\n";
        assert_eq!(names(listed), Some(vec!["tests::one".to_owned()]));
        assert_eq!(names("0 tests, 0 benchmarks\n"), Some(Vec::new()));
    }

    #[test]
    fn a_harness_of_its_own_lists_nothing() {
        assert_eq!([names(""), names("hello\n"), names("running one: test\n")], [None, None, None]);
    }
}
