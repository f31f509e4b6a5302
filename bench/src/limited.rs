//! Judging within limits of time and memory: for histories that may be too hard.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clewline_check::{JudgeOptions, Judgement, judge};
use clewline_core::{Budget, ErasedHistory, Reason};
use cpu_time::{ProcessTime, ThreadTime};

/// How `auto` judged a history, and what it took.
#[derive(Debug)]
pub struct Judged {
    /// The judgement; unknown if a limit was hit.
    pub judgement: Judgement,
    /// The processor time.
    pub time: Duration,
    /// The configurations that were visited.
    pub configurations: u64,
    /// The most bytes that searches held, as far as they count them.
    pub bytes: usize,
}

/// Judges a history, but not for more processor time than this, nor beyond this number of bytes.
#[must_use]
pub fn judge_within(case: &dyn ErasedHistory, timeout: Duration, bytes: usize) -> Judged {
    let budget = Budget::unlimited().with_memory(bytes);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let start = ProcessTime::now();
            let mut most = 0;
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                most = budget.memory_used().max(most);
                if timeout < start.elapsed() {
                    budget.stop(Reason::Time(timeout));
                }
            }
            most
        });
        let options = JudgeOptions {
            budget: budget.clone(),
            counterexample_configurations: 0,
            ..JudgeOptions::default()
        };
        let start = ThreadTime::now();
        let judgement = judge(case.problems(), &options);
        let time = start.elapsed();
        is_over.store(true, Ordering::Relaxed);
        let bytes = watch.join().unwrap_or_default();
        Judged { judgement, time, configurations: budget.visited(), bytes }
    })
}
