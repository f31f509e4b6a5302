//! The commands that README and the manual ask a reader to type, run as they stand.
//!
//! README's first two, which start with `cargo run`, are always run, in this checkout, where most
//! is built already. With `CLEWLINE_AT_LENGTH` set, as `./test all` does, all commands are run, in
//! a fresh clone. Then `CLEWLINE_PAGES=how-to/shards` selects pages by a part of their names.
//! [`page`] says what is taken from a page. Files that a reader would have (`history.jsonl`,
//! `queue_test.c`) are in `files`, or are made by `files/prepare.sh`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod page;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::Mutex,
    thread,
    time::Instant,
};

use page::{Command, Page, Setting};

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
    let checkout = if is_at_length { Checkout::fresh() } else { Checkout::this() };
    let mut pages = pages(&checkout.folder);
    let is_first = |it: &Command| it.text.starts_with("cargo run -- ");
    let recordings_before = checkout.recordings();
    let complaints: Vec<String> = if is_at_length {
        checkout.prepare(&pages);
        let beside = checkout.beside(&pages);
        let selected = std::env::var("CLEWLINE_PAGES").unwrap_or_default();
        pages.retain(|it| it.0.contains(&selected));
        // What builds the checkout does so where it is built already.
        let (building, other): (Vec<Page>, Vec<Page>) = pages
            .into_iter()
            .map(|it| it.1)
            .partition(|page| page.commands.iter().any(|it| it.text.contains("cargo ")));
        let (building, other) = (Mutex::new(building), Mutex::new(other));
        let next = |of: &Mutex<Vec<Page>>| of.lock().unwrap().pop();
        thread::scope(|scope| {
            let others = scope.spawn(|| run_pages(&beside, || next(&other)));
            let mut complaints = run_pages(&checkout, || next(&building).or_else(|| next(&other)));
            complaints.extend(others.join().unwrap());
            complaints
        })
    } else {
        let mut first = pages.swap_remove(0).1;
        first.commands.retain(is_first);
        assert_eq!(first.commands.len(), 2, "README begins with two commands");
        first.commands.iter().filter_map(|it| checkout.check(it).err()).collect()
    };
    // `stress` saves the history of a violation; this checkout is left as it was.
    for made in checkout.recordings().difference(&recordings_before) {
        fs::remove_file(made).unwrap();
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n\n"));
}

/// What is wrong with the commands of the pages that `next` returns, and with those they mention.
fn run_pages(checkout: &Checkout, next: impl Fn() -> Option<Page>) -> Vec<String> {
    let mut complaints = Vec::new();
    while let Some(page) = next() {
        for (at, command) in page.commands.iter().enumerate() {
            if at == 0 || page.commands[at - 1].block != command.block {
                checkout.run_script("prepare.sh");
                command.setting.first.iter().for_each(|it| checkout.run_script(it));
            }
            complaints.extend(checkout.check(command).err());
        }
        complaints.extend(page.mentioned.iter().filter_map(|it| checkout.check_flags(&it.0, &it.1).err()));
    }
    complaints
}

// How often real threads may try to show a bug.
const ATTEMPTS: usize = 3;
// A command that takes longer is stuck.
const SECONDS_MAX: &str = "1800";

/// A copy of this repository, in which commands are typed.
struct Checkout {
    folder: PathBuf,
    home: PathBuf,
    /// Where it is built, if not in `target`.
    target: Option<PathBuf>,
    /// The folder of the release build.
    programs: PathBuf,
}

impl Checkout {
    /// The one that is tested, with what is built of it.
    fn this() -> Checkout {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let home = scratch.join("home");
        fs::create_dir_all(&home).unwrap();
        let folder = root().canonicalize().unwrap();
        let programs = folder.join("target/release");
        Checkout { folder, home, target: scratch.parent().map(Path::to_owned), programs }
    }

