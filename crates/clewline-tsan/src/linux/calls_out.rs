//! Calls out: functions of libraries that are not instrumented, called by code that is.
//!
//! What such a function reads and writes is not seen. So each call from the program goes through
//! `trampolines`. The memory that threads may share is copied, and when the task is seen next the
//! copy is compared. The bytes that have changed are a write of the call, and `races` decides
//! whether that write is ordered with the accesses of other tasks. If it is not, the call becomes a
//! point, and is reported: threads are not interrupted inside of it.
//!
//! A function that the call uses (a lock, `malloc`) is one of the runtime; what the runtime changes
//! is not a write of the call.

use std::{ops::Range, slice};

use clewline_explore::{Access, TaskId};
use clewline_remote::Points;
use clewline_threads::instrument::Control;

use super::{
    current_task::{self, RuntimeCell, RuntimeOwned},
    heap,
    modules::{self, UserData},
    places, races, unseen,
};

/// A function that is called through a trampoline, which knows the layout.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Function {
    pub(super) target: usize,
    /// As the source has it; of a virtual function, the symbol of a class that has it.
    pub(super) name: String,
    pub(super) is_virtual: bool,
    pub(super) library: String,
}

impl Function {
    pub(super) fn name(&self) -> String {
        if !self.is_virtual {
            return self.name.clone();
        }
        // Some are not exported.
        let of_class = || format!("a virtual function of {}", places::readable(&self.name));
        let find = || places::symbol(self.target).map_or_else(of_class, |it| places::readable(&it));
        current_task::as_runtime(find)
    }
}

/// A call that has not been compared yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    function: &'static Function,
    /// The return address of the call.
    pc: usize,
}

/// A copy of memory.
#[derive(Debug, Default)]
struct Copy {
    ranges: Vec<Range<usize>>,
    bytes: Vec<u8>,
    /// Locks and the like that calls used in this execution: the runtime writes them.
    ignored: Vec<usize>,
}

static DATA: RuntimeOwned<UserData> =
    RuntimeOwned::new(UserData { ranges: Vec::new(), copied: Vec::new(), others: Vec::new() });
static PENDING: [RuntimeCell<Option<Pending>>; TaskId::MAX] = [const { RuntimeCell::new(None) }; TaskId::MAX];
static COPY: RuntimeOwned<Copy> =
    RuntimeOwned::new(Copy { ranges: Vec::new(), bytes: Vec::new(), ignored: Vec::new() });
