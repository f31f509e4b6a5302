//! Fibers that switch directly to one another: for x86-64.
//!
//! The base of each stack holds the fiber's header, and below it the body. The top of the stack of
//! a suspended fiber holds its resume address, and above that the two registers that are not saved
//! otherwise.

use std::{
    any::Any,
    arch::{asm, naked_asm},
    mem::{self, ManuallyDrop},
    panic::{self, AssertUnwindSafe},
    process, ptr,
};

use corosensei::stack::{DefaultStack, Stack};

/// The context of the code that resumes fibers.
#[derive(Debug)]
pub(in crate::control) struct Root {
    // The top of its stack while it is suspended.
    top: usize,
}

impl Root {
    pub(in crate::control) const fn new() -> Root {
        Root { top: 0 }
    }

    /// While it is suspended, the lowest address of its stack in use.
    pub(in crate::control) fn address(&self) -> usize {
        self.top
    }
}

// The header of a fiber.
struct FiberHeader {
    // The top of its stack while it is suspended.
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

/// The handle with which a fiber's body suspends itself.
#[derive(Clone, Copy, Debug)]
pub(in crate::control) struct Seat(*mut FiberHeader);

const STACK_ALIGN_BYTES: usize = 16;
// Stacks are much larger.
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
    /// Runs `body` on `stack` when resumed.
    #[inline]
    pub(in crate::control) fn new<F: FnOnce(Seat) + 'static>(stack: DefaultStack, body: F) -> Fiber {
        const { assert!(size_of::<F>() <= BODY_BYTES_MAX, "a body is small") };
        let base = header_of(&stack);
        let place = body_of::<F>(base);
        // SAFETY: the stack belongs to this fiber only and is much larger than what is written.
        // `top` is where `switch` and `begin` expect their data.
        unsafe {
            place.write(body);
            let top = place.map_addr(|it| it - 3 * size_of::<usize>()).cast::<usize>();
            let top = top.map_addr(|it| (it & !(STACK_ALIGN_BYTES - 1)) - size_of::<usize>());
            top.write(begin as *const () as usize);
            top.add(1).write(base.expose_provenance());
            top.add(2).write(run::<F> as *const () as usize);
            let top = top.expose_provenance();
            base.write(FiberHeader {
                top,
                root: ptr::null_mut(),
                has_begun: false,
                is_done: false,
                panic: None,
            });
        }
        Fiber { stack: ManuallyDrop::new(stack), drop_body: drop_body::<F> }
    }

    /// Resumes the fiber. Returns when it, or a fiber it has switched to, suspends itself to the
    /// root.
    ///
    /// # Safety
    ///
    /// The fiber is not done, no code runs on its stack, and `root` does not move until it is done.
    #[inline(always)]
    pub(in crate::control) unsafe fn resume(&mut self, root: *mut Root) {
        let base = header_of(&self.stack);
        // SAFETY: the header was written in `new`, and the caller guarantees that the stack can be
        // resumed.
        unsafe {
            (*base).root = root;
            switch(&raw mut (*root).top, (*base).top);
        }
    }

    /// Whether it has ever been resumed.
    pub(in crate::control) fn has_begun(&self) -> bool {
        // SAFETY: the header was written in `new`.
        unsafe { (*header_of(&self.stack)).has_begun }
    }

    /// Whether its body has ended. If the body has panicked, this panics too.
    #[inline]
    pub(in crate::control) fn is_done(&self) -> bool {
        // SAFETY: the header was written in `new`, and no code runs on that stack during this call.
        let base = unsafe { &mut *header_of(&self.stack) };
        if let Some(panic) = base.panic.take() {
            panic::resume_unwind(panic);
        }
        base.is_done
    }

    /// Never resumes it again. If it has not begun, its body is dropped.
    ///
    /// # Safety
    ///
    /// The values on its stack need not be dropped.
    pub(in crate::control) unsafe fn give_up(&mut self) {
        let base = header_of(&self.stack);
        // SAFETY: the header was written in `new`; a body that has not begun is still in its place.
        unsafe {
            if !mem::replace(&mut (*base).is_done, true) && !(*base).has_begun {
                (self.drop_body)(base);
            }
        }
    }

    /// Returns the stack of a fiber that is done.
    #[inline]
    pub(in crate::control) fn into_stack(self) -> DefaultStack {
        assert!(self.is_done(), "the stack of a running fiber is in use");
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither used nor dropped afterwards.
        unsafe { ManuallyDrop::take(&mut this.stack) }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if self.has_begun() && !self.is_done() {
            // Other code may refer to values on its stack, so the stack leaks.
            return;
        }
        // SAFETY: the stack holds at most the body, and it is not used afterwards.
        unsafe {
            self.give_up();
            ManuallyDrop::drop(&mut self.stack);
        }
    }
}

