//! Annotations: what code tells a race detector about itself.
//!
//! These are the functions of `sanitizer/tsan_interface.h` and of the older dynamic annotations.
//! They are no points. What they order is trusted.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};

use clewline_explore::TaskId;

use crate::linux::{
    current_task::{self, RuntimeCell},
    races::{self, Ignored, Orders},
};

/// Distinguishes what is annotated from the word at the same address, and from a lock there.
fn annotated(address: usize) -> usize {
    address | 1 << 63
}

/// What readers of an annotated lock release: only writers acquire it.
fn readers(address: usize) -> usize {
    address | 1 << 62
}

fn with_task(act: impl FnOnce(TaskId)) {
    if let Some(control) = current_task::control() {
        act(control.task());
    }
}

fn acquire(address: usize) {
    with_order(|it| races::acquire(it, annotated(address), Orders::Both));
}

fn release(address: usize) {
    with_order(|it| races::release(it, annotated(address), Orders::Both));
}

fn ignore(what: &[Ignored], begins: bool) {
    with_task(|task| what.iter().for_each(|it| races::ignore(task, *it, begins)));
}

/// As [`with_task`], for what orders accesses.
fn with_order(act: impl FnOnce(TaskId)) {
    current_task::control().into_iter().for_each(|it| it.note_primitive());
    with_task(act);
}

const ACCESSES: [Ignored; 2] = [Ignored::Reads, Ignored::Writes];
// Inside of a lock that is annotated.
const EVERYTHING: [Ignored; 3] = [Ignored::Reads, Ignored::Writes, Ignored::Synchronization];

const READ_LOCK: c_uint = 1 << 3;
const TRY_LOCK_FAILED: c_uint = 1 << 5;

/// A lock was taken.
fn lock(address: usize, is_read: bool) {
    with_order(|it| {
        races::acquire(it, annotated(address), Orders::Lock);
        if !is_read {
            races::acquire(it, readers(annotated(address)), Orders::Both);
        }
    });
}

/// It is given up.
fn unlock(address: usize, is_read: bool) {
    let object = if is_read { readers(annotated(address)) } else { annotated(address) };
    with_order(|it| races::release(it, object, Orders::Both));
}

// Handles of fibers: those of tasks, and then those that are created.
const FIRST_FIBER: usize = 1 << 16;
static FIBERS: RuntimeCell<usize> = RuntimeCell::new(0);
static CURRENT_FIBERS: [RuntimeCell<usize>; TaskId::MAX] = [const { RuntimeCell::new(0) }; TaskId::MAX];

/// Another execution begins.
pub(in crate::linux) fn begin() {
    if FIBERS.replace(0) != 0 {
        current_task::of_used(&CURRENT_FIBERS).iter().for_each(|it| it.set(0));
    }
}

fn current_fiber(task: TaskId) -> usize {
    match CURRENT_FIBERS[task.index()].get() {
        0 => FIRST_FIBER - TaskId::MAX + task.index(),
        fiber => fiber,
    }
}

/// Exports functions that begin with two arguments, a file and a line, which are not needed.
macro_rules! annotations {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)+) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(_file: *const c_char, _line: c_int, $($argument: $type),*) {
                $body
            }
        )+
    };
}

annotations! {
    AnnotateHappensBefore(address: usize) { release(address) }
    AnnotateHappensAfter(address: usize) { acquire(address) }
    WTFAnnotateHappensBefore(address: usize) { release(address) }
    WTFAnnotateHappensAfter(address: usize) { acquire(address) }
    AnnotateBenignRace(address: usize, _why: *const c_char) { races::note_benign(address, 1) }
    AnnotateBenignRaceSized(address: usize, size: usize, _why: *const c_char) {
        races::note_benign(address, size)
    }
    WTFAnnotateBenignRaceSized(address: usize, size: usize, _why: *const c_char) {
        races::note_benign(address, size)
    }
    AnnotateIgnoreReadsBegin() { ignore(&[Ignored::Reads], true) }
    AnnotateIgnoreReadsEnd() { ignore(&[Ignored::Reads], false) }
    AnnotateIgnoreWritesBegin() { ignore(&[Ignored::Writes], true) }
    AnnotateIgnoreWritesEnd() { ignore(&[Ignored::Writes], false) }
    AnnotateIgnoreSyncBegin() { ignore(&[Ignored::Synchronization], true) }
    AnnotateIgnoreSyncEnd() { ignore(&[Ignored::Synchronization], false) }
    AnnotateRWLockAcquired(address: usize, is_write: c_long) { lock(address, is_write == 0) }
    AnnotateRWLockReleased(address: usize, is_write: c_long) { unlock(address, is_write == 0) }
    AnnotateNewMemory(address: usize, size: usize) { races::forget(address & !7, size) }
    AnnotateRWLockCreate(_address: usize) {}
    AnnotateRWLockCreateStatic(_address: usize) {}
    AnnotateRWLockDestroy(_address: usize) {}
    AnnotateCondVarSignal(address: usize) { release(address) }
    AnnotateCondVarSignalAll(address: usize) { release(address) }
    AnnotateCondVarWait(address: usize, _lock: usize) { acquire(address) }
    AnnotateMutexIsNotPHB(_address: usize) {}
    AnnotateMutexIsUsedAsCondVar(_address: usize) {}
    AnnotatePCQCreate(_address: usize) {}
    AnnotatePCQDestroy(_address: usize) {}
    AnnotatePCQPut(address: usize) { release(address) }
    AnnotatePCQGet(address: usize) { acquire(address) }
    AnnotatePublishMemoryRange(_address: usize, _size: usize) {}
    AnnotateUnpublishMemoryRange(_address: usize, _size: usize) {}
    AnnotateExpectRace(_address: usize, _why: *const c_char) {}
    AnnotateFlushExpectedRaces() {}
    AnnotateFlushState() {}
    AnnotateTraceMemory(_address: usize) {}
    AnnotateThreadName(_name: *const c_char) {}
    AnnotateNoOp(_address: usize) {}
    AnnotateEnableRaceDetection(_enables: c_int) {}
    AnnotateMemoryIsInitialized(_address: usize, _size: usize) {}
    AnnotateMemoryIsUninitialized(_address: usize, _size: usize) {}
}