/// The return addresses of calls that were reported, and whether for what they read or write.
static REPORTED: RuntimeOwned<Vec<(usize, Access)>> = RuntimeOwned::new(Vec::new());
/// The calls that have written to memory, by their return addresses.
static WRITING: RuntimeOwned<Vec<(usize, &'static Function)>> = RuntimeOwned::new(Vec::new());
/// Whether the running task has a call to compare, or the exploration has to restart.
static HAS_WORK: RuntimeCell<bool> = RuntimeCell::new(false);
static RESTARTS: RuntimeCell<bool> = RuntimeCell::new(false);

// More is not copied at each call: then only the blocks that the arguments point to.
const COPIED_BYTES_MAX: usize = 64 << 10;
// The size of the largest lock.
const LOCK_BYTES: usize = 64;

/// Finds the memory that threads may share.
pub(super) fn prepare() {
    *DATA.get() = modules::user_data();
    races::set_note_race(note_race);
    let UserData { copied, others, .. } = DATA.get();
    races::set_library_data(copied.iter().chain(others.iter()).cloned().collect());
}

/// Whether tasks may share the memory at this address: it is not a constant.
pub(super) fn may_be_shared(address: usize) -> bool {
    heap::contains(address)
        || DATA.get().ranges.iter().any(|it| it.contains(&address))
        || current_task::is_own_stack(address)
        || current_task::is_other_stack(address)
}

/// The running task calls `function` with these arguments, and will return to `pc`.
pub(super) fn start(control: Control, function: &'static Function, pc: usize, arguments: &[usize; 6]) {
    COPY.get().take(arguments);
    PENDING[control.task().index()].set(Some(Pending { function, pc }));
    HAS_WORK.set(true);
}

impl Copy {
    /// Copies the memory that threads may share.
    fn take(&mut self, arguments: &[usize; 6]) {
        self.ranges.clear();
        let all = DATA.get().ranges.iter().cloned().chain([heap::used()]);
        self.ranges.extend(all.filter(|it| !it.is_empty()));
        if COPIED_BYTES_MAX < self.ranges.iter().map(Range::len).sum() {
            self.ranges.clear();
            let blocks = arguments.iter().filter_map(|it| heap::block_of(*it).map(|block| (it, block)));
            self.ranges.extend(blocks.map(|(address, block)| {
                let start = address - block.offset;
                start..start + block.size.min(COPIED_BYTES_MAX)
            }));
        }
        self.copy();
    }

    fn copy(&mut self) {
        self.bytes.clear();
        for range in &self.ranges {
            // SAFETY: it is data of a loaded module or of the heap, and no other thread runs.
            self.bytes.extend(unsafe { slice::from_raw_parts(range.start as *const u8, range.len()) });
        }
    }

    /// Calls `found` with each word that has changed, and a mask of its bytes.
    fn compare(&self, mut found: impl FnMut(usize, u8)) {
        let mut rest = &self.bytes[..];
        for range in &self.ranges {
            let (old, others) = rest.split_at(range.len());
            rest = others;
            // SAFETY: as above.
            let now = unsafe { slice::from_raw_parts(range.start as *const u8, range.len()) };
            if old == now {
                continue;
            }
            let mut word = (0, 0_u8);
            for (at, _) in old.iter().zip(now).enumerate().filter(|it| it.1.0 != it.1.1) {
                let address = range.start + at;
                if !self.is_of_code(address) {
                    continue;
                }
                if word.0 != address & !7 {
                    if word.1 != 0 {
                        found(word.0, word.1);
                    }
                    word = (address & !7, 0);
                }
                word.1 |= 1 << (address & 7);
            }
            if word.1 != 0 {
                found(word.0, word.1);
            }
        }
    }

    /// Whether an address belongs to the code: not to the allocator, to a lock, or to an object of
    /// a library.
    fn is_of_code(&self, address: usize) -> bool {
        !DATA.get().copied.iter().any(|it| it.contains(&address))
            && (!heap::contains(address) || heap::grain(address) == heap::GrainState::Live)
            && !self.ignored.iter().any(|it| address.wrapping_sub(*it) < LOCK_BYTES)
    }
}

/// The call races: its steps are not seen.
pub(super) fn report_call(function: &Function, pc: usize, access: Access) {
    // It may be made in every execution.
    if !REPORTED.get().contains(&(pc, access)) {
        report(&function.name(), &function.library, pc, access);
    }
}

/// An access at this place races: perhaps it is the write of a call.
fn note_race(pc: usize) {
    if let Some((_, function)) = WRITING.get().iter().find(|it| it.0 == pc) {
        report_call(function, pc, Access::Write);
    }
}

/// A function of a library reads or writes what other tasks access: its steps are not seen.
pub(super) fn report(name: &str, library: &str, pc: usize, access: Access) {
    // To find a line takes long, and the call may be made in every execution.
    if REPORTED.get().contains(&(pc, access)) {
        return;
    }
    REPORTED.get().push((pc, access));
    let accesses = match access {
        Access::Read => "reads memory that other threads write",
        _ => "writes to memory that other threads access",
    };
    let site = current_task::as_runtime(|| places::resolve(places::own_caller(pc)));
    let site = site.map_or_else(String::new, |it| format!("{}:{}: ", it.file, it.line));
    unseen::add(format!(
        "{site}{name} ({library}) {accesses} at the same time: no thread is interrupted inside of it"
    ));
}

/// Records what the pending call of `task` has changed.
fn record(task: TaskId) {
    let Some(pending) = PENDING[task.index()].get() else { return };
    let (mut is_racing, mut has_written) = (false, false);
    COPY.get().compare(|word, bytes| {
        has_written = true;
        is_racing |= races::record_foreign_write(task, word, bytes, pending.pc);
    });
    if has_written && !WRITING.get().iter().any(|it| it.0 == pending.pc) {
        WRITING.get().push((pending.pc, pending.function));
    }
    if is_racing {
        // Elsewhere the calls of libraries are no points.
        RESTARTS.set(races::points() == Points::Racing);
        report_call(pending.function, pending.pc, Access::Write);
    }
}

/// The running task is seen again: its call has returned.
#[inline(always)]
pub(super) fn settle(control: Control) {
    if HAS_WORK.get() {
        settle_call(control);
    }
}

#[cold]
fn settle_call(control: Control) {
    record(control.task());
    races::note_unseen_acquire(control.task());
    PENDING[control.task().index()].set(None);
    HAS_WORK.set(false);
    if RESTARTS.replace(false) {
        control.restart_exploration();
    }
}

/// The code at `pc` calls the runtime, for the lock at `address`.
pub(super) fn note_lock(control: Control, address: usize, pc: usize) {
    if !HAS_WORK.get() {
        return;
    }
    if modules::is_user(pc) {
        return settle_call(control);
    }
    // The call goes on. What it did comes before what the lock orders.
    record(control.task());
    if !COPY.get().ignored.contains(&address) {
        COPY.get().ignored.push(address);
    }
    COPY.get().copy();
}

/// The running task is switched away from.
pub(super) fn suspend(task: TaskId) {
    if HAS_WORK.replace(false) {
        record(task);
    }
}

/// `task` continues, in its call if one is pending.
pub(super) fn resume(task: TaskId) {
    let is_pending = PENDING[task.index()].get().is_some();
    if is_pending {
        COPY.get().take(&[0; 6]);
    }
    HAS_WORK.set(is_pending || RESTARTS.get());
}

/// An execution begins.
pub(super) fn begin() {
    current_task::of_used(&PENDING).iter().for_each(|it| it.set(None));
    COPY.get().ignored.clear();
    HAS_WORK.set(false);
    RESTARTS.set(false);
}
