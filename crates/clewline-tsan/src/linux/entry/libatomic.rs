//! The functions that compilers call for objects that are not lock-free: those of 16 bytes, and
//! larger ones.

use std::{
    ffi::{c_int, c_void},
    ptr, slice,
};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, ForeignAccess};

use super::{
    atomic::{ordering, word_128},
    check, object, point,
};
use crate::linux::{
    call::stubs,
    current_task,
    races::{self, Atomic, AtomicAccess, ModelEffect},
};

/// The point before an access to an object. Returns its contents, too, if it is small.
fn before(size: usize, address: usize, access: Access, pc: usize) -> Option<(Control, u64)> {
    let control = current_task::control()?;
    current_task::count_call();
    point(control, address, size.max(1), access, pc);
    check(control, address, size.max(1), access != Access::Read, pc);
    current_task::set_last_access(address, pc);
    Some((control, contents(address, size)))
}

fn after(before: Option<(Control, u64)>, what: Atomic, order: c_int, size: usize, address: usize, pc: usize) {
    let Some((control, old)) = before else { return };
    let (order, size, new) = (ordering(order), size.max(1), contents(address, size));
    if control.has_weak_memory() {
        let access = ForeignAccess { address, size, order, place: current_task::place(pc) };
        control.mix_memory(address, size);
        control.access_mixed(&access, what != Atomic::Store, what != Atomic::Load);
    }
    let access = AtomicAccess { address, size, pc, what, order, old, new };
    races::synchronize(control, access, ModelEffect::Newest);
    if what != Atomic::Load {
        current_task::count_write();
        control.mark_changed(object(address));
    }
}

/// The bytes of a small object.
fn contents(address: usize, size: usize) -> u64 {
    let mut bytes = [0; 8];
    let size = size.min(8);
    // SAFETY: the code under test requests an access to them. An invalid access is a finding.
    unsafe { ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size) };
    u64::from_le_bytes(bytes)
}

extern "C" fn load(size: usize, object: *const u8, to: *mut u8, order: c_int, pc: usize) {
    let before = before(size, object as usize, Access::Read, pc);
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    unsafe { ptr::copy(object, to, size) };
    after(before, Atomic::Load, order, size, object as usize, pc);
}

extern "C" fn store(size: usize, object: *mut u8, from: *const u8, order: c_int, pc: usize) {
    let before = before(size, object as usize, Access::Write, pc);
    // SAFETY: as above.
    unsafe { ptr::copy(from, object, size) };
    after(before, Atomic::Store, order, size, object as usize, pc);
}

extern "C" fn swap(size: usize, object: *mut u8, from: *const u8, to: *mut u8, order: c_int, pc: usize) {
    let before = before(size, object as usize, Access::Update, pc);
    // SAFETY: as above.
    unsafe {
        let new = slice::from_raw_parts(from, size).to_vec();
        ptr::copy(object, to, size);
        ptr::copy(new.as_ptr(), object, size);
    }
    after(before, Atomic::Update, order, size, object as usize, pc);
}

/// The last argument takes the place of the failure ordering: no register is left.
extern "C" fn exchange(
    size: usize,
    object: *mut u8,
    expected: *mut u8,
    from: *const u8,
    order: c_int,
    pc: usize,
) -> bool {
    let before = before(size, object as usize, Access::Update, pc);
    // SAFETY: as above.
    let is_same = unsafe { slice::from_raw_parts(object, size) == slice::from_raw_parts(expected, size) };
    // SAFETY: as above.
    unsafe {
        match is_same {
            true => ptr::copy(from, object, size),
            false => ptr::copy(object, expected, size),
        }
    }
    let what = if is_same { Atomic::Update } else { Atomic::Load };
    after(before, what, order, size, object as usize, pc);
    is_same
}

#[unsafe(no_mangle)]
extern "C" fn __atomic_is_lock_free(size: usize, _object: *const c_void) -> bool {
    size <= 16
}

stubs! {
    __atomic_load, "r8" => load;
    __atomic_store, "r8" => store;
    __atomic_exchange, "r9" => swap;
    __atomic_compare_exchange, "r9" => exchange;
    __atomic_load_16, "rdx" => word_128::load;
    __atomic_store_16, "r8" => word_128::store;
    __atomic_exchange_16, "r8" => word_128::swap;
    __atomic_compare_exchange_16, "r9" => word_128::strong;
    __atomic_fetch_add_16, "r8" => word_128::add;
    __atomic_fetch_sub_16, "r8" => word_128::sub;
    __atomic_fetch_and_16, "r8" => word_128::and;
    __atomic_fetch_or_16, "r8" => word_128::or;
    __atomic_fetch_xor_16, "r8" => word_128::xor;
    __atomic_fetch_nand_16, "r8" => word_128::nand;
}
