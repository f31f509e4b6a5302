//! Where a violated history fails: the first return that no order explains, how far orders get, and which operations may block.

mod partial;
mod prefix;
mod stuck;

pub use partial::{DeadEnd, dead_ends};
pub use prefix::breaking;
pub use stuck::{Stuck, stuck};
