//! Atomic operations, which the runtime makes itself.
//!
//! Tasks run one at a time, so everything between two points is atomic. Code outside tasks may have
//! real threads, and gets real atomics.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, Ordering::SeqCst},
};

use clewline_explore::Access;
use clewline_threads::instrument::{Control, ForeignAccess, Loaded, ReadModifyWrite};

use super::{check, object, point, set_detail, shown};
use crate::linux::{
    call::stubs,
    calls_out, current_task,
    races::{self, Atomic, AtomicAccess, ModelEffect},
    rust_std,
};

/// An ordering, as compilers number them.
pub(super) fn ordering(number: c_int) -> Ordering {
    // The upper bits are hints for the processor.
    match number & 7 {
        0 => Ordering::Relaxed,
        // Compilers make an acquiring load of one that consumes.
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => SeqCst,
    }
}

/// The code that requests an access, and its ordering.
#[derive(Clone, Copy)]
struct By {
    pc: usize,
    order: Ordering,
}

fn by(order: c_int, pc: usize) -> By {
    By { pc, order: ordering(order) }
}

/// The point before an operation on `address`. `None` outside a task.
#[inline(always)]
fn before(address: usize, size: usize, access: Access, pc: usize) -> Option<Control> {
    let control = current_task::control()?;
    current_task::count_call();
    calls_out::settle(control);
    point(control, address, size, access, pc);
    check(control, address, size, access != Access::Read, pc);
    current_task::set_last_access(address, pc);
    Some(control)
}

/// Records the effect of the operation.
#[inline(always)]
fn after<T: Word>(control: Control, address: usize, what: Atomic, old: T, new: T, by: By) {
    current_task::count_write();
    note(control, address, what, old, new, by);
    if old != new {
        control.mark_changed(object(address));
    }
    set_detail(control, address, || format!("{} -> {}", shown(old.bits()), shown(new.bits())));
}

#[inline(always)]
fn record_load<T: Word>(control: Control, address: usize, value: T, by: By) {
    note(control, address, Atomic::Load, value, value, by);
    set_detail(control, address, || shown(value.bits()));
}

#[inline(always)]
fn note<T: Word>(control: Control, address: usize, what: Atomic, old: T, new: T, By { pc, order }: By) {
    let (old, new) = (old.bits(), new.bits());
    let access = AtomicAccess { address, size: T::SIZE_BYTES, pc, what, order, old, new };
    races::synchronize(control, access, ModelEffect::Newest);
}

/// Whether a weak memory model decides which store is read.
#[inline(always)]
fn follows_model<T: Word>(control: Control, address: *mut T, pc: usize) -> bool {
    control.has_weak_memory() && is_modelled(control, address, pc)
}

#[cold]
fn is_modelled<T: Word>(control: Control, address: *mut T, pc: usize) -> bool {
    if rust_std::makes_access(pc) {
        control.mix_memory(address as usize, T::SIZE_BYTES);
    }
    control.follows_model(address as usize, T::SIZE_BYTES)
}

/// The access as a memory model sees it.
fn modelled<T: Word>(address: *mut T, By { pc, order }: By) -> ForeignAccess {
    let (address, place) = (address as usize, current_task::place(pc).part(address as usize & 7));
    ForeignAccess { address, size: T::SIZE_BYTES, order, place }
}

/// Under a weak memory model, an access to memory that the model does not cover. It finds `old` and
/// leaves `new`.
#[inline(always)]
fn note_mixed<T: Word>(control: Control, address: *mut T, what: Atomic, [old, new]: [T; 2], by: By) {
    if control.has_weak_memory() {
        control.access_mixed(&modelled(address, by), what != Atomic::Store, what != Atomic::Load);
        let values = [old.bits(), new.bits()];
        if races::has_unseen_code() && is_stored_unseen::<T>(control, address as usize, what, values, by) {
            // It may have released everything.
            control.note_unseen_acquire(control.task());
        }
    }
}

