//! The output of the code under test, which is not shown for each execution.
//!
//! It is kept until the execution ends: a Rust panic is reported only on standard error, and some
//! failures of a Rust test only on standard output.

use std::{ffi::c_int, ptr};

use super::current_task::{self, RuntimeCell, RuntimeOwned};

// Duplicates of standard output and standard error, and the null device; 0 if output is not
// captured.
static ORIGINAL_FILES: RuntimeCell<[c_int; 2]> = RuntimeCell::new([0, 0]);
static NULL_FILE: RuntimeCell<c_int> = RuntimeCell::new(0);

/// Standard output is that of `clewline`, which writes reports there: what the code prints goes to
/// standard error.
pub(super) fn leave_standard_output() {
    // SAFETY: this is a system call with valid arguments.
    unsafe { libc::dup2(2, 1) };
}

/// From now on, output during an execution is discarded.
pub(super) fn begin_capture() {
    // SAFETY: these are system calls with valid arguments.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        let copy = |it: c_int| libc::fcntl(it, libc::F_DUPFD_CLOEXEC, 100);
        let loud = [copy(1), copy(2)];
        if 0 < nowhere && loud.iter().all(|it| 0 < *it) {
            NULL_FILE.set(nowhere);
            ORIGINAL_FILES.set(loud);
        }
    }
}

/// From now on, all output is discarded, also reports.
pub(super) fn discard() {
    // SAFETY: these are system calls with valid arguments.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if 0 < nowhere {
            libc::dup2(nowhere, 1);
            libc::dup2(nowhere, 2);
            if NULL_FILE.get() != 0 {
                ORIGINAL_FILES.set([nowhere; 2]);
            }
        }
    }
}

// The output of this execution, and how much of it is kept.
static CAPTURED: [RuntimeOwned<Vec<u8>>; 2] = [const { RuntimeOwned::new(Vec::new()) }; 2];
const CAPTURED_BYTES_MAX: usize = 16 << 10;

/// The output of the code in this execution on standard output and on standard error.
pub(super) fn captured() -> [String; 2] {
    CAPTURED.each_ref().map(|it| String::from_utf8_lossy(it.get()).into_owned())
}

/// Keeps what the running task writes to one of its outputs. Returns whether it is one.
pub(super) fn capture(file: c_int, said: &[u8]) -> bool {
    let outputs = file.checked_sub(1).and_then(|it| CAPTURED.get(usize::try_from(it).ok()?));
    let Some(kept) = outputs.filter(|_| NULL_FILE.get() != 0 && current_task::control().is_some()) else {
        return false;
    };
    let room = CAPTURED_BYTES_MAX - kept.get().len();
    kept.get().extend(&said[..said.len().min(room)]);
    true
}

/// An execution begins.
pub(super) fn silence() {
    CAPTURED.iter().for_each(|it| it.get().clear());
    if NULL_FILE.get() != 0 {
        // SAFETY: these are system calls with valid arguments.
        unsafe {
            libc::dup2(NULL_FILE.get(), 1);
            libc::dup2(NULL_FILE.get(), 2);
        }
    }
}

/// It has ended.
pub(super) fn unsilence() {
    if NULL_FILE.get() != 0 {
        let [out, err] = ORIGINAL_FILES.get();
        // SAFETY: these are system calls with valid arguments.
        unsafe {
            libc::dup2(out, 1);
            libc::dup2(err, 2);
        }
    }
}

/// Writes a message to standard error, whatever runs.
pub(super) fn report(message: &str) {
    let err = if NULL_FILE.get() == 0 { 2 } else { ORIGINAL_FILES.get()[1] };
    let mut rest = message.as_bytes();
    while !rest.is_empty() {
        // SAFETY: the slice has that many bytes.
        let n = unsafe { libc::write(err, ptr::from_ref(rest).cast(), rest.len()) };
        match usize::try_from(n) {
            Ok(n) if n != 0 => rest = &rest[n..],
            // Standard error is closed.
            Ok(_) | Err(_) => return,
        }
    }
}