    /// Clones what is committed. A clone that is there is brought to that state, so that nothing is
    /// built again that has not changed. What is built stays for the next time.
    fn fresh() -> Checkout {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let built = scratch.join("fresh-clone-target");
        let checkout = Checkout::cloned(&scratch.join("fresh-clone"));
        for of in ["", "capi"] {
            fs::create_dir_all(built.join(of)).unwrap();
        }
        #[cfg(unix)]
        for (of, target) in [("", "target"), ("capi", "capi/target")] {
            std::os::unix::fs::symlink(built.join(of), checkout.folder.join(target)).unwrap();
        }
        checkout
    }

    /// Another one, in which nothing is built: its programs are those of this one.
    fn beside(&self, pages: &[(String, Page)]) -> Checkout {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let beside = Checkout {
            programs: self.programs.clone(),
            ..Checkout::cloned(&scratch.join("fresh-clone-beside"))
        };
        beside.write_files(pages);
        beside
    }

    /// A clone in the folder `around`.
    fn cloned(around: &Path) -> Checkout {
        // Pages have it beside the crate of the reader.
        let folder = around.join("clewline");
        let git = |folder: &Path, arguments: &[&str]| {
            let status = std::process::Command::new("git").arg("-C").arg(folder).args(arguments).status();
            status.is_ok_and(|it| it.success())
        };
        let (from, to) = (root(), folder.to_string_lossy().into_owned());
        let from = from.to_string_lossy();
        let is_there = folder.join(".git").exists()
            && git(&folder, &["fetch", "--quiet", &from, "HEAD"])
            && git(&folder, &["reset", "--quiet", "--hard", "FETCH_HEAD"])
            && git(&folder, &["clean", "--quiet", "-dffx"]);
        for made in ["home", "pages", "board"] {
            let _was_not_there = fs::remove_dir_all(around.join(made));
        }
        if !is_there {
            let _was_not_there = fs::remove_dir_all(around);
            fs::create_dir_all(around).unwrap();
            let is_cloned = git(around, &["clone", "--quiet", &from, &to]);
            assert!(is_cloned, "this is a clone of the repository, and git is installed");
        }
        fs::create_dir_all(around.join("home")).unwrap();
        // `cargo new` adds a crate to the workspace around it, which must not be the checkout's.
        let workspace = "[workspace]\nexclude = [\"clewline\", \"pages\"]\nresolver = \"3\"\n";
        fs::write(around.join("Cargo.toml"), workspace).unwrap();
        let programs = folder.join("target/release");
        Checkout { folder, home: around.join("home"), target: None, programs }
    }

    /// The recordings beside its README.
    fn recordings(&self) -> BTreeSet<PathBuf> {
        let files = fs::read_dir(&self.folder).unwrap().map(|it| it.unwrap().path());
        files.filter(|it| it.extension().is_some_and(|it| it == "jsonl")).collect()
    }

    /// Builds what the pages take for granted, and writes the files that they show.
    fn prepare(&self, pages: &[(String, Page)]) {
        let built =
            self.run("cargo build --release --locked && cargo build --release --locked -p clewline-tsan", "");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        self.write_files(pages);
    }

    fn write_files(&self, pages: &[(String, Page)]) {
        for (name, text) in pages.iter().flat_map(|it| &it.1.files) {
            fs::write(self.folder.join(name), text).unwrap();
        }
    }

