//! Stress tests: what recording an operation costs, and how many operations a second are recorded
//! and judged.
//!
//! `stress [SECONDS [OBJECT]]` gives each of the end-to-end cases so long, 3 seconds unless
//! something else is said; those of one object, if it is named.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use clewline_core::{Deterministic, ValueDomain};
use clewline_threads::{Clock, ClockKind, Subject, WorkerSettings, Workers};

fn main() {
    let seconds = std::env::args().nth(1).map_or(3.0, |it| it.parse().expect("a number of seconds"));
    let object = std::env::args().nth(2);
    if object.is_none() {
        recording();
    }
    end_to_end(Duration::from_secs_f64(seconds), object.as_deref());
}

/// An object that does nothing, so that only the recorder is left.
#[derive(Clone)]
struct Nothing;

impl Deterministic for Nothing {
    type State = ();
    type Call = u32;
    type Return = u32;

    fn initial(&self) {}

    fn apply(&self, (): &mut (), call: &u32) -> Option<u32> {
        Some(*call)
    }
}

/// Notes when its first and its last call was made, so that starting the threads does not count.
struct Still {
    base: Instant,
    first: AtomicU64,
    last: AtomicU64,
}

impl Subject<Nothing> for Still {
    #[inline(never)]
    fn call(&self, call: &u32) -> u32 {
        let now = || self.base.elapsed().as_nanos() as u64;
        match *call as usize {
            0 => self.first.fetch_min(now(), Ordering::Relaxed),
            LAST => self.last.fetch_max(now(), Ordering::Relaxed),
            _ => 0,
        };
        *call
    }
}

impl Still {
    fn new() -> Still {
        Still { base: Instant::now(), first: AtomicU64::new(u64::MAX), last: AtomicU64::new(0) }
    }

    /// Nanoseconds for each call but the last.
    fn each(&self) -> f64 {
        let time = self.last.load(Ordering::Relaxed) - self.first.load(Ordering::Relaxed);
        time as f64 / LAST as f64
    }
}

const OPERATIONS: usize = 1 << 16;
const LAST: usize = OPERATIONS - 1;
const ROUNDS: usize = 101;

fn recording() {
    println!(
        "recording one operation that does nothing, ns, best and median of {ROUNDS} runs of {OPERATIONS}\n"
    );
    println!("| clock | threads | best | median |\n|---|---|---|---|");
    println!("| none: the call alone | 1 | {} |", show(bare()));
    for kind in ClockKind::ALL {
        let Ok(clock) = Clock::of(kind) else {
            println!("| {} | | not to be trusted here |", kind.name());
            continue;
        };
        for threads in [1, 2] {
            println!("| {} | {threads} | {} |", kind.name(), show(recorded(clock, threads)));
        }
    }
    println!();
}

/// Best and median.
fn show(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    format!("{:.1} | {:.1}", times[0], times[times.len() / 2])
}

fn bare() -> Vec<f64> {
    let calls: Vec<u32> = (0..OPERATIONS as u32).collect();
    let run = |_| {
        let still = Arc::new(Still::new());
        let subject: Arc<dyn Subject<Nothing>> = Arc::<Still>::clone(&still);
        for call in &calls {
            black_box(black_box(&subject).call(call));
        }
        still.each()
    };
    (0..ROUNDS).map(run).collect()
}

fn recorded(clock: Clock, threads: usize) -> Vec<f64> {
    let settings = WorkerSettings { threads, clock, ..WorkerSettings::default() };
    let mut crew: Workers<Nothing> = Workers::new(settings).expect("threads");
    let run = |round| {
        let calls = (0..OPERATIONS as u32).collect();
        let still = Arc::new(Still::new());
        crew.launch(Arc::<Still>::clone(&still), vec![calls; threads], round as u64);
        crew.wait();
        still.each()
    };
    (0..ROUNDS).map(run).collect()
}

type ErasedHistory = (&'static str, &'static str, &'static [(&'static str, u32)]);

const CASES: [ErasedHistory; 5] = [
    ("queue", "ms-queue", &[("enq", 1), ("deq", 1)]),
    ("stack", "treiber-stack", &[("push", 1), ("pop", 1)]),
    ("set", "skip-list", &[("add", 1), ("remove", 1), ("contains", 2)]),
    ("map", "hash-map", &[("get", 2), ("insert", 1), ("remove", 1)]),
    ("register", "register", &[("read", 6), ("write", 4)]),
];

fn end_to_end(time: Duration, only: Option<&str>) {
    println!("recorded and judged, millions of operations a second, {time:?} each\n");
    println!("| object | subject | values | threads | all | while recording | runs not judged |");
    println!("|---|---|---|---|---|---|---|");
    for (object, subject, mix) in CASES.into_iter().filter(|it| only.is_none_or(|only| only == it.0)) {
        let values = match object {
            "set" => [("many", ValueDomain::Below(1_000)), ("few", ValueDomain::Below(20))],
            _ => [("distinct", ValueDomain::Distinct), ("20", ValueDomain::Below(20))],
        };
        for (name, values) in values {
            for threads in [2, 4, 8] {
                let stress = match clewline_lab::stress(subject) {
                    Ok(stress) => stress.mix(mix.iter().copied()).values(values),
                    Err(error) => {
                        println!("| {object} | {error} |");
                        continue;
                    }
                };
                let stress = stress.threads(threads).operations(1 << 14).timeout(time).seed(1);
                let outcome = stress.run().expect("threads");
                assert!(outcome.finding.is_none(), "{outcome}");
                let rate = |time: Duration| outcome.operations as f64 / time.as_secs_f64() / 1e6;
                let (all, worked) = (rate(outcome.elapsed), rate(outcome.worked));
                let unknown = format!("{} of {}", outcome.unknown, outcome.executions);
                println!(
                    "| {object} | {subject} | {name} | {threads} | {all:.2} | {worked:.2} | {unknown} |"
                );
            }
        }
    }
}
