//! The functions that compilers call for objects that are not lock-free: those of 16 bytes, and
//! larger ones.

use std::{
    ffi::{c_int, c_void},
    ptr, slice,
};

use clewline_explore::Access;
use clewline_threads::instrument::Control;

use super::{atomic::word_128, check, object, point};
use crate::linux::{call::stubs, current_task, races};

fn before(size: usize, address: usize, access: Access, pc: usize) -> Option<Control> {
    let control = current_task::control()?;
    current_task::count_call();
    point(control, address, size.max(1), access, pc);
    check(control, address, size.max(1), access != Access::Read, pc);
    current_task::set_last_access(address, pc);
    races::atomic(control, address, size.max(1), access != Access::Read);
    races::acquire(control.task(), object(address));
    Some(control)
}

fn after(control: Option<Control>, address: usize) {
    if let Some(control) = control {
        current_task::count_write();
        races::release(control.task(), object(address));
        control.mark_changed(object(address));
    }
}

extern "C" fn load(size: usize, object: *const u8, to: *mut u8, _: c_int, pc: usize) {
    before(size, object as usize, Access::Read, pc);
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    unsafe { ptr::copy(object, to, size) };
}

extern "C" fn store(size: usize, object: *mut u8, from: *const u8, _: c_int, pc: usize) {
    let control = before(size, object as usize, Access::Write, pc);
    // SAFETY: as above.
    unsafe { ptr::copy(from, object, size) };
    after(control, object as usize);
}

extern "C" fn swap(size: usize, object: *mut u8, from: *const u8, to: *mut u8, _: c_int, pc: usize) {
    let control = before(size, object as usize, Access::Update, pc);
    // SAFETY: as above.
    unsafe {
        let new = slice::from_raw_parts(from, size).to_vec();
        ptr::copy(object, to, size);
        ptr::copy(new.as_ptr(), object, size);
    }
    after(control, object as usize);
}

/// The last argument takes the place of the failure ordering: no register is left.
extern "C" fn exchange(
    size: usize,
    object: *mut u8,
    expected: *mut u8,
    from: *const u8,
    _: c_int,
    pc: usize,
) -> bool {
    let control = before(size, object as usize, Access::Update, pc);
    // SAFETY: as above.
    let is_same = unsafe { slice::from_raw_parts(object, size) == slice::from_raw_parts(expected, size) };
    // SAFETY: as above.
    unsafe {
        match is_same {
            true => ptr::copy(from, object, size),
            false => ptr::copy(object, expected, size),
        }
    }
    if is_same {
        after(control, object as usize);
    }
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
