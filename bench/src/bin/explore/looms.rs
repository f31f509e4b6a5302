//! loom.

use std::{
    hint::black_box,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant},
};

use loom::{
    model::Builder,
    sync::{Mutex, atomic::AtomicUsize},
    thread,
};

use crate::{BOUND, Column, Kind, Matrix, Tally, Way};

include!("programs.rs");

/// Runs until there is nothing left to try, or it took too long. Here that is time on the wall, which is what loom can watch.
pub fn run(matrix: &Matrix, way: Way, patience: Duration) -> Option<Tally> {
    let bound = match way {
        Way::Reduced => None,
        Way::BoundedReduced => Some(BOUND as usize),
        Way::Exhaustive | Way::Bounded | Way::Random | Way::Pct => return None,
    };
    let mut builder = Builder::new();
    builder.preemption_bound = bound;
    builder.max_duration = Some(patience);
    // It looks at the time so often.
    builder.checkpoint_interval = 16;
    Some(match matrix.kind {
        Kind::Counter => go::<Counter>(&builder, matrix.columns),
        Kind::Locked => go::<Locked>(&builder, matrix.columns),
        Kind::Treiber => go::<Treiber>(&builder, matrix.columns),
        Kind::MichaelScott => go::<MichaelScott>(&builder, matrix.columns),
        Kind::Steps => go::<Steps>(&builder, matrix.columns),
    })
}

fn go<S: Subject + Send + Sync>(builder: &Builder, columns: &'static [Column]) -> Tally {
    let executions = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&executions);
    let start = Instant::now();
    builder.check(move || {
        counter.fetch_add(1, SeqCst);
        let subject = Arc::new(S::make());
        let work = |column: &'static [Call]| {
            let subject = Arc::clone(&subject);
            thread::spawn(move || column.iter().for_each(|it| _ = black_box(subject.call(*it))))
        };
        let threads: Vec<_> = columns.iter().map(|it| work(it)).collect();
        threads.into_iter().for_each(|it| it.join().expect("nobody panics"));
    });
    // It does not say why it ended.
    let is_done = Some(start.elapsed()) < builder.max_duration;
    Tally { executions: executions.load(SeqCst), is_done }
}
