//! Subjects: what is tested.

use clewline_core::Specification;

/// A concurrent object that should do what the specification `S` says.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use clewline_core::Deterministic;
/// use clewline_threads::Subject;
///
/// /// The specification: each ticket is one more than the last.
/// struct Tickets;
///
/// impl Deterministic for Tickets {
///     type State = u64;
///     type Call = ();
///     type Return = u64;
///
///     fn initial(&self) -> u64 {
///         0
///     }
///
///     fn apply(&self, last: &mut u64, (): &()) -> Option<u64> {
///         *last += 1;
///         Some(*last)
///     }
/// }
///
/// /// The subject.
/// #[derive(Default)]
/// struct Dispenser(AtomicU64);
///
/// impl Subject<Tickets> for Dispenser {
///     fn call(&self, (): &()) -> u64 {
///         self.0.fetch_add(1, Ordering::Relaxed) + 1
///     }
/// }
/// ```
pub trait Subject<S: Specification>: Send + Sync + 'static {
    /// Makes the call, and returns its result.
    fn call(&self, call: &S::Call) -> S::Return;
}

impl<S: Specification + 'static> Subject<S> for Box<dyn Subject<S>> {
    fn call(&self, call: &S::Call) -> S::Return {
        (**self).call(call)
    }
}
