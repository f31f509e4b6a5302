//! Each checker on maps, registers and queues of growing length: the shape of Lowe's Figure 4.
//!
//! The whole object is one problem here, as in the paper; `by key` is what `auto` does with a map.

use clewline_bench::{SHAPES, Shape, checker, cpu, ms};
use clewline_check::{Options, check, judge};
use clewline_core::{Budget, Verdict};

const NAMES: [&str; 4] = ["wg-tree", "wg-graph", "jit-tree", "jit-graph"];
const LIMIT: u64 = 3_000_000;

fn main() {
    println!("processor time in ms (configurations) of 4 processes x N operations; median of 3 histories");
    println!("`-`: gave up after {LIMIT} configurations\n");
    for shape in SHAPES {
        println!("| {} | {} | auto |", shape.name, NAMES.join(" | "));
        println!("|---|{}---|", "---|".repeat(NAMES.len()));
        for exponent in 7..=13 {
            let mut row = format!("| 4 x 2^{exponent} ");
            for name in NAMES {
                row += &format!("| {} ", one(shape, 4 << exponent, Some(name)));
            }
            println!("{row}| {} |", one(shape, 4 << exponent, None));
        }
        println!();
    }
}

fn one(shape: Shape, operations: usize, name: Option<&str>) -> String {
    let mut cells: Vec<(std::time::Duration, String)> = Vec::new();
    for seed in 1..=3 {
        let case = shape.case(operations, seed);
        let budget = Budget::unlimited().with_configurations(LIMIT);
        let mut verdict = None;
        let mut visited = 0;
        let time = cpu(3, || {
            let before = budget.visited();
            verdict = Some(match name {
                Some(name) => check(checker(name), &case.problems()[0], &budget),
                None => {
                    judge(case.problems(), &Options { budget: budget.clone(), ..Options::default() }).verdict
                }
            });
            visited = budget.visited() - before;
        });
        match verdict {
            Some(Verdict::Holds(_)) => cells.push((time, format!("{} ({visited})", ms(time)))),
            Some(Verdict::Unknown(_)) => cells.push((time, "-".to_owned())),
            Some(Verdict::Violated(_)) | None => panic!("a simulated history is linearizable"),
        }
    }
    cells.sort();
    cells.swap_remove(1).1
}
