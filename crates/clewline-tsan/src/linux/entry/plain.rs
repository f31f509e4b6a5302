//! Non-atomic accesses.

use clewline_explore::Access;
use clewline_remote::Points;
use clewline_threads::instrument::Control;

use super::{
    block::{self, Block, copy, fill},
    check, count_idle, peek, point, set_detail,
};
use crate::linux::{
    call::stubs,
    calls_out, current_task, heap,
    races::{self, Kind},
};

/// The code is about to access `size` bytes.
#[inline(always)]
fn plain(address: usize, size: usize, is_write: bool, pc: usize) {
    if !is_in_one_word(address, size) {
        block::access(Block::new(address, size, is_write, pc));
    } else if let Some(control) = current_task::control_at_once() {
        access(control, address, size, Kind::of(is_write), races::is_point(pc), pc);
    } else {
        plain_after_work(address, size, is_write, pc);
    }
}

/// The same if work is postponed: a block that is in one word may be copied to one that is not.
#[cold]
fn plain_after_work(address: usize, size: usize, is_write: bool, pc: usize) {
    if !is_write && block::is_copy_to_come() {
        block::access(Block::new(address, size, is_write, pc));
    } else if let Some(control) = current_task::control() {
        access(control, address, size, Kind::of(is_write), races::is_point(pc), pc);
    }
}

/// The runtime is about to write this for the code at `pc`.
pub(in crate::linux) fn write(address: usize, size: usize, pc: usize) {
    plain(address, size, true, pc);
}

#[inline(always)]
fn is_in_one_word(address: usize, size: usize) -> bool {
    (address & 7) + size <= 8
}

#[inline(always)]
fn access(control: Control, address: usize, size: usize, kind: Kind, is_point: bool, pc: usize) {
    let is_write = kind.is_write();
    current_task::count_call();
    calls_out::settle(control);
    if current_task::is_own_stack(address) {
        if !races::is_shared(address) {
            return;
        }
    } else if !heap::contains(address) && current_task::is_other_stack(address) {
        races::note_shared_stack(control, address);
    }
    if is_point {
        point(control, address, size, if is_write { Access::Write } else { Access::Read }, pc);
        if is_write {
            control.mark_changed(super::object(address).max(8));
        }
        control.note_plain_point();
        let value = || if is_write { "plain".to_owned() } else { peek(address, size) };
        set_detail(control, address, value);
    } else {
        count_idle(control, pc);
    }
    if is_write {
        current_task::count_write();
    }
    check(control, address, size, is_write, pc);
    races::plain(control, address, size, kind, pc);
}

/// A volatile access is always a point.
fn volatile(address: usize, size: usize, is_write: bool, pc: usize) {
    if !is_in_one_word(address, size) {
        block::access(Block::new(address, size, is_write, pc).volatile());
    } else if let Some(control) = current_task::control() {
        let kind = Kind::of(is_write).with(Kind::VOLATILE);
        access(control, address, size, kind, races::points() != Points::Atomics, pc);
    }
}

macro_rules! accesses {
    ($($size:literal: $read:ident $write:ident $volatile_read:ident $volatile_write:ident;)+) => {
        $(
            extern "C" fn $read(address: usize, pc: usize) {
                plain(address, $size, false, pc);
            }

            extern "C" fn $write(address: usize, pc: usize) {
                plain(address, $size, true, pc);
            }

            extern "C" fn $volatile_read(address: usize, pc: usize) {
                volatile(address, $size, false, pc);
            }

            extern "C" fn $volatile_write(address: usize, pc: usize) {
                volatile(address, $size, true, pc);
            }
        )+
    };
}

accesses! {
    1: read_1 write_1 volatile_read_1 volatile_write_1;
    2: read_2 write_2 volatile_read_2 volatile_write_2;
    4: read_4 write_4 volatile_read_4 volatile_write_4;
    8: read_8 write_8 volatile_read_8 volatile_write_8;
    16: read_16 write_16 volatile_read_16 volatile_write_16;
}

/// The pointer to the virtual functions of an object is set, in each constructor and destructor,
/// mostly to what it is.
extern "C" fn update_vptr(address: usize, value: usize, pc: usize) {
    current_task::set_last_access(address, pc);
    // SAFETY: the code under test is about to write it. An invalid access is a finding.
    let is_same = unsafe { (address as *const usize).read_volatile() } == value;
    plain(address, 8, !is_same, pc);
}

extern "C" fn read_range(address: usize, size: usize, pc: usize) {
    if size != 0 {
        plain(address, size, false, pc);
    }
}

extern "C" fn write_range(address: usize, size: usize, pc: usize) {
    if size != 0 {
        plain(address, size, true, pc);
    }
}

/// Whether rustc announces an access of this size in no other way.
fn is_odd(size: usize) -> bool {
    ![1, 2, 4, 8, 16].contains(&size)
}

extern "C" fn read_odd(address: usize, size: usize, pc: usize) {
    if is_odd(size) {
        read_range(address, size, pc);
    }
}

extern "C" fn write_odd(address: usize, size: usize, pc: usize) {
    if is_odd(size) {
        write_range(address, size, pc);
    }
}

