//! What the benchmarks share: histories in the shapes of the papers, stopwatches, and memory of a
//! process.

pub mod limited;
pub mod relaxed;
pub mod store;

use std::{
    process::Command,
    time::{Duration, Instant},
};

use clewline_check::{Checker, check, search::SEARCHES};
use clewline_core::{Budget, ErasedHistory, GeneratorConfig, OperationId, Recording, ValueDomain, Verdict};
use clewline_specs::find;
use cpu_time::ThreadTime;

/// Processor time of this thread in `run`: the median of `times` runs, or of fewer if they take
/// seconds.
pub fn cpu(times: usize, mut run: impl FnMut()) -> Duration {
    median(times, || {
        let start = ThreadTime::now();
        run();
        start.elapsed()
    })
}

/// Wall-clock time of `run`, which may use several threads: the median, as in [`cpu`].
pub fn wall(times: usize, mut run: impl FnMut()) -> Duration {
    median(times, || {
        let start = Instant::now();
        run();
        start.elapsed()
    })
}

/// The median of the results of `measure` in `times` runs, or in as many as fit two seconds.
pub fn median(times: usize, mut measure: impl FnMut() -> Duration) -> Duration {
    let mut taken: Vec<Duration> = Vec::with_capacity(times);
    while taken.len() < times && taken.iter().sum::<Duration>() < Duration::from_secs(2) {
        taken.push(measure());
    }
    taken.sort_unstable();
    taken[taken.len() / 2]
}

/// The shortest processor time of this thread in each of `runs`, which take turns for `rounds`
/// rounds: other load affects all of them, and only ever adds.
pub fn best<const N: usize>(rounds: usize, mut runs: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..rounds {
        for (run, best) in runs.iter_mut().zip(&mut best) {
            let start = ThreadTime::now();
            run();
            *best = start.elapsed().min(*best);
        }
    }
    best
}

/// A duration in milliseconds, with three digits.
#[must_use]
pub fn ms(duration: Duration) -> String {
    digits(duration.as_secs_f64() * 1e3)
}

/// A number with three digits, or all of those before the point.
#[must_use]
pub fn digits(number: f64) -> String {
    match number {
        ..0.1 => format!("{number:.4}"),
        ..1.0 => format!("{number:.3}"),
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// `one` divided by `other`: `12.3 x`.
#[must_use]
pub fn ratio(one: Duration, other: Duration) -> String {
    format!("{} x", digits(one.as_secs_f64() / other.as_secs_f64()))
}

/// The workloads of Lowe's Figure 4, and a register: four processes, values from a small domain.
pub const SHAPES: [Shape; 3] = [MAP, REGISTER, QUEUE];

/// A map of 20 keys.
pub const MAP: Shape = Shape {
    name: "map",
    spec: "map",
    mix: &[("get", 1), ("put", 1), ("remove", 1), ("get-or-insert", 1)],
    values: ValueDomain::Below(4),
};

/// A register.
pub const REGISTER: Shape = Shape {
    name: "register",
    spec: "register",
    mix: &[("read", 1), ("write", 1)],
    values: ValueDomain::Below(10),
};

/// A queue that is nearly always empty.
pub const QUEUE: Shape = Shape {
    name: "queue, 30 % enq",
    spec: "queue",
    mix: &[("enq", 3), ("deq", 7)],
    values: ValueDomain::Below(20),
};

/// A stack.
pub const STACK: Shape =
    Shape { name: "stack", spec: "stack", mix: &[("push", 1), ("pop", 1)], values: ValueDomain::Below(20) };

/// A kind of generated history.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name in the tables.
    pub name: &'static str,
    /// The specification.
    pub spec: &'static str,
    /// The methods, with weights.
    pub mix: &'static [(&'static str, u32)],
    /// Where values come from.
    pub values: ValueDomain,
}

impl Shape {
    /// A history of `operations` operations of four processes.
    #[must_use]
    pub fn generate(&self, operations: usize, seed: u64) -> Recording {
        self.generate_as(&GeneratorConfig {
            operations,
            processes: 4,
            overlap: 0.75,
            seed,
            ..GeneratorConfig::default()
        })
    }

