//! Who runs: a task, the code that makes a subject, or neither.
//!
//! There is one exploration in a process, on one thread of the system. While a task runs, that
//! thread has the thread pointer of another one, which is parked. So whether code is a task's can
//! be told by the thread pointer, and other threads of the process are left alone, whatever they do
//! meanwhile.

use std::{
    arch::asm,
    cell::{Cell, UnsafeCell},
    mem::MaybeUninit,
    ops::Range,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use clewline_explore::TaskId;
use clewline_threads::instrument::{Control, Place};

struct CurrentTask {
    // The thread pointer of the task that runs, and 0 if none does.
    task: AtomicUsize,
    // That of whatever code under test runs.
    code: AtomicUsize,
    control: UnsafeCell<MaybeUninit<Control>>,
    // The stack of the task that runs.
    low: AtomicUsize,
    size: AtomicUsize,
    /// How many calls of the compiler's there were; the watchdog looks at it.
    calls: AtomicU64,
    /// Where the code is that fails if this address does.
    last_access: AtomicUsize,
}

// SAFETY: `control` is written and read only by the thread that explores.
unsafe impl Sync for CurrentTask {}

static CURRENT: CurrentTask = CurrentTask {
    task: AtomicUsize::new(0),
    code: AtomicUsize::new(0),
    control: UnsafeCell::new(MaybeUninit::uninit()),
    low: AtomicUsize::new(0),
    size: AtomicUsize::new(0),
    calls: AtomicU64::new(0),
    last_access: AtomicUsize::new(0),
};

static STACKS: [[AtomicUsize; 2]; TaskId::MAX] =
    [const { [AtomicUsize::new(0), AtomicUsize::new(0)] }; TaskId::MAX];

/// The thread pointer of this thread.
#[inline(always)]
pub(super) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: the first word of what the thread pointer points to is the pointer itself (x86-64
    // psABI).
    unsafe { asm!("mov {}, qword ptr fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly)) };
    pointer
}

/// The task that this code is, if it is one.
#[inline(always)]
pub(super) fn control() -> Option<Control> {
    if thread_pointer() != CURRENT.task.load(Relaxed) {
        return None;
    }
    // SAFETY: it was written before `task`, by this thread.
    Some(unsafe { (*CURRENT.control.get()).assume_init() })
}

/// Whether this is code under test: a task, or what makes a subject.
#[inline(always)]
pub(super) fn is_code() -> bool {
    thread_pointer() == CURRENT.code.load(Relaxed)
}

/// Whether any task runs.
pub(super) fn is_task_running() -> bool {
    CURRENT.task.load(Relaxed) != 0
}

/// `task` runs from now on, on a thread with that pointer.
pub(super) fn enter(task: TaskId, control: Control, pointer: usize) {
    // SAFETY: only the thread that explores comes here, and no task reads it meanwhile.
    unsafe { *CURRENT.control.get() = MaybeUninit::new(control) };
    RUNNING.set(task.index());
    let [low, size] = &STACKS[task.index()];
    CURRENT.low.store(low.load(Relaxed), Relaxed);
    CURRENT.size.store(size.load(Relaxed), Relaxed);
    CURRENT.code.store(pointer, Relaxed);
    CURRENT.task.store(pointer, Relaxed);
}

/// No task runs from now on.
pub(super) fn leave() {
    CURRENT.task.store(0, Relaxed);
    CURRENT.code.store(0, Relaxed);
}

/// Runs code under test that is no task's.
pub(super) fn outside_test_code<R>(code: impl FnOnce() -> R) -> R {
    let outer = CURRENT.code.swap(thread_pointer(), Relaxed);
    IS_CONSTRUCTING.set(true);
    let result = code();
    IS_CONSTRUCTING.set(false);
    CURRENT.code.store(outer, Relaxed);
    result
}

/// Runs code of ours that calls the C library, while a task is interrupted.
pub(super) fn as_runtime<R>(code: impl FnOnce() -> R) -> R {
    let (task, pointer) = (CURRENT.task.swap(0, Relaxed), CURRENT.code.swap(0, Relaxed));
    let result = code();
    CURRENT.code.store(pointer, Relaxed);
    CURRENT.task.store(task, Relaxed);
    result
}

/// Whether this code makes a subject, or looks at what is left of one.
pub(super) fn is_constructing() -> bool {
    is_code() && control().is_none() && IS_CONSTRUCTING.get()
}

/// What runs from now on until the exploration begins is code under test: its constructors.
pub(super) fn load() {
    CURRENT.code.store(thread_pointer(), Relaxed);
}

/// The stack that `task` has.
pub(super) fn set_stack(task: TaskId, stack: &Range<usize>) {
    let [low, size] = &STACKS[task.index()];
    low.store(stack.start, Relaxed);
    size.store(stack.end - stack.start, Relaxed);
    STACKS_LOW.set(STACKS_LOW.get().min(stack.start));
    STACKS_HIGH.set(STACKS_HIGH.get().max(stack.end));
}

/// Whether an address is on the stack of the task that runs.
#[inline(always)]
pub(super) fn is_own_stack(address: usize) -> bool {
    address.wrapping_sub(CURRENT.low.load(Relaxed)) < CURRENT.size.load(Relaxed)
}

/// Whose stack an address is on.
pub(super) fn owner_of(address: usize) -> Option<TaskId> {
    let is_there = |it: &[AtomicUsize; 2]| address.wrapping_sub(it[0].load(Relaxed)) < it[1].load(Relaxed);
    STACKS.iter().position(is_there).map(|it| TaskId(it as u8))
}

/// Whether an address is on the last page of the stack of the task that runs, where nothing may be.
pub(super) fn is_guard(address: usize) -> bool {
    const PAGE: usize = 4 << 10;
    address.wrapping_sub(CURRENT.low.load(Relaxed)) < PAGE
}

/// Notes that code under test has come by.
#[inline(always)]
pub(super) fn count_call() {
    CURRENT.calls.store(CURRENT.calls.load(Relaxed).wrapping_add(1), Relaxed);
}

/// How often it has.
pub(super) fn calls() -> u64 {
    CURRENT.calls.load(Relaxed)
}

/// Says that the runtime touches this address for the code at `place`: if that fails, it is the
/// code that has.
#[inline(always)]
pub(super) fn set_last_access(address: usize, place: usize) {
    CURRENT.last_access.store(address, Relaxed);
    PLACE.set(place);
}

/// The address that the runtime touched last, and for which code.
pub(super) fn last_access() -> (usize, usize) {
    (CURRENT.last_access.load(Relaxed), PLACE.get())
}

/// A word that only the thread that explores uses.
pub(super) struct RuntimeCell<T>(Cell<T>);

// SAFETY: nobody but the thread that explores uses it.
unsafe impl<T> Sync for RuntimeCell<T> {}

impl<T: Copy> RuntimeCell<T> {
    pub(super) const fn new(value: T) -> RuntimeCell<T> {
        RuntimeCell(Cell::new(value))
    }

    #[inline(always)]
    pub(super) fn get(&self) -> T {
        self.0.get()
    }

    #[inline(always)]
    pub(super) fn set(&self, value: T) {
        self.0.set(value);
    }
}

static IS_CONSTRUCTING: RuntimeCell<bool> = RuntimeCell::new(false);
static PLACE: RuntimeCell<usize> = RuntimeCell::new(0);

/// The place of code that a call returned to.
#[inline(always)]
pub(super) fn place(pc: usize) -> Place {
    Place::code(pc)
}

/// Something that only the thread that explores uses, and that is borrowed for one expression at a
/// time.
pub(super) struct RuntimeOwned<T>(UnsafeCell<T>);

// SAFETY: nobody but the thread that explores uses it.
unsafe impl<T> Sync for RuntimeOwned<T> {}

impl<T> RuntimeOwned<T> {
    pub(super) const fn new(value: T) -> RuntimeOwned<T> {
        RuntimeOwned(UnsafeCell::new(value))
    }

    /// What is inside. Nothing that is called while it is borrowed may come here again.
    #[allow(clippy::mut_from_ref, reason = "one thread, one borrow at a time")]
    #[inline(always)]
    pub(super) fn get(&self) -> &mut T {
        // SAFETY: only the thread that explores comes here, and callers keep no borrow across a
        // call of code that is not theirs.
        unsafe { &mut *self.0.get() }
    }
}

static IDLE: RuntimeCell<u32> = RuntimeCell::new(0);
// The lowest and the highest address of any stack of a task.
static STACKS_LOW: RuntimeCell<usize> = RuntimeCell::new(usize::MAX);
static STACKS_HIGH: RuntimeCell<usize> = RuntimeCell::new(0);

/// How many accesses in a row were no points.
#[inline(always)]
pub(super) fn count_idle() -> u32 {
    let idle = IDLE.get() + 1;
    IDLE.set(idle);
    idle
}

/// This one is.
#[inline(always)]
pub(super) fn reset_idle() {
    IDLE.set(0);
}

/// Whether an address is on the stack of another task.
#[inline(always)]
pub(super) fn is_other_stack(address: usize) -> bool {
    STACKS_LOW.get() <= address && address < STACKS_HIGH.get() && owner_of(address).is_some()
}

/// What a task has written besides its own stack.
#[derive(Clone, Copy)]
struct WriteCount {
    // How often.
    total: u64,
    // How often before it took the first of the locks that it has.
    before_lock: u64,
    locks: u32,
}

static WRITE_COUNTS: [RuntimeCell<WriteCount>; TaskId::MAX] =
    [const { RuntimeCell::new(WriteCount { total: 0, before_lock: 0, locks: 0 }) }; TaskId::MAX];
static RUNNING: RuntimeCell<usize> = RuntimeCell::new(0);

/// The task that runs writes something.
#[inline(always)]
pub(super) fn count_write() {
    let own = &WRITE_COUNTS[RUNNING.get()];
    own.set(WriteCount { total: own.get().total + 1, ..own.get() });
}

/// How often it has.
pub(super) fn write_count() -> u64 {
    WRITE_COUNTS[RUNNING.get()].get().total
}

/// It takes a lock.
pub(super) fn note_lock() {
    let own = &WRITE_COUNTS[RUNNING.get()];
    let it = own.get();
    let before = if it.locks == 0 { it.total } else { it.before_lock };
    own.set(WriteCount { before_lock: before, locks: it.locks + 1, ..it });
}

/// It gives a lock back. Answers whether something was written since it took the first of those
/// that it had.
pub(super) fn note_unlock() -> bool {
    let own = &WRITE_COUNTS[RUNNING.get()];
    let it = own.get();
    own.set(WriteCount { locks: it.locks.saturating_sub(1), ..it });
    it.total != it.before_lock || it.locks == 0
}

/// Nobody has any lock.
pub(super) fn begin_locks() {
    for own in &WRITE_COUNTS {
        if own.get().locks != 0 {
            own.set(WriteCount { locks: 0, ..own.get() });
        }
    }
}
