//! Recorded histories, from file to verdict: etcd under Jepsen as a cas-register, key-value stores
//! as maps.
//!
//! `recorded DIR` takes every `.log` file below DIR as a Jepsen log of a cas-register and every
//! `.txt` file as a key-value log. Processor time of this process, one thread; files are in memory
//! before the clock starts. Porcupine's times for the same files were measured elsewhere, under
//! another load, and do not include reading them; they allow to compare orders of magnitude.
//!
//! Then porcupine's hardest file, of 50 clients, in simulated variants. `recorded SLOW SEED` prints
//! one of them: one client in SLOW is slow, none if that is 0.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clewline_bench::{checker, cpu, digits, ms, store::Run};
use clewline_check::{JudgeOptions, check, judge};
use clewline_core::Budget;
use clewline_formats::{ReadOptions, formats};
use clewline_specs::find;

/// Porcupine's times for the key-value files, by key, in ms: the least and the greatest measured.
const PORCUPINE: [(&str, f64, f64); 6] = [
    ("c01-ok.txt", 0.03, 0.06),
    ("c01-bad.txt", 0.03, 0.06),
    ("c10-ok.txt", 0.44, 0.44),
    ("c10-bad.txt", 0.16, 0.16),
    ("c50-bad.txt", 5.0, 19.0),
    ("c50-ok.txt", 154.0, 198.0),
];
/// And with all keys in one problem.
const PORCUPINE_WHOLE: [(&str, f64, f64); 2] =
    [("c10-ok.txt", 2_500.0, 3_300.0), ("c10-bad.txt", 3_400.0, 4_000.0)];
/// And for the etcd logs 000 to 102 together.
const PORCUPINE_ETCD: (u32, f64) = (103, 420.0);

const HEAD: &str = "\
| file | operations | parts | verdict | configurations | read, ms | judge, ms | porcupine, ms | / judge |
|---|---|---|---|---|---|---|---|---|";

const SEEDS: std::ops::RangeInclusive<u64> = 1..=40;
const CONFIGURATIONS_MAX: u64 = 1_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = match &arguments[..] {
        [folder] => folder,
        [slow, seed] => {
            let slow = slow.parse().expect("a number");
            print!("{}", variant(slow, seed.parse().expect("a number")).log());
            return;
        }
        _ => {
            eprintln!("usage: recorded DIR, or recorded SLOW SEED");
            std::process::exit(2);
        }
    };
    let mut files = Vec::new();
    collect(PathBuf::from(folder), &mut files);
    files.sort();
    by_key(&files);
    whole(&files);
    simulated();
}

fn by_key(files: &[PathBuf]) {
    let mut etcd = Figures::default();
    let mut count = 0;
    println!("{HEAD}");
    for path in files {
        let name = name(path);
        let (format, spec) = match path.extension().and_then(|it| it.to_str()) {
            Some("log") => ("jepsen-log", "cas-register"),
            Some("txt") => ("porcupine-kv", "map"),
            _ => continue,
        };
        let figures = measure(&fs::read(path).expect("the file can be read"), format, spec, Way::ByKey);
        if spec == "cas-register" {
            etcd.read += figures.read;
            etcd.judge += figures.judge;
            etcd.operations += figures.operations;
            etcd.configurations += figures.configurations;
            etcd.parts += figures.parts;
            count += 1;
        }
        let peer = PORCUPINE.iter().find(|it| it.0 == name).map(|it| (it.1, it.2));
        if spec == "map" || Duration::from_micros(500) < figures.judge {
            println!("| {name} {}", figures.row(peer));
        }
    }
    let (logs, total) = PORCUPINE_ETCD;
    println!("| {count} etcd logs {}", etcd.row((count == logs).then_some((total, total))));
    let each = (etcd.judge / count.max(1)).as_secs_f64() * 1e3;
    let peer = total / f64::from(logs);
    println!(
        "\netcd, each log on average: {} ms; porcupine {} ms over its {logs} logs \
         (its hardest, 099, takes about 70): {} x",
        digits(each),
        digits(peer),
        digits(peer / each)
    );
}

