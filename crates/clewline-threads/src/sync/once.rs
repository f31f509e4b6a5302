//! One-time initialization, and the synchronization that the cells share.

use std::{
    fmt,
    sync::{self, OnceState},
};

use clewline_explore::Access;

use super::identity::Identity;
use crate::control::{Attempt, Control, Need, control, ending_control, give_way};

/// See `std`.
#[repr(C)]
pub struct Once {
    id: Identity,
    once: sync::Once,
}

impl Once {
    /// A `Once` that has not run.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "that of `std` has no default either")]
    pub const fn new() -> Self {
        Once { id: Identity, once: sync::Once::new() }
    }

    /// See `std`.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        let once_control = OnceControl::new(&self.id, || self.once.is_completed());
        once_control.run(|| {
            self.once.call_once(|| {
                f();
                once_control.complete();
            });
        });
    }

    /// See `std`.
    #[track_caller]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        let once_control = OnceControl::new(&self.id, || self.once.is_completed());
        once_control.run(|| {
            self.once.call_once_force(|state| {
                f(state);
                once_control.complete();
            });
        });
    }

    /// See `std`.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        OnceControl::new(&self.id, || self.once.is_completed()).observe();
        self.once.is_completed()
    }

    /// See `std`.
    #[track_caller]
    pub fn wait(&self) {
        OnceControl::new(&self.id, || self.once.is_completed()).wait(POISONED);
        self.once.wait();
    }

    /// See `std`.
    #[track_caller]
    pub fn wait_force(&self) {
        OnceControl::new(&self.id, || self.once.is_completed()).wait(DONE);
        self.once.wait_force();
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.once.fmt(f)
    }
}

// The levels of a `OnceControl`. Not started.
const IDLE: i32 = 0;
// A task is running the initialization.
const RUNNING: i32 = 1;
// The initialization panicked.
const POISONED: i32 = -1;
// The initialization is complete.
pub(super) const DONE: i32 = -2;
// The same, and other tasks could move before it completed.
const DONE_AFTER_SWITCH: i32 = -3;

/// Admits one task at a time to a one-time initialization, so that the type of `std` behind it
/// never blocks.
pub(super) struct OnceControl<'a> {
    id: &'a Identity,
    control: Option<Control>,
}

impl<'a> OnceControl<'a> {
    /// `is_done` returns whether the initialization is complete already: it may have run outside
    /// this execution.
    #[inline]
    #[track_caller]
    pub(super) fn new(id: &'a Identity, is_done: impl Fn() -> bool) -> OnceControl<'a> {
        let control = control();
        if let Some(control) = control
            && control.level(id) == IDLE
            && is_done()
        {
            control.set_level_only(id, DONE);
        }
        OnceControl { id, control }
    }

    /// Runs `work` while holding the initialization, or after it was completed.
    #[track_caller]
    pub(super) fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let Some(control) = self.control else {
            // The task that runs the initialization may be unwound as well.
            while ending_control().is_some_and(|it| it.level(self.id) == RUNNING) && give_way() {}
            return work();
        };
        // Also if the initialization seems complete: an observation without an access must not
        // decide which access comes next.
        control.note_once();
        let attempt = Attempt::new(Access::Acquire).needing(Need::AtMost(IDLE));
        while !control.attempt(self.id, attempt) && control.level(self.id) == RUNNING {}
        if control.level(self.id) <= DONE {
            return work();
        }
        let inside = RunningInit { id: self.id, control, step: control.steps() };
        control.set_level(self.id, RUNNING);
        let result = work();
        inside.finish();
        result
    }

    /// The initialization is complete, and other tasks may observe it from here on.
    #[track_caller]
    pub(super) fn complete(&self) {
        if let Some(control) = self.control
            && control.has_release_points()
            && !std::thread::panicking()
        {
            control.access(self.id, Access::Release);
        }
    }

    /// Observes without waiting whether it is complete.
    #[track_caller]
    pub(super) fn observe(&self) {
        let Some(control) = self.control else { return };
        control.access(self.id, Access::Read);
        if matches!(control.level(self.id), RUNNING | DONE_AFTER_SWITCH) {
            // The exact moment of completion matters.
            control.note_try_lock_use();
        }
    }

    /// Waits until the level is at most `level`.
    #[track_caller]
    pub(super) fn wait(&self, level: i32) {
        match self.control {
            Some(control) => {
                let attempt = Attempt::new(Access::Join).needing(Need::AtMost(level));
                while !control.attempt(self.id, attempt) && level < control.level(self.id) {}
            }
            None => while ending_control().is_some_and(|it| level < it.level(self.id)) && give_way() {},
        }
    }
}

/// Marks that a task is running the initialization.
struct RunningInit<'a> {
    id: &'a Identity,
    control: Control,
    step: u32,
}

impl RunningInit<'_> {
    fn finish(self) {
        let is_late = self.control.steps() != self.step;
        self.control.set_level(self.id, if is_late { DONE_AFTER_SWITCH } else { DONE });
    }
}

impl Drop for RunningInit<'_> {
    fn drop(&mut self) {
        if self.control.level(self.id) == RUNNING {
            self.control.set_level(self.id, POISONED);
        }
    }
}
