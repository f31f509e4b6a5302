//! Threads that the code under test starts.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use clewline_explore::TaskId;
use clewline_threads::instrument::Control;

use super::{keys, write_result};
use crate::linux::{
    call::{call, stubs},
    current_task::{self, RuntimeCell, place},
    driver, entry, exit, park, places, races, real, signals, unseen,
};

pub(super) type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// The results of threads.
static RESULTS: [RuntimeCell<usize>; TaskId::MAX] = [const { RuntimeCell::new(0) }; TaskId::MAX];

/// Another execution begins.
pub(in crate::linux) fn begin() {
    current_task::of_used(&RESULTS).iter().for_each(|it| it.set(0));
}

pub(super) extern "C" fn create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    let Some(control) = current_task::control() else {
        if current_task::is_constructing() {
            signals::die(
                "error: a thread is started while the subject is constructed, where it cannot be controlled\n",
            );
        }
        if current_task::is_code() && driver::is_driven() {
            unseen::note_early_thread(pc);
        }
        // SAFETY: the caller guarantees the preconditions of the C function.
        return unsafe { real::pthread_create(thread, attributes, start, argument) };
    };
    current_task::count_call();
    let argument = argument as usize;
    let body = move || {
        // SAFETY: the task that started the thread guarantees it.
        let result = unsafe { call(argument, start as *const () as usize) };
        if let Some(control) = current_task::control() {
            end(control, ptr::with_exposed_provenance_mut(result));
        }
    };
    // The C library writes it before the thread starts.
    entry::write(thread as usize, size_of::<libc::pthread_t>(), pc);
    let task = control.start(body, place(pc));
    races::note_start(task, control.task());
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { *thread = park::pointer_of(task) as libc::pthread_t };
    0
}

/// The running task has ended with `result`.
fn end(control: Control, result: *mut c_void) {
    keys::end(control);
    current_task::settle();
    RESULTS[control.task().index()].set(result as usize);
}

pub(super) extern "C" fn join(thread: libc::pthread_t, result: *mut *mut c_void, pc: usize) -> c_int {
    let (Some(control), Some(task)) = (current_task::control(), park::task_of(thread as usize)) else {
        // SAFETY: the caller guarantees the preconditions of the C function.
        return unsafe { real::pthread_join(thread, result) };
    };
    current_task::count_call();
    if task == control.task() {
        return libc::EDEADLK;
    }
    control.join(task, place(pc));
    races::note_join(task, control.task());
    if !result.is_null() {
        let ended = RESULTS[task.index()].get();
        write_result(result, ptr::with_exposed_provenance_mut(ended), pc);
    }
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_detach(thread: libc::pthread_t) -> c_int {
    if current_task::control().is_some() && park::task_of(thread as usize).is_some() {
        return 0;
    }
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { real::pthread_detach(thread) }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_exit(result: *mut c_void) -> ! {
    let Some(control) = current_task::control() else {
        // SAFETY: the caller guarantees the preconditions of the C function.
        unsafe { real::pthread_exit(result) }
    };
    end(control, result);
    control.end_task()
}

/// Reports what cannot be controlled, and exits.
pub(super) fn unsupported(what: &str, pc: usize) -> ! {
    let site = current_task::as_runtime(|| places::resolve(places::own_caller(pc)));
    let site = site.map_or_else(String::new, |it| format!(", at {it}"));
    exit::give_up_for(&format!("the code calls {what}, which is not under control{site}"))
}

extern "C" fn cancel(thread: libc::pthread_t, pc: usize) -> c_int {
    if current_task::control().is_some() {
        unsupported("pthread_cancel", pc);
    }
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { real::pthread_cancel(thread) }
}

stubs! {
    pthread_cancel, "rsi" => cancel;
    pthread_create, "r8" => create;
    pthread_join, "rdx" => join;
}
