//! Condition variables. They hold no state: the engine knows the waiters.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, WakeCondition};

use super::{
    check, lock_at,
    mutex::{self, LockMode},
    note_waking, note_woken, time,
};
use crate::linux::{
    call::stubs,
    current_task::{self, place},
    real,
};

fn wait(control: Control, condvar: usize, mutex: usize, until: Option<*const c_void>, pc: usize) -> c_int {
    check(control, condvar, pc);
    control.note_primitive();
    let key = lock_at(condvar);
    control.access_point(key, Access::Wait, place(pc));
    control.add_waiter(key);
    let count = match mutex::unlock(control, mutex, true, pc) {
        Ok(count) => count,
        Err(error) => {
            control.remove_waiter(key);
            return error;
        }
    };
    let mut error = 0;
    if until.is_some() || control.may_wake_spuriously() {
        let is_woken =
            control.wait_for(key, Access::Wait, Need::Nothing, WakeCondition::WokenOrTimeout, place(pc));
        if !is_woken {
            control.remove_waiter(key);
            match until {
                Some(until) => {
                    time::advance_to(until);
                    error = libc::ETIMEDOUT;
                }
                None => control.note_spurious_wakeup(),
            }
        }
        mutex::lock(control, mutex, LockMode::Waits, pc);
    } else {
        mutex::lock(control, mutex, LockMode::Woken, pc);
    }
    mutex::set_count(mutex, count);
    note_woken(control, key);
    error
}

fn notify(control: Control, condvar: usize, is_for_all: bool, pc: usize) -> c_int {
    check(control, condvar, pc);
    control.note_primitive();
    let key = lock_at(condvar);
    control.access_point(key, Access::Notify, place(pc));
    control.mark_changed(key);
    note_waking(control, key);
    let waiters = control.waiters_at(key);
    if is_for_all {
        waiters.iter().for_each(|it| control.wake_waiter(key, it));
        return 0;
    }
    let chosen = match waiters.len() {
        0 => {
            control.set_detail(|| "no thread waits".to_owned());
            return 0;
        }
        1 => 0,
        n => control.choose(n as u32),
    };
    if let Some(task) = waiters.iter().nth(chosen as usize) {
        control.wake_waiter(key, task);
    }
    0
}

pub(super) extern "C" fn wait_at(condvar: *mut c_void, mutex: *mut c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => wait(control, condvar as usize, mutex as usize, None, pc),
        // SAFETY: the caller guarantees the preconditions of the C function.
        None => unsafe { real::pthread_cond_wait(condvar, mutex) },
    }
}

pub(super) extern "C" fn timed_wait_at(
    condvar: *mut c_void,
    mutex: *mut c_void,
    until: *const c_void,
    pc: usize,
) -> c_int {
    match current_task::control() {
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
    match current_task::control() {
        Some(control) => wait(control, condvar as usize, mutex as usize, Some(until), pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_cond_clockwait(condvar, mutex, clock, until) },
    }
}

pub(super) extern "C" fn signal_at(condvar: *mut c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => notify(control, condvar as usize, false, pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_cond_signal(condvar) },
    }
}

pub(super) extern "C" fn broadcast_at(condvar: *mut c_void, pc: usize) -> c_int {
    match current_task::control() {
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
