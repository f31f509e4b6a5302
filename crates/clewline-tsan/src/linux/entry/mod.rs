//! The functions that the compiler calls.
//!
//! `plain` is called before a non-atomic access, which the code then makes itself. `atomic` makes
//! the access. Both arrive at a point first, if the access is one. `block` divides accesses to more
//! than one word. `fences` are those in assembly. `annotations` are what code says about itself.

mod annotations;
mod atomic;
mod block;
mod fences;
mod libatomic;
mod plain;

pub(super) use annotations::begin as begin_annotations;
pub(super) use block::{
    Block, abandon as abandon_blocks, begin as begin_blocks, blocks, copy, fill, note, read_block, write_all,
};
pub(super) use fences::begin as begin_fences;
pub(super) use plain::write;

use clewline_explore::Access;
use clewline_threads::{control::FailureKind, instrument::Control};

use super::{
    current_task,
    heap::{self, GrainState},
    memory, places,
};

// After this many consecutive accesses that are not points, other tasks run: the code may be
// waiting for them.
const IDLE_ACCESSES_MAX: u32 = 20_000;

/// The accessed object: a word, so that accesses of different sizes conflict.
#[inline(always)]
pub(super) fn object(address: usize) -> usize {
    address & !7
}

/// Records what was read or written, with the offset of the access in its word: neighbouring fields
/// may share a word and its name.
#[inline(always)]
fn set_detail(control: Control, address: usize, detail: impl FnOnce() -> String) {
    control.set_detail_at((address & 7) as u8, detail);
}

/// A point before an access.
#[inline(always)]
pub(super) fn point(control: Control, address: usize, size: usize, access: Access, pc: usize) {
    current_task::reset_idle();
    // An access to the null page fails when it is made.
    control.access_point(object(address).max(8), access, current_task::place(pc).part(address & 7));
    if object(address) != object(address + size - 1) {
        control.conflict_with_all();
    }
}

/// Counts an access that is not a point.
#[inline(always)]
fn count_idle(control: Control, pc: usize) {
    if IDLE_ACCESSES_MAX <= current_task::count_idle() {
        current_task::reset_idle();
        control.yield_once(current_task::place(pc));
    }
}

/// The value that a plain read is going to return.
fn peek(address: usize, size: usize) -> String {
    let mut value = [0; 8];
    // The code itself is to fail if it reads what is not there, as it does without a recording.
    match value.get_mut(..size).is_some_and(|it| memory::read(address, it)) {
        true => format!("{}, plain", shown(u64::from_le_bytes(value))),
        false => "plain".to_owned(),
    }
}

/// Checks that an access to the heap is inside a block.
#[inline(always)]
pub(super) fn check(control: Control, address: usize, size: usize, is_write: bool, pc: usize) {
    if heap::contains(address) {
        let (first, last) = (heap::grain(address), heap::grain(address + size - 1));
        if first != GrainState::Live || last != GrainState::Live {
            report_bad_access(
                control,
                address,
                if first == GrainState::Live { last } else { first },
                is_write,
                pc,
            );
        }
    }
}

#[cold]
fn report_bad_access(control: Control, address: usize, grain: GrainState, is_write: bool, pc: usize) -> ! {
    let what = if is_write { "write to" } else { "read of" };
    let (kind, message) = match grain {
        GrainState::Freed => {
            (FailureKind::UseAfterFree, format!("use after free: {what} {}", places::describe(address)))
        }
        GrainState::Unused | GrainState::Header | GrainState::Live => (
            FailureKind::Failure,
            format!("{what} memory outside of any block: {}", places::describe(address)),
        ),
    };
    places::fail_as(control, kind, message, pc)
}

/// The text of a value: a pointer to a block is shown by the block's number.
pub(super) fn shown(value: u64) -> String {
    places::name(value as usize).unwrap_or_else(|| match value as i64 {
        small @ -9_999..=999_999 => small.to_string(),
        _ => format!("{value:#x}"),
    })
}

/// Checks that an object passed to the C library is not freed.
pub(super) fn check_at(control: Control, address: usize, pc: usize) {
    check(control, address, 1, true, pc);
}
