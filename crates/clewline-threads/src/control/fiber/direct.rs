//! Fibers that hand their turns to one another: for x86-64.
//!
//! At the base of each stack is what is known of its fiber, and below that its body. While a fiber does not run, on top of its stack is where it goes on,
//! and above that the two registers that nobody else would keep.

use std::{
    any::Any,
    arch::{asm, naked_asm},
    mem::{self, ManuallyDrop},
    panic::{self, AssertUnwindSafe},
    process, ptr,
};

use corosensei::stack::{DefaultStack, Stack};

/// Where whoever resumes fibers goes on.
#[derive(Debug)]
pub(in crate::control) struct Root {
    // The top of its stack while it does not run.
    top: usize,
}

impl Root {
    pub(in crate::control) const fn new() -> Root {
        Root { top: 0 }
    }
}

// What is known of a fiber.
struct FiberHeader {
    // The top of its stack while it does not run.
    top: usize,
    root: *mut Root,
    has_begun: bool,
    is_done: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// A body on a stack.
pub(in crate::control) struct Fiber {
    stack: ManuallyDrop<DefaultStack>,
    drop_body: unsafe fn(*mut FiberHeader),
}

/// What a fiber's body gives up its turn with.
#[derive(Clone, Copy, Debug)]
pub(in crate::control) struct Seat(*mut FiberHeader);

const STACK_ALIGN_BYTES: usize = 16;
// Stacks have room for much more.
const BODY_BYTES_MAX: usize = 16 << 10;

fn header_of(stack: &DefaultStack) -> *mut FiberHeader {
    let base = stack.base().get() - size_of::<FiberHeader>();
    ptr::with_exposed_provenance_mut(base & !(STACK_ALIGN_BYTES - 1))
}

fn body_of<F>(base: *mut FiberHeader) -> *mut F {
    let align = align_of::<F>().max(STACK_ALIGN_BYTES);
    base.map_addr(|it| (it - size_of::<F>()) & !(align - 1)).cast()
}

impl Fiber {
    /// Has `body` run on `stack` as soon as it is resumed.
    #[inline]
    pub(in crate::control) fn new<F: FnOnce(Seat) + 'static>(stack: DefaultStack, body: F) -> Fiber {
        const { assert!(size_of::<F>() <= BODY_BYTES_MAX, "a body is small") };
        let base = header_of(&stack);
        let place = body_of::<F>(base);
        // SAFETY: the stack is this fiber's alone, and much larger than what is written. `top` is where `switch` and `begin` look for what
        // they find.
        unsafe {
            place.write(body);
            let top = place.map_addr(|it| it - 3 * size_of::<usize>()).cast::<usize>();
            let top = top.map_addr(|it| (it & !(STACK_ALIGN_BYTES - 1)) - size_of::<usize>());
            top.write(begin as *const () as usize);
            top.add(1).write(base.expose_provenance());
            top.add(2).write(run::<F> as *const () as usize);
            let top = top.expose_provenance();
            base.write(FiberHeader { top, root: ptr::null_mut(), has_begun: false, is_done: false, panic: None });
        }
        Fiber { stack: ManuallyDrop::new(stack), drop_body: drop_body::<F> }
    }

    /// Lets it go on until it, or whoever it has handed its turn to, gives up its turn to the root.
    ///
    /// # Safety
    ///
    /// It is not done, nobody runs on its stack, and `root` stays where it is until it is.
    #[inline(always)]
    pub(in crate::control) unsafe fn resume(&mut self, root: *mut Root) {
        let base = header_of(&self.stack);
        // SAFETY: the base was written in `new`, and the caller says that somebody can go on there.
        unsafe {
            (*base).root = root;
            switch(&raw mut (*root).top, (*base).top);
        }
    }

    /// Whether it has ever been resumed.
    pub(in crate::control) fn has_begun(&self) -> bool {
        // SAFETY: the base was written in `new`.
        unsafe { (*header_of(&self.stack)).has_begun }
    }

    /// Whether its body has ended. If it has panicked, so does this.
    #[inline]
    pub(in crate::control) fn is_done(&self) -> bool {
        // SAFETY: the base was written in `new`, and while this is asked nobody runs on that stack.
        let base = unsafe { &mut *header_of(&self.stack) };
        if let Some(panic) = base.panic.take() {
            panic::resume_unwind(panic);
        }
        base.is_done
    }

