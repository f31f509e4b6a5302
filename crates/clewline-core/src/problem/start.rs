//! The state in which a problem starts.

use std::{any::Any, fmt, sync::Arc};

/// A state in which an object is when a problem starts: a state in which another problem ended.
#[derive(Clone)]
pub struct Start(pub(super) Arc<dyn Any + Send + Sync>);

impl Start {
    /// Whether both are the same allocation, not only equal.
    #[must_use]
    pub fn is(&self, other: &Start) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Start")
    }
}