stubs! {
    __clewline_loadN, "rdx" => read_odd;
    __clewline_storeN, "rdx" => write_odd;
    __tsan_read1, "rsi" => read_1;
    __tsan_read2, "rsi" => read_2;
    __tsan_read4, "rsi" => read_4;
    __tsan_read8, "rsi" => read_8;
    __tsan_read16, "rsi" => read_16;
    __tsan_write1, "rsi" => write_1;
    __tsan_write2, "rsi" => write_2;
    __tsan_write4, "rsi" => write_4;
    __tsan_write8, "rsi" => write_8;
    __tsan_write16, "rsi" => write_16;
    __tsan_unaligned_read2, "rsi" => read_2;
    __tsan_unaligned_read4, "rsi" => read_4;
    __tsan_unaligned_read8, "rsi" => read_8;
    __tsan_unaligned_read16, "rsi" => read_16;
    __tsan_unaligned_write2, "rsi" => write_2;
    __tsan_unaligned_write4, "rsi" => write_4;
    __tsan_unaligned_write8, "rsi" => write_8;
    __tsan_unaligned_write16, "rsi" => write_16;
    __tsan_read_write1, "rsi" => write_1;
    __tsan_read_write2, "rsi" => write_2;
    __tsan_read_write4, "rsi" => write_4;
    __tsan_read_write8, "rsi" => write_8;
    __tsan_read_write16, "rsi" => write_16;
    __tsan_unaligned_read_write2, "rsi" => write_2;
    __tsan_unaligned_read_write4, "rsi" => write_4;
    __tsan_unaligned_read_write8, "rsi" => write_8;
    __tsan_unaligned_read_write16, "rsi" => write_16;
    __tsan_volatile_read1, "rsi" => volatile_read_1;
    __tsan_volatile_read2, "rsi" => volatile_read_2;
    __tsan_volatile_read4, "rsi" => volatile_read_4;
    __tsan_volatile_read8, "rsi" => volatile_read_8;
    __tsan_volatile_read16, "rsi" => volatile_read_16;
    __tsan_volatile_write1, "rsi" => volatile_write_1;
    __tsan_volatile_write2, "rsi" => volatile_write_2;
    __tsan_volatile_write4, "rsi" => volatile_write_4;
    __tsan_volatile_write8, "rsi" => volatile_write_8;
    __tsan_volatile_write16, "rsi" => volatile_write_16;
    __tsan_unaligned_volatile_read2, "rsi" => volatile_read_2;
    __tsan_unaligned_volatile_read4, "rsi" => volatile_read_4;
    __tsan_unaligned_volatile_read8, "rsi" => volatile_read_8;
    __tsan_unaligned_volatile_read16, "rsi" => volatile_read_16;
    __tsan_unaligned_volatile_write2, "rsi" => volatile_write_2;
    __tsan_unaligned_volatile_write4, "rsi" => volatile_write_4;
    __tsan_unaligned_volatile_write8, "rsi" => volatile_write_8;
    __tsan_unaligned_volatile_write16, "rsi" => volatile_write_16;
    __tsan_vptr_read, "rsi" => read_8;
    __tsan_vptr_update, "rdx" => update_vptr;
    __tsan_read_range, "rdx" => read_range;
    __tsan_write_range, "rdx" => write_range;
    __tsan_memcpy, "rcx" => copy;
    __tsan_memmove, "rcx" => copy;
    __tsan_memset, "rcx" => fill;
    __wrap_memcpy, "rcx" => copy;
    __wrap_memmove, "rcx" => copy;
    __wrap_memset, "rcx" => fill;
}

/// A function begins, and will return to `caller`; `stack` is where the return address of this call
/// is. Variables of earlier functions in its frame are gone.
extern "C" fn enter_function(caller: usize, stack: usize) {
    const FRAME_WORDS_MAX: usize = 1 << 16;
    if current_task::running().is_none() {
        return;
    }
    let words = (stack..).step_by(8).take(FRAME_WORDS_MAX).take_while(|it| current_task::is_own_stack(*it));
    // SAFETY: these words are on the stack of the running task, above the stack pointer.
    let top = words.skip(1).find(|it| unsafe { *(*it as *const usize) } == caller);
    top.into_iter().for_each(races::forget_frame);
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_func_entry() {
    std::arch::naked_asm!(
        "cmp byte ptr [rip + {has_shared}], 0",
        "jne 2f",
        "ret",
        "2:",
        "mov rsi, rsp",
        "jmp {enter}",
        has_shared = sym races::HAS_SHARED,
        enter = sym enter_function,
    )
}

/// Nothing needs to be done when a module is loaded, or when a function ends or is left; and
/// accesses that rustc announces twice are seen once.
macro_rules! nothing {
    ($($name:ident)+) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() {
                std::arch::naked_asm!("ret")
            }
        )+
    };
}

nothing! {
    __tsan_init
    __tsan_func_exit
    __tsan_atomic_signal_fence
    __asan_handle_no_return
    __clewline_load1
    __clewline_load2
    __clewline_load4
    __clewline_load8
    __clewline_load16
    __clewline_store1
    __clewline_store2
    __clewline_store4
    __clewline_store8
    __clewline_store16
}
