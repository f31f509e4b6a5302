//! Fibers whose turns go by way of the root: for every processor that corosensei knows.

use corosensei::{Coroutine, Yielder, stack::DefaultStack};

/// Where whoever resumes fibers goes on.
#[derive(Debug)]
pub(in crate::control) struct Root;

impl Root {
    pub(in crate::control) const fn new() -> Root {
        Root
    }
}

/// A body on a stack.
pub(in crate::control) struct Fiber(Coroutine<(), (), (), DefaultStack>);

/// What a fiber's body gives up its turn with.
#[derive(Clone, Copy, Debug)]
pub(in crate::control) struct Seat(*const Yielder<(), ()>);

impl Fiber {
    /// Has `body` run on `stack` as soon as it is resumed.
    pub(in crate::control) fn new<F: FnOnce(Seat) + 'static>(stack: DefaultStack, body: F) -> Fiber {
        Fiber(Coroutine::with_stack(stack, move |yielder, ()| body(Seat(yielder))))
    }

    /// Lets it go on until it gives up its turn. If it panics, so does this.
    ///
    /// # Safety
    ///
    /// It is not done, and nobody runs on its stack.
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

    /// Never lets it go on again. If it has not begun, its body is dropped.
    ///
    /// # Safety
    ///
    /// What is on its stack need not be dropped.
    pub(in crate::control) unsafe fn give_up(&mut self) {
        if self.has_begun() {
            // SAFETY: the caller says so.
            unsafe { self.0.force_reset() };
        } else {
            self.0.force_unwind();
        }
    }

    /// Its stack, now that it is done.
    pub(in crate::control) fn into_stack(self) -> DefaultStack {
        self.0.into_stack()
    }
}

impl Seat {
    /// Nobody's.
    pub(in crate::control) const NONE: Seat = Seat(std::ptr::null());
    /// Whether a turn can be handed on.
    pub(in crate::control) const IS_DIRECT: bool = false;

    /// An address on the fiber's stack, above whatever its body has there.
    pub(in crate::control) fn address(self) -> usize {
        self.0.addr()
    }

    /// Gives up the turn to the root.
    ///
    /// # Safety
    ///
    /// This is the seat of the fiber that runs.
    pub(in crate::control) unsafe fn suspend(self) {
        // SAFETY: the caller says so: its yielder lives as long as its body runs.
        unsafe { (*self.0).suspend(()) };
    }

    /// The same: whoever is next is the root's to resume.
    ///
    /// # Safety
    ///
    /// This is the seat of the fiber that runs.
    pub(in crate::control) unsafe fn hand_to(self, _other: Seat) {
        // SAFETY: the caller says so.
        unsafe { self.suspend() };
    }
}
