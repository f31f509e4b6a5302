//! Peak resident memory: of searches on key-value recordings, of long histories, and against a
//! budget.
//!
//! `memory DIR` takes every `.txt` file in DIR as a key-value log. Each case runs in a process of
//! its own (this program, started again), which reports its peak resident memory (`VmHWM`); three
//! megabytes of that are the program itself. Porcupine's peaks for the same files were measured
//! elsewhere.

use std::{fs, path::Path};

use clewline_bench::{Shape, ask_child, checker, digits, peak_bytes, resident_bytes, store::Run};
use clewline_check::{JudgeOptions, check, judge};
use clewline_core::{
    Budget, ErasedHistory, GeneratorConfig, Names, ObjectId, ProcessId, RawCall, Recording, Timed,
    TimedColumns, Value, ValueDomain, Values,
};
use clewline_formats::{ReadOptions, formats};
use clewline_specs::find;

const SEARCHES: [&str; 4] = ["read only", "auto, by key", "jit-graph", "wg-graph"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(|it| &**it).collect::<Vec<_>>()[..] {
        ["store", file, search] => print_row(&store(file, search)),
        ["long", spec, operations] => print_row(&long(spec, number(operations))),
        ["budget", search, mebibytes, gauge] => print_row(&budget(search, number(mebibytes), gauge)),
        [folder] => tables(Path::new(folder)),
        _ => {
            eprintln!("usage: memory DIR");
            std::process::exit(2);
        }
    }
}

fn number(text: &str) -> usize {
    text.parse().expect("a number")
}

fn print_row(cells: &[String]) {
    println!("{}", cells.join(" | "));
}

fn tables(folder: &Path) {
    let mut files: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|it| it.path().to_string_lossy().into_owned())
        .filter(|it| it.ends_with(".txt"))
        .collect();
    files.sort();
    files.push("c50, simulated".to_owned());
    println!("searches on key-value logs, at most 4 GiB and 5,000,000 configurations;");
    println!(
        "porcupine, elsewhere: c50-ok.txt by key 49-59 MB, c10-ok.txt and c10-bad.txt whole 321-364 MB\n"
    );
    println!("| file | search | verdict | configurations | peak, MB |\n|---|---|---|---|---|");
    for file in &files {
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        // With all 50 clients' keys in one problem, neither we nor porcupine finish.
        let count = if name.starts_with("c50") { 2 } else { SEARCHES.len() };
        for search in &SEARCHES[..count] {
            println!("| {name} | {search} | {} |", row(&["store", file, search]));
        }
    }
    println!("\n| operations in memory | ranked | loaded | judged | peak until loaded | peak of all |");
    println!("|---|---|---|---|---|---|");
    for spec in ["register", "queue"] {
        for operations in ["100000", "1000000", "10000000"] {
            println!("| {spec}, {operations} | {} |", row(&["long", spec, operations]));
        }
    }
    println!(
        "\n| queue of distinct values, 8 processes | limit, MiB | gauge | verdict | configurations \
         | peak, MiB | peak / limit |"
    );
    println!("|---|---|---|---|---|---|---|");
    // Tables grow by doubling, so whether a limit is kept depends on where between two doublings it
    // lies.
    let limits = ["64", "128", "512", "640", "768", "896", "1024"];
    let gauged = limits.map(|it| ("jit-graph", it, "resident"));
    let others =
        [("wg-graph", "1024", "resident"), ("jit-graph", "1024", "none"), ("wg-graph", "1024", "none")];
    for (search, mebibytes, gauge) in gauged.into_iter().chain(others) {
        println!("| {search} | {mebibytes} | {gauge} | {} |", row(&["budget", search, mebibytes, gauge]));
    }
}

fn row(arguments: &[&str]) -> String {
    ask_child(arguments).unwrap_or_else(|| "failed".to_owned())
}

