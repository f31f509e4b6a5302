//! Time and random numbers: a clock that only the code itself advances, sleeps that let other tasks
//! run, and random numbers that are the same in every execution.

use std::{
    ffi::{c_int, c_uint, c_void},
    ops::Range,
};

use super::{strings::InputReader, write_result};
use crate::linux::{
    call::stubs,
    current_task::{self, RuntimeCell, place},
    entry::copy,
    real,
};

// The clock begins in the past, and each read advances it by a microsecond.
const BEGIN_NS: u64 = 1_700_000_000 * 1_000_000_000;
const CLOCK_READ_NS: u64 = 1_000;

static CLOCK_NS: RuntimeCell<u64> = RuntimeCell::new(BEGIN_NS);
// How often the code has read it. Only then does the time matter.
static CLOCK_READS: RuntimeCell<u64> = RuntimeCell::new(0);
static RANDOM_STATE: RuntimeCell<u64> = RuntimeCell::new(0);

/// Another execution begins.
pub(in crate::linux) fn begin() {
    CLOCK_NS.set(BEGIN_NS);
    RANDOM_STATE.set(0);
}

/// Adds the memory of the clock: a sleep changes it, and that alone is no progress of the code.
pub(in crate::linux) fn own_memory(to: &mut Vec<Range<usize>>) {
    to.push(current_task::range_of(&CLOCK_NS));
}

fn read_clock() -> u64 {
    let now = CLOCK_NS.get() + CLOCK_READ_NS;
    CLOCK_NS.set(now);
    CLOCK_READS.set(CLOCK_READS.get() + 1);
    current_task::running_control().into_iter().for_each(|it| it.note_unseen_effect());
    now
}

/// Random numbers that are the same in every execution.
pub(super) fn random(bytes: *mut u8, n: usize) {
    current_task::running_control().into_iter().for_each(|it| it.note_unseen_effect());
    for at in 0..n {
        let next = RANDOM_STATE
            .get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        RANDOM_STATE.set(next);
        // SAFETY: the caller guarantees room for `n` bytes.
        unsafe { bytes.add(at).write((next >> 56) as u8) };
    }
}

const SECOND_NS: u64 = 1_000_000_000;

/// The time that is written at `time`.
fn read(time: *const c_void) -> u64 {
    if time.is_null() {
        return 0;
    }
    // SAFETY: guaranteed by the caller of the C function.
    let time = unsafe { *time.cast::<libc::timespec>() };
    (time.tv_sec.max(0) as u64).saturating_mul(SECOND_NS).saturating_add(time.tv_nsec.max(0) as u64)
}

/// A wait until then has timed out, so the clock is at least there.
pub(super) fn advance_to(until: *const c_void) {
    CLOCK_NS.set(CLOCK_NS.get().max(read(until)));
}

/// The same for a relative time.
pub(super) fn advance_by(time: *const c_void) {
    CLOCK_NS.set(CLOCK_NS.get().saturating_add(read(time)));
}

/// A task sleeps for this time, or yields.
fn sleep_or_yield(time_ns: u64, pc: usize) -> bool {
    let Some(control) = current_task::control() else { return false };
    current_task::count_call();
    current_task::reset_idle();
    CLOCK_NS.set(CLOCK_NS.get().saturating_add(time_ns));
    control.yield_now(place(pc));
    true
}

pub(super) extern "C" fn yield_at(pc: usize) -> c_int {
    // SAFETY: the call has no preconditions.
    if sleep_or_yield(0, pc) { 0 } else { unsafe { real::sched_yield() } }
}

extern "C" fn usleep_at(time: c_uint, pc: usize) -> c_int {
    // SAFETY: the caller guarantees the preconditions of the C function.
    if sleep_or_yield(u64::from(time) * 1_000, pc) { 0 } else { unsafe { real::usleep(time) } }
}

extern "C" fn sleep_at(time: c_uint, pc: usize) -> c_uint {
    // SAFETY: as above.
    if sleep_or_yield(u64::from(time) * SECOND_NS, pc) { 0 } else { unsafe { real::sleep(time) } }
}

