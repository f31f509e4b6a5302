//! Parked threads: they give a task the identity of a thread.
//!
//! Code under test keeps data per thread: `errno`, `thread_local` variables, exceptions in flight.
//! These are found by the thread pointer. So there is a real thread for each task, which sleeps
//! forever, and while the task runs the processor has that thread's pointer.

use std::{
    arch::asm,
    ffi::{c_int, c_void},
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use clewline_explore::TaskId;

use super::{
    current_task::{self, RuntimeCell, RuntimeOwned},
    modules::{Local, address_of},
    real, snapshot,
};

/// A sleeping thread.
#[derive(Debug)]
struct Parked {
    pointer: usize,
    /// The address of each module's variables of this thread.
    locals: Vec<(usize, Local)>,
}

static PARKED: RuntimeOwned<Vec<Parked>> = RuntimeOwned::new(Vec::new());
static MAIN: RuntimeCell<usize> = RuntimeCell::new(0);
static HAS_INSTRUCTION: RuntimeCell<bool> = RuntimeCell::new(false);

static IS_READY: AtomicU32 = AtomicU32::new(0);
static NEW_THREAD: RuntimeOwned<Option<Parked>> = RuntimeOwned::new(None);

unsafe extern "C" fn sleep(_: *mut c_void) -> *mut c_void {
    let locals = snapshot::locals().iter().map(|it| (address_of(it), *it)).collect();
    *NEW_THREAD.get() = Some(Parked { pointer: current_task::thread_pointer(), locals });
    IS_READY.store(1, Ordering::Release);
    futex(&IS_READY, libc::FUTEX_WAKE, 1);
    let never = AtomicU32::new(0);
    loop {
        futex(&never, libc::FUTEX_WAIT, 0);
    }
}

/// The system call, which is not taken for one of the code under test.
fn futex(word: &AtomicU32, operation: c_int, value: u32) {
    let private = operation | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word outlives the wait.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") libc::SYS_futex => _,
            in("rdi") ptr::from_ref(word),
            in("rsi") private,
            in("rdx") value,
            in("r10") 0,
            in("r8") 0,
            in("r9") 0,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
}

// The threads only sleep.
const PARKED_STACK_BYTES: usize = 64 << 10;

/// Creates a thread for every possible task. The thread-local data of restored modules must be
/// known.
///
/// # Errors
///
/// If the system cannot create the threads.
pub(super) fn make() -> Result<(), String> {
    // SAFETY: the call only queries the C library.
    HAS_INSTRUCTION.set(unsafe { libc::getauxval(libc::AT_HWCAP2) } & 2 != 0);
    MAIN.set(current_task::thread_pointer());
    for _ in 0..TaskId::MAX {
        IS_READY.store(0, Ordering::Relaxed);
        // SAFETY: the attributes are initialized before they are used, and `sleep` ignores its
        // argument.
        let error = unsafe {
            let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
            libc::pthread_attr_init(&mut attributes);
            libc::pthread_attr_setstacksize(&mut attributes, PARKED_STACK_BYTES);
            libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
            let mut thread = 0;
            real::pthread_create(&mut thread, &attributes, sleep, ptr::null_mut())
        };
        if error != 0 {
            return Err(std::io::Error::from_raw_os_error(error).to_string());
        }
        while IS_READY.load(Ordering::Acquire) == 0 {
            futex(&IS_READY, libc::FUTEX_WAIT, 0);
        }
        PARKED.get().extend(NEW_THREAD.get().take());
    }
    Ok(())
}

/// This thread is the exploring one.
pub(super) fn begin() {
    MAIN.set(current_task::thread_pointer());
}

/// Resets the thread-local data of `task` to its initial state.
pub(super) fn refresh(task: TaskId) {
    for (address, local) in &PARKED.get()[task.index()].locals {
        // SAFETY: the thread sleeps, so nothing uses the data, and it has the size that the loader
        // reports.
        unsafe {
            ptr::copy_nonoverlapping(local.image as *const u8, *address as *mut u8, local.image_size);
            ptr::write_bytes((address + local.image_size) as *mut u8, 0, local.size - local.image_size);
        }
    }
}

/// The thread pointer of `task`, which is also the result of `pthread_self`.
pub(super) fn pointer_of(task: TaskId) -> usize {
    PARKED.get()[task.index()].pointer
}

/// The task with that thread pointer.
pub(super) fn task_of(pointer: usize) -> Option<TaskId> {
    PARKED.get().iter().position(|it| it.pointer == pointer).map(|it| TaskId(it as u8))
}

/// This thread takes the identity of `task`.
#[inline(always)]
pub(super) fn become_task(task: TaskId) {
    set(pointer_of(task));
}

/// This thread takes its own identity back.
#[inline(always)]
pub(super) fn become_itself() {
    set(MAIN.get());
}

#[inline(always)]
fn set(pointer: usize) {
    if HAS_INSTRUCTION.get() {
        // SAFETY: the processor has the instruction, and the system allows it. The pointer belongs
        // to a real thread.
        unsafe { asm!("wrfsbase {}", in(reg) pointer, options(nostack, preserves_flags)) };
    } else {
        const ARCH_SET_FS: usize = 0x1002;
        // SAFETY: as above, with a system call.
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") libc::SYS_arch_prctl => _,
                in("rdi") ARCH_SET_FS,
                in("rsi") pointer,
                out("rcx") _,
                out("r11") _,
                options(nostack),
            );
        }
    }
}