unsafe fn drop_body<F>(base: *mut FiberHeader) {
    // SAFETY: the caller guarantees that the body is there.
    unsafe { body_of::<F>(base).drop_in_place() };
}

impl Seat {
    /// The seat of no fiber.
    pub(in crate::control) const NONE: Seat = Seat(ptr::null_mut());
    /// Whether fibers can switch directly to one another.
    pub(in crate::control) const IS_DIRECT: bool = true;

    /// An address on the fiber's stack, above everything that its body stores there.
    pub(in crate::control) fn address(self) -> usize {
        self.0.addr()
    }

    /// Suspends the fiber and resumes the root.
    ///
    /// # Safety
    ///
    /// This is the seat of the running fiber.
    #[inline(always)]
    pub(in crate::control) unsafe fn suspend(self) {
        // SAFETY: guaranteed by the caller, and `resume` has set the root.
        unsafe { switch(&raw mut (*self.0).top, (*(*self.0).root).top) };
    }

    /// Switches to another fiber of the same root.
    ///
    /// # Safety
    ///
    /// This is the seat of the running fiber, and `other` that of a fiber that has suspended itself
    /// or switched away.
    #[inline(always)]
    pub(in crate::control) unsafe fn hand_to(self, other: Seat) {
        // SAFETY: guaranteed by the caller.
        unsafe { switch(&raw mut (*self.0).top, (*other.0).top) };
    }
}

/// Leaves this stack, stores its top at `from`, and continues on the stack whose top is `to`.
///
/// The jump target is nearly always the same, and the processor's return-address predictor stays
/// balanced: a return instruction would be mispredicted.
///
/// # Safety
///
/// `to` was written by this function or by `Fiber::new`, and no code has run on that stack since.
#[inline(always)]
unsafe fn switch(from: *mut usize, to: usize) {
    // SAFETY: all registers are saved or declared as clobbered. When execution continues here, the
    // stack is as it was.
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

/// The bottom of each stack: calls what `Fiber::new` has stored there. Unwinding stops here.
#[unsafe(naked)]
unsafe extern "sysv64" fn begin() {
    naked_asm!("xor ebp, ebp", "mov rdi, qword ptr [rsp]", "call qword ptr [rsp + 8]", "ud2")
}

unsafe extern "sysv64" fn run<F: FnOnce(Seat)>(base: *mut FiberHeader) -> ! {
    // SAFETY: `Fiber::new` has stored both there, and the body is taken once.
    let body = unsafe {
        (*base).has_begun = true;
        body_of::<F>(base).read()
    };
    let result = panic::catch_unwind(AssertUnwindSafe(|| body(Seat(base))));
    // SAFETY: the header lives as long as the stack. No value on the stack needs to be dropped.
    unsafe {
        if let Err(panic) = result {
            (*base).panic = Some(panic);
        }
        (*base).is_done = true;
        Seat(base).suspend();
    }
    // A fiber that is done is never resumed.
    process::abort()
}
