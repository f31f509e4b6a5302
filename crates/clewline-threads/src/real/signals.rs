//! Signals that are held back while their handlers are installed.

/// Runs `work` while these signals wait. Those that came meanwhile are delivered to this thread at
/// its end, so that none meets a handler that is not ready. On other systems they do not wait.
#[cfg(target_os = "linux")]
pub fn hold_signals<T>(signals: &[i32], work: impl FnOnce() -> T) -> T {
    let (mut held, mut before) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: the first function makes a set; the others get that set, and a place for another one.
    let is_held = unsafe {
        libc::sigemptyset(held.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(held.as_mut_ptr(), *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, held.as_ptr(), before.as_mut_ptr()) == 0
    };
    let result = work();
    if is_held {
        // SAFETY: the call above has made the set.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    }
    result
}

/// Not supported on this system.
#[cfg(not(target_os = "linux"))]
pub fn hold_signals<T>(_signals: &[i32], work: impl FnOnce() -> T) -> T {
    work()
}