/// Whether code that is not seen may have stored what an access of Rust's standard library reads.
/// If it has counted references, the count is another one. Other values may have been stored again,
/// which matters to accesses that acquire.
#[cold]
fn is_stored_unseen<T: Word>(
    control: Control,
    address: usize,
    what: Atomic,
    [old, new]: [u64; 2],
    By { pc, order }: By,
) -> bool {
    let is_word = T::SIZE_BYTES == 8 && address.is_multiple_of(8);
    let is_other = is_word.then(|| control.is_stored_unseen(address, old, new)).flatten();
    let acquires = what != Atomic::Load || order != Ordering::Relaxed;
    is_other == Some(true) || acquires && !rust_std::counts_references(pc)
}

fn missed(loaded: Loaded) -> String {
    loaded.describe(shown)
}

/// A load under a weak memory model.
#[cold]
fn load_in_model<T: Word>(control: Control, address: *mut T, by: By) -> T {
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    let held = unsafe { read(address) }.bits();
    let loaded = control.load_in_model(&modelled(address, by), held);
    let at = address as usize;
    let access = AtomicAccess {
        address: at,
        size: T::SIZE_BYTES,
        pc: by.pc,
        what: Atomic::Load,
        order: by.order,
        old: held,
        new: held,
    };
    races::synchronize(control, access, ModelEffect::Load(loaded.origin.number));
    set_detail(control, at, || format!("{}{}", shown(loaded.value), missed(loaded)));
    T::of_bits(loaded.value)
}

/// A store under a weak memory model.
#[cold]
fn store_in_model<T: Word>(control: Control, address: *mut T, value: T, by: By) {
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    let old = unsafe { read(address) }.bits();
    let stored = control.store_in_model(&modelled(address, by), value.bits(), old);
    // SAFETY: as above.
    unsafe { write(address, T::of_bits(stored.held)) };
    let (pc, at) = (by.pc, address as usize);
    let (size, what, order, new) = (T::SIZE_BYTES, Atomic::Store, by.order, stored.held);
    let access = AtomicAccess { address: at, size, pc, what, order, old, new };
    races::synchronize(control, access, ModelEffect::Store(stored.origin.number, stored.is_newest));
    current_task::count_write();
    control.mark_changed(object(at));
    set_detail(control, at, || {
        let place = if stored.is_newest { "" } else { ", before a later store" };
        format!("-> {}{place}", shown(value.bits()))
    });
}

/// A read-modify-write under a weak memory model. Returns the old value, and whether there is a new
/// one.
#[cold]
fn update_in_model<T: Word>(
    control: Control,
    address: *mut T,
    by: Exchange,
    may_fail: bool,
    change: &dyn Fn(T) -> Option<T>,
) -> (T, bool) {
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    let held = unsafe { read(address) }.bits();
    let mut make = |bits| change(T::of_bits(bits)).map(Word::bits);
    let mut update = ReadModifyWrite { make: &mut make, failure: by.failure, may_fail };
    let access = modelled(address, By { pc: by.pc, order: by.success });
    let updated = control.update_in_model(&access, &mut update, held);
    let (old, at) = (updated.read.value, address as usize);
    let memory = |what, order, new| AtomicAccess {
        address: at,
        size: T::SIZE_BYTES,
        pc: by.pc,
        what,
        order,
        old: held,
        new,
    };
    let missed = || missed(updated.read);
    let read = updated.read.origin.number;
    let Some((new, stored)) = updated.new else {
        races::synchronize(control, memory(Atomic::Load, by.failure, held), ModelEffect::Load(read));
        set_detail(control, at, || format!("{}, and fails{}", shown(old), missed()));
        return (T::of_bits(old), false);
    };
    // SAFETY: as above.
    unsafe { write(address, T::of_bits(stored.held)) };
    let effect = ModelEffect::Update { read, stored: stored.origin.number, is_newest: stored.is_newest };
    races::synchronize(control, memory(Atomic::Update, by.success, stored.held), effect);
    current_task::count_write();
    if old != new {
        control.mark_changed(object(at));
    }
    set_detail(control, at, || format!("{} -> {}{}", shown(old), shown(new), missed()));
    (T::of_bits(old), true)
}

