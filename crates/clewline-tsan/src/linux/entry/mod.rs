//! What the compiler calls.
//!
//! `plain` is called before an access that is not atomic, which the code then makes itself.
//! `atomic` makes the access. Both come to a point first, if theirs is one.

mod atomic;
mod libatomic;
mod plain;

use clewline_explore::Access;
use clewline_threads::instrument::Control;

use super::{
    current_task,
    heap::{self, GrainState},
    places,
};

/// What is accessed: words, so that accesses of different sizes are known to meet.
#[inline(always)]
pub(super) fn object(address: usize) -> usize {
    address & !7
}

/// Where in its word an access begins: fields that are neighbours may share one, and its name.
/// Reports put it behind the name.
fn describe_address(address: usize) -> String {
    match address & 7 {
        0 => String::new(),
        offset => format!("+{offset} "),
    }
}

/// Comes to a point before an access.
#[inline(always)]
pub(super) fn point(control: Control, address: usize, size: usize, access: Access, pc: usize) {
    current_task::reset_idle();
    // Whatever is at no address fails when it is accessed.
    control.access_point(object(address).max(8), access, current_task::place(pc).part(address & 7));
    if object(address) != object(address + size - 1) {
        control.conflict_with_all();
    }
}

/// An access to the heap must be inside of a block.
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
    let message = match grain {
        GrainState::Freed => format!("use after free: {what} {}", places::describe(address)),
        GrainState::Unused | GrainState::Header | GrainState::Live => {
            format!("{what} memory outside of any block: {}", places::describe(address))
        }
    };
    places::fail(control, message, pc)
}

/// A value as it is shown: a block by its number.
pub(super) fn shown(value: u64) -> String {
    places::name(value as usize).unwrap_or_else(|| match value as i64 {
        small @ -9_999..=999_999 => small.to_string(),
        _ => format!("{value:#x}"),
    })
}

/// An object that the code hands to the C library must not be freed.
pub(super) fn check_at(control: Control, address: usize, pc: usize) {
    check(control, address, 1, true, pc);
}