    fn run_script(&self, script: &str) {
        let done = self.run(&format!("bash crates/clewline-cli/tests/commands/files/{script}"), "");
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Types `command` in a shell in a folder of the clone, where `clewline` is its release build.
    fn run(&self, command: &str, folder: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let home = std::env::var("HOME").unwrap_or_default();
        let of_home =
            |name: &str, folder: &str| std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}"));
        let installed = self.folder.join("target/installed");
        let mut shell = std::process::Command::new("timeout");
        shell
            .args([SECONDS_MAX, "bash", "-c", command])
            .current_dir(self.folder.join(folder))
            .env("PATH", format!("{}:{path}", self.programs.display()))
            // What a page installs, or writes to the home folder, stays here.
            .env("CARGO_HOME", of_home("CARGO_HOME", ".cargo"))
            .env("RUSTUP_HOME", of_home("RUSTUP_HOME", ".rustup"))
            .env("HOME", &self.home)
            .env("CARGO_INSTALL_ROOT", installed)
            // Several are built, and neither size nor speed is looked at here.
            .envs([("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")])
            // The number of a shard, in Kubernetes and in continuous integration.
            .envs([("JOB_COMPLETION_INDEX", "0"), ("SHARD", "0")])
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CLEWLINE_AT_LENGTH")
            // Where the tests' own libraries are.
            .env_remove("LD_LIBRARY_PATH")
            .stdin(std::process::Stdio::null());
        match &self.target {
            Some(target) => shell.env("CARGO_TARGET_DIR", target),
            // What `./test` has compiled of this checkout is reused; a clone has nothing.
            None => shell.env_remove("RUSTC_WORKSPACE_WRAPPER").env_remove("CLIPPY_ARGS"),
        };
        shell.output().unwrap()
    }

    /// Whether the help of a command that is mentioned knows its flags.
    fn check_flags(&self, place: &str, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().take_while(|it| !matches!(*it, "|" | "--")).collect();
        // `clewline = { version = … }` is of a manifest.
        let Some(name) = words.get(1).filter(|it| it.starts_with(char::is_alphabetic)) else { return Ok(()) };
        let output = self.run(&format!("clewline help {name}"), "");
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
        let Setting { needs, folder, .. } = &command.setting;
        let compiler = needs_compiler(text).then(|| "cc".to_owned());
        let is_missing = |it: &&String| !self.run(&format!("command -v {it}"), "").status.success();
        if let Some(missing) = needs.iter().chain(&compiler).find(is_missing) {
            println!("notice: skipped, since there is no {missing}: {place}: {text}");
            return Ok(());
        }
        let start = Instant::now();
        let mut output = self.run(text, folder);
        // With real threads the bug need not occur.
        for _ in 1..ATTEMPTS {
            if expected != 1 || !text.contains(" stress ") || output.status.code() != Some(0) {
                break;
            }
            output = self.run(text, folder);
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
        let Some(shown) = shown else { return Ok(()) };
        let compared = match command.is_excerpt {
            true => compare(&format!("…\n{shown}"), &format!("{printed}{errors}")),
            false => compare(shown, &printed),
        };
        compared.map_err(|it| format!("{place}: {text}\n{it}"))
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
    let counts = |it: &String| !it.trim_start().starts_with("took:");
    let lines = |it: &str| it.lines().map(without_durations).filter(counts).collect::<Vec<String>>();
    let mut printed = lines(printed).into_iter();
    let mut is_anywhere = false;
    for line in lines(shown) {
        if line.trim() == "…" {
            is_anywhere = true;
            continue;
        }
        let found = if is_anywhere { printed.find(|it| *it == line) } else { printed.next() };
        if found.as_ref() != Some(&line) {
            return Err(format!("expected: {line}\nfound:    {}", found.as_deref().unwrap_or("the end")));
        }
        is_anywhere = false;
    }
    Ok(())
}

/// A line, in which `2 ms` is `… ms`.
fn without_durations(line: &str) -> String {
    let mut words: Vec<&str> = line.trim_end().split(' ').collect();
    for at in 1..words.len() {
        let is_unit = ["µs", "ms", "s"].contains(&words[at].trim_end_matches([':', ',', '.', ';']));
        if is_unit && words[at - 1].starts_with(|it: char| it.is_ascii_digit()) {
            words[at - 1] = "…";
        }
    }
    words.join(" ")
}

#[test]
fn outputs_differ_in_nothing_but_times() {
    assert_eq!(compare("a\ntook: 3 ms\n…\nc", "a\ntook: 4 ms\nb\nb\nc\nd"), Ok(()));
    assert_eq!(compare("in 3 ms: 2 s", "in 10 ms: 7 s"), Ok(()));
    assert!(compare("a\nb", "a\nc").is_err());
    assert!(compare("2 operations", "3 operations").is_err());
    assert!(compare("a\n…\nd", "a\nb\nc").is_err());
}
