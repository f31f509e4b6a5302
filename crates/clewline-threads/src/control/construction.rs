//! Whether a subject is being constructed.

use std::cell::Cell;

use super::explorer::explorer_local;

explorer_local! {
    static IS_CONSTRUCTING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a subject for tasks is being constructed on this thread.
pub(crate) fn is_constructing() -> bool {
    IS_CONSTRUCTING.try_with(Cell::get).unwrap_or(false)
}

/// Constructs a subject.
pub(super) fn construct<T>(make: impl FnOnce() -> T) -> T {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            IS_CONSTRUCTING.set(self.0);
        }
    }
    let _reset = Reset(IS_CONSTRUCTING.replace(true));
    make()
}
