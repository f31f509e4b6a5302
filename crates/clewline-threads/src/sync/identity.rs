//! Being an object: what an engine knows by its address, and forgets when it is dropped.

use crate::control::here;

/// The first field of an object, whose address is the object's. It takes no room.
#[derive(Default)]
pub(crate) struct Identity;

impl Drop for Identity {
    #[inline]
    fn drop(&mut self) {
        // What comes to this address next is another object.
        if let Some(control) = here() {
            control.forget(self);
        }
    }
}
