//! Stacks for tasks: allocated once and reused.

use std::{
    cell::{RefCell, UnsafeCell},
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use clewline_explore::TaskId;

use super::fiber::Stack;

// As large as the stacks of `std` threads, with a guard page: code that recurses there can recurse
// here. Untouched pages cost nothing.
const STACK_BYTES: usize = 2 << 20;

// As many stacks as a system thread ever used at once.
thread_local! {
    static POOL: RefCell<Vec<Stack>> = const { RefCell::new(Vec::new()) };
}

/// An unused stack.
pub(super) fn take() -> io::Result<Stack> {
    match POOL.with_borrow_mut(Vec::pop) {
        Some(stack) => Ok(stack),
        None => Stack::new(STACK_BYTES),
    }
}

/// Gives a stack back.
pub(super) fn give_back(stack: Stack) {
    POOL.with_borrow_mut(|pool| pool.push(stack));
}

// The usual size for the first thread of a program.
const TASK_STACK_BYTES: usize = 8 << 20;

// The behaviour of foreign code may depend on addresses of its stack, so a task has the same stack
// in every execution. Thread-local storage cannot be used for it: while a task runs, the thread has
// the identity of another one.
static TASK_STACKS: [TaskStack; TaskId::MAX] = [const { TaskStack::new() }; TaskId::MAX];

/// The stack of a task while it is unused. It is taken and given back in every execution; a mutex
/// would double the cost.
struct TaskStack {
    is_locked: AtomicBool,
    stack: UnsafeCell<Option<Stack>>,
}

// SAFETY: code that uses `stack` has changed `is_locked` from false to true, and changes it back
// afterwards.
unsafe impl Sync for TaskStack {}

impl TaskStack {
    const fn new() -> TaskStack {
        TaskStack { is_locked: AtomicBool::new(false), stack: UnsafeCell::new(None) }
    }

    fn replace(&self, stack: Option<Stack>) -> Option<Stack> {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // SAFETY: this thread has locked it, and calls nothing before it unlocks it.
        let old = unsafe { std::mem::replace(&mut *self.stack.get(), stack) };
        self.is_locked.store(false, Ordering::Release);
        old
    }
}

/// The stack of `task`.
pub(super) fn take_task_stack(task: TaskId) -> io::Result<Stack> {
    match TASK_STACKS[task.index()].replace(None) {
        Some(stack) => Ok(stack),
        None => Stack::new(TASK_STACK_BYTES),
    }
}

/// Gives it back.
pub(super) fn give_back_task_stack(task: TaskId, stack: Stack) {
    drop(TASK_STACKS[task.index()].replace(Some(stack)));
}

/// The address range of the stack.
#[cfg(not(miri))]
pub(super) fn range(stack: &Stack) -> std::ops::Range<usize> {
    use corosensei::stack::Stack as _;
    stack.limit().get()..stack.base().get()
}

#[cfg(miri)]
pub(super) fn range(_stack: &Stack) -> std::ops::Range<usize> {
    0..0
}
