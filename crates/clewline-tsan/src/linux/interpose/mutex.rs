//! Mutexes.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, WakeCondition};

use super::{check, lock_at, note_locked, note_released, owner, time};
use crate::linux::{
    call::stubs,
    current_task::{self, place},
    places, real,
    try_locks::tries,
};

/// A mutex in the layout of the C library, as far as it is used here.
#[repr(C)]
pub(super) struct Mutex {
    lock: i32,
    count: u32,
    owner: i32,
    users: u32,
    kind: i32,
}

const RECURSIVE: i32 = 1;
const ERROR_CHECKING: i32 = 2;

impl Mutex {
    fn kind(&self) -> i32 {
        self.kind & 3
    }
}

/// The mutex at an address, as the code under test claims.
#[allow(clippy::mut_from_ref, reason = "tasks run one at a time")]
fn at<'a>(mutex: usize) -> &'a mut Mutex {
    // SAFETY: the caller of the C function guarantees that the object is there; a violation is a
    // finding. No borrow lasts across a point.
    unsafe { &mut *(mutex as *mut Mutex) }
}

/// How a lock is acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMode {
    Waits,
    WaitsSome,
    /// Waits until it is woken, and then for the lock.
    Woken,
}

pub(super) fn lock(control: Control, mutex: usize, how: LockMode, pc: usize) -> c_int {
    check(control, mutex, pc);
    let me = owner(control);
    if at(mutex).lock != 0 && at(mutex).owner == me && how != LockMode::Woken {
        match at(mutex).kind() {
            RECURSIVE => {
                at(mutex).count += 1;
                return 0;
            }
            ERROR_CHECKING => return libc::EDEADLK,
            _ => (),
        }
    }
    let key = lock_at(mutex);
    // It may have been acquired before there were tasks, or be a new mutex at an old address.
    control.set_level_at(key, at(mutex).lock);
    let until = match how {
        LockMode::Waits => WakeCondition::Met,
        LockMode::WaitsSome => WakeCondition::MetOrTimeout,
        LockMode::Woken => WakeCondition::Woken,
    };
    if !control.wait_for(key, Access::Acquire, Need::AtMost(0), until, place(pc)) {
        return libc::ETIMEDOUT;
    }
    take(control, mutex);
    0
}

fn take(control: Control, mutex: usize) {
    let (it, key) = (at(mutex), lock_at(mutex));
    (it.lock, it.count, it.owner) = (1, 1, owner(control));
    control.set_level_at(key, 1);
    current_task::note_lock();
    note_locked(control, key);
}

fn try_lock(control: Control, mutex: usize, pc: usize) -> c_int {
    check(control, mutex, pc);
    let key = lock_at(mutex);
    tries(control);
    control.access_point(key, Access::TryAcquire, place(pc));
    let it = at(mutex);
    if it.lock == 0 {
        take(control, mutex);
        return 0;
    }
    if it.owner == owner(control) && it.kind() == RECURSIVE {
        it.count += 1;
        return 0;
    }
    control.set_detail(|| "held".to_owned());
    libc::EBUSY
}

/// Releases it. Returns how many times it was acquired, for acquiring it again.
pub(super) fn unlock(control: Control, mutex: usize, is_whole: bool, pc: usize) -> Result<u32, c_int> {
    check(control, mutex, pc);
    let it = at(mutex);
    if it.lock == 0 || it.owner != owner(control) {
        if it.kind() != 0 {
            return Err(libc::EPERM);
        }
        places::fail(control, "unlock of a mutex that this thread does not hold".to_owned(), pc);
    }
    let count = it.count;
    if 1 < count && !is_whole {
        it.count -= 1;
        return Ok(count);
    }
    let key = lock_at(mutex);
    if control.are_releases_points() {
        control.access_point(key, Access::Release, place(pc));
    }
    let it = at(mutex);
    (it.lock, it.count, it.owner) = (0, 0, 0);
    note_released(control, key);
    control.note_unlock(key);
    control.set_level_at(key, 0);
    if current_task::note_unlock() {
        control.mark_changed(key);
    }
    Ok(count)
}

/// Sets how many times it was acquired.
pub(super) fn set_count(mutex: usize, count: u32) {
    at(mutex).count = count;
}

pub(super) extern "C" fn lock_at_call(mutex: *mut c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => lock(control, mutex as usize, LockMode::Waits, pc),
        // SAFETY: the caller guarantees the preconditions of the C function.
        None => unsafe { real::pthread_mutex_lock(mutex) },
    }
}

pub(super) extern "C" fn try_at_call(mutex: *mut c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => try_lock(control, mutex as usize, pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_mutex_trylock(mutex) },
    }
}

fn timed(control: Control, mutex: usize, until: *const c_void, pc: usize) -> c_int {
    let error = lock(control, mutex, LockMode::WaitsSome, pc);
    if error == libc::ETIMEDOUT {
        time::advance_to(until);
    }
    error
}

pub(super) extern "C" fn timed_at_call(mutex: *mut c_void, until: *const c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => timed(control, mutex as usize, until, pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_mutex_timedlock(mutex, until) },
    }
}

extern "C" fn clock_at_call(mutex: *mut c_void, clock: c_int, until: *const c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => timed(control, mutex as usize, until, pc),
        // SAFETY: as above.
        None => unsafe { real::pthread_mutex_clocklock(mutex, clock, until) },
    }
}

pub(super) extern "C" fn unlock_at_call(mutex: *mut c_void, pc: usize) -> c_int {
    match current_task::control() {
        Some(control) => unlock(control, mutex as usize, false, pc).map_or_else(|it| it, |_| 0),
        // SAFETY: as above.
        None => unsafe { real::pthread_mutex_unlock(mutex) },
    }
}

stubs! {
    pthread_mutex_lock, "rsi" => lock_at_call;
    pthread_mutex_trylock, "rsi" => try_at_call;
    pthread_mutex_timedlock, "rdx" => timed_at_call;
    pthread_mutex_clocklock, "rcx" => clock_at_call;
    pthread_mutex_unlock, "rsi" => unlock_at_call;
}
