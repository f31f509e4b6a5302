//! Reading histories: nanoseconds a line and megabytes a second, for files of 10^4 to 10^6 lines.
//!
//! `alone` is about the JSON reader by itself. The other table is about reading as a whole:
//! `parsing [MOST]` goes on to MOST lines. Beside our readers, on the same bytes in the same run:
//! splitting them into lines with memchr, about as fast as memory allows, and serde_json reading
//! each line into a typed struct, which is then forgotten (for EDN there is no such peer). The
//! ranking of operations by their times is part of our reading; its share is shown. Processor time
//! of one thread; what a second job gains is a ratio of times on the wall, and means little on a
//! busy machine.

mod alone;

use std::{fmt::Write, hint::black_box, time::Duration};

use clewline_bench::{cpu, digits, median, ratio, wall};
use clewline_core::{ObjectId, ProcessId, Random, RawCall, Timed, TimedColumns, Value, Values};
use clewline_formats::{ReadOptions, formats};
use cpu_time::ThreadTime;

const RUNS: usize = 7;

fn main() {
    let most = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1_000_000);
    println!(
        "| what | lines | MB | memchr, ns/line | serde_json, ns/line | ours, ns/line | MB/s \
         | serde_json / ours | ours / memchr | ranking | 1 job / 2 jobs, wall |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let sizes = || std::iter::successors(Some(10_000), |it| Some(it * 10)).take_while(|it| *it <= most);
    for kind in [ObjectKind::Ints, ObjectKind::Texts, ObjectKind::Events, ObjectKind::Edn] {
        sizes().for_each(|lines| measure(kind, lines));
    }
    println!();
    alone::print_head();
    for kind in [ObjectKind::Ints, ObjectKind::Texts] {
        sizes().for_each(|lines| alone::measure(&format!("{kind:?}"), &write(kind, &rows(lines)), lines));
    }
}

/// What is written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectKind {
    /// An operation a line on a queue of integers.
    Ints,
    /// An operation a line on a register of texts, each of which occurs about twice.
    Texts,
    /// An event a line, integers.
    Events,
    /// Jepsen's maps, an event a line, integers.
    Edn,
}

fn measure(kind: ObjectKind, lines: usize) {
    let rows = rows(lines);
    let text = write(kind, &rows);
    let format =
        formats::find(if kind == ObjectKind::Edn { "jepsen" } else { "jsonl" }).expect("it is registered");
    let is_timed = matches!(kind, ObjectKind::Ints | ObjectKind::Texts);
    let operations = if is_timed { lines } else { lines / 2 };
    let read = |jobs: usize| {
        let options = ReadOptions { jobs, ..ReadOptions::default() };
        let recording = format.read(&mut text.as_bytes(), &options).expect("the text is in its format");
        assert_eq!(recording.history.len(), operations, "every operation was read");
    };
    let floor = cpu(RUNS, || {
        let split = memchr::memchr_iter(b'\n', text.as_bytes()).fold(0, |sum, end| sum ^ end);
        black_box(split);
    });
    let peer = (kind != ObjectKind::Edn).then(|| cpu(RUNS, || alone::forget_with_serde(&text)));
    let ours = cpu(RUNS, || read(1));
    let twice = wall(RUNS, || read(2));
    let alone = wall(RUNS, || read(1));
    let ranking = is_timed.then(|| rank(&rows).as_secs_f64() / ours.as_secs_f64() * 100.0);
    let each = |time: Duration| digits(time.as_secs_f64() * 1e9 / lines as f64);
    println!(
        "| {kind:?} | {lines} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        digits(text.len() as f64 / 1e6),
        each(floor),
        peer.map_or_else(String::new, each),
        each(ours),
        digits(text.len() as f64 / 1e6 / ours.as_secs_f64()),
        peer.map_or_else(String::new, |it| ratio(it, ours)),
        ratio(ours, floor),
        ranking.map_or_else(String::new, |it| format!("{} %", digits(it))),
        ratio(alone, twice),
    );
}

/// An operation, before it is written.
struct Row {
    process: usize,
    call: i64,
    end: i64,
}

/// Operations of eight processes in the order of their returns, roughly: as a recorder writes them.
fn rows(lines: usize) -> Vec<Row> {
    let mut random = Random::new(1);
    let mut free = [0_i64; 8];
    let row = |number: usize| {
        let process = number % free.len();
        let call = free[process] + 1 + random.below(50) as i64;
        let end = call + 1 + random.below(400) as i64;
        free[process] = end;
        Row { process, call, end }
    };
    (0..lines).map(row).collect()
}

fn write(kind: ObjectKind, rows: &[Row]) -> String {
    let mut text = String::new();
    for (number, Row { process, call, end }) in rows.iter().enumerate() {
        let times = format_args!(r#""call": {call}, "return": {end}"#);
        let is_even = number.is_multiple_of(2);
        let written = match kind {
            ObjectKind::Ints if is_even => {
                writeln!(
                    text,
                    r#"{{"process": {process}, "op": "enq", "arg": {number}, "ret": true, {times}}}"#
                )
            }
            ObjectKind::Ints => {
                writeln!(text, r#"{{"process": {process}, "op": "deq", "ret": {number}, {times}}}"#)
            }
            ObjectKind::Texts if is_even => {
                writeln!(text, r#"{{"process": {process}, "op": "write", "arg": "value {number}", {times}}}"#)
            }
            ObjectKind::Texts => {
                let last = number - 1;
                writeln!(text, r#"{{"process": {process}, "op": "read", "ret": "value {last}", {times}}}"#)
            }
            ObjectKind::Events if is_even => {
                writeln!(text, r#"{{"event": "call", "process": {process}, "op": "enq", "arg": {number}}}"#)
            }
            ObjectKind::Events => {
                writeln!(text, r#"{{"event": "return", "process": {}, "ret": true}}"#, process - 1)
            }
            ObjectKind::Edn => {
                let (kind, process) = if is_even { ("invoke", *process) } else { ("ok", process - 1) };
                let value = format_args!(":f :write, :value {}, :time {call}", number / 2);
                writeln!(text, "{{:index {number}, :type :{kind}, :process {process}, {value}}}")
            }
        };
        written.expect("a text takes what is written");
    }
    text
}

/// The time to rank what has been read.
fn rank(rows: &[Row]) -> Duration {
    let mut values = Values::new();
    let method = values.text("enq");
    let mut columns: TimedColumns<RawCall, Value> = TimedColumns::with_capacity(rows.len());
    for &Row { process, call, end } in rows {
        let process = ProcessId(process as u32);
        let object = ObjectId(0);
        let raw = RawCall { method, arg: Value::TRUE };
        columns.push(Timed { process, object, call: raw, called: call, returned: Some((Value::TRUE, end)) });
    }
    median(RUNS, || {
        let columns = columns.clone();
        let start = ThreadTime::now();
        black_box(columns.finish().expect("processes wait for their results"));
        start.elapsed()
    })
}
