//! Barriers.

use std::ffi::{c_int, c_uint, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Need, Until};

use super::{check, given_back, lock_at, taken};
use crate::linux::{
    call::stubs,
    here::{self, place},
    real,
};

// Behind what the C library keeps there, which has 32 bytes and uses 20.
const COUNT: usize = 24;

fn count<'a>(barrier: usize) -> &'a mut u32 {
    // SAFETY: the caller of the function of the C library says that a barrier is there, and it has the room.
    unsafe { &mut *((barrier + COUNT) as *mut u32) }
}

#[unsafe(no_mangle)]
extern "C" fn pthread_barrier_init(barrier: *mut c_void, attributes: *const c_void, n: c_uint) -> c_int {
    // SAFETY: the caller asks for it.
    let error = unsafe { real::pthread_barrier_init(barrier, attributes, n) };
    if error == 0 {
        *count(barrier as usize) = n;
    }
    error
}

extern "C" fn wait_at(barrier: *mut c_void, pc: usize) -> c_int {
    let Some(control) = here::control() else {
        // SAFETY: the caller asks for it.
        return unsafe { real::pthread_barrier_wait(barrier) };
    };
    let barrier = barrier as usize;
    check(control, barrier, pc);
    let key = lock_at(barrier);
    control.comes_to(key, Access::Update, place(pc));
    let (came, n) = (control.those_at(key).len() + 1, *count(barrier) as usize);
    control.says(|| format!("{came} of {n}"));
    control.changes(key);
    given_back(control, key);
    if n <= came {
        taken(control, key);
        control.those_at(key).iter().for_each(|it| control.wakes_at(key, it));
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    control.waits_among(key);
    control.waits_for(key, Access::Join, Need::Nothing, Until::Woken, place(pc));
    taken(control, key);
    0
}

stubs! {
    pthread_barrier_wait, "rsi" => wait_at;
}
