//! Pinning threads to processors, where the system allows it.

/// Whether threads stay on one processor each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// Each thread stays on one of the processors that the process may use, in turn.
    Pinned,
    /// The system moves threads as it likes.
    Free,
}

/// Keeps this thread on the `number`th, modulo their number, of the processors that it may use.
/// Returns whether it worked.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn pin(number: usize) -> bool {
    // SAFETY: `cpu_set_t` is a plain bit set, for which all zeroes is the empty set.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a set of the given size; 0 means this thread.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&allowed), &raw mut allowed) } != 0 {
        return false;
    }
    // SAFETY: the number is below the size of the set.
    let is_allowed = |it: &usize| unsafe { libc::CPU_ISSET(*it, &allowed) };
    let processors: Vec<usize> = (0..8 * size_of_val(&allowed)).filter(is_allowed).collect();
    if processors.is_empty() {
        return false;
    }
    // SAFETY: as above.
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number came from a set of the same size.
    unsafe { libc::CPU_SET(processors[number % processors.len()], &mut one) };
    // SAFETY: the pointer is to a set of the given size; 0 means this thread.
    unsafe { libc::sched_setaffinity(0, size_of_val(&one), &raw const one) == 0 }
}

/// Not supported on this system.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn pin(_number: usize) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::thread::{available_parallelism, spawn};

    #[test]
    fn a_pinned_thread_has_one_processor() {
        for number in [0, 1, usize::MAX] {
            let pinned = spawn(move || super::pin(number).then(|| available_parallelism().map(usize::from)));
            let processors = pinned.join().unwrap();
            // Some systems do not allow it.
            assert!(processors.is_none_or(|it| matches!(it, Ok(1))), "{number}");
        }
    }
}