pub(super) extern "C" fn nanosleep_at(time: *const c_void, left: *mut c_void, pc: usize) -> c_int {
    if current_task::control().is_some() {
        sleep_or_yield(read(time), pc);
        return 0;
    }
    // SAFETY: as above.
    unsafe { real::nanosleep(time, left) }
}

extern "C" fn clock_nanosleep_at(
    clock: c_int,
    flags: c_int,
    time: *const c_void,
    left: *mut c_void,
    pc: usize,
) -> c_int {
    if current_task::control().is_some() {
        match flags & libc::TIMER_ABSTIME {
            0 => advance_by(time),
            _ => advance_to(time),
        }
        sleep_or_yield(0, pc);
        return 0;
    }
    // SAFETY: as above.
    unsafe { real::clock_nanosleep(clock, flags, time, left) }
}

/// What `look` finds, without waiting: now, or when the time has passed in which other tasks run.
fn poll_for(time_ns: u64, pc: usize, look: impl Fn() -> c_int) -> c_int {
    let found = look();
    if found != 0 || time_ns == 0 {
        return found;
    }
    sleep_or_yield(time_ns, pc);
    look()
}

/// What `poll` finds in files that are read before, and of which what was found is written after.
fn poll_files(files: *mut libc::pollfd, n: libc::nfds_t, pc: usize, poll: impl Fn() -> c_int) -> c_int {
    let Some(control) = current_task::control() else { return poll() };
    let n = n as usize;
    InputReader::new(control, pc).bytes(files as usize, n.saturating_mul(size_of::<libc::pollfd>()));
    let found = poll();
    for number in (0..n).take_while(|_| 0 <= found) {
        // SAFETY: as above. The system has written it.
        unsafe {
            let at = &raw mut (*files.add(number)).revents;
            write_result(at, *at, pc);
        }
    }
    found
}

extern "C" fn poll_at(files: *mut libc::pollfd, n: libc::nfds_t, timeout_ms: c_int, pc: usize) -> c_int {
    // SAFETY: as above.
    let poll = |timeout_ms: c_int| unsafe { real::poll(files, n, timeout_ms) };
    poll_files(files, n, pc, || match u64::try_from(timeout_ms) {
        Ok(time) if current_task::control().is_some() => poll_for(time * 1_000_000, pc, || poll(0)),
        // It waits for as long as it takes, for what is outside of the program.
        Ok(_) | Err(_) => poll(timeout_ms),
    })
}

extern "C" fn poll_checked_at(
    files: *mut libc::pollfd,
    n: libc::nfds_t,
    timeout_ms: c_int,
    _bytes: usize,
    pc: usize,
) -> c_int {
    poll_at(files, n, timeout_ms, pc)
}

extern "C" fn ppoll_at(
    files: *mut libc::pollfd,
    n: libc::nfds_t,
    time: *const c_void,
    mask: *const libc::sigset_t,
    pc: usize,
) -> c_int {
    // SAFETY: as above.
    let ppoll = |time: *const c_void| unsafe { real::ppoll(files, n, time, mask) };
    let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    poll_files(files, n, pc, || match current_task::control() {
        Some(_) if !time.is_null() => poll_for(read(time), pc, || ppoll((&raw const none).cast())),
        _ => ppoll(time),
    })
}

