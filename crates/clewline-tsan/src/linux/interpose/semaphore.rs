//! Semaphores.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, WakeCondition};

use super::{check, fails_with, lock_at, note_acquired, note_released, time};
use crate::linux::{
    call::stubs,
    current_task::{self, place},
    real,
    try_locks::tries,
};

/// The count, which is the first word.
fn count<'a>(semaphore: usize) -> &'a mut i32 {
    // SAFETY: the caller of the C function guarantees that the object is there; a violation is a
    // finding. No borrow lasts across a point.
    unsafe { &mut *(semaphore as *mut i32) }
}

fn take(control: Control, semaphore: usize) -> c_int {
    *count(semaphore) -= 1;
    let key = lock_at(semaphore);
    control.set_level_at(key, *count(semaphore));
    control.mark_changed(key);
    note_acquired(control, key);
    0
}

fn wait(control: Control, semaphore: usize, until: WakeCondition, pc: usize) -> c_int {
    check(control, semaphore, pc);
    let key = lock_at(semaphore);
    control.set_level_at(key, *count(semaphore));
    control.note_primitive();
    match control.wait_for(key, Access::Acquire, Need::AtLeast(1), until, place(pc)) {
        true => take(control, semaphore),
        false => fails_with(libc::ETIMEDOUT),
    }
}

extern "C" fn wait_at(semaphore: *mut c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => wait(control, semaphore as usize, WakeCondition::Met, pc),
        // SAFETY: the caller guarantees the preconditions of the C function.
        None => unsafe { real::sem_wait(semaphore) },
    }
}

extern "C" fn timed_wait_at(semaphore: *mut c_void, until: *const c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => {
            let result = wait(control, semaphore as usize, WakeCondition::MetOrTimeout, pc);
            if result != 0 {
                time::advance_to(until);
            }
            result
        }
        // SAFETY: as above.
        None => unsafe { real::sem_timedwait(semaphore, until) },
    }
}

extern "C" fn clock_wait_at(semaphore: *mut c_void, clock: c_int, until: *const c_void, pc: usize) -> c_int {
    if current_task::control().is_some() {
        return timed_wait_at(semaphore, until, pc);
    }
    // SAFETY: as above.
    unsafe { real::sem_clockwait(semaphore, clock, until) }
}

extern "C" fn try_wait_at(semaphore: *mut c_void, pc: usize) -> c_int {
    let Some(control) = current_task::control() else {
        // SAFETY: as above.
        return unsafe { real::sem_trywait(semaphore) };
    };
    let semaphore = semaphore as usize;
    check(control, semaphore, pc);
    tries(control);
    control.access_point(lock_at(semaphore), Access::TryAcquire, place(pc));
    if *count(semaphore) < 1 { fails_with(libc::EAGAIN) } else { take(control, semaphore) }
}

extern "C" fn post_at(semaphore: *mut c_void, pc: usize) -> c_int {
    let Some(control) = current_task::control() else {
        // SAFETY: as above.
        return unsafe { real::sem_post(semaphore) };
    };
    let semaphore = semaphore as usize;
    check(control, semaphore, pc);
    let key = lock_at(semaphore);
    control.access_point(key, Access::Update, place(pc));
    *count(semaphore) += 1;
    note_released(control, key);
    control.set_level_at(key, *count(semaphore));
    control.mark_changed(key);
    0
}

stubs! {
    sem_wait, "rsi" => wait_at;
    sem_timedwait, "rdx" => timed_wait_at;
    sem_clockwait, "rcx" => clock_wait_at;
    sem_trywait, "rsi" => try_wait_at;
    sem_post, "rsi" => post_at;
}
