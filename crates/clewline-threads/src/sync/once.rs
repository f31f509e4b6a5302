//! What is done once, and the gate in front of it that the cells share.

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
    /// One that has not been called.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "that of `std` has no default either")]
    pub const fn new() -> Self {
        Once { id: Identity, once: sync::Once::new() }
    }

    /// See `std`.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        let gate = OnceControl::new(&self.id, || self.once.is_completed());
        gate.run(|| {
            self.once.call_once(|| {
                f();
                gate.complete();
            });
        });
    }

    /// See `std`.
    #[track_caller]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        let gate = OnceControl::new(&self.id, || self.once.is_completed());
        gate.run(|| {
            self.once.call_once_force(|state| {
                f(state);
                gate.complete();
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

// The levels of a gate. Nobody has come yet.
const IDLE: i32 = 0;
// Somebody is inside.
const RUNNING: i32 = 1;
// Whoever was inside panicked.
const POISONED: i32 = -1;
// What was to be done is done.
pub(super) const DONE: i32 = -2;
// The same, and others could move meanwhile.
const DONE_AFTER_SWITCH: i32 = -3;

/// The gate in front of something that is done once. It lets one task in at a time, so that what `std` has behind it never
/// has to wait.
pub(super) struct OnceControl<'a> {
    id: &'a Identity,
    control: Option<Control>,
}

impl<'a> OnceControl<'a> {
    /// `is_done` says whether all is done already: it may have been outside of this execution.
    #[inline]
    #[track_caller]
    pub(super) fn new(id: &'a Identity, is_done: impl Fn() -> bool) -> OnceControl<'a> {
        let control = control();
        if let Some(control) = control
            && control.level(id) == IDLE
            && is_done()
        {
            control.set_level_quietly(id, DONE);
        }
        OnceControl { id, control }
    }

    /// Does `work` inside, or after it was done.
    #[track_caller]
    pub(super) fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let Some(control) = self.control else {
            // Whoever is inside may be unwound as well.
            while ending_control().is_some_and(|it| it.level(self.id) == RUNNING) && give_way() {}
            return work();
        };
        // Also if all seems to be done: what a task sees without an access must not decide which access comes next.
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

    /// The work is done, and others may see it from here on.
    #[track_caller]
    pub(super) fn complete(&self) {
        if let Some(control) = self.control
            && control.has_release_points()
            && !std::thread::panicking()
        {
            control.access(self.id, Access::Release);
        }
    }

    /// Looks whether it is done, without waiting.
    #[track_caller]
    pub(super) fn observe(&self) {
        let Some(control) = self.control else { return };
        control.access(self.id, Access::Read);
        if matches!(control.level(self.id), RUNNING | DONE_AFTER_SWITCH) {
            // It matters when exactly it is done.
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

/// Somebody is inside.
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
