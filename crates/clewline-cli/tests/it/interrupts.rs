//! Ctrl-C and SIGTERM: what was found so far is reported, and nothing is left behind.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use clewline_unmodified::{Compiler, Runtime};

use crate::run::{Folder, GOOD, Ran};

/// A command that was started.
pub(crate) struct Started {
    child: Child,
    /// Stays open: waiting for the child would close it.
    stdin: ChildStdin,
    stdout: thread::JoinHandle<String>,
    stderr: thread::JoinHandle<String>,
    /// The first line on standard output or standard error, whichever comes first.
    first_line: std::sync::mpsc::Receiver<()>,
}

/// Starts the binary, and waits until it handles signals.
pub(crate) fn start(folder: &Folder, args: &[&str]) -> Started {
    start_command(folder, args, Command::new(env!("CARGO_BIN_EXE_clewline")))
}

fn start_command(folder: &Folder, args: &[&str], mut command: Command) -> Started {
    if let Ok(runtime) = Runtime::find() {
        command.env("CLEWLINE_RUNTIME", runtime.file());
    }
    command.args(args).current_dir(folder.path("."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (sender, first_line) = std::sync::mpsc::channel();
    let stdout = read(child.stdout.take().unwrap(), sender.clone());
    let stderr = read(child.stderr.take().unwrap(), sender);
    let stdin = child.stdin.take().unwrap();
    let mut started = Started { child, stdin, stdout, stderr, first_line };
    while !started.handles_signals() {
        thread::sleep(Duration::from_millis(1));
    }
    started
}

fn read(from: impl Read + Send + 'static, first: std::sync::mpsc::Sender<()>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let (mut from, mut text) = (BufReader::new(from), String::new());
        from.read_line(&mut text).unwrap();
        let _unwanted = first.send(());
        from.read_to_string(&mut text).unwrap();
        text
    })
}

impl Started {
    /// Whether signals are handled, or the command has ended. The thread that waits for signals is
    /// started when all of them are.
    fn handles_signals(&mut self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let threads = status.lines().find_map(|it| it.strip_prefix("Threads:"));
        let has_thread = threads.is_some_and(|it| it.trim() != "1");
        (caught(&status) & (1 << 1) != 0 && has_thread) || self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the first line that it prints.
    pub(crate) fn wait_for_line(&self) {
        self.first_line.recv().unwrap();
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.stdin.write_all(text.as_bytes()).unwrap();
    }

    /// Sends `INT`, `TERM` or `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Its end; the code is 128 more than the signal's number if one ended it, as in a shell.
    pub(crate) fn end(mut self) -> Ran {
        use std::os::unix::process::ExitStatusExt;
        let status = self.wait();
        let code = status.code().or_else(|| status.signal().map(|it| 128 + it)).unwrap();
        Ran { code, stdout: self.stdout.join().unwrap(), stderr: self.stderr.join().unwrap() }
    }

    /// Fails rather than wait without end.
    fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(120) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.child.kill().unwrap();
        panic!("the command does not end");
    }

    #[track_caller]
    pub(crate) fn ends_by(self, name: &str) -> Ran {
        self.signal(name);
        let ran = self.end();
        assert_eq!(ran.code, if name == "INT" { 130 } else { 143 }, "{ran:?}");
        ran
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).output();
    assert!(sent.unwrap().status.success() || name == "KILL");
}

/// No file that is being written is left.
#[track_caller]
pub(crate) fn check_no_parts(folder: &Folder) {
    let names = fs::read_dir(folder.path(".")).unwrap().map(|it| it.unwrap().file_name());
    let parts: Vec<_> = names.filter(|it| it.to_string_lossy().ends_with(".part")).collect();
    assert!(parts.is_empty(), "{parts:?}");
}

#[test]
fn the_verdicts_of_all_files_are_reported() {
    let folder = Folder::new("interrupts-check").with("good.jsonl", GOOD);
    let files = ["check", "good.jsonl", "-", "good.jsonl", "--spec", "queue"];
    let outputs = ["--format", "json", "--junit", "all.xml", "--html", "all.html"];
    let mut started = start(&folder, &[&files[..], &outputs].concat());
    started.write(GOOD);
    started.wait_for_line();
    let ran = started.ends_by("INT");
    let verdicts: Vec<_> =
        ran.json().iter().map(|it| (it["verdict"].clone(), it["reason"].clone())).collect();
    let unknown = ("unknown".into(), "interrupted".into());
    assert_eq!(verdicts, [("holds".into(), serde_json::Value::Null), unknown.clone(), unknown], "{ran:?}");
    let junit = folder.read("all.xml");
    assert_eq!((junit.matches("<testcase").count(), junit.matches("<error").count()), (3, 2), "{junit}");
    assert!(folder.read("all.html").contains("interrupted"));
    assert!(ran.stderr.contains("note: interrupted; a second signal ends the command at once"), "{ran:?}");
}

