//! One-time initialization: `pthread_once`, and that of C++ statics.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, WakeCondition};

use super::{check, lock_at, note_acquired, note_released};
use crate::linux::{
    call::stubs,
    current_task::{self, place},
    races, real,
};

/// Arrives, and waits until no task runs the initialization.
fn arrive(control: Control, once: usize, pc: usize) {
    check(control, once, pc);
    control.note_primitive();
    control.wait_for(lock_at(once), Access::Acquire, Need::AtMost(0), WakeCondition::Met, place(pc));
    note_acquired(control, lock_at(once));
}

/// Begins the initialization.
fn enter(control: Control, once: usize) {
    control.set_level_at(lock_at(once), 1);
    control.mark_changed(lock_at(once));
}

/// Ends the initialization. Other tasks may observe it from here on.
fn leave(control: Control, once: usize, pc: usize) {
    let key = lock_at(once);
    if control.are_releases_points() {
        control.access_point(key, Access::Release, place(pc));
    }
    note_released(control, key);
    control.set_level_at(key, 0);
    control.mark_changed(key);
}

// The C library's value for a completed initialization.
const DONE: c_int = 2;

pub(super) extern "C" fn once_at(once: *mut c_int, work: extern "C" fn(), pc: usize) -> c_int {
    let Some(control) = current_task::control() else {
        // SAFETY: the caller guarantees the preconditions of the C function.
        return unsafe { real::pthread_once(once.cast::<c_void>(), work) };
    };
    let address = once as usize;
    arrive(control, address, pc);
    // SAFETY: the caller guarantees the preconditions of the C function.
    if unsafe { *once } != DONE {
        enter(control, address);
        work();
        current_task::settle();
        leave(control, address, pc);
        // SAFETY: as above. No other task reads it before it arrives at a point.
        unsafe { *once = DONE };
    }
    0
}

// The first byte of a guard marks completion.
extern "C" fn guard_acquire_at(guard: *mut u8, pc: usize) -> c_int {
    let Some(control) = current_task::control() else {
        // SAFETY: the caller guarantees the preconditions of the C function.
        return unsafe { real::__cxa_guard_acquire(guard) };
    };
    arrive(control, guard as usize, pc);
    // SAFETY: as above.
    if unsafe { *guard } != 0 {
        return 0;
    }
    enter(control, guard as usize);
    1
}

extern "C" fn guard_release_at(guard: *mut u8, pc: usize) {
    match current_task::control() {
        Some(control) => {
            leave(control, guard as usize, pc);
            // The code reads it without a call, if it is set.
            races::publish(control, guard as usize, 1);
            // SAFETY: the caller guarantees the preconditions of the C function.
            unsafe { *guard = 1 };
        }
        // SAFETY: as above.
        None => unsafe { real::__cxa_guard_release(guard) },
    }
}

extern "C" fn guard_abort_at(guard: *mut u8, pc: usize) {
    match current_task::control() {
        Some(control) => leave(control, guard as usize, pc),
        // SAFETY: as above.
        None => unsafe { real::__cxa_guard_abort(guard) },
    }
}

stubs! {
    pthread_once, "rdx" => once_at;
    __cxa_guard_acquire, "rsi" => guard_acquire_at;
    __cxa_guard_release, "rsi" => guard_release_at;
    __cxa_guard_abort, "rsi" => guard_abort_at;
}
