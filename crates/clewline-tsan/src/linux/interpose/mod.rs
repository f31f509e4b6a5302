//! What the code under test calls of the C library.
//!
//! Functions of these names take the place of the C library's, for the program and for the
//! libraries it uses. Called by a task they are made of points; called by anybody else they are
//! what they were.
//!
//! What a lock knows is kept in the object itself, where the C library would keep it, so that it is
//! restored with everything else. Who waits, the engine knows.

mod barrier;
mod c11;
mod condvar;
mod futex;
mod keys;
mod memory;
mod mutex;
mod once;
mod process;
mod rwlock;
mod semaphore;
mod spinlock;
mod threads;
mod time;

pub(super) use keys::begin as begin_keys;
pub(super) use threads::begin as begin_threads;
pub(super) use time::begin as begin_time;

use std::ffi::c_int;

use super::{current_task, races};

/// What tells a lock from the words that it is made of: those have even addresses.
fn lock_at(address: usize) -> usize {
    address | 1
}

/// The number of the task in an object: never 0.
fn owner(control: clewline_threads::instrument::Control) -> i32 {
    i32::from(control.task().0) + 1
}

/// A lock was taken: what was done under it before is known now.
fn note_acquired(control: clewline_threads::instrument::Control, lock: usize) {
    races::acquire(control.task(), lock);
}

/// A lock is given back.
fn note_released(control: clewline_threads::instrument::Control, lock: usize) {
    races::release(control.task(), lock);
}

/// Answers an error as system calls do.
fn fails_with(error: c_int) -> c_int {
    // SAFETY: it is this thread's own.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// A pointer that a lock is at must not be to freed memory.
fn check(control: clewline_threads::instrument::Control, address: usize, pc: usize) {
    current_task::count_call();
    current_task::set_last_access(address, pc);
    super::entry::check_at(control, address, pc);
}
