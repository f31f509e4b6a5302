//! Thread-specific data, and destructors at thread exit.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
};

use clewline_explore::PerTask;
use clewline_threads::instrument::Control;

use crate::linux::{
    current_task::{self, RuntimeOwned},
    real,
};

pub(super) type Destructor = unsafe extern "C" fn(*mut c_void);

#[derive(Debug, Default)]
struct Keys {
    destructors: Vec<Option<Destructor>>,
    values: PerTask<Vec<Option<usize>>>,
    /// The values that tasks have given to keys of the C library, which were created before the
    /// execution: by constructors of libraries, and of objects.
    earlier: PerTask<Vec<Option<usize>>>,
    /// What each task runs when it ends, the last first.
    thread_exit: PerTask<Vec<(Destructor, usize)>>,
}

static KEYS: RuntimeOwned<Option<Keys>> = RuntimeOwned::new(None);

// Keys of the C library are smaller.
const FIRST_KEY: c_uint = 1 << 20;

fn keys() -> &'static mut Keys {
    KEYS.get().get_or_insert_default()
}

/// Another execution begins.
pub(in crate::linux) fn begin() {
    let keys = keys();
    keys.destructors.clear();
    let used = current_task::of_used(&keys.values).len();
    keys.values[..used].iter_mut().for_each(Vec::clear);
    keys.earlier[..used].iter_mut().for_each(Vec::clear);
    keys.thread_exit[..used].iter_mut().for_each(Vec::clear);
}

/// The running task ends: its values are destroyed.
pub(super) fn end(control: Control) {
    let me = control.task().index();
    while let Some((destructor, object)) = keys().thread_exit[me].pop() {
        // SAFETY: the code under test registered this call.
        unsafe { destructor(ptr::with_exposed_provenance_mut(object)) };
    }
    // As many times as the C library: a destructor may set a value again.
    for _ in 0..4 {
        for at in 0..keys().values[me].len() {
            let value = keys().values[me][at].take().unwrap_or(0);
            let destructor = keys().destructors.get(at).copied().flatten();
            if let Some(destructor) = destructor.filter(|_| value != 0) {
                // SAFETY: the code under test registered this call.
                unsafe { destructor(ptr::with_exposed_provenance_mut(value)) };
            }
        }
    }
}

/// The values that the running task has given to keys in this execution, and the place of `key`
/// among them. `None` outside an execution.
fn of_task(key: c_uint) -> Option<(&'static mut Vec<Option<usize>>, usize)> {
    let me = current_task::control()?.task().index();
    Some(match key.checked_sub(FIRST_KEY) {
        Some(at) => (&mut keys().values[me], at as usize),
        None => (&mut keys().earlier[me], key as usize),
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_key_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
    if current_task::control().is_none() {
        // SAFETY: the caller guarantees the preconditions of the C function.
        return unsafe { real::pthread_key_create(key, destructor) };
    }
    let destructors = &mut keys().destructors;
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { *key = FIRST_KEY + destructors.len() as c_uint };
    destructors.push(destructor);
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_key_delete(key: c_uint) -> c_int {
    if current_task::control().is_none() {
        // SAFETY: as above.
        return unsafe { real::pthread_key_delete(key) };
    }
    // A key of before exists again when the next execution begins.
    let at = key.checked_sub(FIRST_KEY);
    let destructor = at.and_then(|at| keys().destructors.get_mut(at as usize));
    destructor.into_iter().for_each(|it| *it = None);
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_getspecific(key: c_uint) -> *mut c_void {
    match of_task(key).and_then(|(values, at)| *values.get(at)?) {
        Some(value) => ptr::with_exposed_provenance_mut(value),
        None if FIRST_KEY <= key => ptr::null_mut(),
        // What the thread had before the execution.
        // SAFETY: as above.
        None => unsafe { real::pthread_getspecific(key) },
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int {
    let Some((values, at)) = of_task(key) else {
        // SAFETY: as above.
        return unsafe { real::pthread_setspecific(key, value) };
    };
    if values.len() <= at {
        values.resize(at + 1, None);
    }
    values[at] = Some(value as usize);
    0
}

fn at_exit(destructor: Destructor, object: *mut c_void, module: *mut c_void) -> c_int {
    match current_task::control() {
        Some(control) => {
            keys().thread_exit[control.task().index()].push((destructor, object as usize));
            0
        }
        // SAFETY: as above.
        None => unsafe { real::__cxa_thread_atexit_impl(Some(destructor), object, module) },
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cxa_thread_atexit(destructor: Destructor, object: *mut c_void, module: *mut c_void) -> c_int {
    at_exit(destructor, object, module)
}

#[unsafe(no_mangle)]
extern "C" fn __cxa_thread_atexit_impl(
    destructor: Destructor,
    object: *mut c_void,
    module: *mut c_void,
) -> c_int {
    at_exit(destructor, object, module)
}
