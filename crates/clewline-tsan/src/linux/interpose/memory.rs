//! `malloc` and related functions.

use std::{ffi::c_int, ptr};

use clewline_threads::control::FailureKind;

use super::{super::allocator::*, write_result};
use crate::linux::{
    call::stubs,
    current_task, entry, heap, modules, places,
    races::{self, Kind},
    real, rust_std,
};

// The size that the C++ standard library allocates when it is loaded, for exceptions without
// memory. It is large, and never used.
const EXCEPTION_POOL_BYTES: usize = 32 << 10;

/// Whether the code at `pc` gets a block of the heap: if it is under test, and not system code
/// called by it.
#[inline(always)]
fn is_for_code(pc: usize, size: usize) -> bool {
    current_task::is_code()
        && !modules::is_system(pc)
        && !(EXCEPTION_POOL_BYTES < size && current_task::control().is_none() && modules::is_standard(pc))
}

fn allocate(size: usize, align: usize, pc: usize) -> *mut u8 {
    let block = heap::allocate(size, align, pc);
    if block != 0 {
        if heap::reuses() {
            races::forget(block, heap::size_of(block));
        }
        return block as *mut u8;
    }
    match current_task::control() {
        Some(control) => places::fail(control, format!("no memory is left for {size} bytes"), pc),
        // SAFETY: every size is valid.
        None => unsafe { __libc_memalign(align, size) },
    }
}

pub(super) extern "C" fn malloc_at(size: usize, pc: usize) -> *mut u8 {
    if is_for_code(pc, size) {
        return allocate(size, 16, pc);
    }
    // SAFETY: every size is valid.
    unsafe { __libc_malloc(size) }
}

extern "C" fn calloc_at(n: usize, size: usize, pc: usize) -> *mut u8 {
    let Some(all) = n.checked_mul(size) else { return ptr::null_mut() };
    if !is_for_code(pc, all) {
        // SAFETY: every size is valid.
        return unsafe { __libc_calloc(n, size) };
    }
    let block = allocate(all, 16, pc);
    if !block.is_null() {
        // SAFETY: the block is as large.
        unsafe { ptr::write_bytes(block, 0, all) };
    }
    block
}

extern "C" fn memalign_at(align: usize, size: usize, pc: usize) -> *mut u8 {
    if is_for_code(pc, size) && align.is_power_of_two() {
        return allocate(size, align, pc);
    }
    // SAFETY: the C library checks both arguments.
    unsafe { __libc_memalign(align, size) }
}

extern "C" fn posix_memalign_at(block: *mut *mut u8, align: usize, size: usize, pc: usize) -> c_int {
    let found = memalign_at(align, size, pc);
    if found.is_null() {
        return libc::ENOMEM;
    }
    if is_for_code(pc, size) {
        write_result(block, found, pc);
    } else {
        // SAFETY: the caller guarantees the preconditions of the C function.
        unsafe { *block = found };
    }
    0
}

/// Whether a race with memory that the code at `pc` frees is certain. A library may have counted
/// references to it, unseen.
fn is_claimed(pc: usize) -> bool {
    modules::is_user(pc) && !rust_std::is_linked()
}

extern "C" fn free_at(block: *mut u8, pc: usize) {
    let address = block as usize;
    if !heap::contains(address) {
        // SAFETY: the caller got it from the C library.
        return unsafe { __libc_free(block) };
    }
    if let Some(control) = current_task::control() {
        current_task::count_call();
        if races::is_point(pc) {
            entry::point(control, address, 1, clewline_explore::Access::Write, pc);
            control.conflict_with_all();
            control.note_plain_point();
            control.mark_changed(entry::object(address));
            control.set_detail(|| "free".to_owned());
        }
        if !heap::is_block(address) {
            let (kind, what) = match heap::grain(address) {
                heap::GrainState::Freed => (FailureKind::DoubleFree, "double free of"),
                _ => (FailureKind::Failure, "free of an address that was not allocated:"),
            };
            places::fail_as(control, kind, format!("{what} {}", places::describe(address)), pc);
        }
        let kind = Kind::WRITE.with(Kind::FREE).and(Kind::SILENT, !is_claimed(pc));
        races::plain(control, address, heap::size_of(address), kind, pc);
    }
    if heap::is_block(address) {
        heap::free(address);
    }
}

extern "C" fn realloc_at(block: *mut u8, size: usize, pc: usize) -> *mut u8 {
    if block.is_null() {
        return malloc_at(size, pc);
    }
    let address = block as usize;
    if !heap::contains(address) {
        // SAFETY: the caller got it from the C library.
        return unsafe { __libc_realloc(block, size) };
    }
    if !heap::is_block(address) {
        // It reports the error, if there is a task.
        free_at(block, pc);
        return ptr::null_mut();
    }
    current_task::settle();
    let old = heap::size_of(address);
    let new = allocate(size, 16, pc);
    if !new.is_null() {
        // SAFETY: both blocks are as large, and they are distinct.
        unsafe { ptr::copy_nonoverlapping(block, new, old.min(size)) };
        free_at(block, pc);
    }
    new
}

#[unsafe(no_mangle)]
extern "C" fn malloc_usable_size(block: *mut u8) -> usize {
    if heap::contains(block as usize) {
        return if heap::is_block(block as usize) { heap::size_of(block as usize) } else { 0 };
    }
    // SAFETY: the caller got it from the C library.
    unsafe { real::malloc_usable_size(block) }
}

stubs! {
    malloc, "rsi" => malloc_at;
    calloc, "rdx" => calloc_at;
    memalign, "rdx" => memalign_at;
    aligned_alloc, "rdx" => memalign_at;
    posix_memalign, "rcx" => posix_memalign_at;
    free, "rsi" => free_at;
    realloc, "rdx" => realloc_at;
}
