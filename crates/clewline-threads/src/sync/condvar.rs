//! Condition variables.
//!
//! A task that waits releases its lock and becomes a waiter in one step. A notification may wake
//! any waiter, in any order. A wait with a timeout may time out at any moment, and then waits for
//! its lock: a notification in between does not reach it. If an execution [allows
//! it](crate::control::Limits::spurious), tasks wake spuriously.

use std::{
    fmt,
    sync::{self, LockResult, PoisonError},
    time::Duration,
};

use clewline_explore::Access;

use super::{identity::Identity, mutex::MutexGuard};
use crate::control::{Attempt, Control, WakeCondition, control, give_way, is_ending};

/// See `std`.
#[derive(Default)]
#[repr(C)]
pub struct Condvar {
    id: Identity,
    condvar: sync::Condvar,
}

/// Whether the wait timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it timed out.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

type WaitTimeoutOutcome<'a, T> = LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>;

impl Condvar {
    /// A condition variable without waiters.
    #[must_use]
    pub const fn new() -> Self {
        Condvar { id: Identity, condvar: sync::Condvar::new() }
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The guard, if a thread panicked while it held the lock.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let mutex = guard.mutex();
        if let Some(control) = control() {
            self.sleep(control, guard);
            if control.can_wake_spuriously() {
                if !self.is_woken(control) {
                    control.woke_spuriously();
                }
                control.attempt(mutex.id(), mutex.attempt());
            } else {
                control.attempt(mutex.id(), mutex.attempt().until(WakeCondition::Woken));
            }
            return mutex.taken(control);
        }
        if is_ending() {
            drop(guard);
            give_way();
            return mutex.lock();
        }
        mutex.guard(self.condvar.wait(guard.unwrap()))
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The guard, if a thread panicked while it held the lock.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        let mut guard = guard;
        while guard.evaluate(&mut condition) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// See `std`. In an exploration, the timeout may occur at any moment.
    ///
    /// # Errors
    ///
    /// The guard, if a thread panicked while it held the lock.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
    ) -> WaitTimeoutOutcome<'a, T> {
        let mutex = guard.mutex();
        if let Some(control) = control() {
            self.sleep(control, guard);
            let is_woken = self.is_woken(control);
            if !is_woken {
                control.detail(|| "time is up".to_owned());
            }
            control.attempt(mutex.id(), mutex.attempt());
            return with_result(mutex.taken(control), WaitTimeoutResult(!is_woken));
        }
        if is_ending() {
            drop(guard);
            give_way();
            return with_result(mutex.lock(), WaitTimeoutResult(true));
        }
        match self.condvar.wait_timeout(guard.unwrap(), duration) {
            Ok((guard, result)) => with_result(mutex.guard(Ok(guard)), WaitTimeoutResult(result.timed_out())),
            Err(error) => {
                let (guard, result) = error.into_inner();
                with_result(mutex.guard(Err(PoisonError::new(guard))), WaitTimeoutResult(result.timed_out()))
            }
        }
    }

    /// See `std`. In an exploration, the timeout may occur whenever it has to wait.
    ///
    /// # Errors
    ///
    /// The guard, if a thread panicked while it held the lock.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> WaitTimeoutOutcome<'a, T> {
        let start = std::time::Instant::now();
        let mut guard = guard;
        let mut is_late = false;
        loop {
            if !guard.evaluate(&mut condition) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if is_late {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            let left = match duration.checked_sub(start.elapsed()) {
                Some(left) => left,
                // In an exploration, only the schedule decides about timeouts.
                None if control().is_some() => Duration::ZERO,
                None => return Ok((guard, WaitTimeoutResult(true))),
            };
            let (again, result) = self.wait_timeout(guard, left)?;
            guard = again;
            // On threads the clock decides, as it does in `std`.
            is_late = result.timed_out() && (crate::control::is_controlled() || is_ending());
        }
    }

    /// See `std`.
    #[track_caller]
    pub fn notify_one(&self) {
        let Some(control) = control() else { return self.condvar.notify_one() };
        control.access(&self.id, Access::Notify);
        let waiters = control.waiters(&self.id);
        control.changed(&self.id);
        let chosen = match waiters.len() {
            0 => return control.detail(|| "no thread waits".to_owned()),
            1 => 0,
            n => control.value(n as u32),
        };
        if let Some(task) = waiters.iter().nth(chosen as usize) {
            control.wake_at(&self.id, task);
        }
    }

    /// See `std`.
    #[track_caller]
    pub fn notify_all(&self) {
        let Some(control) = control() else { return self.condvar.notify_all() };
        control.access(&self.id, Access::Notify);
        control.changed(&self.id);
        for task in control.waiters(&self.id) {
            control.wake_at(&self.id, task);
        }
    }

    /// Whether another task woke this one, which need not wait for that. If none did, it stops
    /// being a waiter: notifying tasks observe that, so it is a separate access.
    #[track_caller]
    fn is_woken(&self, control: Control) -> bool {
        let is_woken =
            control.attempt(&self.id, Attempt::new(Access::Wait).until(WakeCondition::WokenOrTimeout));
        if !is_woken {
            control.leave(&self.id);
        }
        is_woken
    }

    /// Releases the lock and becomes a waiter.
    #[track_caller]
    fn sleep<T>(&self, control: Control, guard: MutexGuard<'_, T>) {
        control.access(&self.id, Access::Wait);
        control.wait_at(&self.id);
        drop(guard);
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condvar.fmt(f)
    }
}

fn with_result<T>(
    guard: LockResult<MutexGuard<'_, T>>,
    result: WaitTimeoutResult,
) -> WaitTimeoutOutcome<'_, T> {
    match guard {
        Ok(guard) => Ok((guard, result)),
        Err(error) => Err(PoisonError::new((error.into_inner(), result))),
    }
}
