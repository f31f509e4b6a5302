//! How fast histories are read: `cargo run --release -p clewline-report --example parse_speed [LINES]`.
//!
//! Writes a history of that many operations (a million, if not said) into memory in several formats, and reads
//! each of them some times. Prints the median, in seconds.

use std::{fmt::Write, time::Instant};

use clewline_core::Random;
use clewline_report::{ReadOptions, formats};

const RUNS: usize = 7;

fn main() {
    let lines = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1_000_000);
    let mut operations = json_operations(lines);
    let text = operations.join("\n");
    for jobs in [1, 2] {
        measure("jsonl", "operations", &text, jobs);
    }
    shuffle(&mut operations);
    measure("jsonl", "operations in no order", &operations.join("\n"), 1);
    measure("jsonl", "events", &json_events(lines), 1);
    measure("jepsen", "a map a line", &edn(lines), 1);
}

fn measure(format: &str, what: &str, text: &str, jobs: usize) {
    let Some(format) = formats::find(format) else { return };
    let mut seconds: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let options = ReadOptions { keyed: false, jobs, progress: &|_| () };
            let recording = format.read(&mut text.as_bytes(), &options);
            let seconds = start.elapsed().as_secs_f64();
            assert!(recording.is_ok(), "{:?}", recording.err());
            seconds
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{} ({what}, {} lines, {megabytes:.0} MB), {jobs} jobs: median {:.3} s, {:.0} MB/s; best {:.3} s",
        format.name(),
        text.lines().count(),
        seconds[RUNS / 2],
        megabytes / seconds[RUNS / 2],
        seconds[0],
    );
}

/// Eight processes on a queue, a line each time that one returns, as a recorder would write them.
fn json_operations(lines: usize) -> Vec<String> {
    let mut random = Random::new(1);
    let mut running: Vec<(u64, u64)> = (0..8).map(|it| (it, it + 100)).collect();
    let mut written = Vec::with_capacity(lines);
    for line in 0..lines {
        let process = (0..running.len()).min_by_key(|&it| running[it].1).unwrap_or(0);
        let (call, end) = running[process];
        let next = end + 1 + random.below(50) as u64;
        running[process] = (next, next + 1 + random.below(400) as u64);
        written.push(if line % 2 == 0 {
            format!(
                r#"{{"process": {process}, "op": "enq", "arg": {line}, "ret": true, "call": {call}, "return": {end}}}"#
            )
        } else {
            format!(r#"{{"process": {process}, "op": "deq", "ret": {line}, "call": {call}, "return": {end}}}"#)
        });
    }
    written
}

fn shuffle(lines: &mut [String]) {
    let mut random = Random::new(2);
    for at in (1..lines.len()).rev() {
        lines.swap(at, random.below(at + 1));
    }
}

fn json_events(lines: usize) -> String {
    let mut text = String::new();
    for line in 0..lines / 2 {
        let process = line % 8;
        let _ = writeln!(text, r#"{{"event": "call", "process": {process}, "op": "enq", "arg": {line}}}"#);
        let _ = writeln!(text, r#"{{"event": "return", "process": {process}, "ret": true}}"#);
    }
    text
}

fn edn(lines: usize) -> String {
    let mut text = String::new();
    for line in 0..lines / 2 {
        let (process, index) = (line % 8, 2 * line);
        for (kind, index) in [("invoke", index), ("ok", index + 1)] {
            let _ = writeln!(
                text,
                "{{:index {index}, :type :{kind}, :process {process}, :f :write, :value {line}, :time {}}}",
                index * 1000
            );
        }
    }
    text
}
