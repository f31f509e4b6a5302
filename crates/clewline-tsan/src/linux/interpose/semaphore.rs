//! Semaphores.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, Until};

use super::{check, fails_with, given_back, lock_at, taken, time};
use crate::linux::{
    call::stubs,
    here::{self, place},
    real,
    tried::tries,
};

/// The count, which is the first word.
fn count<'a>(semaphore: usize) -> &'a mut i32 {
    // SAFETY: the caller of the function of the C library says so; if it is wrong, that is a finding. No borrow lasts across a point.
    unsafe { &mut *(semaphore as *mut i32) }
}

fn take(control: Control, semaphore: usize) -> c_int {
    *count(semaphore) -= 1;
    let key = lock_at(semaphore);
    control.sets_level(key, *count(semaphore));
    control.changes(key);
    taken(control, key);
    0
}

fn wait(control: Control, semaphore: usize, until: Until, pc: usize) -> c_int {
    check(control, semaphore, pc);
    let key = lock_at(semaphore);
    control.sets_level(key, *count(semaphore));
    match control.waits_for(key, Access::Acquire, Need::AtLeast(1), until, place(pc)) {
        true => take(control, semaphore),
        false => fails_with(libc::ETIMEDOUT),
    }
}

extern "C" fn wait_at(semaphore: *mut c_void, pc: usize) -> c_int {
    match here::control() {
        Some(control) => wait(control, semaphore as usize, Until::Met, pc),
        // SAFETY: the caller asks for it.
        None => unsafe { real::sem_wait(semaphore) },
    }
}

extern "C" fn timed_wait_at(semaphore: *mut c_void, until: *const c_void, pc: usize) -> c_int {
    match here::control() {
        Some(control) => {
            let answer = wait(control, semaphore as usize, Until::MetOrLate, pc);
            if answer != 0 {
                time::reach(until);
            }
            answer
        }
        // SAFETY: as above.
        None => unsafe { real::sem_timedwait(semaphore, until) },
    }
}

extern "C" fn clock_wait_at(semaphore: *mut c_void, clock: c_int, until: *const c_void, pc: usize) -> c_int {
    if here::control().is_some() {
        return timed_wait_at(semaphore, until, pc);
    }
    // SAFETY: as above.
    unsafe { real::sem_clockwait(semaphore, clock, until) }
}

extern "C" fn try_wait_at(semaphore: *mut c_void, pc: usize) -> c_int {
    let Some(control) = here::control() else {
        // SAFETY: as above.
        return unsafe { real::sem_trywait(semaphore) };
    };
    let semaphore = semaphore as usize;
    check(control, semaphore, pc);
    tries(control);
    control.comes_to(lock_at(semaphore), Access::TryAcquire, place(pc));
    if *count(semaphore) < 1 { fails_with(libc::EAGAIN) } else { take(control, semaphore) }
}

extern "C" fn post_at(semaphore: *mut c_void, pc: usize) -> c_int {
    let Some(control) = here::control() else {
        // SAFETY: as above.
        return unsafe { real::sem_post(semaphore) };
    };
    let semaphore = semaphore as usize;
    check(control, semaphore, pc);
    let key = lock_at(semaphore);
    control.comes_to(key, Access::Update, place(pc));
    *count(semaphore) += 1;
    given_back(control, key);
    control.sets_level(key, *count(semaphore));
    control.changes(key);
    0
}

stubs! {
    sem_wait, "rsi" => wait_at;
    sem_timedwait, "rdx" => timed_wait_at;
    sem_clockwait, "rcx" => clock_wait_at;
    sem_trywait, "rsi" => try_wait_at;
    sem_post, "rsi" => post_at;
}
