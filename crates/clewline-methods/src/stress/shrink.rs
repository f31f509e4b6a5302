//! Smaller workloads that show the same bug.
//!
//! A violation in ten thousand operations of eight threads is harder to understand than one in ten
//! operations of two. So the test is run again, for a share of the time, with fewer operations,
//! threads, keys or values; if the bug shows, that is the workload to beat. The search is greedy:
//! it ends where no single step down shows the bug in time. A smaller workload may still exist.

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use clewline_core::{ValueDomain, is_interrupted};
use clewline_specs::entry;

use super::{
    drive::drive,
    outcome::{RunFailure, Shrinking, StressFinding},
    plan::{Phase, Stress, StressProgress, Workload},
};

// Each attempt gets this part of the time.
const SHRINK_ATTEMPT_TIME_DIVISOR: u32 = 10;

/// Searches for smaller workloads than the one of `finding`.
pub(super) fn shrink(stress: &Stress, finding: &StressFinding) -> Shrinking {
    let limit = stress.shrinking;
    // A stuck run is the same failure whether its threads were seen to sleep or to run.
    let kind = mem::discriminant(&finding.failure);
    if limit.is_zero() {
        return Shrinking::Off;
    }
    let share = match finding.failure {
        // To detect that a run is stuck takes the whole patience.
        RunFailure::Stuck(..) => stress.patience * 2,
        RunFailure::NotLinearizable(_) | RunFailure::Panicked(_) => limit / SHRINK_ATTEMPT_TIME_DIVISOR,
    };
    if limit < share * 2 {
        return Shrinking::TooSlow;
    }
    let begun = Instant::now();
    let mut best: Option<Box<StressFinding>> = None;
    let may_vary = ShrinkableParameters::of(stress);
    let search = search(&stress.workload, may_vary, |workload| {
        let left = limit.saturating_sub(begun.elapsed());
        if left.is_zero() || is_interrupted() {
            return Attempt::OutOfTime;
        }
        let found =
            again(stress, workload, share.min(left)).filter(|it| mem::discriminant(&it.failure) == kind);
        let Some(found) = found else { return Attempt::Passed };
        if size(&found) <= size(best.as_deref().unwrap_or(finding)) {
            best = Some(Box::new(found));
        }
        Attempt::Failed
    });
    let ShrinkResult { smallest, attempts, is_finished } = search;
    Shrinking::Tried { smallest, best, attempts, is_finished, elapsed: begun.elapsed() }
}

/// How much there is to understand.
fn size(finding: &StressFinding) -> (usize, usize) {
    (finding.counterexample().len(), finding.report.operations())
}

/// The finding with `workload`, if there is one.
fn again(stress: &Stress, workload: &Workload, time: Duration) -> Option<StressFinding> {
    let progress = Arc::clone(&stress.progress);
    let smaller = Stress {
        workload: workload.clone(),
        executions: None,
        round: None,
        progress: Arc::new(move |it| progress(StressProgress { phase: Phase::Shrinking, ..it })),
        ..stress.clone()
    };
    // If the system has no threads left, the finding is reported as it is.
    drive(&smaller, Some(time)).ok()?.finding
}

/// Whether a workload showed the bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    Failed,
    Passed,
    OutOfTime,
}

/// Where a search ended.
#[derive(Debug, PartialEq)]
struct ShrinkResult {
    // The smallest workload that showed the bug, if it is smaller than the first.
    smallest: Option<Workload>,
    attempts: u64,
    // Whether every step down was tried.
    is_finished: bool,
}

/// Steps down as long as `attempt` shows the bug.
fn search(
    start: &Workload,
    varied: ShrinkableParameters,
    mut attempt: impl FnMut(&Workload) -> Attempt,
) -> ShrinkResult {
    let mut smallest = start.clone();
    let mut attempts = 0;
    // Every step makes a number smaller, so this ends.
    let is_finished = 'down: loop {
        for workload in steps(&smallest, varied) {
            match attempt(&workload) {
                Attempt::OutOfTime => break 'down false,
                Attempt::Passed => attempts += 1,
                Attempt::Failed => {
                    attempts += 1;
                    smallest = workload;
                    continue 'down;
                }
            }
        }
        break true;
    };
    ShrinkResult { smallest: (smallest != *start).then_some(smallest), attempts, is_finished }
}

/// Which parameters matter to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShrinkableParameters {
    keys: bool,
}

impl ShrinkableParameters {
    fn of(stress: &Stress) -> ShrinkableParameters {
        let keys = match entry(&stress.spec) {
            Some(entry) => entry.operations.iter().any(|it| it.argument.contains("key")),
            // Whether a user-defined object has keys is not known; but a program that uses them
            // probably sets their number.
            None => stress.workload.keys != Workload::PLAIN.keys,
        };
        ShrinkableParameters { keys }
    }
}

