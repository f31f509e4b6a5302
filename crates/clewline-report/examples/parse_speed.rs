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
    let operations = json_operations(lines);
    for jobs in [1, 2] {
        measure("jsonl", "operations", &operations, jobs);
    }
    measure("jsonl", "events", &json_events(lines), 1);
    if formats::find("jepsen").is_some() {
        measure("jepsen", "one map a line", &edn(lines), 1);
    }
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

/// Eight processes on a queue; lines in the order of returns, as a recorder would write them.
fn json_operations(lines: usize) -> String {
    let mut random = Random::new(1);
    let mut text = String::new();
    let mut free = [0_u64; 8];
    for line in 0..lines {
        let process = line % free.len();
        let call = free[process] + 1 + random.below(50) as u64;
        let end = call + 1 + random.below(400) as u64;
        free[process] = end;
        if line % 2 == 0 {
            let _ = writeln!(
                text,
                r#"{{"process": {process}, "op": "enq", "arg": {line}, "ret": true, "call": {call}, "return": {end}}}"#
            );
        } else {
            let _ = writeln!(
                text,
                r#"{{"process": {process}, "op": "deq", "ret": {line}, "call": {call}, "return": {end}}}"#
            );
        }
    }
    text
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
