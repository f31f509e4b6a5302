//! What asynchronous code needs of the engine: state that is accessed in one step, and the flag
//! that a waker sets and a task waits for.
//!
//! `clewline-async` is written with these two. Outside of an exploration they are a mutex and a
//! condition variable.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    panic::Location,
    ptr,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clewline_explore::Access;

use crate::{
    control::{
        Attempt, Control, Need, Place, WakeCondition, control, give_way, here, is_controlled, is_ending,
    },
    sync::Identity,
};

/// State that tasks access in one step each, at places of the user's code.
#[derive(Default)]
#[repr(C)]
pub struct Shared<T> {
    id: Identity,
    state: Mutex<T>,
}

/// The state during a step. No code of users may be called while it exists: it could be a point.
pub struct Entered<'a, T> {
    shared: &'a Shared<T>,
    // Always present, except during the drop.
    guard: Option<MutexGuard<'a, T>>,
    control: Option<Control>,
    is_written: bool,
}

impl<T> Shared<T> {
    /// A state that no task has accessed.
    #[must_use]
    pub const fn new(state: T) -> Shared<T> {
        Shared { id: Identity, state: Mutex::new(state) }
    }

    /// A point, and the state until the next one.
    pub fn enter(&self, access: Access, at: &'static Location<'static>) -> Entered<'_, T> {
        self.entered(control(), access, Some(Place::of(at)))
    }

    /// The same in a destructor, at the place of the task's last point: the code of users does not
    /// call destructors itself.
    pub fn enter_in_drop(&self, access: Access) -> Entered<'_, T> {
        self.entered(here(), access, None)
    }

    /// The state without a point: nothing that other tasks can observe depends on when it is seen.
    pub fn peek(&self) -> Entered<'_, T> {
        Entered { shared: self, guard: Some(self.lock()), control: None, is_written: false }
    }

    fn entered(&self, control: Option<Control>, access: Access, place: Option<Place>) -> Entered<'_, T> {
        if let Some(control) = control {
            let place = place.unwrap_or_else(|| control.last_place());
            control.attempt_at(address(&self.id), Attempt::new(access), place);
        }
        Entered { shared: self, guard: Some(self.lock()), control, is_written: false }
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Entered<'_, T> {
    /// What tasks did before they changed the state happens before what this task does next. Only
    /// a state that is entered with an access that waits is learned without this.
    pub fn learn(&self) {
        if let Some(control) = self.control {
            control.acquire_at(address(&self.shared.id));
        }
    }
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("present until the drop")
    }
}

impl<T> DerefMut for Entered<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.is_written = true;
        self.guard.as_mut().expect("present until the drop")
    }
}

impl<T> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        self.guard = None;
        if let Some(control) = self.control
            && self.is_written
        {
            control.changed(&self.shared.id);
        }
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Entered<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").finish_non_exhaustive()
    }
}

/// The flag of a task that a waker sets, and that the task waits for. Its level is 1 if it is set.
#[repr(C)]
pub struct WakeFlag {
    id: Identity,
    // The execution whose task waits; `None` for a thread.
    execution: Option<u64>,
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl WakeFlag {
    /// The flag of the running task. It is set if `is_set`.
    #[must_use]
    pub fn new(is_set: bool) -> WakeFlag {
        let execution = here().map(Control::execution);
        WakeFlag { id: Identity, execution, is_set: Mutex::new(is_set), changed: Condvar::new() }
    }

    /// The number of steps of this execution. It stays the same until the task arrives at a point.
    #[must_use]
    pub fn steps() -> u32 {
        here().map_or(0, Control::steps)
    }

    /// Sets the flag. `with` runs in the same step.
    pub fn wake(&self, with: impl FnOnce()) {
        let control = here().filter(|it| self.execution == Some(it.execution()));
        match control {
            Some(control) => {
                // Wakers are called through a table of functions, which pass no place on.
                let place = control.last_place();
                control.attempt_at(address(&self.id), Attempt::new(Access::Wake), place);
                with();
                *self.lock() = true;
                control.set_level_only(&self.id, 1);
                control.changed(&self.id);
            }
            None => {
                let mut is_set = self.lock();
                with();
                *is_set = true;
                self.changed.notify_one();
            }
        }
    }

    /// Waits until the flag is set, and clears it. Returns `false` if the timeout came first, which
    /// in an exploration may be at any moment, or if the wait ended spuriously.
    ///
    /// The place of the wait is that of the last point since there were `since` steps, or else
    /// `at`.
    pub fn wait(&self, since: u32, at: &'static Location<'static>, timeout: Option<Duration>) -> bool {
        let Some(control) = control() else { return self.wait_on_thread(timeout) };
        let place = if control.steps() == since { Place::of(at) } else { control.last_place() };
        let is_spurious = timeout.is_none() && control.can_wake_spuriously();
        let until =
            if timeout.is_some() || is_spurious { WakeCondition::MetOrTimeout } else { WakeCondition::Met };
        // A flag may be set where there is no point: when it is made.
        control.set_level_only(&self.id, i32::from(*self.lock()));
        let attempt = Attempt::new(Access::Await).needing(Need::AtLeast(1)).until(until);
        let is_woken = control.attempt_at(address(&self.id), attempt, place);
        *self.lock() = false;
        control.set_level(&self.id, 0);
        if is_spurious && !is_woken {
            control.woke_spuriously();
        }
        is_woken
    }

    fn wait_on_thread(&self, timeout: Option<Duration>) -> bool {
        if is_ending() && give_way() {
            return false;
        }
        let is_set = self.lock();
        let mut is_set = match timeout {
            None => self.changed.wait_while(is_set, |it| !*it).unwrap_or_else(PoisonError::into_inner),
            Some(timeout) => {
                let waited = self.changed.wait_timeout_while(is_set, timeout, |it| !*it);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        std::mem::replace(&mut *is_set, false)
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for WakeFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WakeFlag").finish_non_exhaustive()
    }
}

/// Which of `n` interruptions comes to this task although it could go on, if one does: a choice of
/// the schedule. None comes outside of an exploration, nor to operations that are called one at a
/// time.
#[must_use]
pub fn interruption(n: usize) -> Option<usize> {
    let control = here().filter(|_| n != 0)?;
    let n = u32::try_from(n).expect("few choices: each of them is tried");
    control.interruption(n + 1).checked_sub(1).map(|it| it as usize)
}

/// Shows in a report why the task goes on.
pub fn note(why: &'static str) {
    here().into_iter().for_each(|it| it.detail(|| why.to_owned()));
}

/// Whether this code runs in a task of an exploration.
#[must_use]
pub fn is_explored() -> bool {
    is_controlled()
}

/// Objects are identified by their address.
fn address(id: &Identity) -> usize {
    ptr::from_ref(id).addr()
}
