//! The scripts that run a test binary, unless it passed before and nothing has changed.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// A repository with two crates, and the binary of a test of one of them.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Repository {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _not_there = fs::remove_dir_all(&root);
        let repository = Repository(root);
        for (file, text) in [
            ("README.md", "first"),
            (".gitignore", "/target\n"),
            ("crates/clewline-cli/src/lib.rs", "first"),
            ("crates/clewline-core/src/lib.rs", "first"),
            ("crates/clewline-check/src/lib.rs", "first"),
            ("target/debug/clewline", "first"),
            ("target/debug/ran", ""),
        ] {
            repository.write(file, text);
        }
        for (name, text) in [("unchanged", include_str!("../unchanged")), ("job", include_str!("../job"))] {
            let script = repository.write(&format!("crates/clewline-testing/{name}"), text);
            fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for args in [
            &["init", "--quiet"][..],
            &["add", "."],
            &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "First"],
        ] {
            assert!(Command::new("git").arg("-C").arg(&repository.0).args(args).status().unwrap().success());
        }
        repository.binary("it", "exit 0");
        repository
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The binary of a test: it writes a line, and then ends as `end` says.
    fn binary(&self, name: &str, end: &str) {
        let ran = self.0.join("target/debug/ran");
        let known = "${RUNNER-none} ${RUSTC_WORKSPACE_WRAPPER-none} ${CLIPPY_ARGS-none}";
        let text = format!("#!/bin/sh\necho \"{known}\" >> '{}'\n{end}\n", ran.display());
        let path = self.write(&format!("target/debug/deps/{name}"), &text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// How often a binary has run.
    fn runs(&self) -> usize {
        fs::read_to_string(self.0.join("target/debug/ran")).unwrap().lines().count()
    }

    /// The script, called for the binary as a test of `name`.
    fn script(&self, name: &str, binary: &str) -> Command {
        let mut command = Command::new(self.0.join("crates/clewline-testing/unchanged"));
        command
            .arg(self.0.join("target/debug/deps").join(binary))
            .env("CLEWLINE_RUNNER", "RUNNER")
            .env("RUNNER", "this script")
            .envs([("RUSTC_WORKSPACE_WRAPPER", "driver"), ("CLIPPY_ARGS", "given")])
            .env("CARGO_MANIFEST_DIR", self.0.join("crates").join(name))
            // `./test --again` sets it.
            .env_remove("CLEWLINE_AGAIN");
        command
    }

    /// The exit code of the script for the binary as a test of `name`, and whether the binary ran.
    fn run(&self, name: &str, binary: &str, more: &[(&str, &str)]) -> (Option<i32>, bool) {
        let before = self.runs();
        let done = self.script(name, binary).envs(more.iter().copied()).output().unwrap();
        let has_run = before < self.runs();
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(printed.contains("passed before"), !has_run, "{printed}");
        (done.status.code(), has_run)
    }
}

const RAN: (Option<i32>, bool) = (Some(0), true);
const SKIPPED: (Option<i32>, bool) = (Some(0), false);

#[test]
fn a_test_runs_again_if_something_has_changed_that_it_depends_on() {
    let repository = Repository::new("unchanged");
    let check = |expected: [(Option<i32>, bool); 2], about: &str| {
        let found = ["clewline-check", "clewline-cli"].map(|it| repository.run(it, "it", &[]));
        assert_eq!(found, expected, "{about}");
    };
    check([RAN, RAN], "the first time");
    check([SKIPPED, SKIPPED], "nothing has changed");
    repository.write("crates/clewline-check/src/lib.rs", "second");
    check([RAN, RAN], "the crate itself");
    repository.write("crates/clewline-core/src/lib.rs", "second");
    check([SKIPPED, RAN], "another crate: what is used of it is in the binary");
    repository.write("target/debug/clewline", "second");
    check([SKIPPED, RAN], "the command");
    repository.write("README.md", "second");
    check([RAN, RAN], "a page");
    repository.write("testdata/new.jsonl", "");
    check([RAN, RAN], "a new file");
    fs::remove_file(repository.0.join("README.md")).unwrap();
    check([RAN, RAN], "a file less");
    repository.binary("it", "exit 0 # second");
    check([RAN, RAN], "the binary");
    check([SKIPPED, SKIPPED], "nothing has changed since");
    assert_eq!(repository.run("clewline-check", "it", &[("CLEWLINE_AT_LENGTH", "other")]), RAN, "a setting");
}

#[test]
fn a_failed_test_runs_again() {
    let repository = Repository::new("unchanged-failed");
    repository.binary("wrong", "exit 101");
    for _ in 0..2 {
        assert_eq!(repository.run("clewline-check", "wrong", &[]), (Some(101), true));
    }
}

#[test]
fn no_test_is_skipped_if_all_are_to_run_again() {
    let repository = Repository::new("unchanged-again");
    for _ in 0..2 {
        assert_eq!(repository.run("clewline-check", "it", &[("CLEWLINE_AGAIN", "1")]), RAN);
    }
}

/// So that several binaries can run at a time.
#[test]
fn a_queued_test_runs_as_it_would_have_run() {
    let repository = Repository::new("unchanged-queue");
    let queue = repository.0.join("target/queue");
    fs::create_dir_all(&queue).unwrap();
    repository.binary("it-12ab", "echo \"in $PWD, $GIVEN\"; echo 'test result: ok. 7 passed'; exit 0");
    repository.binary("wrong-12ab", "echo \"in $PWD, $GIVEN\"; exit 101");
    for binary in ["it-12ab", "wrong-12ab"] {
        let mut script = repository.script("clewline-check", binary);
        script.envs([("GIVEN", "it's given"), ("CLEWLINE_QUEUE", queue.to_str().unwrap())]);
        assert!(script.current_dir(repository.0.join("crates")).status().unwrap().success());
    }
    assert_eq!(repository.runs(), 0, "they only queue");
    let jobs = fs::read_to_string(queue.join("jobs")).unwrap();
    let done: Vec<_> = jobs
        .lines()
        .map(|it| {
            let mut job = Command::new(repository.0.join("crates/clewline-testing/job"));
            job.arg(it).env_remove("CLEWLINE_AGAIN").output().unwrap()
        })
        .collect();
    assert_eq!(repository.runs(), 2);
    let printed = |it: usize| String::from_utf8_lossy(&done[it].stdout).into_owned();
    assert_eq!(printed(0).split_whitespace().collect::<Vec<_>>(), ["clewline-check", "it", "7", "passed"]);
    let folder = fs::canonicalize(repository.0.join("crates")).unwrap();
    let wrong = format!("in {}, it's given\nclewline-check wrong failed\n", folder.display());
    assert_eq!((printed(1), done[1].status.code()), (wrong, Some(1)));
    assert_eq!(fs::read_to_string(queue.join("failed")).unwrap(), "clewline-check wrong\n");
    assert_eq!(repository.run("clewline-check", "it-12ab", &[]), SKIPPED, "it has passed");
}

/// Tests start commands of Cargo, which would call the script for what they build, and lint the
/// crates of users. README's commands build what is linted already.
#[test]
fn commands_that_tests_start_do_not_know_the_script() {
    for (name, binary, known) in [
        ("unchanged-commands", "it", "none none none\n"),
        ("unchanged-readme", "commands-01", "none driver given\n"),
    ] {
        let repository = Repository::new(name);
        repository.binary(binary, "exit 0");
        assert_eq!(repository.run("clewline-cli", binary, &[]), RAN);
        assert_eq!(fs::read_to_string(repository.0.join("target/debug/ran")).unwrap(), known);
    }
}
