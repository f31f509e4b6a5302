//! A sequentialization within given distances of a legal order.
//!
//! Given where operations are in a legal order, each has an earliest and a latest place in the
//! sequentialization. This is scheduling of jobs of equal length on one machine, with release
//! times, deadlines and precedence. It needs no search: let no deadline be later than right before
//! those of the jobs that follow, nor any release time earlier than right after those of the jobs
//! that precede; then always take the job with the earliest deadline (Garey, Johnson, Simons and
//! Tarjan, "Scheduling unit-time tasks with arbitrary release times and deadlines", 1981, section
//! 1).
//!
//! Cost: O(n log n).

use std::{cmp::Reverse, collections::BinaryHeap};

use clewline_core::Span;

/// An operation to be given a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) operation: u32,
    pub(super) span: Span,
    pub(super) earliest: i64,
    pub(super) latest: i64,
}

impl Job {
    /// An operation that is at `place` in the legal order and may be `bound` places off.
    pub(super) fn around(operation: u32, span: Span, place: u32, bound: u32) -> Job {
        let (place, bound) = (i64::from(place), i64::from(bound));
        Job { operation, span, earliest: place - bound, latest: place + bound }
    }
}

/// Assigns the places from `first` on to the jobs, if they can be ordered.
pub(super) fn arrange(mut jobs: Vec<Job>, first: usize) -> Option<Vec<u32>> {
    narrow(&mut jobs);
    jobs.sort_unstable_by_key(|it| Reverse((it.earliest, it.operation)));
    let mut order = Vec::with_capacity(jobs.len());
    let mut released: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let count = jobs.len();
    for place in (first as i64..).take(count) {
        while jobs.last().is_some_and(|it| it.earliest <= place) {
            released.extend(jobs.pop().map(|it| Reverse((it.latest, it.operation))));
        }
        let Reverse((latest, operation)) = released.pop()?;
        if latest < place {
            return None;
        }
        order.push(operation);
    }
    Some(order)
}

/// Narrows the places of each job by real-time order.
fn narrow(jobs: &mut [Job]) {
    let mut by_call: Vec<usize> = (0..jobs.len()).collect();
    let mut by_end = by_call.clone();
    by_call.sort_unstable_by_key(|&it| jobs[it].span.call());
    by_end.sort_unstable_by_key(|&it| jobs[it].span.end());
    // A job that follows another one ends later, and so has been processed.
    let mut following = by_call.iter().rev().peekable();
    let mut due = i64::MAX;
    for &job in by_end.iter().rev() {
        while let Some(&&other) = following.peek()
            && jobs[job].span.precedes(jobs[other].span)
        {
            due = due.min(jobs[other].latest);
            following.next();
        }
        jobs[job].latest = jobs[job].latest.min(due.saturating_sub(1));
    }
    let mut preceding = by_end.iter().peekable();
    let mut free = i64::MIN;
    for &job in &by_call {
        while let Some(&&other) = preceding.peek()
            && jobs[other].span.precedes(jobs[job].span)
        {
            free = free.max(jobs[other].earliest);
            preceding.next();
        }
        jobs[job].earliest = jobs[job].earliest.max(free.saturating_add(1));
    }
}
