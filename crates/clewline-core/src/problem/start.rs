//! Where a problem begins.

use std::{any::Any, fmt, sync::Arc};

/// What an object is like when a problem begins: where another one ended.
#[derive(Clone)]
pub struct Start(pub(super) Arc<dyn Any + Send + Sync>);

impl Start {
    /// Whether both are one and the same, not only equal.
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
