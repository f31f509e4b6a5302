//! Whether a subject is being made, which tasks will use.

use std::cell::Cell;

use super::explorer::explorer_local;

explorer_local! {
    static IS_CONSTRUCTING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a subject is being made on this thread, which tasks will use.
pub(crate) fn is_constructing() -> bool {
    IS_CONSTRUCTING.try_with(Cell::get).unwrap_or(false)
}

/// Makes one.
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
