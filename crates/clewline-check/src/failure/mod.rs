//! Where a violated history fails: the failure point, how far orders get, and which operations may
//! block.

mod partial;
mod point;
mod stuck;

pub use partial::dead_ends;
pub use point::failure_point;
pub use stuck::{Stuck, stuck};
