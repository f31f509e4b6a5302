//! Our engine.

use std::{hint::black_box, ops::ControlFlow, time::Duration};

use clewline_explore::{
    Bounds, Coverage, Scheduler, explore,
    schedulers::{SchedulerSettings, bounded::PREEMPTIONS, find, pct},
};
use clewline_threads::{
    control::{Calls, Limits, Memory, MemoryModel, ThreadProgram},
    sync::{Mutex, atomic::AtomicUsize},
};

use crate::{Deadline, Matrix, ObjectKind, PCT_DEPTH, PREEMPTIONS_MAX, Statistics, Way};

use std::sync::atomic::Ordering::{SeqCst as LOAD, SeqCst as STORE, SeqCst as UPDATE};

include!("programs.rs");

/// The programs with the weakest orderings with which they are right.
mod weak {
    use std::sync::atomic::Ordering::{AcqRel as UPDATE, Acquire as LOAD, Release as STORE};

    use super::{AtomicUsize, Mutex};

    include!("programs.rs");
}

/// Runs until there is nothing left to try, or it took too long.
pub fn run(matrix: &Matrix, way: Way, patience: Duration) -> Option<Statistics> {
    let deadline = Deadline::new(patience);
    let mut is_over = |executions: u64, _| executions % 64 == 0 && deadline.is_over();
    let (coverage, executions) = match way {
        Way::Weak => weakly(matrix, &mut *scheduler(way), &mut is_over),
        _ => go(matrix, &mut *scheduler(way), &mut is_over),
    };
    Some(Statistics { executions, is_done: coverage == Coverage::Exhausted })
}

/// Runs at most `executions_max` executions. Returns how many there were, and how many steps they
/// made, without redundant ones.
pub fn count(matrix: &Matrix, way: Way, executions_max: u64) -> (u64, u64) {
    let mut steps = 0;
    let (_, executions) = go(matrix, &mut *scheduler(way), &mut |executions, made| {
        steps += u64::from(made);
        executions_max <= executions
    });
    (executions, steps)
}

fn scheduler(way: Way) -> Box<dyn Scheduler> {
    let (name, preemptions) = match way {
        Way::Exhaustive => ("exhaustive", None),
        Way::Reduced => ("dpor", None),
        Way::Bounded => ("bounded", Some(PREEMPTIONS_MAX)),
        Way::BoundedReduced => ("bounded-dpor", Some(PREEMPTIONS_MAX)),
        Way::Random => ("random", None),
        Way::Pct => ("pct", None),
        Way::Weak => ("graph", None),
    };
    let bounds = Bounds::default().with(&PREEMPTIONS, preemptions).with(&pct::DEPTH, PCT_DEPTH);
    let settings = SchedulerSettings { executions: u64::MAX, bounds, ..SchedulerSettings::default() };
    (find(name).expect("in the table").make)(&settings)
}

/// Runs random executions, and passes their number to `visit`.
pub fn random(matrix: &Matrix, settings: &SchedulerSettings, mut visit: impl FnMut(u64)) {
    let mut scheduler = (find("random").expect("in the table").make)(settings);
    go(matrix, &mut *scheduler, &mut |executions, _| {
        visit(executions);
        false
    });
}

// Gets the number of executions, and of steps of the last one; returns whether that
// is enough.
type Visit<'a> = &'a mut dyn FnMut(u64, u32) -> bool;

fn weakly(matrix: &Matrix, scheduler: &mut dyn Scheduler, visit: Visit<'_>) -> (Coverage, u64) {
    let memory = Memory { model: MemoryModel::ReleaseAcquire, ..Memory::default() };
    match matrix.kind {
        ObjectKind::Counter => go_on::<weak::Counter>(matrix, scheduler, memory, visit),
        ObjectKind::Locked => go_on::<weak::Locked>(matrix, scheduler, memory, visit),
        ObjectKind::Treiber => go_on::<weak::Treiber>(matrix, scheduler, memory, visit),
        ObjectKind::MichaelScott => go_on::<weak::MichaelScott>(matrix, scheduler, memory, visit),
        ObjectKind::Steps => go_on::<weak::Steps>(matrix, scheduler, memory, visit),
    }
}

fn go(matrix: &Matrix, scheduler: &mut dyn Scheduler, visit: Visit<'_>) -> (Coverage, u64) {
    let memory = Memory::default();
    match matrix.kind {
        ObjectKind::Counter => go_on::<Counter>(matrix, scheduler, memory, visit),
        ObjectKind::Locked => go_on::<Locked>(matrix, scheduler, memory, visit),
        ObjectKind::Treiber => go_on::<Treiber>(matrix, scheduler, memory, visit),
        ObjectKind::MichaelScott => go_on::<MichaelScott>(matrix, scheduler, memory, visit),
        ObjectKind::Steps => go_on::<Steps>(matrix, scheduler, memory, visit),
    }
}

fn go_on<S: Subject>(
    matrix: &Matrix,
    scheduler: &mut dyn Scheduler,
    memory: Memory,
    visit: Visit<'_>,
) -> (Coverage, u64) {
    let columns = matrix.columns.iter().map(|it| it.to_vec()).collect();
    let calls = Calls { initial: Vec::new(), columns, last: Vec::new() };
    let call = |subject: &S, call: &Call| black_box(subject.call(*call));
    let mut program = ThreadProgram::new(calls, S::make, call, Limits::default()).with_memory(memory);
    explore(&mut program, scheduler, u64::MAX, |program, _, executions| {
        if visit(executions, program.steps()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}
