//! Fibers that switch through the root: for every processor that corosensei supports.

use corosensei::{Coroutine, Yielder, stack::DefaultStack};

/// The context of the code that resumes fibers.
#[derive(Debug)]
pub(in crate::control) struct Root;

impl Root {
    pub(in crate::control) const fn new() -> Root {
        Root
    }

    /// The stack in use is not known.
    #[cfg_attr(unix, allow(dead_code, reason = "not used where the other kind of fibers is"))]
    pub(in crate::control) fn address(&self) -> usize {
        0
    }
}

/// A body on a stack.
pub(in crate::control) struct Fiber(Coroutine<(), (), (), DefaultStack>);

/// The handle with which a fiber's body suspends itself.
#[derive(Clone, Copy, Debug)]
pub(in crate::control) struct Seat(*const Yielder<(), ()>);

impl Fiber {
    /// Runs `body` on `stack` when resumed.
    pub(in crate::control) fn new<F: FnOnce(Seat) + 'static>(stack: DefaultStack, body: F) -> Fiber {
        Fiber(Coroutine::with_stack(stack, move |yielder, ()| body(Seat(yielder))))
    }

    /// Resumes the fiber until it suspends itself. If the body panics, this panics too.
    ///
    /// # Safety
    ///
    /// The fiber is not done, and no code runs on its stack.
    pub(in crate::control) unsafe fn resume(&mut self, _root: *mut Root) {
        self.0.resume(());
    }

    /// Whether it has ever been resumed.
    pub(in crate::control) fn has_begun(&self) -> bool {
        self.0.started()
    }

    /// Whether its body has ended.
    pub(in crate::control) fn is_done(&self) -> bool {
        self.0.done()
    }

    /// Never resumes it again. If it has not begun, its body is dropped.
    ///
    /// # Safety
    ///
    /// The values on its stack need not be dropped.
    pub(in crate::control) unsafe fn give_up(&mut self) {
        if self.has_begun() {
            // SAFETY: guaranteed by the caller.
            unsafe { self.0.force_reset() };
        } else {
            self.0.force_unwind();
        }
    }

    /// Returns the stack of a fiber that is done.
    pub(in crate::control) fn into_stack(self) -> DefaultStack {
        self.0.into_stack()
    }
}

impl Seat {
    /// The seat of no fiber.
    pub(in crate::control) const NONE: Seat = Seat(std::ptr::null());
    /// Whether fibers can switch directly to one another.
    pub(in crate::control) const IS_DIRECT: bool = false;

    /// An address on the fiber's stack, above everything that its body stores there.
    pub(in crate::control) fn address(self) -> usize {
        self.0.addr()
    }

    /// Suspends the fiber and resumes the root.
    ///
    /// # Safety
    ///
    /// This is the seat of the running fiber.
    pub(in crate::control) unsafe fn suspend(self) {
        // SAFETY: guaranteed by the caller: the yielder lives as long as the body runs.
        unsafe { (*self.0).suspend(()) };
    }

    /// Same as `suspend`: the root resumes the next fiber.
    ///
    /// # Safety
    ///
    /// This is the seat of the running fiber.
    pub(in crate::control) unsafe fn hand_to(self, _other: Seat) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.suspend() };
    }
}
