//! The list of all checkers that can be named.

use clewline_search::{self as search, Checker};

use crate::by_monitor::ByMonitor;

/// Every checker that can be named, in alphabetical order.
pub fn checkers() -> impl Iterator<Item = &'static dyn Checker> {
    let mut all: Vec<&'static dyn Checker> = search::SEARCHES.iter().copied().collect();
    all.extend([&ByMonitor as &dyn Checker, &search::queue_oriented::QueueOriented]);
    all.extend([
        &search::empty_moments::EmptyMoments as &dyn Checker,
        &search::grow_only_set::GrowOnlySet,
        &search::late_pushes::LatePushes,
        &search::pushdown::Pushdown,
        &search::relaxed_pushdown::RelaxedPushdown,
        &search::two_frontiers::TwoFrontiers,
    ]);
    #[cfg(feature = "sat")]
    all.push(&search::sat::Sat);
    all.sort_unstable_by(|one, other| one.name().cmp(other.name()));
    all.into_iter()
}
