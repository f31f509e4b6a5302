//! The `thread_local!` values of a task.

use std::{cell::Cell, rc::Rc};

use super::{
    state::{ENDING, ENGINE, Engine},
    values::{Destroyed, Local, Locals},
};

/// The locals of the running task, also while it is unwound. No foreign code may be called while
/// they are borrowed.
fn here() -> Option<*mut Locals> {
    if !crate::real::noise::is_hook_active() {
        return None;
    }
    let of = |engine: *mut Engine| {
        // SAFETY: each pointer is null or points to an engine that is borrowed further down the
        // stack and waits for the task that runs here.
        unsafe { engine.as_mut() }
            .and_then(|it| it.tasks.get_mut(it.current.index()))
            .map(|it| &raw mut it.locals)
    };
    let running = ENGINE.try_with(Cell::get).ok().and_then(of);
    running.or_else(|| ENDING.try_with(Cell::get).ok().and_then(of))
}

/// The task's value for `key`, created by `init` if there is none. `None` outside a task.
pub(crate) fn with_local<T: 'static>(
    key: usize,
    init: impl FnOnce() -> T,
) -> Option<Result<Rc<T>, Destroyed>> {
    // SAFETY: see `here`; each borrow ends with its expression, before foreign code is called.
    if let Some(found) = unsafe { (*here()?).find(key) } {
        return Some(found);
    }
    let value = Rc::new(init());
    // SAFETY: as above. `init` or another task's `init` may have created the value meanwhile; that
    // value stays.
    let found = unsafe { (*here()?).find(key) };
    Some(found.unwrap_or_else(|| {
        if let Some(locals) = here() {
            // SAFETY: as above.
            unsafe { (*locals).0.push((key, Local::Value(Rc::<T>::clone(&value)))) };
        }
        Ok(value)
    }))
}

/// Drops the locals of the running task when it is dropped.
pub(super) struct DropLocals;

impl Drop for DropLocals {
    fn drop(&mut self) {
        // SAFETY: see `here`: the borrow ends before the value is dropped.
        while let Some(value) = here().and_then(|it| unsafe { (*it).pop() }) {
            drop(value);
        }
    }
}
