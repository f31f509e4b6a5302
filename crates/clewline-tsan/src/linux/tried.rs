//! Whether somebody tries a lock without waiting for it.

use super::here::Own;

static HAS_TRIED: Own<bool> = Own::new(false);

/// Somebody tries a lock without waiting for it.
pub(super) fn tries(control: clewline_threads::instrument::Control) {
    HAS_TRIED.set(true);
    control.tries();
}

/// Whether anybody has.
pub(super) fn has_tried() -> bool {
    HAS_TRIED.get()
}
