//! Recorded histories, from file to verdict: etcd under Jepsen as a cas-register, key-value stores as maps.
//!
//! `recorded DIR` takes every `.log` file below DIR as a Jepsen log of a cas-register and every `.txt` file as a
//! key-value log. Processor time of this process, one thread; files are read once before the clock starts.

use std::{fs, path::PathBuf, time::Duration};

use clewline_bench::{cpu, ms};
use clewline_check::{Options, judge};
use clewline_report::{ReadOptions, formats};
use clewline_specs::find;

fn main() {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: recorded DIR");
        std::process::exit(2);
    };
    let mut files = Vec::new();
    collect(PathBuf::from(folder), &mut files);
    files.sort();
    let mut total = [Duration::ZERO; 2];
    let mut count = [0; 2];
    println!("| file | operations | parts | verdict | configurations | ms |\n|---|---|---|---|---|---|");
    for path in files {
        let (kind, format, spec) = match path.extension().and_then(|it| it.to_str()) {
            Some("log") => (0, "jepsen-log", "cas-register"),
            Some("txt") => (1, "porcupine-kv", "map"),
            _ => continue,
        };
        let text = fs::read(&path).expect("the file can be read");
        let format = formats::find(format).expect("the format is registered");
        let spec = find(spec).expect("the specification is registered");
        let mut row = String::new();
        let time = cpu(5, || {
            let options = ReadOptions { keyed: false, jobs: 1, progress: &|_| () };
            let recording = format.read(&mut &*text, &options).expect("the file is in its format");
            let case = spec.load(recording).expect("the file fits its specification");
            let judgement = judge(case.problems(), &Options { core_configurations: 0, ..Options::default() });
            let operations = case.spans().len();
            let (parts, word, visited) =
                (judgement.parts, judgement.verdict.word(), judgement.configurations);
            row = format!("{operations} | {parts} | {word} | {visited}");
        });
        total[kind] += time;
        count[kind] += 1;
        if kind == 1 || Duration::from_micros(500) < time {
            println!("| {} | {row} | {} |", path.file_name().unwrap_or_default().to_string_lossy(), ms(time));
        }
    }
    println!(
        "\n{} Jepsen logs: {} ms in all; {} key-value logs: {} ms in all",
        count[0],
        ms(total[0]),
        count[1],
        ms(total[1])
    );
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