/// Reads a value, wherever it is.
///
/// # Safety
///
/// The code under test requests this access.
#[inline(always)]
unsafe fn read<T: Word>(address: *const T) -> T {
    // SAFETY: as above. Debug builds check that the address is aligned.
    unsafe { if address.is_aligned() { address.read_volatile() } else { address.read_unaligned() } }
}

/// Writes a value, wherever it is.
///
/// # Safety
///
/// As [`read`].
#[inline(always)]
unsafe fn write<T: Word>(address: *mut T, value: T) {
    // SAFETY: as above.
    unsafe {
        if address.is_aligned() { address.write_volatile(value) } else { address.write_unaligned(value) }
    }
}

/// A value with atomic operations.
trait Word: Copy + PartialEq + 'static {
    const SIZE_BYTES: usize = size_of::<Self>();

    fn bits(self) -> u64;

    /// The value with these bits.
    fn of_bits(bits: u64) -> Self;

    /// Applies `change` to the value at `address` with a real atomic operation. Returns the old
    /// value.
    ///
    /// # Safety
    ///
    /// There is such a value at `address`.
    unsafe fn update(address: *mut Self, change: impl Fn(Self) -> Option<Self>) -> Self;
}

macro_rules! words {
    ($($type:ty, $atomic:ty;)+) => {
        $(
            impl Word for $type {
                fn bits(self) -> u64 {
                    self.into()
                }

                fn of_bits(bits: u64) -> Self {
                    bits as $type
                }

                unsafe fn update(address: *mut Self, change: impl Fn(Self) -> Option<Self>) -> Self {
                    // SAFETY: guaranteed by the caller.
                    let atomic = unsafe { <$atomic>::from_ptr(address) };
                    atomic.fetch_update(SeqCst, SeqCst, change).unwrap_or_else(|found| found)
                }
            }
        )+
    };
}

words! {
    u8, AtomicU8;
    u16, AtomicU16;
    u32, AtomicU32;
    u64, AtomicU64;
}

impl Word for u128 {
    fn bits(self) -> u64 {
        self as u64
    }

    // No memory model is followed for words of this size.
    fn of_bits(bits: u64) -> Self {
        bits.into()
    }

    // Only code that constructs a subject comes here, and no other thread runs.
    unsafe fn update(address: *mut Self, change: impl Fn(Self) -> Option<Self>) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let old = read(address);
            if let Some(new) = change(old) {
                write(address, new);
            }
            old
        }
    }
}

#[inline(always)]
fn load<T: Word>(address: *mut T, by: By) -> T {
    let Some(control) = before(address as usize, T::SIZE_BYTES, Access::Read, by.pc) else {
        // SAFETY: the code under test requests this access.
        return unsafe { T::update(address, |_| None) };
    };
    if follows_model(control, address, by.pc) {
        return load_in_model(control, address, by);
    }
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    let value = unsafe { read(address) };
    note_mixed(control, address, Atomic::Load, [value; 2], by);
    record_load(control, address as usize, value, by);
    value
}

