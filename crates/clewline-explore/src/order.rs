//! Happens-before by release and acquire: which clocks an atomic access joins, and which it
//! publishes.
//!
//! The rules are those of C++20 and Rust. A store carries a *message*: what an acquiring load of it
//! learns. A store with release ordering carries what its task knows; a relaxed one what the task
//! knew at its last release fence. A read-modify-write also carries on the message that it has
//! read, so release sequences consist of read-modify-writes. A relaxed load learns nothing, until
//! an acquire fence follows.

use std::sync::atomic::Ordering;

use crate::step::TaskId;

/// A set of events that is closed under happens-before.
pub trait VectorClock {
    /// Adds the events of `other`.
    fn join(&mut self, other: &Self);

    /// Becomes the same as `other`.
    fn assign(&mut self, other: &Self);

    /// `task`, whose clock this is, begins another interval: no other clock contains what it does
    /// from now on.
    fn tick(&mut self, task: TaskId);
}

/// What a task knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaskClocks<C> {
    /// What happens before its next step.
    pub now: C,
    // At its last release fence: what a relaxed store releases.
    release_fence: C,
    // The messages that relaxed loads have read: an acquire fence joins them.
    relaxed_reads: C,
}

/// Whether a read with this ordering acquires.
#[inline(always)]
#[must_use]
pub fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

/// Whether a write with this ordering releases.
#[inline(always)]
#[must_use]
pub fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

impl<C: VectorClock> TaskClocks<C> {
    /// The clocks of a task that knows what `now` contains.
    pub const fn new(now: C, release_fence: C, relaxed_reads: C) -> TaskClocks<C> {
        TaskClocks { now, release_fence, relaxed_reads }
    }

    /// The task begins: it knows what `now` contains, and has neither released nor read anything.
    #[inline(always)]
    pub fn begin(&mut self, now: &C, nothing: &C) {
        self.now.assign(now);
        self.release_fence.assign(nothing);
        self.relaxed_reads.assign(nothing);
    }

    /// The task reads a store with that message.
    #[inline(always)]
    pub fn read(&mut self, order: Ordering, message: &C) {
        if acquires(order) {
            self.now.join(message);
        } else {
            self.relaxed_reads.join(message);
        }
    }

    /// The task, which is `task`, stores. The message becomes that of the store.
    #[inline(always)]
    pub fn store(&mut self, task: TaskId, order: Ordering, message: &mut C) {
        if releases(order) {
            message.assign(&self.now);
            self.now.tick(task);
        } else {
            message.assign(&self.release_fence);
        }
    }

    /// The task, which is `task`, writes what a read-modify-write makes of the store with that
    /// message, which it has [read](Self::read).
    #[inline(always)]
    pub fn update(&mut self, task: TaskId, order: Ordering, message: &mut C) {
        if releases(order) {
            message.join(&self.now);
            self.now.tick(task);
        } else {
            message.join(&self.release_fence);
        }
    }

    /// The part of a fence that acquires.
    #[inline(always)]
    pub fn acquire_fence(&mut self, order: Ordering) {
        if acquires(order) {
            self.now.join(&self.relaxed_reads);
        }
    }

    /// The part of a fence of `task` that releases, which comes after the other.
    #[inline(always)]
    pub fn release_fence(&mut self, task: TaskId, order: Ordering) {
        if releases(order) {
            self.release_fence.assign(&self.now);
            self.now.tick(task);
        }
    }
}