#[test]
fn the_runs_so_far_are_reported() {
    let folder = Folder::new("interrupts-stress");
    let args = ["stress", "treiber-stack", "--operations", "50", "--timeout", "10m", "--junit", "it.xml"];
    let started = start(&folder, &args);
    started.wait_for_line();
    let ran = started.ends_by("TERM");
    assert!(ran.first_line().starts_with("unknown: interrupted after "), "{ran:?}");
    assert!(folder.read("it.xml").contains("interrupted after"), "{ran:?}");
    let args = ["stress", "treiber-stack", "--operations", "50", "--timeout", "10m", "--format", "json"];
    let started = start(&folder, &args);
    started.wait_for_line();
    let ran = started.ends_by("INT");
    let json = &ran.json()[0];
    assert_eq!((&json["verdict"], &json["reason"]), (&"unknown".into(), &"interrupted".into()), "{ran:?}");
}

#[test]
fn the_matrices_so_far_are_reported() {
    let folder = Folder::new("interrupts-explore");
    let long = ["explore", "ms-queue", "--threads", "3", "--operations", "3", "--samples", "1000"];
    let outputs = ["--preemptions", "none", "--format", "json", "--junit", "it.xml", "--html", "it.html"];
    let ran = start(&folder, &[&long[..], &outputs].concat()).ends_by("INT");
    let last = ran.json().pop().unwrap();
    assert_eq!(last["verdict"], "unknown", "{ran:?}");
    assert!(last["reason"].as_str().unwrap().starts_with("interrupted "), "{ran:?}");
    assert!(folder.read("it.xml").contains("<error"), "{ran:?}");
    assert!(folder.read("it.html").contains("nterrupted "), "{ran:?}");
    let ran = start(&folder, &long).ends_by("TERM");
    assert!(ran.stdout.contains("nterrupted "), "{ran:?}");
    assert!(ran.first_line().starts_with("unknown: "), "{ran:?}");
}

#[test]
fn the_states_so_far_are_reported() {
    let folder = Folder::new("interrupts-actors");
    for scheduler in ["states", "random"] {
        let long = ["actors", "paxos", "--harness", "3r+3w", "--crash", "2", "--scheduler", scheduler];
        let args = [&long[..], &["--executions", "100000000", "--format", "json"]].concat();
        let ran = start(&folder, &args).ends_by("INT");
        let json = &ran.json()[0];
        let found = (&json["verdict"], &json["reason"]);
        assert_eq!(found, (&"unknown".into(), &"interrupted".into()), "{ran:?}");
    }
}

#[test]
fn commands_without_a_verdict_end_and_leave_no_file() {
    let folder = Folder::new("interrupts-files");
    let generate = ["generate", "--spec", "queue", "--operations", "20000000", "-o", "it.jsonl"];
    let convert = ["convert", "-", "it.jsonl"];
    let reproduce = ["reproduce", "lowe-fig4-queue", "--csv", "it.csv"];
    for args in [&generate[..], &convert, &reproduce] {
        let ran = start(&folder, args).ends_by("INT");
        assert!(ran.stderr.contains("error: ") && ran.stderr.contains("interrupted"), "{ran:?}");
        assert_eq!(
            (ran.stdout.as_str(), fs::read_dir(folder.path(".")).unwrap().count()),
            ("", 0),
            "{args:?}"
        );
    }
}

