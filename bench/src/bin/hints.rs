//! Order hints: a queue of few values, with many operations open at a time, as a generic search
//! sees it (`auto` has a search of its own for queues).
//!
//! Each operation takes effect in a known order and is open while others do. In which order values
//! were put into the queue shows only when they are taken out. The search is `jit-graph`, without
//! hints, with right ones, and with random ones.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use clewline_check::{check, search::SEARCHES};
use clewline_core::{
    Budget, ErasedHistory, Names, ObjectId, ProcessId, Random, RawCall, Recording, Timed, TimedColumns,
    Value, Values,
};

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

/// A history of a queue, each operation open while about `width` others take effect, and how
/// many processes it has.
fn overlapping(count: usize, width: usize, seed: u64) -> (Box<dyn ErasedHistory>, usize) {
    let mut random = Random::new(seed);
    let (mut values, mut columns) = (Values::new(), TimedColumns::with_capacity(count));
    let (enq, deq) = (values.text("enq"), values.text("deq"));
    let mut inside: VecDeque<Value> = VecDeque::new();
    let (mut orders, mut free) = (Vec::new(), Vec::new());
    for at in 0..count {
        let value = values.int(random.below(8) as i64);
        let (method, arg, ret) = match random.below(2) {
            0 => (deq, Value::ABSENT, inside.pop_front().unwrap_or(Value::NIL)),
            _ => (enq, value, Value::ABSENT),
        };
        if method == enq {
            inside.push_back(value);
        }
        let point = 1_000 * at as i64;
        let called = point - random.below(1_000 * width) as i64;
        let ends = point + 1 + random.below(1_000 * width) as i64;
        let process = free.iter().position(|it| *it < called).unwrap_or(free.len());
        free.resize(free.len().max(process + 1), i64::MIN);
        free[process] = ends;
        let (call, object) = (RawCall { method, arg }, ObjectId(0));
        let process = ProcessId(process as u32);
        columns.push(Timed { process, object, call, called, returned: Some((ret, ends)) });
        orders.push(Some(at as i64));
    }
    let names = Names { orders: Some(orders), ..Names::default() };
    let recording = Recording::new(columns.finish().expect("it is a history"), values, names);
    let specification = clewline_specs::find("queue").expect("it is built in");
    (specification.load(recording).expect("it is one of these"), free.len())
}
