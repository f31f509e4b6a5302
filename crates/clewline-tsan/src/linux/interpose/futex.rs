//! Blocking system calls: `futex`, which implements `std::atomic::wait` and the locks of Rust.

use std::{
    arch::asm,
    ffi::{c_long, c_void},
};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, Need, WakeCondition};

use super::{check, fails_with, lock_at, note_waking, note_woken, time};
use crate::linux::{
    call::stubs,
    current_task::{self, place},
    entry, modules, places, races, rust_std,
};

const WAIT: usize = libc::FUTEX_WAIT as usize;
const WAKE: usize = libc::FUTEX_WAKE as usize;
const WAIT_BITS: usize = libc::FUTEX_WAIT_BITSET as usize;
const WAKE_BITS: usize = libc::FUTEX_WAKE_BITSET as usize;
// Whether other processes may wait, and which clock is used.
const FLAGS: usize = (libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) as usize;

/// The time limit of a wait.
#[derive(Clone, Copy)]
enum Time {
    Any,
    For(*const c_void),
    Until(*const c_void),
}

/// A call orders nothing by itself: atomic accesses do. If they are made by a library, they are not
/// seen.
fn note_unseen(control: Control, pc: usize) {
    note_unseen_release(control, pc);
    note_unseen_acquire(control, pc);
}

fn note_unseen_release(control: Control, pc: usize) {
    if rust_std::contains_code(pc) {
        races::note_unseen_release(control.task());
    }
}

fn note_unseen_acquire(control: Control, pc: usize) {
    if rust_std::contains_code(pc) || !modules::is_user(pc) {
        races::note_unseen_acquire(control.task());
    }
}

fn wait(control: Control, word: usize, expected: u32, time: Time, pc: usize) -> c_long {
    check(control, word, pc);
    control.note_primitive();
    // Reading the word and becoming a waiter is one step.
    control.access_point(entry::object(word), Access::Update, place(pc));
    note_waking(control, entry::object(word));
    note_woken(control, entry::object(word));
    note_unseen_release(control, pc);
    // SAFETY: the caller requests this access. An invalid access is a finding.
    let found = unsafe { *(word as *const u32) };
    control.set_detail(|| format!("futex wait, {found}"));
    control.mark_futex_wait();
    if found != expected {
        note_unseen_acquire(control, pc);
        return fails_with(libc::EAGAIN).into();
    }
    let key = lock_at(word);
    control.add_waiter(key);
    let is_timed = !matches!(time, Time::Any);
    let until = if is_timed || control.may_wake_spuriously() {
        WakeCondition::WokenOrTimeout
    } else {
        WakeCondition::Woken
    };
    let is_woken = control.wait_for(key, Access::Park, Need::Nothing, until, place(pc));
    note_woken(control, key);
    // What it has acquired before it waited, it knows now, too.
    note_unseen(control, pc);
    if is_woken {
        return 0;
    }
    control.remove_waiter(key);
    match time {
        Time::For(time) => time::advance_by(time),
        Time::Until(until) => time::advance_to(until),
        Time::Any => {
            control.note_spurious_wakeup();
            return fails_with(libc::EINTR).into();
        }
    }
    fails_with(libc::ETIMEDOUT).into()
}

fn wake(control: Control, word: usize, most: usize, pc: usize) -> c_long {
    current_task::count_call();
    control.note_primitive();
    let key = lock_at(word);
    control.access_point(entry::object(word), Access::Update, place(pc));
    note_waking(control, entry::object(word));
    control.access_point(key, Access::Unpark, place(pc));
    note_waking(control, key);
    note_unseen(control, pc);
    control.mark_changed(key);
    let mut woken = 0;
    while woken < most {
        let waiters = control.waiters_at(key);
        let chosen = match waiters.len() {
            0 => break,
            1 => 0,
            n if n <= most - woken => 0,
            n => control.choose(n as u32),
        };
        let Some(task) = waiters.iter().nth(chosen as usize) else { break };
        control.wake_waiter(key, task);
        woken += 1;
    }
    control.set_detail(|| format!("futex wake, {woken}"));
    woken as c_long
}

/// The number of the call, its first four arguments, and its return address. Other calls are passed
/// on unchanged.
extern "C" fn syscall_at(number: c_long, a: usize, b: usize, c: usize, d: usize, pc: usize) -> c_long {
    if number == libc::SYS_futex
        && let Some(control) = current_task::control()
    {
        return match b & !FLAGS {
            WAIT | WAIT_BITS if d == 0 => wait(control, a, c as u32, Time::Any, pc),
            WAIT => wait(control, a, c as u32, Time::For(d as *const c_void), pc),
            WAIT_BITS => wait(control, a, c as u32, Time::Until(d as *const c_void), pc),
            WAKE | WAKE_BITS => wake(control, a, c, pc),
            other => places::fail(control, format!("futex operation {other}, which is not known here"), pc),
        };
    }
    if number == libc::SYS_getrandom && current_task::is_code() {
        time::random(a as *mut u8, b);
        return b as c_long;
    }
    pass(number, [a, b, c, d, 0, 0])
}

fn pass(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> c_long {
    let result: isize;
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            out("rcx") _,
            out("r11") _,
        );
    }
    match result {
        -4095..=-1 => fails_with(-result as i32).into(),
        _ => result as c_long,
    }
}

extern "C" fn pass_whole(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    pass(number, [a, b, c, d, e, f])
}

/// Only these two calls are inspected.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall() {
    std::arch::naked_asm!(
        "cmp rdi, {futex}",
        "je 2f",
        "cmp rdi, {random}",
        "je 2f",
        "jmp {pass}",
        "2:",
        "jmp {look}",
        futex = const libc::SYS_futex,
        random = const libc::SYS_getrandom,
        pass = sym pass_whole,
        look = sym look,
    )
}

stubs! {
    look, "r9" => syscall_at;
}
