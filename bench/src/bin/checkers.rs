//! Each checker on maps, registers and queues of growing length: the shape of Lowe's Figure 4.
//!
//! Linearizable histories, then the same with two results exchanged as near to the end as makes
//! them violations: those a search has to exhaust. The whole object is one problem here, as in the
//! paper; `auto` judges a map by key, and explains violations. Processor time, except for
//! competitions (`+`): they have a thread for each competitor, so theirs is wall-clock time, and
//! suffers if the machine is busy.

use std::time::Duration;

use clewline_bench::{SHAPES, Shape, checker, cpu, ms, wall};
use clewline_check::{JudgeOptions, compete, judge};
use clewline_core::{Budget, Recording, Verdict};

const NAMES: [&str; 7] =
    ["wg-tree", "wg-graph", "jit-tree", "jit-graph", "jit-tree+jit-graph", "wg-tree+jit-graph", "auto"];
const CONFIGURATIONS_MAX: u64 = 3_000_000;
const SEEDS: u64 = 3;

fn main() {
    println!("time in ms (configurations) for 4 processes x N operations; medians of {SEEDS} histories");
    println!("`-`: gave up after {CONFIGURATIONS_MAX} configurations\n");
    for shape in SHAPES {
        for kind in ["linearizable", "violated"] {
            println!("| {}, {kind} | {} |", shape.name, NAMES.join(" | "));
            println!("|---|{}", "---|".repeat(NAMES.len()));
            for exponent in 7..=13 {
                let good = (1..=SEEDS).map(|seed| shape.generate(4 << exponent, seed));
                let histories: Vec<Recording> = match kind {
                    "linearizable" => good.collect(),
                    _ => good.filter_map(|it| shape.violate(&it)).collect(),
                };
                let cells = NAMES.map(|name| one(shape, &histories, kind, name));
                println!("| 4 x 2^{exponent} | {} |", cells.join(" | "));
            }
            println!();
        }
    }
}

fn one(shape: Shape, histories: &[Recording], kind: &str, name: &str) -> String {
    let mut cells: Vec<(Duration, String)> = Vec::new();
    for history in histories {
        let case = shape.load(history.clone());
        let budget = Budget::unlimited().with_configurations(CONFIGURATIONS_MAX);
        let mut outcome = None;
        let run = || {
            let before = budget.visited();
            let verdict = decide(case.problems(), name, &budget);
            outcome = Some((verdict, budget.visited() - before));
        };
        let time = if name.contains('+') { wall(3, run) } else { cpu(3, run) };
        let (verdict, visited) = outcome.expect("it was run");
        match verdict {
            Verdict::Unknown(_) => cells.push((Duration::MAX, "-".to_owned())),
            Verdict::Holds(_) | Verdict::Violated(_) => {
                let expected = if kind == "linearizable" { "holds" } else { "violated" };
                assert_eq!(verdict.word(), expected, "{name} agrees");
                cells.push((time, format!("{} ({visited})", ms(time))));
            }
        }
    }
    cells.sort();
    cells.get(cells.len() / 2).map_or_else(|| "no such history".to_owned(), |it| it.1.clone())
}

/// The verdict of the checker, or checkers, on the whole object; `auto` divides it.
fn decide(problems: Vec<clewline_core::Problem<'_>>, name: &str, budget: &Budget) -> Verdict {
    if name == "auto" {
        let options = JudgeOptions {
            counterexample_configurations: 0,
            budget: budget.clone(),
            ..JudgeOptions::default()
        };
        return judge(problems, &options).verdict;
    }
    let checkers: Vec<_> = name.split('+').map(checker).collect();
    compete(&checkers, &problems[0], budget).0
}