/// Workloads that are a step smaller, those that save the most first.
fn steps(from: &Workload, varied: ShrinkableParameters) -> Vec<Workload> {
    let mut steps = Vec::new();
    let operations = |operations| Workload { operations, ..from.clone() };
    let threads = |threads| Workload { threads, ..from.clone() };
    if 1 < from.operations {
        steps.push(operations(from.operations / 2));
    }
    // One thread alone is no test of concurrency.
    if 2 < from.threads && from.roles.is_empty() {
        steps.push(threads(2));
    }
    if 3 < from.threads && from.roles.is_empty() {
        steps.push(threads(from.threads - 1));
    }
    // Without one of its roles it would be another test.
    for at in (0..from.roles.len()).filter(|&at| 1 < from.roles[at].threads && 2 < from.threads) {
        let mut roles = from.roles.clone();
        roles[at].threads -= 1;
        steps.push(from.clone().with_roles(roles));
    }
    if 4 <= from.operations {
        steps.push(operations(from.operations - from.operations / 4));
    }
    if varied.keys && 1 < from.keys {
        steps.push(Workload { keys: from.keys / 2, ..from.clone() });
    }
    // With one value it is not known which write a read observed.
    if let ValueDomain::Below(values @ 3..) = from.values {
        steps.push(Workload { values: ValueDomain::Below((values / 2).max(2)), ..from.clone() });
    }
    steps
}

#[cfg(test)]
mod tests {
    use clewline_threads::Noise;

    use super::*;

    const ALL: ShrinkableParameters = ShrinkableParameters { keys: true };

    fn workload(threads: usize, operations: usize, keys: usize, values: u32) -> Workload {
        Workload {
            threads,
            operations,
            mix: Vec::new(),
            roles: Vec::new(),
            keys,
            values: ValueDomain::Below(values),
            noise: Noise::NONE,
        }
    }

    fn shown_text(shows: bool) -> Attempt {
        if shows { Attempt::Failed } else { Attempt::Passed }
    }

    #[test]
    fn a_bug_that_always_shows_is_shrunk_to_the_minimum() {
        let search = search(&workload(8, 2_048, 16, 10), ALL, |_| Attempt::Failed);
        assert_eq!(search.smallest, Some(workload(2, 1, 1, 2)));
        assert!(search.is_finished);
    }

    #[test]
    fn each_number_goes_down_to_where_the_bug_no_longer_shows() {
        let shows = |it: &Workload| 3 <= it.threads && 5 <= it.operations && 2 <= it.keys;
        let search = search(&workload(8, 2_048, 16, 2), ALL, |it| shown_text(shows(it)));
        let smallest = search.smallest.expect("it shows in smaller ones");
        assert!(shows(&smallest), "{smallest:?}");
        assert!(steps(&smallest, ALL).iter().all(|it| !shows(it)), "{smallest:?}");
        assert_eq!((smallest.threads, smallest.keys), (3, 2));
        assert!(search.is_finished);
    }

    #[test]
    fn a_bug_that_shows_no_more_is_not_shrunk() {
        let search = search(&workload(4, 100, 1, 2), ALL, |_| Attempt::Passed);
        let steps = steps(&workload(4, 100, 1, 2), ALL).len() as u64;
        assert_eq!(search, ShrinkResult { smallest: None, attempts: steps, is_finished: true });
    }

    #[test]
    fn when_time_is_up_the_smallest_so_far_is_kept() {
        let mut left = 3;
        let search = search(&workload(2, 64, 1, 2), ALL, |_| {
            left -= 1;
            if left < 0 { Attempt::OutOfTime } else { Attempt::Failed }
        });
        assert_eq!(
            search,
            ShrinkResult { smallest: Some(workload(2, 8, 1, 2)), attempts: 3, is_finished: false }
        );
    }

    #[test]
    fn irrelevant_keys_are_not_shrunk() {
        let search =
            search(&workload(2, 1, 16, 2), ShrinkableParameters { keys: false }, |_| Attempt::Failed);
        assert_eq!(search.smallest, None);
    }

    #[test]
    fn no_role_is_lost() {
        let roles = ["producer=1:enq", "consumer=4:deq"].map(|it| it.parse().unwrap()).into();
        let from = workload(1, 64, 1, 2).with_roles(roles);
        let search = search(&from, ALL, |it| {
            shown_text(it.threads == it.roles.iter().map(|it| it.threads).sum::<usize>())
        });
        let smallest = search.smallest.expect("it shows in smaller ones");
        let roles: Vec<String> = smallest.roles.iter().map(ToString::to_string).collect();
        assert_eq!((smallest.threads, smallest.operations), (2, 1));
        assert_eq!(roles, ["producer=1:enq", "consumer=1:deq"]);
    }

    #[test]
    fn one_thread_stays_one() {
        assert!(steps(&workload(1, 8, 4, 8), ALL).iter().all(|it| it.threads == 1));
    }
}
