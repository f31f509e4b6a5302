//! What runs: a task, the code that constructs a subject, or neither.
//!
//! A process has one exploration, on one system thread. While a task runs, that thread has the
//! thread pointer of another one, which is parked. So the thread pointer identifies code of a task,
//! and other threads of the process are not affected.

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
    // The thread pointer of the running task, with the postponed bit; 0 if there is none.
    task: AtomicUsize,
    // The thread pointer of the running code under test.
    code: AtomicUsize,
    control: UnsafeCell<MaybeUninit<Control>>,
    // The stack of the running task.
    low: AtomicUsize,
    size: AtomicUsize,
    /// The number of instrumentation calls; the watchdog reads it.
    calls: AtomicU64,
    /// The code to blame if an access to this address fails.
    last_access: AtomicUsize,
}

// SAFETY: only the exploring thread reads and writes `control`.
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

// How many tasks an execution has had at most.
static TASKS_USED: RuntimeCell<usize> = RuntimeCell::new(0);

/// Of what there is for each task that may exist: what is there for those that have existed.
#[inline(always)]
pub(super) fn of_used<T>(all: &[T; TaskId::MAX]) -> &[T] {
    &all[..TASKS_USED.get()]
}

/// The thread pointer of this thread.
#[inline(always)]
pub(super) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: the first word that the thread pointer points to is the pointer itself (x86-64
    // psABI).
    unsafe { asm!("mov {}, qword ptr fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly)) };
    pointer
}

/// The control of the task that this code runs in, if any. Work that was
/// [postponed](postpone) is done first.
#[inline(always)]
pub(super) fn control() -> Option<Control> {
    control_at_once().or_else(control_after_work)
}

/// The same; `None` also if work is postponed.
#[inline(always)]
pub(super) fn control_at_once() -> Option<Control> {
    // SAFETY: this thread wrote it before `task`.
    let control = || unsafe { (*CURRENT.control.get()).assume_init() };
    (thread_pointer() == CURRENT.task.load(Relaxed)).then(control)
}

#[cold]
fn control_after_work() -> Option<Control> {
    let control = postponed()?;
    resume();
    POSTPONED.get()(control);
    Some(control)
}

// Thread pointers are aligned, so the bit is free. With it, the task is not recognized as the
// running one, which costs nothing if nothing is postponed.
const POSTPONED_BIT: usize = 1;
static POSTPONED: RuntimeCell<fn(Control)> = RuntimeCell::new(|_| ());

/// The running task does this when it next calls the runtime.
pub(super) fn postpone(work: fn(Control)) {
    POSTPONED.set(work);
    CURRENT.task.fetch_or(POSTPONED_BIT, Relaxed);
}

/// The same for a running task that is interrupted by a signal. If it has other work to do first,
/// nothing is postponed.
pub(super) fn interrupt(work: fn(Control)) {
    let task = CURRENT.task.load(Relaxed);
    if task != 0 && task & POSTPONED_BIT == 0 {
        POSTPONED.set(work);
        // If the task no longer runs, the next signal comes soon.
        let _stopped = CURRENT.task.compare_exchange(task, task | POSTPONED_BIT, Relaxed, Relaxed);
    }
}

/// The control of the running task, if work is postponed.
pub(super) fn postponed() -> Option<Control> {
    // SAFETY: as above.
    let control = || unsafe { (*CURRENT.control.get()).assume_init() };
    (thread_pointer() | POSTPONED_BIT == CURRENT.task.load(Relaxed)).then(control)
}

/// The control of the running task, whatever is postponed.
pub(super) fn running_control() -> Option<Control> {
    // SAFETY: as above.
    running().map(|_| unsafe { (*CURRENT.control.get()).assume_init() })
}

/// The task that this code runs in, whatever is postponed.
pub(super) fn running() -> Option<TaskId> {
    let is_task = thread_pointer() | POSTPONED_BIT == CURRENT.task.load(Relaxed) | POSTPONED_BIT;
    is_task.then(|| TaskId(RUNNING.get() as u8))
}

/// Postponed work is not done.
pub(super) fn resume() {
    CURRENT.task.fetch_and(!POSTPONED_BIT, Relaxed);
}

/// Does postponed work: code that the runtime called has returned.
pub(super) fn settle() {
    let _control = control();
}

/// Whether this is code under test: a task, or code that constructs a subject.
#[inline(always)]
pub(super) fn is_code() -> bool {
    thread_pointer() == CURRENT.code.load(Relaxed)
}

/// Whether code under test runs: a task, or code outside of tasks.
pub(super) fn is_test_code_running() -> bool {
    CURRENT.code.load(Relaxed) != 0
}

/// `task` runs from now on, with that thread pointer.
pub(super) fn enter(task: TaskId, control: Control, pointer: usize) {
    // SAFETY: only the exploring thread comes here, and no task reads it meanwhile.
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

/// Runs code under test outside a task.
pub(super) fn outside_test_code<R>(code: impl FnOnce() -> R) -> R {
    let outer = CURRENT.code.swap(thread_pointer(), Relaxed);
    IS_CONSTRUCTING.set(true);
    let result = code();
    IS_CONSTRUCTING.set(false);
    CURRENT.code.store(outer, Relaxed);
    result
}

/// Runs code of the runtime that calls the C library, while a task is interrupted.
pub(super) fn as_runtime<R>(code: impl FnOnce() -> R) -> R {
    let (task, pointer) = (CURRENT.task.swap(0, Relaxed), CURRENT.code.swap(0, Relaxed));
    let result = code();
    CURRENT.code.store(pointer, Relaxed);
    CURRENT.task.store(task, Relaxed);
    result
}

/// Whether this code constructs a subject, or inspects its final state.
pub(super) fn is_constructing() -> bool {
    is_code() && control().is_none() && IS_CONSTRUCTING.get()
}

/// The code that runs from now on until the exploration begins is code under test: its
/// constructors.
pub(super) fn load() {
    CURRENT.code.store(thread_pointer(), Relaxed);
}

/// Sets the stack of `task`.
pub(super) fn set_stack(task: TaskId, stack: &Range<usize>) {
    TASKS_USED.set(TASKS_USED.get().max(task.index() + 1));
    let [low, size] = &STACKS[task.index()];
    low.store(stack.start, Relaxed);
    size.store(stack.end - stack.start, Relaxed);
    STACKS_LOW.set(STACKS_LOW.get().min(stack.start));
    STACKS_HIGH.set(STACKS_HIGH.get().max(stack.end));
}

/// Whether an address is on the stack of the running task.
#[inline(always)]
pub(super) fn is_own_stack(address: usize) -> bool {
    address.wrapping_sub(CURRENT.low.load(Relaxed)) < CURRENT.size.load(Relaxed)
}

/// The task whose stack contains an address.
pub(super) fn owner_of(address: usize) -> Option<TaskId> {
    let is_there = |it: &[AtomicUsize; 2]| address.wrapping_sub(it[0].load(Relaxed)) < it[1].load(Relaxed);
    of_used(&STACKS).iter().position(is_there).map(|it| TaskId(it as u8))
}

/// Whether an address is in the guard page of the running task's stack.
pub(super) fn is_guard(address: usize) -> bool {
    const PAGE_BYTES: usize = 4 << 10;
    address.wrapping_sub(CURRENT.low.load(Relaxed)) < PAGE_BYTES
}

/// Counts a call of code under test.
#[inline(always)]
pub(super) fn count_call() {
    CURRENT.calls.store(CURRENT.calls.load(Relaxed).wrapping_add(1), Relaxed);
}

/// The number of these calls.
pub(super) fn calls() -> u64 {
    CURRENT.calls.load(Relaxed)
}

/// The runtime accesses this address for the code at `place`: if the access fails, that code has
/// failed.
#[inline(always)]
pub(super) fn set_last_access(address: usize, place: usize) {
    CURRENT.last_access.store(address, Relaxed);
    PLACE.set(place);
}

/// The address that the runtime accessed last, and for which code.
pub(super) fn last_access() -> (usize, usize) {
    (CURRENT.last_access.load(Relaxed), PLACE.get())
}

/// A word that only the exploring thread uses.
pub(super) struct RuntimeCell<T>(Cell<T>);

// SAFETY: only the exploring thread uses it.
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

    pub(super) fn replace(&self, value: T) -> T {
        self.0.replace(value)
    }
}

static IS_CONSTRUCTING: RuntimeCell<bool> = RuntimeCell::new(false);
static PLACE: RuntimeCell<usize> = RuntimeCell::new(0);

/// The place of code with this return address.
#[inline(always)]
pub(super) fn place(pc: usize) -> Place {
    Place::code(pc)
}

/// A value that only the exploring thread uses, and that is borrowed for one expression at a time.
pub(super) struct RuntimeOwned<T>(UnsafeCell<T>);

// SAFETY: only the exploring thread uses it.
unsafe impl<T> Sync for RuntimeOwned<T> {}

impl<T> RuntimeOwned<T> {
    pub(super) const fn new(value: T) -> RuntimeOwned<T> {
        RuntimeOwned(UnsafeCell::new(value))
    }

    /// The value. Code that is called while it is borrowed must not borrow it again.
    #[allow(clippy::mut_from_ref, reason = "one thread, one borrow at a time")]
    #[inline(always)]
    pub(super) fn get(&self) -> &mut T {
        // SAFETY: only the exploring thread comes here, and callers keep no borrow across a call of
        // foreign code.
        unsafe { &mut *self.0.get() }
    }
}

static IDLE: RuntimeCell<u32> = RuntimeCell::new(0);
// The lowest and the highest address of all task stacks.
static STACKS_LOW: RuntimeCell<usize> = RuntimeCell::new(usize::MAX);
static STACKS_HIGH: RuntimeCell<usize> = RuntimeCell::new(0);

/// Counts an access that is not a point; returns the number of consecutive ones.
#[inline(always)]
pub(super) fn count_idle() -> u32 {
    let idle = IDLE.get() + 1;
    IDLE.set(idle);
    idle
}

/// The access is a point.
#[inline(always)]
pub(super) fn reset_idle() {
    IDLE.set(0);
}

/// Whether an address is on the stack of another task.
#[inline(always)]
pub(super) fn is_other_stack(address: usize) -> bool {
    STACKS_LOW.get() <= address && address < STACKS_HIGH.get() && owner_of(address).is_some()
}

/// The writes of a task outside its own stack.
#[derive(Clone, Copy)]
struct WriteCount {
    // Their number.
    total: u64,
    // Their number before it acquired the first of the locks that it holds.
    before_lock: u64,
    locks: u32,
}

static WRITE_COUNTS: [RuntimeCell<WriteCount>; TaskId::MAX] =
    [const { RuntimeCell::new(WriteCount { total: 0, before_lock: 0, locks: 0 }) }; TaskId::MAX];
static RUNNING: RuntimeCell<usize> = RuntimeCell::new(0);

/// Counts a write of the running task.
#[inline(always)]
pub(super) fn count_write() {
    let own = &WRITE_COUNTS[RUNNING.get()];
    own.set(WriteCount { total: own.get().total + 1, ..own.get() });
}

/// The number of its writes.
pub(super) fn write_count() -> u64 {
    WRITE_COUNTS[RUNNING.get()].get().total
}

/// The task acquires a lock.
pub(super) fn note_lock() {
    let own = &WRITE_COUNTS[RUNNING.get()];
    let it = own.get();
    let before = if it.locks == 0 { it.total } else { it.before_lock };
    own.set(WriteCount { before_lock: before, locks: it.locks + 1, ..it });
}

/// The task releases a lock. Returns whether it has written since it acquired the first of the
/// locks that it held.
pub(super) fn note_unlock() -> bool {
    let own = &WRITE_COUNTS[RUNNING.get()];
    let it = own.get();
    own.set(WriteCount { locks: it.locks.saturating_sub(1), ..it });
    it.total != it.before_lock || it.locks == 0
}

/// The memory of an object of the runtime.
pub(super) fn range_of<T>(it: &T) -> Range<usize> {
    let start = std::ptr::from_ref(it).addr();
    start..start + size_of::<T>()
}

/// Adds the memory that is written here while tasks run.
pub(super) fn own_memory(to: &mut Vec<Range<usize>>) {
    to.extend([range_of(&CURRENT), range_of(&WRITE_COUNTS), range_of(&IDLE), range_of(&PLACE)]);
}

/// No lock is held.
pub(super) fn begin_locks() {
    for own in of_used(&WRITE_COUNTS) {
        if own.get().locks != 0 {
            own.set(WriteCount { locks: 0, ..own.get() });
        }
    }
}
