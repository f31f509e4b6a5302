//! Accesses that annotations of the code exclude from race detection.

use std::ops::Range;

use clewline_explore::TaskId;

use crate::linux::current_task::{self, RuntimeCell, RuntimeOwned};

/// What is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linux) enum Ignored {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// What atomic accesses order.
    Synchronization,
}

// How many times each is ignored, by task.
static COUNTS: [RuntimeOwned<[u32; 3]>; TaskId::MAX] = [const { RuntimeOwned::new([0; 3]) }; TaskId::MAX];
// Whether any is not 0.
static IS_USED: RuntimeCell<bool> = RuntimeCell::new(false);

/// Memory in which races are benign: that of the initial state, and that of this execution.
#[derive(Debug)]
struct Benign {
    initial: Vec<Range<usize>>,
    now: Vec<Range<usize>>,
}

static BENIGN: RuntimeOwned<Benign> = RuntimeOwned::new(Benign { initial: Vec::new(), now: Vec::new() });

/// Another execution begins.
pub(super) fn begin() {
    BENIGN.get().now.clear();
    if IS_USED.replace(false) {
        current_task::of_used(&COUNTS).iter().for_each(|it| *it.get() = [0; 3]);
    }
}

/// Adds the memory that is written here while tasks run.
pub(super) fn own_memory(to: &mut Vec<Range<usize>>) {
    to.push(current_task::range_of(&COUNTS));
    to.push(current_task::range_of(&BENIGN));
}

/// The running task ignores `what` from now on, or no longer.
pub(in crate::linux) fn ignore(task: TaskId, what: Ignored, begins: bool) {
    IS_USED.set(true);
    let count = &mut COUNTS[task.index()].get()[what as usize];
    *count = if begins { *count + 1 } else { count.saturating_sub(1) };
}

#[inline(always)]
pub(super) fn is_ignored(task: TaskId, is_write: bool) -> bool {
    IS_USED.get() && COUNTS[task.index()].get()[usize::from(is_write)] != 0
}

#[inline(always)]
pub(super) fn is_sync_ignored(task: TaskId) -> bool {
    IS_USED.get() && COUNTS[task.index()].get()[Ignored::Synchronization as usize] != 0
}

/// Races in this memory are benign. Outside of executions they are in all of them.
pub(in crate::linux) fn note_benign(address: usize, size: usize) {
    let range = address..address.saturating_add(size.max(1));
    let benign = BENIGN.get();
    match current_task::control() {
        Some(_) => benign.now.push(range),
        None => benign.initial.push(range),
    }
}

/// Whether races in these bytes of a word are benign.
pub(super) fn is_benign(word: usize, bytes: u8) -> bool {
    let benign = BENIGN.get();
    let is_in = |it: &Range<usize>| (0..8).any(|at| bytes >> at & 1 == 1 && it.contains(&(word + at)));
    benign.initial.iter().chain(&benign.now).any(is_in)
}
