//! Condition variables. They know nothing themselves: who waits, the engine knows.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, Until};

use super::{
    check, given_back, lock_at,
    mutex::{self, How},
    taken, time,
};
use crate::linux::{
    call::stubs,
    here::{self, place},
    real,
};

fn wait(control: Control, condvar: usize, mutex: usize, until: Option<*const c_void>, pc: usize) -> c_int {
    check(control, condvar, pc);
    let key = lock_at(condvar);
    control.comes_to(key, Access::Wait, place(pc));
    control.waits_among(key);
    let count = match mutex::unlock(control, mutex, true, pc) {
        Ok(count) => count,
        Err(error) => {
            control.leaves_those(key);
            return error;
        }
    };
    let mut error = 0;
    if until.is_some() || control.may_be_woken_early() {
        let is_woken = control.waits_for(key, Access::Wait, Need::Nothing, Until::WokenOrLate, place(pc));
        if !is_woken {
            control.leaves_those(key);
            match until {
                Some(until) => {
                    time::reach(until);
                    error = libc::ETIMEDOUT;
                }
                None => control.woken_early(),
            }
        }
        mutex::lock(control, mutex, How::Waits, pc);
    } else {
        mutex::lock(control, mutex, How::Woken, pc);
    }
    mutex::set_count(mutex, count);
    taken(control, key);
    error
}

fn notify(control: Control, condvar: usize, is_for_all: bool, pc: usize) -> c_int {
    check(control, condvar, pc);
    let key = lock_at(condvar);
    control.comes_to(key, Access::Notify, place(pc));
    control.changes(key);
    given_back(control, key);
    let waiters = control.those_at(key);
    if is_for_all {
        waiters.iter().for_each(|it| control.wakes_at(key, it));
        return 0;
    }
    let chosen = match waiters.len() {
        0 => {
            control.says(|| "nobody waits".to_owned());
            return 0;
        }
        1 => 0,
        n => control.chooses(n as u32),
    };
    if let Some(task) = waiters.iter().nth(chosen as usize) {
        control.wakes_at(key, task);
    }
    0
}

pub(super) extern "C" fn wait_at(condvar: *mut c_void, mutex: *mut c_void, pc: usize) -> c_int {
    match here::control() {
        Some(control) => wait(control, condvar as usize, mutex as usize, None, pc),
        // SAFETY: the caller asks for it.
        None => unsafe { real::pthread_cond_wait(condvar, mutex) },
    }
}

pub(super) extern "C" fn timed_wait_at(
    condvar: *mut c_void,
    mutex: *mut c_void,
    until: *const c_void,
    pc: usize,
) -> c_int {
    match here::control() {
        Some(control) => wait(control, condvar as usize, mutex as usize, Some(until), pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_cond_timedwait(condvar, mutex, until) },
    }
}

extern "C" fn clock_wait_at(
    condvar: *mut c_void,
    mutex: *mut c_void,
    clock: c_int,
    until: *const c_void,
    pc: usize,
) -> c_int {
    match here::control() {
        Some(control) => wait(control, condvar as usize, mutex as usize, Some(until), pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_cond_clockwait(condvar, mutex, clock, until) },
    }
}

pub(super) extern "C" fn signal_at(condvar: *mut c_void, pc: usize) -> c_int {
    match here::control() {
        Some(control) => notify(control, condvar as usize, false, pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_cond_signal(condvar) },
    }
}

pub(super) extern "C" fn broadcast_at(condvar: *mut c_void, pc: usize) -> c_int {
    match here::control() {
        Some(control) => notify(control, condvar as usize, true, pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_cond_broadcast(condvar) },
    }
}

stubs! {
    pthread_cond_wait, "rdx" => wait_at;
    pthread_cond_timedwait, "rcx" => timed_wait_at;
    pthread_cond_clockwait, "r8" => clock_wait_at;
    pthread_cond_signal, "rsi" => signal_at;
    pthread_cond_broadcast, "rsi" => broadcast_at;
}
