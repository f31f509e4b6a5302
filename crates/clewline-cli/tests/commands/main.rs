//! The commands that README and the manual ask a reader to type, run as they stand in a fresh
//! clone.
//!
//! In `./test` only README's first two are run, by the binary that was built for the tests: a
//! second build would take as long as all of these tests. With `CLEWLINE_AT_LENGTH` set, as
//! `./test all` does, all are, as they stand. [`page`] says what is taken from a page. Files
//! that a reader would have (`history.jsonl`, `queue_test.c`) are in `files`, or are made by
//! `files/prepare.sh`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod page;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    time::Instant,
};

use page::{Command, Page};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README, CONTRIBUTING and the pages of the manual, below `folder`.
fn pages(folder: &Path) -> Vec<(String, Page)> {
    let mut names = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    names.extend(below(folder, "docs").into_iter().filter(|it| it.ends_with(".md")));
    let read = |name: &String| Page::read(name, &fs::read_to_string(folder.join(name)).unwrap());
    names.iter().map(|name| (name.clone(), read(name))).collect()
}

/// The files in a folder and in the folders within it: paths from `root`, sorted.
fn below(root: &Path, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root.join(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|it| format!("{folder}/{}", it.unwrap().file_name().display())).collect();
    names.sort();
    let files = |it: String| if root.join(&it).is_dir() { below(root, &it) } else { vec![it] };
    names.into_iter().flat_map(files).collect()
}

#[test]
fn pages_say_how_each_command_ends() {
    let pages = pages(&root());
    let complaints: Vec<&String> = pages.iter().flat_map(|it| &it.1.complaints).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let commands: Vec<&Command> = pages.iter().flat_map(|it| &it.1.commands).collect();
    assert!(50 < commands.len(), "commands were found: {}", commands.len());
    let shown = commands.iter().filter(|it| it.shown.is_some() && it.exit.is_ok()).count();
    assert!(4 <= shown, "outputs were found: {shown}");
}

