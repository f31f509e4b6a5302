//! A queue of few values with many operations open at a time. A benchmark uses it as well.

use std::collections::VecDeque;

use clewline_core::{
    ErasedHistory, Names, ObjectId, ProcessId, Random, RawCall, Recording, Timed, TimedColumns, Value, Values,
};

/// A history of a queue, each operation open while about `width` others take effect, and how many
/// processes it has. In which order values were put in shows only when they are taken out.
pub(crate) fn overlapping(count: usize, width: usize, seed: u64) -> (Box<dyn ErasedHistory>, usize) {
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
