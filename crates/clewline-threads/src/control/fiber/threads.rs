//! Fibers that are threads of the system, of which one runs at a time: for Miri, which knows no other stacks.
//!
//! What tasks share with whoever explores them is not a thread's there (`explorer_local!`), so a process can explore one thing at a time.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
    ptr,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

/// Where whoever resumes fibers goes on.
#[derive(Debug)]
pub(in crate::control) struct Root;

impl Root {
    pub(in crate::control) const fn new() -> Root {
        Root
    }
}

/// What a fiber would run on: its thread brings a stack.
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

/// What a fiber's body gives up its turn with.
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
    // Nobody's ever again. What the body panicked with, if it did.
    Over(Option<Box<dyn Any + Send>>),
}

impl Turn {
    fn give(&self, whose: TurnOwner) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = whose;
        self.changes.notify_all();
    }

    /// Waits until it is not the turn of `is_other`. Answers what the body panicked with, if it is over.
    fn wait_while(&self, is_other: fn(&TurnOwner) -> bool) -> Option<Option<Box<dyn Any + Send>>> {
        let whose = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let whose = self.changes.wait_while(whose, |it| is_other(it));
        match &mut *whose.unwrap_or_else(PoisonError::into_inner) {
            TurnOwner::Over(panic) => Some(panic.take()),
            TurnOwner::Root | TurnOwner::Fiber => None,
        }
    }
}

/// Something that goes to another thread, though it may be of one: no two of them run at a time.
struct AssertSend<T>(T);

// SAFETY: threads of fibers take turns, and each turn begins after the end of the one before.
unsafe impl<T> Send for AssertSend<T> {}

impl<T> AssertSend<T> {
    // By a method, so that a closure takes all of it.
    fn into_inner(self) -> T {
        self.0
    }
}

impl Fiber {
    /// Has `body` run as soon as it is resumed.
    pub(in crate::control) fn new<F: FnOnce(Seat) + 'static>(_stack: Stack, body: F) -> Fiber {
        let turn = Arc::new(Turn { owner: Mutex::new(TurnOwner::Root), changes: Condvar::new() });
        Fiber { turn, body: Some(AssertSend(Box::new(body))), thread: None, is_done: false }
    }

    /// Lets it go on until it gives up its turn. If it panics, so does this.
    ///
    /// # Safety
    ///
    /// It is not done, and nobody runs it.
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

    /// Never lets it go on again. If it has not begun, its body is dropped.
    ///
    /// # Safety
    ///
    /// What is on its stack need not be dropped.
    pub(in crate::control) unsafe fn give_up(&mut self) {
        // If it has begun, its thread waits for ever.
        (self.body, self.is_done) = (None, true);
    }

    /// What it ran on, now that it is done.
    pub(in crate::control) fn into_stack(self) -> Stack {
        Stack
    }
}

impl Seat {
    /// Nobody's.
    pub(in crate::control) const NONE: Seat = Seat(ptr::null());
    /// Whether a turn can be handed on.
    pub(in crate::control) const IS_DIRECT: bool = false;

    /// An address on the fiber's stack, above whatever its body has there: nobody knows.
    pub(in crate::control) fn address(self) -> usize {
        self.0.addr()
    }

    /// Gives up the turn to the root.
    ///
    /// # Safety
    ///
    /// This is the seat of the fiber that runs.
    pub(in crate::control) unsafe fn suspend(self) {
        // SAFETY: the caller says so: the fiber's thread keeps it while its body runs.
        let turn = unsafe { &*self.0 };
        turn.give(TurnOwner::Root);
        turn.wait_while(|it| matches!(it, TurnOwner::Root));
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
