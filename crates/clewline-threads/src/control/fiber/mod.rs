//! Fibers: bodies that run on their own stacks, one at a time.
//!
//! A fiber runs when its root resumes it, until it suspends itself or ends. On supported processors
//! (`direct`) a fiber can also switch to another one directly; elsewhere (`portable`) it must go
//! through the root. That takes two switches, each with a mispredicted return. Miri supports
//! neither, and uses `threads`.

#[cfg(all(feature = "bench", not(miri)))]
pub mod bench;
#[cfg(all(unix, target_arch = "x86_64", not(miri)))]
mod direct;
#[cfg(all(not(miri), any(test, feature = "bench", not(all(unix, target_arch = "x86_64")))))]
#[cfg_attr(
    all(unix, target_arch = "x86_64"),
    allow(dead_code, reason = "only tests and benchmarks use it here")
)]
mod portable;
#[cfg(test)]
mod tests;
#[cfg(miri)]
mod threads;

#[cfg(not(miri))]
pub(super) use corosensei::stack::DefaultStack as Stack;
#[cfg(all(unix, target_arch = "x86_64", not(miri)))]
pub(super) use direct::{Fiber, Root, Seat};
#[cfg(all(not(miri), not(all(unix, target_arch = "x86_64"))))]
pub(super) use portable::{Fiber, Root, Seat};
#[cfg(miri)]
pub(super) use threads::{Fiber, Root, Seat, Stack};