#[inline(always)]
fn update<T: Word>(address: *mut T, what: Atomic, by: By, change: impl Fn(T) -> T) -> T {
    let access = match what {
        Atomic::Store => {
            current_task::running_control().map_or(Access::Write, |it| it.access_of_store(by.order))
        }
        Atomic::Load | Atomic::Update => Access::Update,
    };
    let Some(control) = before(address as usize, T::SIZE_BYTES, access, by.pc) else {
        // SAFETY: the code under test requests this access.
        return unsafe { T::update(address, |it| Some(change(it))) };
    };
    if follows_model(control, address, by.pc) {
        if what == Atomic::Store {
            // A store ignores the old value.
            let value = change(T::of_bits(0));
            store_in_model(control, address, value, by);
            return value;
        }
        let by = Exchange { pc: by.pc, success: by.order, failure: by.order };
        return update_in_model(control, address, by, false, &|it| Some(change(it))).0;
    }
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    let old = unsafe { read(address) };
    let new = change(old);
    note_mixed(control, address, what, [old, new], by);
    // SAFETY: as above.
    unsafe { write(address, new) };
    after(control, address as usize, what, old, new, by);
    old
}

/// The code that requests a compare-and-exchange, and its orderings.
#[derive(Clone, Copy)]
struct Exchange {
    pc: usize,
    success: Ordering,
    failure: Ordering,
}

#[inline(always)]
fn exchange_if<T: Word>(address: *mut T, current: T, new: T, may_fail: bool, by: Exchange) -> Result<T, T> {
    let failed = By { pc: by.pc, order: by.failure };
    let Some(control) = before(address as usize, T::SIZE_BYTES, Access::Update, by.pc) else {
        // SAFETY: the code under test requests this access.
        let old = unsafe { T::update(address, |it| (it == current).then_some(new)) };
        return if old == current { Ok(old) } else { Err(old) };
    };
    if follows_model(control, address, by.pc) {
        let change = |it: T| (it == current).then_some(new);
        let (old, is_new) = update_in_model(control, address, by, may_fail, &change);
        return if is_new { Ok(old) } else { Err(old) };
    }
    // SAFETY: the code under test requests this access. An invalid access is a finding.
    let old = unsafe { read(address) };
    let fails = old == current && may_fail && control.fails_spuriously(current_task::place(by.pc));
    let left = if old == current && !fails { new } else { old };
    note_mixed(control, address, Atomic::Update, [old, left], By { pc: by.pc, order: by.success });
    if old != current {
        record_load(control, address as usize, old, failed);
        let found = || format!("{}, not {}", shown(old.bits()), shown(current.bits()));
        set_detail(control, address as usize, found);
        return Err(old);
    }
    if fails {
        record_load(control, address as usize, old, failed);
        let found = || format!("{}, and fails for no reason", shown(old.bits()));
        set_detail(control, address as usize, found);
        return Err(old);
    }
    // SAFETY: as above.
    unsafe { write(address, new) };
    after(control, address as usize, Atomic::Update, old, new, By { pc: by.pc, order: by.success });
    Ok(old)
}

/// gcc's calling convention: the found value is written to `expected`.
fn compare_exchange<T: Word>(
    address: *mut T,
    expected: *mut T,
    new: T,
    may_fail: bool,
    by: Exchange,
) -> bool {
    // SAFETY: the code under test requests this access.
    let current = unsafe { expected.read() };
    match exchange_if(address, current, new, may_fail, by) {
        Ok(_) => true,
        Err(found) => {
            // SAFETY: as above.
            unsafe { expected.write(found) };
            false
        }
    }
}

type Order = c_int;

const STRONGEST: Order = 5;

/// The orderings of an exchange, of which the call has left out those for which there was no room.
/// The strongest ordering takes their place: then a race may be missed, and none is invented.
fn exchange_by<const N: usize>(orders: [Order; N], pc: usize) -> Exchange {
    let success = ordering(orders.first().copied().unwrap_or(STRONGEST));
    Exchange { pc, success, failure: orders.get(1).map_or(success, |it| ordering(*it)) }
}

