//! Spin locks, which block like other locks here.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, WakeCondition};

use super::{check, lock_at, note_locked, note_released};
use crate::linux::{
    call::stubs,
    current_task::{self, place},
    real,
    try_locks::tries,
};

// The C library's values for a free and a held lock.
const FREE: i32 = 1;
const HELD: i32 = 0;

fn at<'a>(lock: usize) -> &'a mut i32 {
    // SAFETY: the caller of the C function guarantees that the object is there; a violation is a
    // finding. No borrow lasts across a point.
    unsafe { &mut *(lock as *mut i32) }
}

fn take(control: Control, lock: usize) -> c_int {
    *at(lock) = HELD;
    control.set_level_at(lock_at(lock), 1);
    current_task::note_lock();
    note_locked(control, lock_at(lock));
    0
}

extern "C" fn lock_at_call(lock: *mut c_void, pc: usize) -> c_int {
    let Some(control) = current_task::control() else {
        // SAFETY: the caller guarantees the preconditions of the C function.
        return unsafe { real::pthread_spin_lock(lock) };
    };
    let lock = lock as usize;
    check(control, lock, pc);
    control.set_level_at(lock_at(lock), i32::from(*at(lock) != FREE));
    control.wait_for(lock_at(lock), Access::Acquire, Need::AtMost(0), WakeCondition::Met, place(pc));
    take(control, lock)
}

extern "C" fn try_at(lock: *mut c_void, pc: usize) -> c_int {
    let Some(control) = current_task::control() else {
        // SAFETY: as above.
        return unsafe { real::pthread_spin_trylock(lock) };
    };
    let lock = lock as usize;
    check(control, lock, pc);
    tries(control);
    control.access_point(lock_at(lock), Access::TryAcquire, place(pc));
    if *at(lock) == FREE { take(control, lock) } else { libc::EBUSY }
}

extern "C" fn unlock_at(lock: *mut c_void, pc: usize) -> c_int {
    let Some(control) = current_task::control() else {
        // SAFETY: as above.
        return unsafe { real::pthread_spin_unlock(lock) };
    };
    let lock = lock as usize;
    check(control, lock, pc);
    let key = lock_at(lock);
    if control.are_releases_points() {
        control.access_point(key, Access::Release, place(pc));
    }
    *at(lock) = FREE;
    note_released(control, key);
    control.note_unlock(key);
    control.set_level_at(key, 0);
    if current_task::note_unlock() {
        control.mark_changed(key);
    }
    0
}

stubs! {
    pthread_spin_lock, "rsi" => lock_at_call;
    pthread_spin_trylock, "rsi" => try_at;
    pthread_spin_unlock, "rsi" => unlock_at;
}
