//! Lives of values: unobserved writes, and values that are written again.
//!
//! A value that is written again counts as another one if the first is certainly gone by then: when
//! the second write is called, all operations on the value that were called before have returned,
//! and one of them replaced it, or another value was written after the first write, and that write
//! returned. Operations called later can only find the second. Values that are not found may be
//! written any number of times: each is current alone.

use clewline_core::RoleKind;

use super::values::INITIAL;
use crate::{
    columns::{Columns, Interval, NONE},
    verdict::Unsupported,
};

/// Whether there may be unobserved operations.
pub(super) fn has_unobserved(columns: &Columns) -> bool {
    let is_idle = |at: usize| match columns.kinds[at] {
        RoleKind::Add => columns.is_pending(at),
        RoleKind::Replace => columns.is_pending(at) || columns.elements[at] == columns.seconds[at],
        RoleKind::Remove
        | RoleKind::Observe
        | RoleKind::Absent
        | RoleKind::Empty
        | RoleKind::RemoveUnknown
        | RoleKind::NoEffect => false,
    };
    (0..columns.len()).any(is_idle)
}

/// Turns replacements of a value by itself into reads, and drops pending writes and replacements
/// that no operation found, not even by way of other pending ones.
pub(super) fn drop_unobserved(columns: &mut Columns) {
    let mut pending: Vec<u32> = Vec::new();
    for at in 0..columns.len() {
        if columns.kinds[at] == RoleKind::Replace && columns.elements[at] == columns.seconds[at] {
            columns.kinds[at] = if columns.is_pending(at) { RoleKind::NoEffect } else { RoleKind::Observe };
        }
        if matches!(columns.kinds[at], RoleKind::Add | RoleKind::Replace) && columns.is_pending(at) {
            pending.push(at as u32);
        }
    }
    // By value: the pending replacements that lead to it, as a list.
    let mut first = vec![NONE; columns.names.len()];
    let mut next = vec![NONE; pending.len()];
    for (number, &at) in (0_u32..).zip(&pending) {
        if columns.kinds[at as usize] == RoleKind::Replace {
            let list = &mut first[columns.seconds[at as usize] as usize];
            next[number as usize] = std::mem::replace(list, number);
        }
    }
    let mut is_found = found_values(columns);
    let mut rest: Vec<u32> = (0..is_found.len() as u32).filter(|&it| is_found[it as usize]).collect();
    while let Some(value) = rest.pop() {
        let mut number = first[value as usize];
        while number != NONE {
            let from = columns.elements[pending[number as usize] as usize];
            if !std::mem::replace(&mut is_found[from as usize], true) {
                rest.push(from);
            }
            number = next[number as usize];
        }
    }
    for at in pending {
        if !is_found[written(columns, at as usize) as usize] {
            columns.kinds[at as usize] = RoleKind::NoEffect;
        }
    }
}

/// By value: whether a complete operation found it.
fn found_values(columns: &Columns) -> Vec<bool> {
    let mut is_found = vec![false; columns.names.len()];
    for at in 0..columns.len() {
        if matches!(columns.kinds[at], RoleKind::Observe | RoleKind::Replace) && !columns.is_pending(at) {
            is_found[columns.elements[at] as usize] = true;
        }
    }
    is_found
}

/// The value that the operation writes.
fn written(columns: &Columns, at: usize) -> u32 {
    if columns.kinds[at] == RoleKind::Replace { columns.seconds[at] } else { columns.elements[at] }
}

/// One life of a value.
#[derive(Clone, Copy)]
struct Life {
    number: u32,
    // The position of its write, or `NONE`.
    write: u32,
    // The last gap in which an operation on it may take effect, plus one.
    end: u32,
    is_replaced: bool,
}

/// Gives values that are written again other numbers.
///
/// # Errors
///
/// If the first may still be current.
pub(super) fn renumber_rewritten_values(columns: &mut Columns) -> Result<(), Unsupported> {
    if !columns.intervals.is_sorted_by_key(|it| it.left) {
        return Err(Unsupported::Other(
            "operations that may have happened at any time are no part of a recorded history",
        ));
    }
    let overwritten = overwritten(columns);
    let mut is_found = found_values(columns);
    // A value that only pending operations find was not dropped, so it was found.
    (0..columns.len())
        .filter(|&at| columns.kinds[at] == RoleKind::Replace)
        .for_each(|at| is_found[columns.elements[at] as usize] = true);
    let unborn = |number| Life { number, write: NONE, end: 0, is_replaced: false };
    let mut lives: Vec<Life> = (0..columns.names.len() as u32).map(unborn).collect();
    for at in 0..columns.len() {
        let Interval { left, right } = columns.intervals[at];
        let kind = columns.kinds[at];
        if matches!(kind, RoleKind::Add | RoleKind::Replace) {
            let value = written(columns, at);
            let life = &mut lives[value as usize];
            let is_first = life.write == NONE && life.number != INITIAL;
            if !is_first {
                let write_end =
                    if life.write == NONE { 0 } else { columns.intervals[life.write as usize].right + 1 };
                // The latest begin, plus one, of what was written and had returned.
                let is_gone = life.is_replaced || write_end < overwritten[left as usize];
                if is_found[value as usize] && !(life.end <= left && is_gone) {
                    return Err(match life.write {
                        NONE => Unsupported::Other("the initial value is written again"),
                        write => Unsupported::AddedTwice(write, at as u32),
                    });
                }
                *life = unborn(columns.names.len() as u32);
                columns.names.push(columns.names[value as usize]);
            }
            life.write = at as u32;
            life.end = life.end.max(right + 1);
            let number = life.number;
            *(if kind == RoleKind::Replace { &mut columns.seconds[at] } else { &mut columns.elements[at] }) =
                number;
        }
        if matches!(kind, RoleKind::Observe | RoleKind::Replace) {
            let life = &mut lives[columns.elements[at] as usize];
            life.end = life.end.max(right + 1);
            life.is_replaced |= kind == RoleKind::Replace;
            columns.elements[at] = life.number;
        }
    }
    Ok(())
}

/// By gap: the latest begin, plus one, of a write that ends before it; 0 if there is none.
fn overwritten(columns: &Columns) -> Vec<u32> {
    let mut latest = vec![0_u32; columns.gaps() + 1];
    for (at, kind) in columns.kinds.iter().enumerate() {
        if *kind == RoleKind::Add || *kind == RoleKind::Replace {
            let Interval { left, right } = columns.intervals[at];
            let entry = &mut latest[right as usize + 1];
            *entry = (*entry).max(left + 1);
        }
    }
    for gap in 1..latest.len() {
        latest[gap] = latest[gap].max(latest[gap - 1]);
    }
    latest
}
