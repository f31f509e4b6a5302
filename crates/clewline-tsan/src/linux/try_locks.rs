//! Whether somebody tries a lock without waiting for it.

use super::current_task::RuntimeCell;

static HAS_TRY_LOCK: RuntimeCell<bool> = RuntimeCell::new(false);

/// Somebody tries a lock without waiting for it.
pub(super) fn tries(control: clewline_threads::instrument::Control) {
    HAS_TRY_LOCK.set(true);
    control.note_try_lock();
}

/// Whether anybody has.
pub(super) fn has_try_lock() -> bool {
    HAS_TRY_LOCK.get()
}