/// The operations on one type. An exchange receives only the orderings for which its arguments
/// leave room: the return address takes the place of the last one.
macro_rules! operations {
    ($($module:ident $type:ty, exchange($($order:ident)*), value($($other:ident)*);)+) => {
        $(
            pub(super) mod $module {
                use super::*;

                type T = $type;

                pub(crate) extern "C" fn load(a: *mut T, o: Order, pc: usize) -> T {
                    super::load(a, by(o, pc))
                }

                pub(crate) extern "C" fn store(a: *mut T, v: T, o: Order, pc: usize) {
                    update(a, Atomic::Store, by(o, pc), |_| v);
                }

                pub(crate) extern "C" fn swap(a: *mut T, v: T, o: Order, pc: usize) -> T {
                    update(a, Atomic::Update, by(o, pc), |_| v)
                }

                pub(crate) extern "C" fn add(a: *mut T, v: T, o: Order, pc: usize) -> T {
                    update(a, Atomic::Update, by(o, pc), |it| it.wrapping_add(v))
                }

                pub(crate) extern "C" fn sub(a: *mut T, v: T, o: Order, pc: usize) -> T {
                    update(a, Atomic::Update, by(o, pc), |it| it.wrapping_sub(v))
                }

                pub(crate) extern "C" fn and(a: *mut T, v: T, o: Order, pc: usize) -> T {
                    update(a, Atomic::Update, by(o, pc), |it| it & v)
                }

                pub(crate) extern "C" fn or(a: *mut T, v: T, o: Order, pc: usize) -> T {
                    update(a, Atomic::Update, by(o, pc), |it| it | v)
                }

                pub(crate) extern "C" fn xor(a: *mut T, v: T, o: Order, pc: usize) -> T {
                    update(a, Atomic::Update, by(o, pc), |it| it ^ v)
                }

                pub(crate) extern "C" fn nand(a: *mut T, v: T, o: Order, pc: usize) -> T {
                    update(a, Atomic::Update, by(o, pc), |it| !(it & v))
                }

                pub(crate) extern "C" fn strong(a: *mut T, e: *mut T, v: T, $($order: Order,)* pc: usize) -> bool {
                    compare_exchange(a, e, v, false, exchange_by([$($order),*], pc))
                }

                pub(crate) extern "C" fn weak(a: *mut T, e: *mut T, v: T, $($order: Order,)* pc: usize) -> bool {
                    compare_exchange(a, e, v, true, exchange_by([$($order),*], pc))
                }

                pub(crate) extern "C" fn value(a: *mut T, c: T, v: T, $($other: Order,)* pc: usize) -> T {
                    exchange_if(a, c, v, false, exchange_by([$($other),*], pc)).unwrap_or_else(|it| it)
                }
            }
        )+
    };
}

operations! {
    word_8 u8, exchange(success failure), value(success failure);
    word_16 u16, exchange(success failure), value(success failure);
    word_32 u32, exchange(success failure), value(success failure);
    word_64 u64, exchange(success failure), value(success failure);
    word_128 u128, exchange(success), value();
}

pub(super) extern "C" fn fence(order: Order, pc: usize) {
    if let Some(control) = current_task::control() {
        if control.has_weak_memory() {
            control.fence_at(ordering(order), current_task::place(pc));
        }
        races::fence(control, ordering(order));
    }
}

