//! Every built-in specification on histories as `clewline generate` makes them, of growing length
//! and overlap: where the cliffs are.
//!
//! One row for each specification, one column for each way to generate, and in each cell the
//! processor time in seconds of `auto` from the loaded history to its verdict, by 4, 8, 16 and 32
//! processes, with the memory of searches beyond half a GiB. A history is given up after ten
//! seconds of processor time, or beyond 2 GiB; then the cell is the greatest power of ten that was
//! judged, and why no more: `10^3 (time)`. Arguments: the greatest number of operations (100000),
//! the seconds (10), names of specifications (all).
//!
//! ```sh
//! cargo run --release --manifest-path bench/Cargo.toml --bin growth -- 10000 10 stack deque
//! ```

use std::{collections::BTreeSet, time::Duration};

use clewline_bench::limited::{Judged, judge_within};
use clewline_core::{GeneratorConfig, Reason, ValueDomain, Verdict};
use clewline_specs::{CATALOG, find};

const MEMORY_BYTES_MAX: usize = 2 << 30;
const SHOWN_BYTES_MIN: usize = 1 << 29;
const PROCESSES: [usize; 4] = [4, 8, 16, 32];
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
    ("half peeks", |it| it.mix = vec![(PEEKS.to_owned(), 1)]),
];

/// Stands for all methods that peek; each of the others is as frequent as it is by default.
const PEEKS: &str = "peeks";

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
        if !config.mix.is_empty() && !mix_peeks(name, &mut config) {
            return "–".to_owned();
        }
        let specification = find(name).expect("a specification");
        let Ok(case) = specification.load(specification.generate(&config)) else { return "none".to_owned() };
        let Judged { judgement, time, bytes, .. } = judge_within(&*case, timeout, MEMORY_BYTES_MAX);
        let limit = match judgement.verdict {
            Verdict::Holds(_) => {
                deciders.extend(names_only(&judgement.algorithm));
                last = format!("{:.2}", time.as_secs_f64());
                if SHOWN_BYTES_MIN < bytes {
                    last += &format!(" ({} MiB)", bytes >> 20);
                }
                operations *= 10;
                continue;
            }
            Verdict::Unknown(Reason::Memory(_)) => "memory",
            Verdict::Unknown(_) => "time",
            Verdict::Violated(_) => panic!("what is generated holds"),
        };
        return match operations {
            OPERATIONS_MIN => format!("**0 ({limit})**"),
            _ => format!("**10^{} ({limit})**", operations.ilog10() - 1),
        };
    }
    last
}

/// Makes half of the operations peeks; false if the object has none.
fn mix_peeks(name: &str, config: &mut GeneratorConfig) -> bool {
    let family = name.split(':').next().unwrap_or(name);
    let Some(entry) = CATALOG.iter().find(|it| it.name == family) else { return false };
    let (peeks, others): (Vec<_>, Vec<_>) = entry.methods().partition(|it| it.starts_with("peek"));
    let weighted = |names: &[&str], weight: usize| {
        names.iter().map(|&it| (it.to_owned(), weight as u32)).collect::<Vec<_>>()
    };
    config.mix = weighted(&peeks, others.len());
    config.mix.extend(weighted(&others, peeks.len()));
    !peeks.is_empty()
}

/// Who decided, without the numbers of operations.
fn names_only(algorithm: &str) -> Vec<String> {
    let without = |it: &str| it.split(" on ").next().unwrap_or_default().to_owned();
    algorithm.split(" and ").flat_map(|it| it.split(", then ")).map(without).collect()
}
