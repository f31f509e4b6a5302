//! loom.

use std::{
    hint::black_box,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use loom::{
    model::Builder,
    sync::{Mutex, atomic::AtomicUsize},
    thread,
};

use crate::{Column, Deadline, Matrix, ObjectKind, PREEMPTIONS_MAX, Statistics, Way};

use std::sync::atomic::Ordering::{SeqCst, SeqCst as LOAD, SeqCst as STORE, SeqCst as UPDATE};

include!("programs.rs");

/// The programs with the weakest orderings with which they are right.
mod weak {
    use std::sync::atomic::Ordering::{AcqRel as UPDATE, Acquire as LOAD, Release as STORE};

    use super::{AtomicUsize, Mutex};

    include!("programs.rs");
}

/// Runs until there is nothing left to try, or it took too long.
pub fn run(matrix: &Matrix, way: Way, patience: Duration) -> Option<Statistics> {
    let bound = match way {
        Way::Reduced | Way::Weak => None,
        Way::BoundedReduced => Some(PREEMPTIONS_MAX as usize),
        Way::Exhaustive | Way::Bounded | Way::Random | Way::Pct => return None,
    };
    let mut builder = Builder::new();
    builder.preemption_bound = bound;
    if way == Way::Weak {
        return Some(weakly(matrix, &builder, patience));
    }
    Some(match matrix.kind {
        ObjectKind::Counter => go::<Counter>(&builder, patience, matrix.columns),
        ObjectKind::Locked => go::<Locked>(&builder, patience, matrix.columns),
        ObjectKind::Treiber => go::<Treiber>(&builder, patience, matrix.columns),
        ObjectKind::MichaelScott => go::<MichaelScott>(&builder, patience, matrix.columns),
        ObjectKind::Steps => go::<Steps>(&builder, patience, matrix.columns),
    })
}

fn weakly(matrix: &Matrix, builder: &Builder, patience: Duration) -> Statistics {
    match matrix.kind {
        ObjectKind::Counter => go::<weak::Counter>(builder, patience, matrix.columns),
        ObjectKind::Locked => go::<weak::Locked>(builder, patience, matrix.columns),
        ObjectKind::Treiber => go::<weak::Treiber>(builder, patience, matrix.columns),
        ObjectKind::MichaelScott => go::<weak::MichaelScott>(builder, patience, matrix.columns),
        ObjectKind::Steps => go::<weak::Steps>(builder, patience, matrix.columns),
    }
}

/// What the model panics with when it took too long: loom watches the time on the wall, and nothing
/// else ends it.
struct Over;

fn go<S: Subject + Send + Sync>(
    builder: &Builder,
    patience: Duration,
    columns: &'static [Column],
) -> Statistics {
    let executions = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&executions);
    let deadline = Deadline::new(patience);
    let model = move || {
        if counter.load(SeqCst) % 16 == 15 && deadline.is_over() {
            panic::resume_unwind(Box::new(Over));
        }
        counter.fetch_add(1, SeqCst);
        let subject = Arc::new(S::make());
        let work = |column: &'static [Call]| {
            let subject = Arc::clone(&subject);
            thread::spawn(move || column.iter().for_each(|it| _ = black_box(subject.call(*it))))
        };
        let threads: Vec<_> = columns.iter().map(|it| work(it)).collect();
        threads.into_iter().for_each(|it| it.join().expect("no thread panics"));
    };
    let is_done = panic::catch_unwind(AssertUnwindSafe(|| builder.check(model))).is_ok();
    Statistics { executions: executions.load(SeqCst), is_done }
}