/// Its output is not read, so that the first signal cannot end it.
#[test]
fn a_second_signal_ends_at_once() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clewline"));
    command.args(["generate", "--spec", "queue", "--operations", "20000"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    // It writes now, and sleeps once the pipe is full.
    while !fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap().contains(") S ") {
        thread::sleep(Duration::from_millis(1));
    }
    signal(&child, "INT");
    let mut note = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut note).unwrap();
    assert_eq!(note, "note: interrupted; a second signal ends the command at once\n");
    assert_eq!(child.try_wait().unwrap(), None, "it still writes");
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

const COUNTERS: &str = "\
#include <pthread.h>
#include <stdatomic.h>
static atomic_int a, b;
static void *run(void *unused) {
    for (int i = 0; i < 6; i++) {
        atomic_fetch_add(&a, 1);
        atomic_fetch_add(&b, 1);
    }
    return unused;
}
int main(void) {
    pthread_t them[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&them[i], 0, run, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(them[i], 0);
    return 0;
}
";

/// The processes that run this program, and whether they catch SIGALRM, as the runtime does.
fn processes(name: &str) -> Vec<bool> {
    let all = fs::read_dir("/proc").unwrap().filter_map(|it| Some(it.ok()?.path()));
    let named = all.filter(|it| fs::read_link(it.join("exe")).is_ok_and(|it| it.ends_with(name)));
    let statuses = named.filter_map(|it| fs::read_to_string(it.join("status")).ok());
    statuses.map(|it| caught(&it) & (1 << 13) != 0).collect()
}

/// The signals that a process catches, one bit each, from its status.
fn caught(status: &str) -> u64 {
    let caught = status.lines().find_map(|it| it.strip_prefix("SigCgt:"));
    caught.map_or(0, |it| u64::from_str_radix(it.trim(), 16).unwrap())
}

/// The processes whose arguments contain this name.
fn processes_with(name: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().filter_map(|it| Some(it.ok()?.path().join("cmdline")));
    all.filter(|it| fs::read(it).is_ok_and(|it| String::from_utf8_lossy(&it).contains(name))).count()
}

/// The compiler waits for a file that is never written. It ends although its parent is killed.
#[test]
fn a_compiler_is_not_left_behind() {
    if let Some(missing) = Runtime::find().err().or(Compiler::find(None).err()) {
        return eprintln!("notice: skipped: {missing}");
    }
    let name = format!("endless{}.c", std::process::id());
    let folder = Folder::new("interrupts-compile").with(&name, "#include \"pipe.h\"\n");
    let made = Command::new("mkfifo").arg(folder.path("pipe.h")).status();
    assert!(made.unwrap().success());
    let started = start(&folder, &["cc", &name]);
    // The command itself, and the compiler.
    while processes_with(&name) < 2 {
        thread::sleep(Duration::from_millis(5));
    }
    started.signal("KILL");
    assert_eq!(started.end().code, 137);
    let is_left = |_| {
        thread::sleep(Duration::from_millis(5));
        processes_with(&name) != 0
    };
    assert!(!(0..20_000).all(is_left), "it ends on the slowest machine");
}

#[test]
fn a_program_under_test_is_not_left_behind() {
    if let Some(missing) = Runtime::find().err().or(Compiler::find(None).err()) {
        return eprintln!("notice: skipped: {missing}");
    }
    // No other program on this machine has this name.
    let name = format!("left{}", std::process::id());
    let source = format!("{name}.c");
    let folder = Folder::new("interrupts-cc").with(&source, COUNTERS);
    let args = ["cc", &source, "--preemptions", "none", "--format", "json", "--junit", "it.xml"];
    for signal in ["INT", "TERM", "KILL"] {
        let mut started = start(&folder, &args);
        while processes(&name) != [true] {
            assert!(started.child.try_wait().unwrap().is_none(), "it has not ended");
            thread::sleep(Duration::from_millis(5));
        }
        if signal == "KILL" {
            started.signal(signal);
            assert_eq!(started.end().code, 137);
        } else {
            // Before the first execution, there is nothing else to say.
            let ran = started.ends_by(signal);
            let is_early = ran.stdout.is_empty() && ran.stderr.contains("error: interrupted");
            assert!(is_early || ran.json()[0]["verdict"] == "unknown", "{ran:?}");
            assert!(is_early || folder.read("it.xml").contains("nterrupted "), "{ran:?}");
        }
        // The system ends it when its parent has ended.
        while !processes(&name).is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Sends the signal whose handler the process has just installed.
const HASTY: &str = "\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>
int sigaction(int signal, const struct sigaction *new, struct sigaction *old) {
    static int is_done;
    int (*real)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, \"sigaction\");
    int result = real(signal, new, old);
    if (signal == HASTY && new && !is_done++) kill(getpid(), signal);
    return result;
}
";

/// A signal that comes while the handlers are being installed is as good as a later one.
#[test]
fn a_signal_at_the_very_start_is_not_lost() {
    let folder = Folder::new("interrupts-start").with("hasty.c", HASTY);
    for (signal, code) in [("SIGINT", 130), ("SIGTERM", 143)] {
        let (name, define) = (format!("{signal}.so"), format!("-DHASTY={signal}"));
        let given = ["-shared", "-fPIC", &define, "hasty.c", "-o", &name, "-ldl"];
        if !Command::new("cc").args(given).current_dir(folder.path(".")).status().is_ok_and(|it| it.success())
        {
            return eprintln!("notice: skipped: there is no compiler");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_clewline"));
        command.env("LD_PRELOAD", folder.path(&name));
        let ran = start_command(&folder, &["check", "--spec", "queue", "-"], command).end();
        assert_eq!(ran.code, code, "{ran:?}");
    }
}
