//! Barriers.

use std::ffi::{c_int, c_uint, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Need, WakeCondition};

use super::{check, lock_at, note_acquired, note_released};
use crate::linux::{
    call::stubs,
    current_task::{self, place},
    races, real,
};

// Behind the fields of the C library, which has 32 bytes and uses 20.
const COUNT_OFFSET_BYTES: usize = 24;

fn count<'a>(barrier: usize) -> &'a mut u32 {
    // SAFETY: the caller of the C function guarantees that a barrier is there, and it has the room.
    unsafe { &mut *((barrier + COUNT_OFFSET_BYTES) as *mut u32) }
}

#[unsafe(no_mangle)]
extern "C" fn pthread_barrier_init(barrier: *mut c_void, attributes: *const c_void, n: c_uint) -> c_int {
    // SAFETY: the caller guarantees the preconditions of the C function.
    let error = unsafe { real::pthread_barrier_init(barrier, attributes, n) };
    if error == 0 {
        *count(barrier as usize) = n;
    }
    error
}

extern "C" fn wait_at(barrier: *mut c_void, pc: usize) -> c_int {
    let Some(control) = current_task::control() else {
        // SAFETY: the caller guarantees the preconditions of the C function.
        return unsafe { real::pthread_barrier_wait(barrier) };
    };
    let barrier = barrier as usize;
    check(control, barrier, pc);
    control.note_primitive();
    let key = lock_at(barrier);
    control.access_point(key, Access::Update, place(pc));
    let (came, n) = (control.waiters_at(key).len() + 1, *count(barrier) as usize);
    control.set_detail(|| format!("{came} of {n}"));
    control.mark_changed(key);
    note_released(control, key);
    if n <= came {
        note_acquired(control, key);
        for task in control.waiters_at(key) {
            races::order_after(task, control.task());
            control.wake_waiter(key, task);
        }
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    control.add_waiter(key);
    control.wait_for(key, Access::Join, Need::Nothing, WakeCondition::Woken, place(pc));
    0
}

stubs! {
    pthread_barrier_wait, "rsi" => wait_at;
}
