//! Fibers that are system threads, of which one runs at a time: for Miri, which does not support
//! other stacks.
//!
//! The state that tasks share with their explorer is not thread-local there (`explorer_local!`), so
//! a process can run one exploration at a time.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
    ptr,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

/// The context of the code that resumes fibers.
#[derive(Debug)]
pub(in crate::control) struct Root;

impl Root {
    pub(in crate::control) const fn new() -> Root {
        Root
    }

    /// The stack in use is not known.
    pub(in crate::control) fn address(&self) -> usize {
        0
    }
}

/// A placeholder for a stack: the thread of the fiber brings its own.
#[derive(Debug)]
pub(in crate::control) struct Stack;

impl Stack {
    pub(in crate::control) fn new(_bytes: usize) -> std::io::Result<Stack> {
        Ok(Stack)
    }
}

/// A body with a thread of its own.
pub(in crate::control) struct Fiber {
    turn: Arc<Turn>,
    body: Option<AssertSend<Box<dyn FnOnce(Seat)>>>,
    thread: Option<JoinHandle<()>>,
    is_done: bool,
}

/// The handle with which a fiber's body suspends itself.
#[derive(Clone, Copy, Debug)]
pub(in crate::control) struct Seat(*const Turn);

#[derive(Debug)]
struct Turn {
    owner: Mutex<TurnOwner>,
    changes: Condvar,
}

#[derive(Debug)]
enum TurnOwner {
    Root,
    Fiber,
    // The body has ended, with its panic payload if it panicked.
    Over(Option<Box<dyn Any + Send>>),
}

impl Turn {
    fn give(&self, owner: TurnOwner) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = owner;
        self.changes.notify_all();
    }

    /// Waits until `is_other` is false for the turn's owner. Returns the body's panic payload if it
    /// has ended.
    fn wait_while(&self, is_other: fn(&TurnOwner) -> bool) -> Option<Option<Box<dyn Any + Send>>> {
        let owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = self.changes.wait_while(owner, |it| is_other(it));
        match &mut *owner.unwrap_or_else(PoisonError::into_inner) {
            TurnOwner::Over(panic) => Some(panic.take()),
            TurnOwner::Root | TurnOwner::Fiber => None,
        }
    }
}

/// Moves a value to another thread although its type may not allow it: no two of these threads run
/// at the same time.
struct AssertSend<T>(T);

// SAFETY: the threads of fibers run one at a time, and each turn begins after the end of the
// previous one.
unsafe impl<T> Send for AssertSend<T> {}

impl<T> AssertSend<T> {
    // A method, so that a closure captures the whole value.
    fn into_inner(self) -> T {
        self.0
    }
}

impl Fiber {
    /// Runs `body` when resumed.
    pub(in crate::control) fn new<F: FnOnce(Seat) + 'static>(_stack: Stack, body: F) -> Fiber {
        let turn = Arc::new(Turn { owner: Mutex::new(TurnOwner::Root), changes: Condvar::new() });
        Fiber { turn, body: Some(AssertSend(Box::new(body))), thread: None, is_done: false }
    }

    /// Resumes the fiber until it suspends itself. If the body panics, this panics too.
    ///
    /// # Safety
    ///
    /// The fiber is not done and not running.
    pub(in crate::control) unsafe fn resume(&mut self, _root: *mut Root) {
        self.turn.give(TurnOwner::Fiber);
        if let Some(body) = self.body.take() {
            let turn = Arc::clone(&self.turn);
            self.thread = Some(thread::spawn(move || {
                let run = AssertUnwindSafe(|| body.into_inner()(Seat(&raw const *turn)));
                turn.give(TurnOwner::Over(panic::catch_unwind(run).err()));
            }));
        }
        let Some(panic) = self.turn.wait_while(|it| matches!(it, TurnOwner::Fiber)) else { return };
        self.is_done = true;
        let ended = self.thread.take().map(JoinHandle::join);
        debug_assert!(matches!(ended, Some(Ok(()))), "it catches whatever its body panics with");
        if let Some(panic) = panic {
            panic::resume_unwind(panic);
        }
    }

    /// Whether it has ever been resumed.
    pub(in crate::control) fn has_begun(&self) -> bool {
        self.body.is_none()
    }

    /// Whether its body has ended.
    pub(in crate::control) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Never resumes it again. If it has not begun, its body is dropped.
    ///
    /// # Safety
    ///
    /// The values on its stack need not be dropped.
    pub(in crate::control) unsafe fn give_up(&mut self) {
        // If it has begun, its thread waits forever.
        (self.body, self.is_done) = (None, true);
    }

    /// Returns the stack of a fiber that is done.
    pub(in crate::control) fn into_stack(self) -> Stack {
        Stack
    }
}

impl Seat {
    /// The seat of no fiber.
    pub(in crate::control) const NONE: Seat = Seat(ptr::null());
    /// Whether fibers can switch directly to one another.
    pub(in crate::control) const IS_DIRECT: bool = false;

    /// An address on the fiber's stack, above everything that its body stores there. Unknown here.
    pub(in crate::control) fn address(self) -> usize {
        self.0.addr()
    }

    /// Suspends the fiber and resumes the root.
    ///
    /// # Safety
    ///
    /// This is the seat of the running fiber.
    pub(in crate::control) unsafe fn suspend(self) {
        // SAFETY: guaranteed by the caller: the fiber's thread keeps the turn alive while its body
        // runs.
        let turn = unsafe { &*self.0 };
        turn.give(TurnOwner::Root);
        turn.wait_while(|it| matches!(it, TurnOwner::Root));
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
