//! Reader-writer locks.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, WakeCondition};

use super::{check, lock_at, note_acquired, note_locked, note_released, time};
use crate::linux::{
    call::stubs,
    current_task::{self, place},
    places, real,
    try_locks::tries,
};

/// The state kept in the lock. Its layout is not that of the C library, but no other code reads it.
/// All zeros is a lock that is not held.
#[repr(C)]
struct Lock {
    readers: i32,
    is_written: i32,
}

// The level of a lock held by a writer. There are fewer readers.
const WRITTEN: i32 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
}

impl Mode {
    fn need(self) -> Need {
        match self {
            Mode::Read => Need::AtMost(WRITTEN - 1),
            Mode::Write => Need::AtMost(0),
        }
    }
}

fn at<'a>(lock: usize) -> &'a mut Lock {
    // SAFETY: the caller of the C function guarantees that the object is there; a violation is a
    // finding. No borrow lasts across a point.
    unsafe { &mut *(lock as *mut Lock) }
}

/// What readers release: only writers acquire it.
fn readers_at(lock: usize) -> usize {
    lock_at(lock) | 2
}

fn level(lock: usize) -> i32 {
    let it = at(lock);
    if it.is_written != 0 { WRITTEN } else { it.readers }
}

fn take(control: Control, lock: usize, mode: Mode) {
    match mode {
        Mode::Read => at(lock).readers += 1,
        Mode::Write => at(lock).is_written = 1,
    }
    control.set_level_at(lock_at(lock), level(lock));
    current_task::note_lock();
    note_locked(control, lock_at(lock));
    if mode == Mode::Write {
        note_acquired(control, readers_at(lock));
    }
}

/// Waits for the lock, with a timeout if `until` is given.
fn acquire(control: Control, lock: usize, mode: Mode, until: Option<*const c_void>, pc: usize) -> c_int {
    check(control, lock, pc);
    let key = lock_at(lock);
    // It may have been acquired before there were tasks.
    control.set_level_at(key, level(lock));
    let access = match mode {
        Mode::Read => Access::AcquireShared,
        Mode::Write => Access::Acquire,
    };
    let how = if until.is_some() { WakeCondition::MetOrTimeout } else { WakeCondition::Met };
    if !control.wait_for(key, access, mode.need(), how, place(pc)) {
        until.into_iter().for_each(time::advance_to);
        return libc::ETIMEDOUT;
    }
    take(control, lock, mode);
    0
}

fn try_acquire(control: Control, lock: usize, mode: Mode, pc: usize) -> c_int {
    check(control, lock, pc);
    tries(control);
    let (access, most) = match mode {
        Mode::Read => (Access::TryAcquireShared, WRITTEN - 1),
        Mode::Write => (Access::TryAcquire, 0),
    };
    control.access_point(lock_at(lock), access, place(pc));
    if most < level(lock) {
        control.set_detail(|| "held".to_owned());
        return libc::EBUSY;
    }
    take(control, lock, mode);
    0
}

fn release(control: Control, lock: usize, pc: usize) -> c_int {
    check(control, lock, pc);
    let key = lock_at(lock);
    if level(lock) == 0 {
        places::fail(control, "unlock of a lock that no thread holds".to_owned(), pc);
    }
    if control.are_releases_points() {
        control.access_point(key, Access::Release, place(pc));
    }
    let it = at(lock);
    match it.is_written != 0 {
        true => {
            it.is_written = 0;
            note_released(control, key);
        }
        false => {
            it.readers -= 1;
            note_released(control, readers_at(lock));
        }
    }
    control.note_unlock(key);
    control.set_level_at(key, level(lock));
    if current_task::note_unlock() {
        control.mark_changed(key);
    }
    0
}

macro_rules! calls {
    ($($function:ident, $real:ident => $act:expr;)+) => {
        $(
            extern "C" fn $function(lock: *mut c_void, pc: usize) -> c_int {
                match current_task::control() {
                    Some(control) => $act(control, lock as usize, pc),
                    // SAFETY: the caller guarantees the preconditions of the C function.
                    None => unsafe { real::$real(lock) },
                }
            }
        )+
    };
}

calls! {
    read_at, pthread_rwlock_rdlock => |control, lock, pc| acquire(control, lock, Mode::Read, None, pc);
    write_at, pthread_rwlock_wrlock => |control, lock, pc| acquire(control, lock, Mode::Write, None, pc);
    try_read_at, pthread_rwlock_tryrdlock => |control, lock, pc| try_acquire(control, lock, Mode::Read, pc);
    try_write_at, pthread_rwlock_trywrlock => |control, lock, pc| try_acquire(control, lock, Mode::Write, pc);
    release_at, pthread_rwlock_unlock => release;
}

macro_rules! timed {
    ($($function:ident($($clock:ident)?), $real:ident => $mode:expr;)+) => {
        $(
            extern "C" fn $function(lock: *mut c_void, $($clock: c_int,)? until: *const c_void, pc: usize) -> c_int {
                match current_task::control() {
                    Some(control) => acquire(control, lock as usize, $mode, Some(until), pc),
                    // SAFETY: the caller guarantees the preconditions of the C function.
                    None => unsafe { real::$real(lock, $($clock,)? until) },
                }
            }
        )+
    };
}

timed! {
    timed_read_at(), pthread_rwlock_timedrdlock => Mode::Read;
    timed_write_at(), pthread_rwlock_timedwrlock => Mode::Write;
    clock_read_at(clock), pthread_rwlock_clockrdlock => Mode::Read;
    clock_write_at(clock), pthread_rwlock_clockwrlock => Mode::Write;
}

stubs! {
    pthread_rwlock_timedrdlock, "rdx" => timed_read_at;
    pthread_rwlock_timedwrlock, "rdx" => timed_write_at;
    pthread_rwlock_clockrdlock, "rcx" => clock_read_at;
    pthread_rwlock_clockwrlock, "rcx" => clock_write_at;
    pthread_rwlock_rdlock, "rsi" => read_at;
    pthread_rwlock_wrlock, "rsi" => write_at;
    pthread_rwlock_tryrdlock, "rsi" => try_read_at;
    pthread_rwlock_trywrlock, "rsi" => try_write_at;
    pthread_rwlock_unlock, "rsi" => release_at;
}
