//! Stacks for tasks: made once, used again and again.

use std::{cell::RefCell, io};

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
