//! What the benchmarks share: histories in the shapes of the papers, and a stopwatch.

use std::time::Duration;

use clewline_check::{Checker, search::SEARCHES};
use clewline_core::{Case, Domain, Plan, Recording};
use clewline_specs::find;
use cpu_time::ThreadTime;

/// Processor time of this thread in `run`, the median of `times` runs.
pub fn cpu(times: usize, mut run: impl FnMut()) -> Duration {
    let mut taken: Vec<Duration> = (0..times)
        .map(|_| {
            let start = ThreadTime::now();
            run();
            start.elapsed()
        })
        .collect();
    taken.sort_unstable();
    taken[taken.len() / 2]
}

/// A duration in milliseconds, with three digits.
#[must_use]
pub fn ms(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1e3;
    match ms {
        ..10.0 => format!("{ms:.2}"),
        ..100.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}

/// The workloads of Lowe's Figure 4, and a register: four processes, values from a small domain.
pub const SHAPES: [Shape; 3] = [
    Shape {
        name: "map",
        spec: "map",
        mix: &[("get", 1), ("put", 1), ("remove", 1), ("get-or-insert", 1)],
        values: 4,
    },
    Shape { name: "register", spec: "register", mix: &[("read", 1), ("write", 1)], values: 10 },
    Shape { name: "queue, 30 % enq", spec: "queue", mix: &[("enq", 3), ("deq", 7)], values: 20 },
];

/// A kind of generated history.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What the tables call it.
    pub name: &'static str,
    /// The specification.
    pub spec: &'static str,
    /// The methods, with weights.
    pub mix: &'static [(&'static str, u32)],
    /// The number of values.
    pub values: u32,
}

impl Shape {
    /// A history of `operations` operations of four processes.
    #[must_use]
    pub fn generate(&self, operations: usize, seed: u64) -> Recording {
        let mix = self.mix.iter().map(|&(name, weight)| (name.to_owned(), weight)).collect();
        let values = Domain::Below(self.values);
        let plan =
            Plan { operations, processes: 4, overlap: 0.75, mix, values, keys: 20, seed, ..Plan::default() };
        find(self.spec).expect("a shape names a specification").generate(&plan)
    }

    /// The history, ready to be judged.
    #[must_use]
    pub fn case(&self, operations: usize, seed: u64) -> Box<dyn Case> {
        let spec = find(self.spec).expect("a shape names a specification");
        spec.load(self.generate(operations, seed)).expect("a specification reads what it generated")
    }
}

/// The search of that name.
#[must_use]
pub fn checker(name: &str) -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == name).expect("the search is registered")
}