    /// Never lets it go on again. If it has not begun, its body is dropped.
    ///
    /// # Safety
    ///
    /// What is on its stack need not be dropped.
    pub(in crate::control) unsafe fn give_up(&mut self) {
        let base = header_of(&self.stack);
        // SAFETY: the base was written in `new`; a body that has not begun is where it was put.
        unsafe {
            if !mem::replace(&mut (*base).is_done, true) && !(*base).has_begun {
                (self.drop_body)(base);
            }
        }
    }

    /// Its stack, now that it is done.
    #[inline]
    pub(in crate::control) fn into_stack(self) -> DefaultStack {
        assert!(self.is_done(), "a stack is somebody's until he is done");
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither used nor dropped afterwards.
        unsafe { ManuallyDrop::take(&mut this.stack) }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if self.has_begun() && !self.is_done() {
            // Others may have what is on its stack, which leaks.
            return;
        }
        // SAFETY: nothing is on its stack but perhaps its body, and the stack is not used afterwards.
        unsafe {
            self.give_up();
            ManuallyDrop::drop(&mut self.stack);
        }
    }
}

unsafe fn drop_body<F>(base: *mut FiberHeader) {
    // SAFETY: the caller says that the body is there.
    unsafe { body_of::<F>(base).drop_in_place() };
}

impl Seat {
    /// Nobody's.
    pub(in crate::control) const NONE: Seat = Seat(ptr::null_mut());
    /// Whether a turn can be handed on.
    pub(in crate::control) const IS_DIRECT: bool = true;

    /// An address on the fiber's stack, above whatever its body has there.
    pub(in crate::control) fn address(self) -> usize {
        self.0.addr()
    }

    /// Gives up the turn to the root.
    ///
    /// # Safety
    ///
    /// This is the seat of the fiber that runs.
    #[inline(always)]
    pub(in crate::control) unsafe fn suspend(self) {
        // SAFETY: the caller says so, and whoever resumed it has told where it is.
        unsafe { switch(&raw mut (*self.0).top, (*(*self.0).root).top) };
    }

    /// Hands the turn to another fiber of the same root.
    ///
    /// # Safety
    ///
    /// This is the seat of the fiber that runs, and `other` that of one that has suspended itself or handed on its turn.
    #[inline(always)]
    pub(in crate::control) unsafe fn hand_to(self, other: Seat) {
        // SAFETY: the caller says so.
        unsafe { switch(&raw mut (*self.0).top, (*other.0).top) };
    }
}

/// Leaves this stack, and says at `from` where its top is; goes on at the one whose top is `to`.
///
/// What is jumped to is nearly always the same place, and the processor's own list of returns stays as high as it was: to return
/// would surprise it.
///
/// # Safety
///
/// `to` was written by this function or by `Fiber::new`, and nobody has run there since.
#[inline(always)]
unsafe fn switch(from: *mut usize, to: usize) {
    // SAFETY: all registers are saved or said to be lost. The stack is as it was when somebody goes on here.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov qword ptr [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbx",
            "pop rbp",
            inlateout("rdi") from => _,
            inlateout("rsi") to => _,
            lateout("r12") _,
            lateout("r13") _,
            lateout("r14") _,
            lateout("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

/// The bottom of each stack: calls what `Fiber::new` has put there. Nothing unwinds beyond it.
#[unsafe(naked)]
unsafe extern "sysv64" fn begin() {
    naked_asm!("xor ebp, ebp", "mov rdi, qword ptr [rsp]", "call qword ptr [rsp + 8]", "ud2")
}

unsafe extern "sysv64" fn run<F: FnOnce(Seat)>(base: *mut FiberHeader) -> ! {
    // SAFETY: `Fiber::new` has put both there, and the body is taken once.
    let body = unsafe {
        (*base).has_begun = true;
        body_of::<F>(base).read()
    };
    let result = panic::catch_unwind(AssertUnwindSafe(|| body(Seat(base))));
    // SAFETY: the base is there as long as the stack. Nothing is left on it that must be dropped.
    unsafe {
        if let Err(panic) = result {
            (*base).panic = Some(panic);
        }
        (*base).is_done = true;
        Seat(base).suspend();
    }
    // Nobody resumes whoever is done.
    process::abort()
}
