//! Whether a task tries a lock without waiting.

use super::current_task::RuntimeCell;

static HAS_TRY_LOCK: RuntimeCell<bool> = RuntimeCell::new(false);

/// A task tries a lock without waiting.
pub(super) fn tries(control: clewline_threads::instrument::Control) {
    HAS_TRY_LOCK.set(true);
    control.note_try_lock();
}

/// Whether any task has.
pub(super) fn has_try_lock() -> bool {
    HAS_TRY_LOCK.get()
}