extern "C" fn select_at(
    n: c_int,
    read: *mut libc::fd_set,
    write: *mut libc::fd_set,
    except: *mut libc::fd_set,
    time: *mut libc::timeval,
    pc: usize,
) -> c_int {
    // A program allocates no more of a set than it has files.
    let bytes = usize::try_from(n).unwrap_or(0).div_ceil(64) * 8;
    let bytes = bytes.min(size_of::<libc::fd_set>());
    let sets = [read, write, except].map(|it| (it.cast::<u8>(), it));
    if let Some(control) = current_task::control() {
        let reader = InputReader::new(control, pc);
        for (set, _) in sets {
            reader.bytes(set as usize, bytes);
        }
    }
    if time.is_null() || current_task::control().is_none() {
        // SAFETY: as above.
        return unsafe { real::select(n, read, write, except, time) };
    }
    // SAFETY: as above.
    let wanted = unsafe { *time };
    let time_ns = (wanted.tv_sec.max(0) as u64).saturating_mul(SECOND_NS);
    let time_ns = time_ns.saturating_add((wanted.tv_usec.max(0) as u64).saturating_mul(1_000));
    // The call changes the sets, and is made twice.
    let mut kept = [[0_u8; size_of::<libc::fd_set>()]; 3];
    for ((set, _), kept) in sets.iter().zip(&mut kept).filter(|it| !it.0.0.is_null()) {
        // SAFETY: as above.
        unsafe { set.copy_to(kept.as_mut_ptr(), bytes) };
    }
    let found = poll_for(time_ns, pc, || {
        for ((set, _), kept) in sets.iter().zip(&kept).filter(|it| !it.0.0.is_null()) {
            // SAFETY: as above.
            unsafe { set.copy_from(kept.as_ptr(), bytes) };
        }
        let mut none = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: as above.
        unsafe { real::select(n, sets[0].1, sets[1].1, sets[2].1, &raw mut none) }
    });
    for (set, _) in sets.iter().filter(|it| 0 <= found && !it.0.is_null()) {
        // The system has written it.
        copy(*set, *set, bytes, pc);
    }
    found
}

extern "C" fn clock_gettime_at(clock: c_int, time: *mut libc::timespec, pc: usize) -> c_int {
    if !current_task::is_code() {
        // SAFETY: as above.
        return unsafe { real::clock_gettime(clock, time) };
    }
    let now = read_clock();
    let tv_sec = (now / SECOND_NS) as libc::time_t;
    write_result(time, libc::timespec { tv_sec, tv_nsec: (now % SECOND_NS) as i64 }, pc);
    0
}

extern "C" fn gettimeofday_at(time: *mut libc::timeval, zone: *mut c_void, pc: usize) -> c_int {
    if !current_task::is_code() {
        // SAFETY: as above.
        return unsafe { real::gettimeofday(time, zone) };
    }
    let now = read_clock();
    let tv_sec = (now / SECOND_NS) as libc::time_t;
    write_result(time, libc::timeval { tv_sec, tv_usec: (now % SECOND_NS / 1_000) as i64 }, pc);
    0
}

extern "C" fn time_at(time: *mut libc::time_t, pc: usize) -> libc::time_t {
    if !current_task::is_code() {
        // SAFETY: as above.
        return unsafe { real::time(time) };
    }
    let now = (read_clock() / SECOND_NS) as libc::time_t;
    if !time.is_null() {
        write_result(time, now, pc);
    }
    now
}

extern "C" fn getrandom_at(bytes: *mut u8, n: usize, flags: c_uint, pc: usize) -> isize {
    if !current_task::is_code() {
        // SAFETY: as above.
        return unsafe { real::getrandom(bytes, n, flags) };
    }
    let mut drawn = vec![0; n];
    random(drawn.as_mut_ptr(), n);
    copy(bytes, drawn.as_ptr(), n, pc);
    n as isize
}

stubs! {
    sched_yield, "rdi" => yield_at;
    usleep, "rsi" => usleep_at;
    sleep, "rsi" => sleep_at;
    nanosleep, "rdx" => nanosleep_at;
    clock_nanosleep, "r8" => clock_nanosleep_at;
    poll, "rcx" => poll_at;
    __poll_chk, "r8" => poll_checked_at;
    ppoll, "r8" => ppoll_at;
    select, "r9" => select_at;
    clock_gettime, "rdx" => clock_gettime_at;
    gettimeofday, "rdx" => gettimeofday_at;
    time, "rsi" => time_at;
    getrandom, "rcx" => getrandom_at;
}