stubs! {
    __tsan_atomic_thread_fence, "rsi" => fence;
    __tsan_atomic8_load, "rdx" => word_8::load;
    __tsan_atomic8_store, "rcx" => word_8::store;
    __tsan_atomic8_exchange, "rcx" => word_8::swap;
    __tsan_atomic8_fetch_add, "rcx" => word_8::add;
    __tsan_atomic8_fetch_sub, "rcx" => word_8::sub;
    __tsan_atomic8_fetch_and, "rcx" => word_8::and;
    __tsan_atomic8_fetch_or, "rcx" => word_8::or;
    __tsan_atomic8_fetch_xor, "rcx" => word_8::xor;
    __tsan_atomic8_fetch_nand, "rcx" => word_8::nand;
    __tsan_atomic8_compare_exchange_strong, "r9" => word_8::strong;
    __tsan_atomic8_compare_exchange_weak, "r9" => word_8::weak;
    __tsan_atomic8_compare_exchange_val, "r9" => word_8::value;
    __tsan_atomic16_load, "rdx" => word_16::load;
    __tsan_atomic16_store, "rcx" => word_16::store;
    __tsan_atomic16_exchange, "rcx" => word_16::swap;
    __tsan_atomic16_fetch_add, "rcx" => word_16::add;
    __tsan_atomic16_fetch_sub, "rcx" => word_16::sub;
    __tsan_atomic16_fetch_and, "rcx" => word_16::and;
    __tsan_atomic16_fetch_or, "rcx" => word_16::or;
    __tsan_atomic16_fetch_xor, "rcx" => word_16::xor;
    __tsan_atomic16_fetch_nand, "rcx" => word_16::nand;
    __tsan_atomic16_compare_exchange_strong, "r9" => word_16::strong;
    __tsan_atomic16_compare_exchange_weak, "r9" => word_16::weak;
    __tsan_atomic16_compare_exchange_val, "r9" => word_16::value;
    __tsan_atomic32_load, "rdx" => word_32::load;
    __tsan_atomic32_store, "rcx" => word_32::store;
    __tsan_atomic32_exchange, "rcx" => word_32::swap;
    __tsan_atomic32_fetch_add, "rcx" => word_32::add;
    __tsan_atomic32_fetch_sub, "rcx" => word_32::sub;
    __tsan_atomic32_fetch_and, "rcx" => word_32::and;
    __tsan_atomic32_fetch_or, "rcx" => word_32::or;
    __tsan_atomic32_fetch_xor, "rcx" => word_32::xor;
    __tsan_atomic32_fetch_nand, "rcx" => word_32::nand;
    __tsan_atomic32_compare_exchange_strong, "r9" => word_32::strong;
    __tsan_atomic32_compare_exchange_weak, "r9" => word_32::weak;
    __tsan_atomic32_compare_exchange_val, "r9" => word_32::value;
    __tsan_atomic64_load, "rdx" => word_64::load;
    __tsan_atomic64_store, "rcx" => word_64::store;
    __tsan_atomic64_exchange, "rcx" => word_64::swap;
    __tsan_atomic64_fetch_add, "rcx" => word_64::add;
    __tsan_atomic64_fetch_sub, "rcx" => word_64::sub;
    __tsan_atomic64_fetch_and, "rcx" => word_64::and;
    __tsan_atomic64_fetch_or, "rcx" => word_64::or;
    __tsan_atomic64_fetch_xor, "rcx" => word_64::xor;
    __tsan_atomic64_fetch_nand, "rcx" => word_64::nand;
    __tsan_atomic64_compare_exchange_strong, "r9" => word_64::strong;
    __tsan_atomic64_compare_exchange_weak, "r9" => word_64::weak;
    __tsan_atomic64_compare_exchange_val, "r9" => word_64::value;
    __tsan_atomic128_load, "rdx" => word_128::load;
    __tsan_atomic128_store, "r8" => word_128::store;
    __tsan_atomic128_exchange, "r8" => word_128::swap;
    __tsan_atomic128_fetch_add, "r8" => word_128::add;
    __tsan_atomic128_fetch_sub, "r8" => word_128::sub;
    __tsan_atomic128_fetch_and, "r8" => word_128::and;
    __tsan_atomic128_fetch_or, "r8" => word_128::or;
    __tsan_atomic128_fetch_xor, "r8" => word_128::xor;
    __tsan_atomic128_fetch_nand, "r8" => word_128::nand;
    __tsan_atomic128_compare_exchange_strong, "r9" => word_128::strong;
    __tsan_atomic128_compare_exchange_weak, "r9" => word_128::weak;
    __tsan_atomic128_compare_exchange_val, "r9" => word_128::value;
}