    /// A history by `plan`, except for methods and values.
    #[must_use]
    pub fn generate_as(&self, plan: &GeneratorConfig) -> Recording {
        let mix = self.mix.iter().map(|&(name, weight)| (name.to_owned(), weight)).collect();
        let plan = GeneratorConfig { mix, values: self.values, ..plan.clone() };
        find(self.spec).expect("a shape names a specification").generate(&plan)
    }

    /// A recording of this shape, ready to be judged.
    #[must_use]
    pub fn load(&self, recording: Recording) -> Box<dyn ErasedHistory> {
        let spec = find(self.spec).expect("a shape names a specification");
        spec.load(recording).expect("a specification reads what it generated")
    }

    /// `recording` with two results exchanged, as near to its end as makes it a violation.
    ///
    /// None if no two results of one method among the last [`TAIL_OPERATIONS`] operations do.
    #[must_use]
    pub fn violate(&self, recording: &Recording) -> Option<Recording> {
        for changed in exchanged(recording) {
            let case = self.load(changed.clone());
            let budget = Budget::unlimited().with_configurations(JUDGED_CONFIGURATIONS_MAX);
            match check(checker("jit-graph"), &case.problems()[0], &budget) {
                Verdict::Violated(_) => return Some(changed),
                Verdict::Holds(_) | Verdict::Unknown(_) => (),
            }
        }
        None
    }
}

/// `recording` with two results of one method exchanged, for each two of the last
/// [`TAIL_OPERATIONS`] operations, those nearest to its end first.
pub fn exchanged(recording: &Recording) -> impl Iterator<Item = Recording> {
    let history = &recording.history;
    let len = history.len();
    let id = move |last: usize| OperationId::from_index(len - 1 - last);
    let pairs = (1..TAIL_OPERATIONS.min(len)).flat_map(|last| (0..last).map(move |at| (at, last)));
    pairs.filter_map(move |(at, last)| {
        let (a, b) = (id(last), id(at));
        let is_alike = history.call(a).method == history.call(b).method;
        if !is_alike
            || history.ret(a).is_none()
            || history.ret(b).is_none()
            || history.ret(a) == history.ret(b)
        {
            return None;
        }
        let exchanged = history.clone().try_map(|it, call, ret| {
            let other = if it == a { Some(b) } else { (it == b).then_some(a) };
            Ok::<_, ()>((call, other.map_or(ret, |other| history.ret(other).copied())))
        });
        Some(Recording { history: exchanged.ok()?, ..recording.clone() })
    })
}

const TAIL_OPERATIONS: usize = 32;
const JUDGED_CONFIGURATIONS_MAX: u64 = 10_000_000;

/// The search of that name.
#[must_use]
pub fn checker(name: &str) -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == name).expect("the search is registered")
}

/// The peak resident memory of this process so far, in bytes; 0 if the system does not report it.
#[must_use]
pub fn peak_bytes() -> usize {
    status("VmHWM:")
}

/// The resident memory of this process now, in bytes; 0 if the system does not report it.
#[must_use]
pub fn resident_bytes() -> usize {
    status("VmRSS:")
}

/// Resets the peak to what is resident now; does nothing if the system cannot.
pub fn reset_peak() {
    // proc(5): writing 5 "resets the peak resident set size (high water mark)".
    let _where_there_is_none = std::fs::write("/proc/self/clear_refs", "5");
}

fn status(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|it| it.strip_prefix(field));
    value.and_then(|it| it.trim().strip_suffix(" kB")?.parse::<usize>().ok()).unwrap_or(0) << 10
}

/// The output of this program when it is started once more, with `arguments`; none if it gives up.
///
/// # Panics
///
/// If it cannot be started.
#[must_use]
pub fn ask_child(arguments: &[&str]) -> Option<String> {
    ask_child_with(arguments, &[])
}

/// As [`ask_child`], with variables in its environment.
///
/// # Panics
///
/// If it cannot be started.
#[must_use]
pub fn ask_child_with(arguments: &[&str], variables: &[(&str, &str)]) -> Option<String> {
    let program = std::env::current_exe().expect("a program knows where it is");
    let output = Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .stderr(std::process::Stdio::inherit())
        .output()
        .expect("a program can be started again");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
