//! The verification of witnesses: its share of the time of `judge`, for each specification.
//!
//! Linearizable histories of four processes, with distinct values where the object has them. The
//! parts that are judged apart are verified apart. Processor time, without reading the file.

use std::time::Duration;

use clewline_bench::{cpu, ms};
use clewline_check::{JudgeOptions, judge};
use clewline_core::{
    Budget, GeneratorConfig, ObjectKind, OperationId, Problem, ValueDomain, Verdict, Witness,
};
use clewline_specs::{CATALOG, find};

const LENGTHS: [usize; 3] = [10_000, 100_000, 1_000_000];
const CONFIGURATIONS_MAX: u64 = 3_000_000;

fn main() {
    println!("| specification | {} |", LENGTHS.map(|it| it.to_string()).join(" | "));
    println!("|---|{}", "---|".repeat(LENGTHS.len()));
    for name in CATALOG.names() {
        println!("| `{name}` | {} |", LENGTHS.map(|it| share(name, it)).join(" | "));
    }
}

/// `0.8 of 12 ms, 7 %`: the share is that of the rest.
fn share(name: &str, operations: usize) -> String {
    let spec = find(name).expect("a specification of the table");
    let plan = GeneratorConfig { operations, values: ValueDomain::Distinct, ..GeneratorConfig::default() };
    let case = spec.load(spec.generate(&plan)).expect("a generated history");
    let judged = || {
        let budget = Budget::unlimited().with_configurations(CONFIGURATIONS_MAX);
        judge(case.problems(), &JudgeOptions { budget, ..JudgeOptions::default() }).verdict
    };
    let Verdict::Holds(witness) = judged() else { return "-".to_owned() };
    let whole: Duration = cpu(3, || _ = judged());
    let is_set = |it: &Problem<'_>| it.kind() == Some(ObjectKind::Set);
    let parts: Vec<Problem<'_>> = case
        .problems()
        .into_iter()
        .flat_map(|it| if is_set(&it) { vec![it] } else { it.into_parts() })
        .collect();
    let mut part_of = vec![0; operations];
    for (number, part) in parts.iter().enumerate() {
        part.operations().iter().for_each(|it| part_of[it.index()] = number);
    }
    let mut orders: Vec<Vec<OperationId>> = vec![Vec::new(); parts.len()];
    witness.order.iter().for_each(|&it| orders[part_of[it.index()]].push(it));
    let witnesses: Vec<Witness> = orders.into_iter().map(|order| Witness { order }).collect();
    let verified = cpu(3, || {
        for (part, witness) in parts.iter().zip(&witnesses) {
            assert_eq!(witness.verify(part), Ok(()), "{name}");
        }
    });
    let percent = 100.0 * verified.as_secs_f64() / (whole.as_secs_f64() - verified.as_secs_f64());
    format!("{} of {} ms, {percent:.0} %", ms(verified), ms(whole))
}
