//! Barriers.

use std::{fmt, sync};

use clewline_explore::Access;

use super::identity::Identity;
use crate::control::{Attempt, WakeCondition, control, give_way, is_ending};

/// See `std`.
#[repr(C)]
pub struct Barrier {
    id: Identity,
    barrier: sync::Barrier,
    n: usize,
}

/// Whether the thread was the last one to arrive, which is the leader.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it is the leader. One thread of each group is.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for groups of `n`.
    #[must_use]
    pub const fn new(n: usize) -> Self {
        Barrier { id: Identity, barrier: sync::Barrier::new(n), n }
    }

    /// See `std`. The last thread to arrive is the leader.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        if let Some(control) = control() {
            control.access(&self.id, Access::Update);
            let came = control.waiters(&self.id).len() + 1;
            control.detail(|| format!("{came} of {}", self.n));
            control.changed(&self.id);
            if self.n <= came {
                control.waiters(&self.id).iter().for_each(|it| control.wake_at(&self.id, it));
                return BarrierWaitResult(true);
            }
            control.wait_at(&self.id);
            control.attempt(&self.id, Attempt::new(Access::Join).until(WakeCondition::Woken));
            return BarrierWaitResult(false);
        }
        if is_ending() {
            // The tasks that would have arrived are abandoned as well.
            give_way();
            return BarrierWaitResult(false);
        }
        BarrierWaitResult(self.barrier.wait().is_leader())
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.barrier.fmt(f)
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