/// The key-value logs of ten clients again, all keys in one problem.
fn whole(files: &[PathBuf]) {
    println!("\n{HEAD}");
    for path in files {
        let Some(&(_, least, most)) = PORCUPINE_WHOLE.iter().find(|it| it.0 == name(path)) else { continue };
        let text = fs::read(path).expect("the file can be read");
        let figures = measure(&text, "porcupine-kv", "map", Way::Whole);
        println!("| {}, whole {}", name(path), figures.row(Some((least, most))));
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Variants of a file of 50 clients, by how many of the clients are slow.
fn simulated() {
    println!(
        "\n| 50 clients, 10 keys, 2,000 operations | seeds | configurations, median (worst) \
         | judge, ms, median (worst) | read, ms | porcupine on c50-ok.txt, ms | / worst |"
    );
    println!("|---|---|---|---|---|---|---|");
    for slow in [0, 10, 3] {
        let mut figures: Vec<(u64, Figures)> = SEEDS
            .map(|seed| {
                (seed, measure(variant(slow, seed).log().as_bytes(), "porcupine-kv", "map", Way::ByKey))
            })
            .collect();
        figures.sort_by_key(|(_, it)| it.judge);
        for (seed, _) in figures.iter().filter(|(_, it)| CONFIGURATIONS_MAX <= it.configurations) {
            let path = std::env::temp_dir().join(format!("store-{slow}-{seed}.txt"));
            fs::write(&path, variant(slow, *seed).log()).expect("the temporary folder can be written");
            eprintln!("seed {seed} takes over {CONFIGURATIONS_MAX} configurations: {}", path.display());
        }
        let (_, middle) = &figures[figures.len() / 2];
        let (seed, worst) = &figures[figures.len() - 1];
        let what = if slow == 0 { "all alike".to_owned() } else { format!("one in {slow} slow") };
        let (_, least, most) = PORCUPINE[5];
        println!(
            "| {what} | {} | {} ({}, seed {seed}) | {} ({}) | {} | {least}-{most} | {} x |",
            figures.len(),
            middle.configurations,
            worst.configurations,
            ms(middle.judge),
            ms(worst.judge),
            ms(middle.read),
            digits(least / (worst.judge.as_secs_f64() * 1e3)),
        );
    }
}

fn variant(slow: usize, seed: u64) -> Run {
    Run { clients: 50, keys: 10, operations: 2_000, slow, seed }
}

#[derive(Default)]
struct Figures {
    operations: usize,
    parts: usize,
    verdict: &'static str,
    configurations: u64,
    read: Duration,
    judge: Duration,
}

impl Figures {
    /// What stands in a row behind the name; `peer` is the least and the greatest time of porcupine
    /// in ms.
    fn row(&self, peer: Option<(f64, f64)>) -> String {
        let Figures { operations, parts, verdict, configurations, read, judge } = self;
        let peer = match peer {
            None => "|".to_owned(),
            Some((least, most)) => {
                let times = digits(least / (judge.as_secs_f64() * 1e3));
                if least == most {
                    format!("{} | {times} x", digits(least))
                } else {
                    format!("{least}-{most} | {times} x")
                }
            }
        };
        let (read, judge) = (ms(*read), ms(*judge));
        format!("| {operations} | {parts} | {verdict} | {configurations} | {read} | {judge} | {peer} |")
    }
}

/// How a history is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    ByKey,
    Whole,
}

/// The medians of several runs on one file.
fn measure(text: &[u8], format: &str, spec: &str, way: Way) -> Figures {
    let format = formats::find(format).expect("the format is registered");
    let spec = find(spec).expect("the specification is registered");
    let load = || {
        let options = ReadOptions::default();
        let recording = format.read(&mut &*text, &options).expect("the file is in its format");
        spec.load(recording).expect("the file fits its specification")
    };
    let read = cpu(7, || drop(load()));
    let case = load();
    let mut figures = Figures { operations: case.spans().len(), read, ..Figures::default() };
    figures.judge = cpu(7, || {
        let budget = Budget::unlimited().with_configurations(20 * CONFIGURATIONS_MAX).with_memory(4 << 30);
        if way == Way::Whole {
            figures.verdict = check(checker("jit-graph"), &case.problems()[0], &budget).word();
            (figures.parts, figures.configurations) = (1, budget.visited());
            return;
        }
        let options = JudgeOptions { counterexample_configurations: 0, budget, ..JudgeOptions::default() };
        let judgement = judge(case.problems(), &options);
        (figures.parts, figures.configurations) = (judgement.parts, judgement.configurations);
        figures.verdict = judgement.verdict.word();
    });
    figures
}

fn collect(folder: PathBuf, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(path, files);
        } else {
            files.push(path);
        }
    }
}