#[test]
fn commands_do_what_their_pages_say() {
    let is_at_length = std::env::var_os("CLEWLINE_AT_LENGTH").is_some();
    let clone = FreshClone::new();
    let mut pages = pages(&clone.folder);
    if is_at_length {
        clone.prepare(&pages);
    } else {
        pages.truncate(1);
        let commands = &mut pages[0].1.commands;
        commands.retain(|it| it.text.starts_with(CARGO_RUN));
        assert_eq!(commands.len(), 2, "README begins with two commands");
        for it in commands {
            it.text = it.text.replacen(CARGO_RUN, &format!("{} ", env!("CARGO_BIN_EXE_clewline")), 1);
        }
    }
    let mut complaints = Vec::new();
    for (_, page) in &pages {
        for (at, command) in page.commands.iter().enumerate() {
            let is_next_block = at == 0 || page.commands[at - 1].block != command.block;
            if is_at_length && is_next_block {
                clone.run_script("files/prepare.sh");
            }
            complaints.extend(clone.check(command).err());
        }
        if is_at_length {
            complaints.extend(page.mentioned.iter().filter_map(|it| clone.check_flags(&it.0, &it.1).err()));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n\n"));
}

/// `cargo run` starts `clewline`, though the workspace has several binaries.
#[test]
fn cargo_run_knows_what_to_run() {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let asked = std::process::Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let all: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
    let list = |of: &serde_json::Value| of.as_array().unwrap().clone();
    let members = list(&all["workspace_default_members"]);
    let packages = list(&all["packages"]);
    let of_run = packages.iter().filter(|it| members.contains(&it["id"]));
    let defaults: Vec<&str> = of_run.filter_map(|it| it["default_run"].as_str()).collect();
    assert_eq!(defaults, ["clewline"]);
}

// What README's first commands begin with.
const CARGO_RUN: &str = "cargo run -- ";
// How often real threads may try to show a bug.
const ATTEMPTS: usize = 3;
// A command that takes longer is stuck.
const SECONDS_MAX: &str = "1800";

/// A fresh clone of this repository.
struct FreshClone {
    folder: PathBuf,
}

impl FreshClone {
    /// Clones what is committed. What is built there stays for the next time.
    fn new() -> FreshClone {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (folder, built) = (scratch.join("fresh-clone"), scratch.join("fresh-clone-target"));
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::create_dir_all(&built).unwrap();
        let git =
            std::process::Command::new("git").args(["clone", "--quiet"]).arg(root()).arg(&folder).status();
        assert!(git.is_ok_and(|it| it.success()), "this is a clone of the repository, and git is installed");
        #[cfg(unix)]
        std::os::unix::fs::symlink(built, folder.join("target")).unwrap();
        FreshClone { folder }
    }

    /// Builds what the pages take for granted, and writes the files that they show.
    fn prepare(&self, pages: &[(String, Page)]) {
        let built =
            self.run("cargo build --release --locked && cargo build --release --locked -p clewline-tsan");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        for (name, text) in pages.iter().flat_map(|it| &it.1.files) {
            fs::write(self.folder.join(name), text).unwrap();
        }
    }

    fn run_script(&self, script: &str) {
        let script = Path::new("crates/clewline-cli/tests/commands").join(script);
        let done = self.run(&format!("bash {}", script.display()));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Types `command` in a shell in the folder of the clone, where `clewline` is its release
    /// build.
    fn run(&self, command: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        std::process::Command::new("timeout")
            .args([SECONDS_MAX, "bash", "-c", command])
            .current_dir(&self.folder)
            .env("PATH", format!("{}:{path}", self.folder.join("target/release").display()))
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CLEWLINE_AT_LENGTH")
            // Where the tests' own libraries are.
            .env_remove("LD_LIBRARY_PATH")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    }

    /// Whether the help of a command that is mentioned knows its flags.
    fn check_flags(&self, place: &str, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().take_while(|it| !matches!(*it, "|" | "--")).collect();
        // `clewline = { version = … }` is of a manifest.
        let Some(name) = words.get(1).filter(|it| it.starts_with(char::is_alphabetic)) else { return Ok(()) };
        let output = self.run(&format!("clewline help {name}"));
        if !output.status.success() {
            return Err(format!("{place}: {text}\nthere is no command `{name}`"));
        }
        let help = String::from_utf8_lossy(&output.stdout);
        let is_known =
            |flag: &str| help.split(|it: char| it.is_whitespace() || it == ',').any(|it| it == flag);
        match words.iter().find(|it| it.starts_with("--") && !is_known(it)) {
            Some(flag) => Err(format!("{place}: {text}\nthere is no `{flag}`")),
            None => Ok(()),
        }
    }

    /// Runs `command`, and says what differs from its page.
    fn check(&self, command: &Command) -> Result<(), String> {
        let Command { place, text, shown, .. } = command;
        let expected = match &command.exit {
            Ok(code) => *code,
            Err(reason) => {
                println!("not run    {place}: {text}\n           {reason}");
                return Ok(());
            }
        };
        if needs_compiler(text) && !self.run("command -v cc").status.success() {
            println!("notice: skipped, since there is no C compiler: {place}: {text}");
            return Ok(());
        }
        let start = Instant::now();
        let mut output = self.run(text);
        // With real threads the bug need not occur.
        for _ in 1..ATTEMPTS {
            if expected != 1 || !text.contains(" stress ") || output.status.code() != Some(0) {
                break;
            }
            output = self.run(text);
        }
        println!("{:6.1} s   {place}: {text}", start.elapsed().as_secs_f64());
        let (printed, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.code() != Some(expected) {
            let status = output.status;
            return Err(format!(
                "{place}: {text}\nexpected exit code {expected}, found {status}:\n{printed}{errors}"
            ));
        }
        shown
            .as_deref()
            .map_or(Ok(()), |it| compare(it, &printed))
            .map_err(|it| format!("{place}: {text}\n{it}"))
    }
}

/// Whether a command compiles C.
fn needs_compiler(text: &str) -> bool {
    ["clewline cc ", "clewline run ", "--lang c"].iter().any(|it| text.contains(it))
}

/// Compares what a page shows with what was printed.
///
/// How long something took is not compared. `…` on a line of its own stands for any number of
/// lines, and a page may end before the output does.
fn compare(shown: &str, printed: &str) -> Result<(), String> {
    let counts = |it: &&str| !it.starts_with("took:");
    let mut printed = printed.lines().map(str::trim_end).filter(counts);
    let mut is_anywhere = false;
    for line in shown.lines().map(str::trim_end).filter(counts) {
        if line.trim() == "…" {
            is_anywhere = true;
            continue;
        }
        let found = if is_anywhere { printed.find(|it| *it == line) } else { printed.next() };
        if found != Some(line) {
            return Err(format!("expected: {line}\nfound:    {}", found.unwrap_or("the end")));
        }
        is_anywhere = false;
    }
    Ok(())
}

#[test]
fn outputs_differ_in_nothing_but_times() {
    assert_eq!(compare("a\ntook: 3 ms\n…\nc", "a\ntook: 4 ms\nb\nb\nc\nd"), Ok(()));
    assert!(compare("a\nb", "a\nc").is_err());
    assert!(compare("a\n…\nd", "a\nb\nc").is_err());
}