fn store(file: &str, search: &str) -> Vec<String> {
    let text = fs::read(file).unwrap_or_else(|_| {
        Run { clients: 50, keys: 10, operations: 2_000, slow: 0, seed: 1 }.log().into_bytes()
    });
    let format = formats::find("porcupine-kv").expect("the format is registered");
    let options = ReadOptions::default();
    let recording = format.read(&mut &*text, &options).expect("the file is in its format");
    let case = find("map").expect("the map is registered").load(recording).expect("the file fits a map");
    let budget = Budget::unlimited().with_memory(4 << 30).with_configurations(5_000_000);
    let verdict = match search {
        "read only" => String::new(),
        "auto, by key" => {
            let options = JudgeOptions {
                budget: budget.clone(),
                counterexample_configurations: 0,
                ..JudgeOptions::default()
            };
            judge(case.problems(), &options).verdict.word().to_owned()
        }
        name => check(checker(name), &case.problems()[0], &budget).word().to_owned(),
    };
    vec![verdict, budget.visited().to_string(), digits(peak_bytes() as f64 / 1e6)]
}

/// A history that is linearizable in the order of its calls, eight operations open at a time.
fn long(spec: &str, operations: usize) -> Vec<String> {
    let each = |bytes: usize| format!("{} bytes each", digits(bytes as f64 / operations as f64));
    let start = resident_bytes();
    let recording = columns(spec, operations);
    let ranked = resident_bytes() - start;
    let case: Box<dyn ErasedHistory> =
        find(spec).expect("it is registered").load(recording).expect("the history fits its specification");
    let (loaded, peak) = (resident_bytes() - start, peak_bytes() - start);
    let judgement = judge(case.problems(), &JudgeOptions::default());
    assert_eq!(judgement.verdict.word(), "holds", "operations answer in the order of their calls");
    let judged = resident_bytes() - start;
    [ranked, loaded, judged, peak, peak_bytes() - start].map(each).to_vec()
}

fn columns(spec: &str, operations: usize) -> Recording {
    let mut values = Values::new();
    let [puts, takes] = match spec {
        "register" => ["write", "read"],
        _ => ["enq", "deq"],
    }
    .map(|it| values.text(it));
    let mut columns: TimedColumns<RawCall, Value> = TimedColumns::with_capacity(operations);
    for number in 0..operations {
        let called = 10 * number as i64;
        let value = Value::from(number as i64 / 2);
        let (call, ret) = match number % 2 {
            0 => (RawCall { method: puts, arg: value }, Value::ABSENT),
            _ => (RawCall { method: takes, arg: Value::ABSENT }, value),
        };
        let process = ProcessId(number as u32 % 8);
        columns.push(Timed {
            process,
            object: ObjectId(0),
            call,
            called,
            returned: Some((ret, called + 75)),
        });
    }
    let processes = (0..8).map(Value::from).collect();
    let names = Names { processes, objects: vec![Value::ABSENT], ..Names::default() };
    Recording::new(columns.finish().expect("processes wait for their results"), values, names)
}

fn budget(search: &str, mebibytes: usize, gauge: &str) -> Vec<String> {
    let queue =
        Shape { name: "queue", spec: "queue", mix: &[("enq", 1), ("deq", 1)], values: ValueDomain::Distinct };
    let plan =
        GeneratorConfig { operations: 2_000, processes: 8, overlap: 1.0, ..GeneratorConfig::default() };
    let case = queue.load(queue.generate_as(&plan));
    let budget = Budget::unlimited().with_memory(mebibytes << 20);
    let budget = if gauge == "none" { budget } else { budget.with_gauge(resident_bytes) };
    let verdict = check(checker(search), &case.problems()[0], &budget);
    let peak = peak_bytes() as f64 / f64::from(1 << 20);
    let share = digits(peak / mebibytes as f64);
    vec![verdict.word().to_owned(), budget.visited().to_string(), digits(peak), share]
}
