//! Memory that may not be there.

use std::ffi::c_void;

/// Fills `bytes` with the memory at `address`. Returns whether it is readable.
pub(super) fn read(address: usize, bytes: &mut [u8]) -> bool {
    let to = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let from = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
    // SAFETY: the system writes to `bytes` only, and reports memory that cannot be read.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) };
    usize::try_from(read) == Ok(bytes.len())
}
