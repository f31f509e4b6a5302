//! Threads of C11. In the C library they are those of POSIX with other names and other error
//! numbers.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
};

use super::{condvar, keys, mutex, once, threads, time, write_result};
use crate::linux::{call::stubs, current_task, real};

const BUSY: c_int = 1;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

/// The C11 error for a POSIX error.
fn c11_error(error: c_int) -> c_int {
    match error {
        0 => 0,
        libc::EBUSY => BUSY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

extern "C" fn create(
    thread: *mut libc::pthread_t,
    start: threads::Start,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    if current_task::is_code() {
        // The function returns an `int`, which is in the lower half of the assumed return value.
        return c11_error(threads::create(thread, ptr::null(), start, argument, pc));
    }
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { real::thrd_create(thread, start as *const () as usize, argument) }
}

extern "C" fn join(thread: libc::pthread_t, result: *mut c_int, pc: usize) -> c_int {
    if !current_task::is_code() {
        // SAFETY: the caller guarantees the preconditions of the C function.
        return unsafe { real::thrd_join(thread, result) };
    }
    let mut ended = ptr::null_mut();
    let error = threads::join(thread, &mut ended, pc);
    if error == 0 && !result.is_null() {
        write_result(result, ended as usize as c_int, pc);
    }
    c11_error(error)
}

#[unsafe(no_mangle)]
extern "C" fn thrd_exit(result: c_int) -> ! {
    threads::pthread_exit(ptr::with_exposed_provenance_mut(result as usize))
}

#[unsafe(no_mangle)]
extern "C" fn thrd_detach(thread: libc::pthread_t) -> c_int {
    c11_error(threads::pthread_detach(thread))
}

extern "C" fn rest(pc: usize) {
    time::yield_at(pc);
}

extern "C" fn sleep(time: *const c_void, left: *mut c_void, pc: usize) -> c_int {
    time::nanosleep_at(time, left, pc)
}

extern "C" fn lock(mutex: *mut c_void, pc: usize) -> c_int {
    c11_error(mutex::lock_at_call(mutex, pc))
}

extern "C" fn try_lock(mutex: *mut c_void, pc: usize) -> c_int {
    c11_error(mutex::try_at_call(mutex, pc))
}

extern "C" fn timed_lock(mutex: *mut c_void, until: *const c_void, pc: usize) -> c_int {
    c11_error(mutex::timed_at_call(mutex, until, pc))
}

extern "C" fn unlock(mutex: *mut c_void, pc: usize) -> c_int {
    c11_error(mutex::unlock_at_call(mutex, pc))
}

extern "C" fn wait(condvar: *mut c_void, mutex: *mut c_void, pc: usize) -> c_int {
    c11_error(condvar::wait_at(condvar, mutex, pc))
}

extern "C" fn timed_wait(condvar: *mut c_void, mutex: *mut c_void, until: *const c_void, pc: usize) -> c_int {
    c11_error(condvar::timed_wait_at(condvar, mutex, until, pc))
}

extern "C" fn signal(condvar: *mut c_void, pc: usize) -> c_int {
    c11_error(condvar::signal_at(condvar, pc))
}

extern "C" fn broadcast(condvar: *mut c_void, pc: usize) -> c_int {
    c11_error(condvar::broadcast_at(condvar, pc))
}

extern "C" fn call_once_at(once: *mut c_int, work: extern "C" fn(), pc: usize) {
    once::once_at(once, work, pc);
}

#[unsafe(no_mangle)]
extern "C" fn tss_create(key: *mut c_uint, destructor: Option<keys::Destructor>) -> c_int {
    c11_error(keys::pthread_key_create(key, destructor))
}

#[unsafe(no_mangle)]
extern "C" fn tss_delete(key: c_uint) {
    keys::pthread_key_delete(key);
}

#[unsafe(no_mangle)]
extern "C" fn tss_get(key: c_uint) -> *mut c_void {
    keys::pthread_getspecific(key)
}

#[unsafe(no_mangle)]
extern "C" fn tss_set(key: c_uint, value: *const c_void) -> c_int {
    c11_error(keys::pthread_setspecific(key, value))
}

stubs! {
    thrd_create, "rcx" => create;
    thrd_join, "rdx" => join;
    thrd_yield, "rdi" => rest;
    thrd_sleep, "rdx" => sleep;
    mtx_lock, "rsi" => lock;
    mtx_trylock, "rsi" => try_lock;
    mtx_timedlock, "rdx" => timed_lock;
    mtx_unlock, "rsi" => unlock;
    cnd_wait, "rdx" => wait;
    cnd_timedwait, "rcx" => timed_wait;
    cnd_signal, "rsi" => signal;
    cnd_broadcast, "rsi" => broadcast;
    call_once, "rdx" => call_once_at;
}
