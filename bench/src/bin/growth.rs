//! Every built-in specification on histories as `clewline generate` makes them, of growing length
//! and overlap: where the cliffs are.
//!
//! One row for each specification, one column for each way to generate, and in each cell the
//! processor time in seconds of `auto` from the loaded history to its verdict, by 4, 8 and 16
//! processes. A history is given up after ten seconds of processor time, or beyond 2 GiB; then the
//! cell is the greatest power of ten that was judged, and why no more: `1,000 (time)`. Arguments:
//! the greatest number of operations (100000), the seconds (10), names of specifications (all).
//!
//! ```sh
//! cargo run --release --manifest-path bench/Cargo.toml --bin growth -- 10000 10 stack deque
//! ```

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clewline_check::{JudgeOptions, judge};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, Reason, ValueDomain, Verdict};
use clewline_specs::{CATALOG, find};
use cpu_time::{ProcessTime, ThreadTime};

const MEMORY_BYTES_MAX: usize = 2 << 30;
const PROCESSES: [usize; 3] = [4, 8, 16];
const OPERATIONS_MIN: usize = 100;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let most = arguments.next().map_or(100_000, |it| it.parse().expect("a number of operations"));
    let seconds = arguments.next().map_or(10, |it| it.parse().expect("a number of seconds"));
    let mut names: Vec<String> = arguments.collect();
    if names.is_empty() {
        names = CATALOG.iter().map(|it| it.name.to_owned()).collect();
        names.extend(["deque:4", "queue:4", "queue:64", "stack:4", "quasi-stack:2"].map(str::to_owned));
    }
    let timeout = Duration::from_secs(seconds);
    println!(
        "| specification | {} | decided by |",
        VARIANTS.iter().map(|it| it.0).collect::<Vec<_>>().join(" | ")
    );
    println!("|---|{}---|", "---|".repeat(VARIANTS.len()));
    for name in &names {
        let mut deciders = BTreeSet::new();
        let mut cells = Vec::new();
        for (_, change) in VARIANTS {
            let of = |processes| grow(name, *change, processes, most, timeout, &mut deciders);
            cells.push(PROCESSES.map(of).join(" / "));
        }
        let deciders: Vec<String> = deciders.into_iter().collect();
        println!("| {name} | {} | {} |", cells.join(" | "), deciders.join(", "));
    }
}

type Change = fn(&mut GeneratorConfig);

/// Names of variants, and how they differ from the defaults of `generate`.
const VARIANTS: &[(&str, Change)] = &[
    ("defaults", |_| ()),
    ("5 values", |it| it.values = ValueDomain::Below(5)),
    ("distinct", |it| it.values = ValueDomain::Distinct),
    ("overlap 0.9", |it| it.overlap = 0.9),
    ("5 % pending", |it| it.pending = 0.05),
];

/// The time that the longest history takes, or the longest that was decided.
fn grow(
    name: &str,
    change: Change,
    processes: usize,
    most: usize,
    timeout: Duration,
    deciders: &mut BTreeSet<String>,
) -> String {
    let mut operations = OPERATIONS_MIN;
    let mut last = "–".to_owned();
    while operations <= most {
        let mut config = GeneratorConfig {
            operations,
            processes,
            overlap: 0.5,
            values: ValueDomain::Below(20),
            keys: 20,
            seed: 1,
            ..GeneratorConfig::default()
        };
        change(&mut config);
        let specification = find(name).expect("a specification");
        let Ok(case) = specification.load(specification.generate(&config)) else { return "none".to_owned() };
        match decide(&*case, timeout) {
            Ok((seconds, algorithm)) => {
                deciders.extend(algorithm);
                last = format!("{seconds:.2}");
            }
            Err(limit) => {
                let decided = if operations == OPERATIONS_MIN { 0 } else { operations / 10 };
                return format!("**{decided} ({limit})**");
            }
        }
        operations *= 10;
    }
    last
}

/// The time it takes, and who decided; or the limit that was hit.
fn decide(case: &dyn ErasedHistory, timeout: Duration) -> Result<(f64, Vec<String>), &'static str> {
    let budget = Budget::unlimited().with_memory(MEMORY_BYTES_MAX);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let start = ProcessTime::now();
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                if timeout < start.elapsed() {
                    budget.stop(Reason::Time(timeout));
                }
            }
        });
        let start = ThreadTime::now();
        let judgement =
            judge(case.problems(), &JudgeOptions { budget: budget.clone(), ..JudgeOptions::default() });
        let time = start.elapsed();
        is_over.store(true, Ordering::Relaxed);
        match judgement.verdict {
            Verdict::Holds(_) => Ok((time.as_secs_f64(), names_only(&judgement.algorithm))),
            Verdict::Unknown(Reason::Memory(_)) => Err("memory"),
            Verdict::Unknown(_) => Err("time"),
            Verdict::Violated(_) => panic!("what is generated holds"),
        }
    })
}

/// Who decided, without the numbers of operations.
fn names_only(algorithm: &str) -> Vec<String> {
    let without = |it: &str| it.split(" on ").next().unwrap_or_default().to_owned();
    algorithm.split(" and ").flat_map(|it| it.split(", then ")).map(without).collect()
}
