//! Histories of the paper on monitors, recorded from real threads: half of them produce, half
//! consume.
//!
//! As in the paper, a Michael-Scott queue and a Treiber stack; and a set and a priority queue
//! behind a lock, which our subjects do not have: they are here.

use std::{collections::BTreeSet, sync::Mutex};

use clewline_core::{ErasedHistory, Value, ValueDomain};
use clewline_matrix::SubjectFactory;
use clewline_methods::stress::{Stress, Workload};
use clewline_specs::{
    priority_queue::{First, PriorityQueue},
    set::{self, Set},
};
use clewline_threads::Subject;

use crate::container::{AsPriorityQueue, Integers};

// More would be added and never found again.
const ELEMENTS: u32 = 1_000;

/// One run on a structure with this specification.
pub(super) fn record(spec: &str, operations: usize, processes: usize, seed: u64) -> Box<dyn ErasedHistory> {
    let (stress, [produce, consume]) = subject(spec);
    let producers = processes / 2;
    let stress = stress
        .role("producer", producers, [(produce, 1)])
        .role("consumer", processes - producers, [(consume, 1)])
        .operations(operations / processes)
        .seed(seed);
    let mut recorded = stress.recorded().expect("threads can be started");
    (recorded.next().expect("the first run is recorded").case)()
}

/// The structure, and the calls that produce and consume.
fn subject(spec: &str) -> (Stress, [&'static str; 2]) {
    let named = |name: &str| crate::by_name::stress(name).expect("it is one of ours");
    match spec {
        "queue" => (named("ms-queue"), ["enq", "deq"]),
        "stack" => (named("treiber-stack"), ["push", "pop"]),
        "set" => {
            let factory = SubjectFactory::new(Set, || LockedSet(Mutex::default()));
            let stress = Stress::erased("set", "set".to_owned(), Box::new(factory), Workload::PLAIN);
            (stress.values(ValueDomain::Below(ELEMENTS)), ["add", "remove"])
        }
        _ => {
            let plain = PriorityQueue { first: First::Greatest };
            let factory = SubjectFactory::new(plain, || AsPriorityQueue(LockedIntegers(Mutex::default())));
            let spec = "priority-queue".to_owned();
            let stress = Stress::erased("priority-queue", spec, Box::new(factory), Workload::PLAIN);
            (stress.values(ValueDomain::Shuffled), ["add", "poll"])
        }
    }
}

/// A set behind a lock.
struct LockedSet(Mutex<BTreeSet<Value>>);

impl Subject<Set> for LockedSet {
    fn call(&self, call: &set::Call) -> Value {
        let mut elements = self.0.lock().expect("no call panics");
        Value::bool(match *call {
            set::Call::Add(value) => elements.insert(value),
            set::Call::Remove(value) => elements.remove(&value),
            set::Call::Contains(value) => elements.contains(&value),
        })
    }
}

/// Distinct integers behind a lock.
struct LockedIntegers(Mutex<BTreeSet<i64>>);

impl Integers for LockedIntegers {
    fn add(&self, int: i64) {
        self.0.lock().expect("no call panics").insert(int);
    }

    fn remove(&self) -> Option<i64> {
        self.0.lock().expect("no call panics").pop_last()
    }
}

#[cfg(test)]
mod tests {
    use clewline_core::Budget;
    use clewline_monitor::{self as monitor, MonitorVerdict, Want};

    use super::*;

    #[test]
    fn recorded_histories_have_their_size_and_hold() {
        for spec in ["set", "queue", "priority-queue", "stack"] {
            let case = record(spec, 400, 4, 1);
            assert_eq!(case.spans().len(), 400, "{spec}");
            for problem in &case.problems() {
                let verdict = monitor::judge(problem, Want::Verdict, &Budget::unlimited());
                assert!(matches!(verdict, Ok(MonitorVerdict::Holds(_))), "{spec}: {verdict:?}");
            }
        }
    }
}
