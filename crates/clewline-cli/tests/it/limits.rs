//! The memory limit of the process, as the system counts its memory.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use clewline_check::checkers;
use clewline_testing::pick;

use crate::run::Folder;

const MEMORY_LIMIT_BYTES: usize = 48 << 20;
// A twentieth more, and what is not the checker's: buffers, and the stacks of threads.
const PEAK_MAX: usize = MEMORY_LIMIT_BYTES + MEMORY_LIMIT_BYTES / 20 + (4 << 20);

/// Checks `h.jsonl`, and returns what was printed and the greatest resident size of the process.
fn check(folder: &Folder, spec: &str, algorithm: &str, timeout: &str) -> (String, usize) {
    let limit = MEMORY_LIMIT_BYTES.to_string();
    let args = ["check", "h.jsonl", "--spec", spec, "--algorithm", algorithm, "--memory", &limit];
    peak_of(folder, &[&args[..], &["--timeout", timeout]].concat())
}

/// What a command prints, and the greatest resident size of its process.
pub(crate) fn peak_of(folder: &Folder, args: &[&str]) -> (String, usize) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_clewline"))
        .args(args)
        .current_dir(folder.path("."))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let kib = line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<usize>().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
        thread::sleep(Duration::from_millis(1));
    }
    (String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap(), peak)
}

/// `count` additions of few values, each of which overlaps `overlap` others, and then a removal
/// that no order explains.
fn additions(add: &str, remove: &str, count: usize, overlap: usize) -> String {
    let mut text = String::new();
    for it in 0..count {
        let (process, value, call, end) = (it % (overlap + 1), it % 2, 10 * it, 10 * (it + overlap) + 5);
        writeln!(
            text,
            "{{\"process\": {process}, \"op\": \"{add}\", \"arg\": {value}, \"call\": {call}, \"return\": {end}}}"
        )
        .unwrap();
    }
    let end = 10 * (count + overlap + 1);
    for (at, ret) in [(0, 0), (1, 0), (2, 3)] {
        let call = end + 10 * at;
        writeln!(
            text,
            "{{\"process\": 0, \"op\": \"{remove}\", \"ret\": {ret}, \"call\": {call}, \"return\": {}}}",
            call + 5
        )
        .unwrap();
    }
    text
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "long"]
fn a_memory_limit_is_kept_by_every_checker() {
    let folder = Folder::new("limits-memory");
    // A slow machine takes longer until memory is used up.
    let is_hit = ["5s", "60s"].into_iter().any(|timeout| 3 <= hits(&folder, timeout));
    assert!(is_hit, "the limit was hit too seldom");
}

/// Checks all shapes with every checker, and returns how often the memory limit was hit.
#[cfg(target_os = "linux")]
fn hits(folder: &Folder, timeout: &str) -> usize {
    let mut hit = 0;
    for (shape, spec, add, remove, count, overlap) in
        [("deep", "stack", "push", "pop", 8_000, 1), ("overlapping", "queue", "enq", "deq", 3_000, 2_999)]
    {
        fs::write(folder.path("h.jsonl"), additions(add, remove, count, overlap)).unwrap();
        for checker in checkers() {
            let (printed, peak) = check(folder, spec, checker.name(), timeout);
            let name = checker.name();
            println!("{shape}, {name}: {} MiB, {}", peak >> 20, printed.lines().next().unwrap_or_default());
            assert!(peak <= PEAK_MAX, "{shape}, {name}: {peak} bytes of {MEMORY_LIMIT_BYTES}\n{printed}");
            hit += usize::from(printed.contains("the memory limit of 48 MiB was hit"));
        }
    }
    hit
}

/// A channel has no step back, so a tree search keeps the states of its path: 2 GiB of them, if
/// nothing stopped it.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "long"]
fn a_memory_limit_of_a_gibibyte_is_kept_by_tree_searches() {
    const LIMIT_BYTES: usize = 1 << 30;
    let folder = Folder::new("limits-gibibyte");
    let text = additions("send", "recv", 40_000, 1);
    let text = text.replace("\"op\": \"send\"", "\"op\": \"send\", \"ret\": true");
    fs::write(folder.path("h.jsonl"), text).unwrap();
    for algorithm in ["wg-tree", "jit-tree"] {
        let args = ["check", "h.jsonl", "--spec", "channel", "--algorithm", algorithm, "--memory", "1GiB"];
        let (printed, peak) = peak_of(&folder, &args);
        println!("{algorithm}: {} MiB", peak >> 20);
        assert!(printed.contains("the memory limit of 1 GiB was hit"), "{algorithm}: {printed}");
        assert!(peak <= LIMIT_BYTES + LIMIT_BYTES / 20, "{algorithm}: {peak} bytes");
        assert!(LIMIT_BYTES / 2 < peak, "{algorithm}: the limit is not that of the process: {peak} bytes");
    }
}

/// No thread is started for an object: the number of threads is that of `--jobs`, and a few more
/// for reading, signals and limits.
#[test]
fn a_hundred_thousand_objects_are_judged_by_few_threads() {
    let objects: usize = pick(10_000, 100_000);
    let mut text = String::new();
    for it in 0..2 * objects {
        let (object, process, call) = (it % objects, it % 8, 10 * it);
        let op = if it < objects { "\"op\":\"write\",\"arg\":1" } else { "\"op\":\"read\",\"ret\":1" };
        let end = call + 1;
        writeln!(text, "{{\"process\":{process},\"object\":{object},{op},\"call\":{call},\"return\":{end}}}")
            .unwrap();
    }
    let folder = Folder::new("objects").with("h.jsonl", &text);
    let mut child = Command::new(env!("CARGO_BIN_EXE_clewline"))
        .args(["check", "h.jsonl", "--spec", "register", "--jobs", "2", "--format", "json"])
        .current_dir(folder.path("."))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut threads = BTreeSet::new();
    while child.try_wait().unwrap().is_none() {
        let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
        threads.extend(tasks.map(|it| it.file_name()));
        thread::sleep(Duration::from_micros(200));
    }
    let printed = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["verdict"], "holds", "{printed}");
    assert_eq!(report["objects"], objects);
    assert!((2..20).contains(&threads.len()), "{} threads", threads.len());
}
