//! Order hints: a queue of few values, with many operations open at a time, as a generic search
//! sees it (`auto` has a search of its own for queues).
//!
//! Each operation takes effect in a known order and is open while others do. In which order values
//! were put into the queue shows only when they are taken out. The search is `jit-graph`, without
//! hints, with right ones, and with random ones.

#[path = "../../../crates/clewline-check/tests/it/hints/overlapping.rs"]
mod overlapping;

use std::{sync::Arc, time::Instant};

use clewline_check::{check, search::SEARCHES};
use clewline_core::{Budget, ErasedHistory, Random};

use overlapping::overlapping;

const CONFIGURATIONS_MAX: u64 = 300_000;

fn main() {
    println!("| operations | open at a time | no hints | right hints | random hints |");
    println!("|---|---|---|---|---|");
    for (count, width) in [(100, 2), (1_000, 2), (1_000, 4), (10_000, 4), (10_000, 16)] {
        let (case, open) = overlapping(count, width, 1);
        let mut random = Random::new(2);
        let drawn: Arc<[Option<i64>]> = (0..count).map(|_| Some(random.below(count) as i64)).collect();
        let plain = measure(&*case, Some(&[].into()));
        let (right, wrong) = (measure(&*case, None), measure(&*case, Some(&drawn)));
        println!("| {count} | {open} | {plain} | {right} | {wrong} |");
    }
}

/// How long a search takes, and how many configurations.
fn measure(case: &dyn ErasedHistory, hints: Option<&Arc<[Option<i64>]>>) -> String {
    let problem = case.problems().remove(0);
    let problem = match hints {
        Some(hints) => problem.with_order_hints(hints),
        None => problem,
    };
    let budget = Budget::unlimited().with_configurations(CONFIGURATIONS_MAX);
    let begun = Instant::now();
    let verdict = check(*SEARCHES.find("jit-graph").expect("it is built in"), &problem, &budget);
    let (time, visited) = (begun.elapsed().as_secs_f64() * 1e3, budget.visited());
    match verdict.word() {
        "holds" => format!("{time:.2} ms ({visited})"),
        word => format!("{word} after {time:.0} ms ({visited})"),
    }
}
