//! Functions of the C library that the code under test calls.
//!
//! Functions with these names replace those of the C library, for the program and its libraries.
//! Called by a task they consist of points; called by other code they forward to the C library.
//!
//! The state of a lock is kept in the object itself, where the C library would keep it, so that it
//! is restored with everything else. The engine knows the waiters.

mod barrier;
mod c11;
mod condvar;
mod futex;
mod keys;
mod load;
mod memory;
mod mutex;
mod once;
mod process;
mod rwlock;
mod semaphore;
mod spawn;
mod spinlock;
mod strings;
mod threads;
mod time;
mod write;

pub(super) use keys::begin as begin_keys;
pub(super) use spawn::end_forked;
pub(super) use strings::InputReader;
pub(super) use threads::begin as begin_threads;
pub(super) use time::{begin as begin_time, own_memory as own_time_memory};

use std::{ffi::c_int, ptr};

use super::{current_task, entry, races};

/// Writes a result where the code under test at `pc` wants it: an access like any other.
fn write_result<T: Copy>(to: *mut T, result: T, pc: usize) {
    entry::copy(to.cast(), ptr::from_ref(&result).cast(), size_of::<T>(), pc);
}

/// Distinguishes a lock from the words it consists of: those have even addresses.
fn lock_at(address: usize) -> usize {
    address | 1
}

/// The number of the task as stored in an object: never 0.
fn owner(control: clewline_threads::instrument::Control) -> i32 {
    i32::from(control.task().0) + 1
}

/// A lock was acquired: what was done under it before happens before what follows.
fn note_locked(control: clewline_threads::instrument::Control, lock: usize) {
    races::acquire(control.task(), lock, races::Orders::Lock);
}

/// What was [released](note_released) at an object happens before what follows.
fn note_acquired(control: clewline_threads::instrument::Control, object: usize) {
    races::acquire(control.task(), object, races::Orders::Both);
}

/// An object is released.
fn note_released(control: clewline_threads::instrument::Control, object: usize) {
    races::release(control.task(), object, races::Orders::Both);
}

/// The task continues after what others did at an object, which orders no data.
fn note_woken(control: clewline_threads::instrument::Control, object: usize) {
    races::acquire(control.task(), object, races::Orders::Execution);
}

/// The task wakes others at an object, which orders no data.
fn note_waking(control: clewline_threads::instrument::Control, object: usize) {
    races::release(control.task(), object, races::Orders::Execution);
}

/// Returns an error as system calls do.
fn fails_with(error: c_int) -> c_int {
    // SAFETY: it belongs to this thread.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Checks that a lock is not in freed memory.
fn check(control: clewline_threads::instrument::Control, address: usize, pc: usize) {
    current_task::count_call();
    current_task::set_last_access(address, pc);
    races::note_lock_site(control.task(), pc);
    super::calls_out::note_lock(control, address, pc);
    super::entry::check_at(control, address, pc);
}
