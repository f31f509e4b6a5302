//! shuttle.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use shuttle::{
    Config, Runner,
    scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId},
    sync::{Mutex, atomic::AtomicUsize},
    thread,
};

use crate::{Column, Deadline, Matrix, ObjectKind, PCT_DEPTH, PREEMPTIONS_MAX, Statistics, Way};

use std::sync::atomic::Ordering::{SeqCst, SeqCst as LOAD, SeqCst as STORE, SeqCst as UPDATE};

include!("programs.rs");

/// Runs until there is nothing left to try, or it took too long.
pub fn run(matrix: &Matrix, way: Way, patience: Duration) -> Option<Statistics> {
    let scheduler: Box<dyn Scheduler + Send> = match way {
        Way::Exhaustive => Box::new(DfsScheduler::new(None, false)),
        Way::Bounded => Box::new(Bounded::default()),
        Way::Random => Box::new(RandomScheduler::new_from_seed(0, usize::MAX)),
        Way::Pct => Box::new(PctScheduler::new_from_seed(0, PCT_DEPTH as usize, usize::MAX)),
        Way::Reduced | Way::BoundedReduced | Way::Weak => return None,
    };
    Some(match matrix.kind {
        ObjectKind::Counter => go::<Counter>(scheduler, patience, matrix.columns),
        ObjectKind::Locked => go::<Locked>(scheduler, patience, matrix.columns),
        ObjectKind::Treiber => go::<Treiber>(scheduler, patience, matrix.columns),
        ObjectKind::MichaelScott => go::<MichaelScott>(scheduler, patience, matrix.columns),
        ObjectKind::Steps => go::<Steps>(scheduler, patience, matrix.columns),
    })
}

fn go<S: Subject + Send + Sync>(
    scheduler: Box<dyn Scheduler + Send>,
    patience: Duration,
    columns: &'static [Column],
) -> Statistics {
    let executions = Arc::new(AtomicU64::new(0));
    let is_done = Arc::new(AtomicBool::new(false));
    let watched = Watched {
        scheduler,
        deadline: Deadline::new(patience),
        executions: Arc::clone(&executions),
        is_done: Arc::clone(&is_done),
    };
    let mut config = Config::new();
    config.silence_warnings = true;
    Runner::new(watched, config).run(move || {
        let subject = Arc::new(S::make());
        let work = |column: &'static [Call]| {
            let subject = Arc::clone(&subject);
            thread::spawn(move || column.iter().for_each(|it| _ = black_box(subject.call(*it))))
        };
        let threads: Vec<_> = columns.iter().map(|it| work(it)).collect();
        threads.into_iter().for_each(|it| it.join().expect("no thread panics"));
    });
    Statistics { executions: executions.load(SeqCst), is_done: is_done.load(SeqCst) }
}

/// A scheduler that counts, and ends in time.
struct Watched {
    scheduler: Box<dyn Scheduler + Send>,
    deadline: Deadline,
    executions: Arc<AtomicU64>,
    is_done: Arc<AtomicBool>,
}

impl Scheduler for Watched {
    fn new_execution(&mut self) -> Option<Schedule> {
        let executions = self.executions.load(SeqCst);
        if executions % 64 == 63 && self.deadline.is_over() {
            return None;
        }
        let schedule = self.scheduler.new_execution();
        match schedule {
            Some(_) => self.executions.store(executions + 1, SeqCst),
            None => self.is_done.store(true, SeqCst),
        }
        schedule
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.scheduler.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.scheduler.next_u64()
    }
}

/// Every schedule with few preemptions, depth first: shuttle has none, but allows schedulers of
/// one's own.
#[derive(Default)]
struct Bounded {
    levels: Vec<Level>,
    depth: usize,
    is_started: bool,
}

struct Level {
    // The running task comes first.
    alternatives: Vec<TaskId>,
    at: usize,
    preemptions: u32,
    is_free: bool,
}

impl Level {
    fn preemptions_after(&self) -> u32 {
        self.preemptions + u32::from(!self.is_free && self.at != 0)
    }
}

impl Scheduler for Bounded {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.depth = 0;
        if std::mem::replace(&mut self.is_started, true) {
            loop {
                let level = self.levels.last_mut()?;
                level.at += 1;
                if level.at < level.alternatives.len() && level.preemptions_after() <= PREEMPTIONS_MAX {
                    break;
                }
                self.levels.pop();
            }
        }
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        if self.depth == self.levels.len() {
            let mut alternatives: Vec<TaskId> = runnable.iter().map(|it| it.id()).collect();
            let running = current.and_then(|it| alternatives.iter().position(|other| *other == it));
            if let Some(running) = running {
                alternatives[..=running].rotate_right(1);
            }
            let preemptions = self.levels.last().map_or(0, Level::preemptions_after);
            let is_free = running.is_none() || is_yielding;
            self.levels.push(Level { alternatives, at: 0, preemptions, is_free });
        }
        let level = &self.levels[self.depth];
        self.depth += 1;
        Some(level.alternatives[level.at])
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
