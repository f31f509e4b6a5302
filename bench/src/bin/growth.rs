//! Every built-in specification on histories as `clewline generate` makes them, of growing length
//! and overlap: where the cliffs are.
//!
//! A cell is the processor time in seconds of `auto` from the loaded history to its verdict, and
//! who decided. A history is given up after ten seconds of processor time, or beyond 2 GiB; larger
//! ones with as many processes are then left out. Arguments: the greatest number of operations
//! (100000), then names of specifications (all).
//!
//! ```sh
//! cargo run --release --manifest-path bench/Cargo.toml --bin growth -- 10000 stack deque
//! ```

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clewline_check::{JudgeOptions, judge};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Reason, ValueDomain, Verdict};
use clewline_specs::{CATALOG, find};
use cpu_time::{ProcessTime, ThreadTime};

const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
const MEMORY_BYTES_MAX: usize = 2 << 30;
const PROCESSES: [usize; 3] = [4, 8, 16];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let most = arguments.next().map_or(100_000, |it| it.parse().expect("a number of operations"));
    let mut names: Vec<String> = arguments.collect();
    if names.is_empty() {
        names = CATALOG.iter().map(|it| it.name.to_owned()).collect();
        names.extend(["deque:4", "queue:4", "queue:64", "stack:4"].map(str::to_owned));
    }
    println!(
        "| history | operations | {} | decided by |",
        PROCESSES.map(|it| format!("{it} processes")).join(" | ")
    );
    println!("|---|---|{}---|", "---|".repeat(PROCESSES.len()));
    for name in &names {
        for (variant, change) in VARIANTS {
            grow(name, variant, *change, most);
        }
    }
}

type Change = fn(&mut GeneratorConfig);

/// Names of variants, and how they differ from the defaults of `generate`.
const VARIANTS: &[(&str, Change)] = &[
    ("", |_| ()),
    ("distinct", |it| it.values = ValueDomain::Distinct),
    ("5 values", |it| it.values = ValueDomain::Below(5)),
    ("overlap 0.9", |it| it.overlap = 0.9),
    ("5 % pending", |it| it.pending = 0.05),
];

/// The rows of one specification and variant.
fn grow(name: &str, variant: &str, change: Change, most: usize) {
    let mut is_out = [false; PROCESSES.len()];
    let mut operations = 100;
    while operations <= most {
        let mut deciders: Vec<String> = Vec::new();
        let mut cells: Vec<String> = Vec::new();
        for (processes, is_out) in PROCESSES.into_iter().zip(&mut is_out) {
            let mut plan = GeneratorConfig {
                operations,
                processes,
                overlap: 0.5,
                values: ValueDomain::Below(20),
                keys: 20,
                seed: 1,
                ..GeneratorConfig::default()
            };
            change(&mut plan);
            if *is_out {
                cells.push("–".to_owned());
                continue;
            }
            let specification = find(name).expect("a specification");
            let Ok(case) = specification.load(specification.generate(&plan)) else {
                cells.push("no such history".to_owned());
                continue;
            };
            let (cell, decider) = decide(&*case);
            *is_out = decider.is_none();
            cells.push(cell);
            deciders.extend(decider);
        }
        deciders.sort();
        deciders.dedup();
        let title = if variant.is_empty() { name.to_owned() } else { format!("{name}, {variant}") };
        println!("| {title} | {operations} | {} | {} |", cells.join(" | "), deciders.join("; "));
        operations *= 10;
    }
}

/// The time it takes, and who decided, unless it is given up.
fn decide(case: &dyn ErasedHistory) -> (String, Option<String>) {
    let budget = Budget::unlimited().with_memory(MEMORY_BYTES_MAX);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let start = ProcessTime::now();
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                if CHECK_TIMEOUT < start.elapsed() {
                    budget.stop(Reason::Time(CHECK_TIMEOUT));
                }
            }
        });
        let start = ThreadTime::now();
        let judgement =
            judge(case.problems(), &JudgeOptions { budget: budget.clone(), ..JudgeOptions::default() });
        let time = start.elapsed();
        is_over.store(true, Ordering::Relaxed);
        match judgement.verdict {
            Verdict::Holds(_) => {
                (format!("{:.3}", time.as_secs_f64()), Some(names_only(&judgement.algorithm)))
            }
            Verdict::Unknown(Reason::Memory(_)) => ("> 2 GiB".to_owned(), None),
            Verdict::Unknown(_) => ("> 10 s".to_owned(), None),
            Verdict::Violated(_) => panic!("what is generated holds"),
        }
    })
}

/// `queue monitor, then two-frontiers`, without the numbers of operations.
fn names_only(algorithm: &str) -> String {
    let without = |it: &str| it.split(" on ").next().unwrap_or_default().to_owned();
    algorithm.split(" and ").map(without).collect::<Vec<_>>().join(" and ")
}
