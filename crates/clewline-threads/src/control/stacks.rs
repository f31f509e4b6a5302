//! Stacks for tasks: made once, used again and again.

use std::{
    cell::RefCell,
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use clewline_explore::TaskId;
use corosensei::stack::DefaultStack;

// As threads of `std` have, and with a guard page behind: what recurses there does so here. Pages that are not touched cost nothing.
const BYTES: usize = 2 << 20;

// As many as a thread of the system ever used at once.
thread_local! {
    static POOL: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// A stack that nobody uses.
pub(super) fn take() -> io::Result<DefaultStack> {
    match POOL.with_borrow_mut(Vec::pop) {
        Some(stack) => Ok(stack),
        None => DefaultStack::new(BYTES),
    }
}

/// Gives a stack back.
pub(super) fn give_back(stack: DefaultStack) {
    POOL.with_borrow_mut(|pool| pool.push(stack));
}

// As the first thread of a program usually has.
const OWN_BYTES: usize = 8 << 20;

// Foreign code may do as an address on its stack tells it, so a task has the same stack in every execution. And what belongs to a
// thread is not to be had there: while a task runs, the thread looks like another one.
static OWN: Mutex<[Option<DefaultStack>; TaskId::MAX]> = Mutex::new([const { None }; TaskId::MAX]);

fn own() -> MutexGuard<'static, [Option<DefaultStack>; TaskId::MAX]> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stack of `task`.
pub(super) fn take_own(task: TaskId) -> io::Result<DefaultStack> {
    match own()[task.index()].take() {
        Some(stack) => Ok(stack),
        None => DefaultStack::new(OWN_BYTES),
    }
}

/// Gives it back.
pub(super) fn give_back_own(task: TaskId, stack: DefaultStack) {
    own()[task.index()] = Some(stack);
}