/// Exports functions.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)+) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                $body
            }
        )+
    };
}

functions! {
    RunningOnValgrind() -> c_int { 0 }
    ValgrindSlowdown() -> f64 { 10.0 }
    ThreadSanitizerQuery(query: *const c_char) -> *const c_char {
        // SAFETY: the caller passes a string.
        let is_known = !query.is_null() && unsafe { CStr::from_ptr(query) } == c"pure_happens_before";
        if is_known { c"1".as_ptr() } else { c"0".as_ptr() }
    }
    // What it would find, the exploration finds: a thread that ends, or waits, with a lock.
    __tsan_check_no_mutexes_held() {}
    __tsan_acquire(address: usize) { acquire(address) }
    __tsan_release(address: usize) { release(address) }
    __tsan_ignore_thread_begin() { ignore(&ACCESSES, true) }
    __tsan_ignore_thread_end() { ignore(&ACCESSES, false) }
    __tsan_mutex_create(_address: usize, _flags: c_uint) {}
    __tsan_mutex_destroy(_address: usize, _flags: c_uint) {}
    __tsan_mutex_pre_lock(_address: usize, _flags: c_uint) { ignore(&EVERYTHING, true) }
    __tsan_mutex_post_lock(address: usize, flags: c_uint, _recursion: c_int) {
        ignore(&EVERYTHING, false);
        if flags & TRY_LOCK_FAILED == 0 {
            lock(address, flags & READ_LOCK != 0);
        }
    }
    __tsan_mutex_pre_unlock(address: usize, flags: c_uint) -> c_int {
        unlock(address, flags & READ_LOCK != 0);
        ignore(&EVERYTHING, true);
        1
    }
    __tsan_mutex_post_unlock(_address: usize, _flags: c_uint) { ignore(&EVERYTHING, false) }
    __tsan_mutex_pre_signal(_address: usize, _flags: c_uint) { ignore(&EVERYTHING, true) }
    __tsan_mutex_post_signal(_address: usize, _flags: c_uint) { ignore(&EVERYTHING, false) }
    __tsan_mutex_pre_divert(_address: usize, _flags: c_uint) { ignore(&EVERYTHING, false) }
    __tsan_mutex_post_divert(_address: usize, _flags: c_uint) { ignore(&EVERYTHING, true) }
    __tsan_get_current_fiber() -> usize {
        current_task::control().map_or(FIRST_FIBER - TaskId::MAX, |it| current_fiber(it.task()))
    }
    __tsan_create_fiber(_flags: c_uint) -> usize {
        FIBERS.set(FIBERS.get() + 1);
        FIRST_FIBER + FIBERS.get()
    }
    __tsan_destroy_fiber(_fiber: usize) {}
    __tsan_set_fiber_name(_fiber: usize, _name: *const c_char) {}
    __tsan_switch_to_fiber(fiber: usize, _flags: c_uint) {
        // A fiber continues after what it did itself, on whichever thread. Fibers of one thread are
        // ordered by that thread.
        with_order(|task| {
            FIBERS.set(FIBERS.get().max(1));
            races::release(task, annotated(current_fiber(task)), Orders::Both);
            CURRENT_FIBERS[task.index()].set(fiber);
            races::acquire(task, annotated(fiber), Orders::Both);
        });
    }
    __tsan_flush_memory() {}
    __tsan_external_register_tag(_name: *const c_char) -> *mut c_void { std::ptr::null_mut() }
    __tsan_external_register_header(_tag: *mut c_void, _header: *const c_char) {}
    __tsan_external_assign_tag(_address: usize, _tag: *mut c_void) {}
    __tsan_external_read(_address: usize, _caller: usize, _tag: *mut c_void) {}
    __tsan_external_write(_address: usize, _caller: usize, _tag: *mut c_void) {}
}
