//! The identity of an object: the engine identifies it by its address, and forgets it when it is
//! dropped.

use crate::control::here;

/// The first field of an object, whose address is the object's. It is zero-sized.
#[derive(Default)]
pub(crate) struct Identity;

impl Drop for Identity {
    #[inline]
    fn drop(&mut self) {
        // The next object at this address is a different one.
        if let Some(control) = here() {
            control.forget(self);
        }
    }
}
