//! Fibers: bodies that run on stacks of their own, one at a time.
//!
//! A fiber runs when its root resumes it, until it suspends itself or ends. On processors that we know (`direct`) one fiber also hands its
//! turn to another without asking the root; elsewhere (`portable`) it cannot, and the root must. To go by way of the root
//! takes two switches, each of which returns to where the processor does not expect it. Miri follows neither, and has `threads`.

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
