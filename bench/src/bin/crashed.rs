//! Clients that crash: histories in which 5 to 80 of 1,000 operations never return.
//!
//! One row for each specification and verdict, one column for each number of such operations, and
//! in each cell the processor time in milliseconds of `auto` from the loaded history to its
//! verdict, and the configurations it visited. Ten processes, of which half are busy, and 20
//! values; a map has one key. Each operation that never returned took effect. In violated
//! histories two results near the end are exchanged; they are not minimized. A history is given up
//! after ten seconds. Arguments: names of specifications.
//!
//! ```sh
//! cargo run --release --manifest-path bench/Cargo.toml --bin crashed
//! ```

use std::time::Duration;

use clewline_bench::{
    exchanged,
    limited::{Judged, judge_within},
    ms,
};
use clewline_core::{GeneratorConfig, Recording, Verdict};
use clewline_specs::find;

const SPECIFICATIONS: [&str; 8] =
    ["cas-register", "register", "map", "counter", "queue", "queue:8", "stack", "priority-queue"];
const CRASHED: [usize; 5] = [5, 10, 20, 40, 80];
const OPERATIONS: usize = 1_000;
const TIMEOUT: Duration = Duration::from_secs(10);
const MEMORY_BYTES_MAX: usize = 2 << 30;

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = SPECIFICATIONS.map(str::to_owned).to_vec();
    }
    println!("| specification | verdict | {} |", CRASHED.map(|it| it.to_string()).join(" | "));
    println!("|---|---|{}", "---|".repeat(CRASHED.len()));
    for name in &names {
        let recordings = CRASHED.map(|it| generate(name, it));
        let held = recordings.each_ref().map(|it| judge(name, it.clone()).0);
        println!("| `{name}` | holds | {} |", held.join(" | "));
        let violated = recordings.map(|it| violate(name, &it));
        println!("| `{name}` | violated | {} |", violated.join(" | "));
    }
}

/// The first history, by its seed, with exactly this many pending operations.
fn generate(name: &str, crashed: usize) -> Recording {
    let specification = find(name).expect("a specification");
    let of_seed = |seed| {
        let pending = crashed as f64 / OPERATIONS as f64;
        let plan = GeneratorConfig {
            operations: OPERATIONS,
            processes: 10,
            keys: 1,
            pending,
            seed,
            ..GeneratorConfig::default()
        };
        specification.generate(&plan)
    };
    let is_it = |it: &Recording| it.history.operations().filter(|it| it.ret.is_none()).count() == crashed;
    (1..).map(of_seed).find(is_it).expect("some seed has as many")
}

/// What it takes if two results near the end are exchanged: of those histories that do not hold, or
/// are not decided, the first.
fn violate(name: &str, recording: &Recording) -> String {
    let judged = exchanged(recording).map(|it| judge(name, it));
    judged.into_iter().find(|(_, holds)| !holds).map_or("–".to_owned(), |it| it.0)
}

/// Time and configurations, or that it was given up; and whether the history holds.
fn judge(name: &str, recording: Recording) -> (String, bool) {
    let specification = find(name).expect("a specification");
    let case = specification.load(recording).expect("it reads what it generated");
    let Judged { judgement, time, configurations, .. } = judge_within(&*case, TIMEOUT, MEMORY_BYTES_MAX);
    match judgement.verdict {
        Verdict::Unknown(reason) => (format!("**{reason}** ({configurations})"), false),
        verdict => (format!("{} ({configurations})", ms(time)), matches!(verdict, Verdict::Holds(_))),
    }
}
