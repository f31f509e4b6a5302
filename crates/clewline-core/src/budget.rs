//! Budgets: every search is bounded, and reports when it hits the bound.
//!
//! This crate reads no clock and makes no system calls. A time limit is enforced by the caller,
//! which calls [`Budget::stop`]; the memory that the process really uses can be supplied by a
//! gauge. [`interrupt`] stops everything in the process at once.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Requests everything in this process to stop and to report what was found so far: the process is
/// to end soon. Every [`Budget`] is stopped with [`Reason::Interrupted`]. A signal handler may call
/// this.
pub fn interrupt() {
    IS_INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Whether the process was [interrupted](interrupt). What runs for long without a budget asks.
#[must_use]
pub fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// How much a checker may use before it has to return
/// [`Verdict::Unknown`](crate::Verdict::Unknown).
///
/// Clones share their usage and the request to stop; a [`Budget::child`] can be stopped by itself.
#[derive(Clone, Debug)]
pub struct Budget {
    configurations: u64,
    memory: usize,
    // Limit on the bytes that searches report, independent of the process's real size: it does not
    // depend on the machine.
    quota: usize,
    gauge: Option<fn() -> usize>,
    is_urgent: bool,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: OnceLock<Reason>,
    parent: Option<Arc<Shared>>,
    memory: AtomicUsize,
    visited: AtomicU64,
    // How many operations a search has linearized, and of how many: the latter in the lower half.
    reached: AtomicU64,
}

impl Budget {
    /// No limit short of the machine's.
    #[must_use]
    pub fn unlimited() -> Budget {
        let (configurations, memory) = (u64::MAX, usize::MAX);
        let (gauge, is_urgent) = (None, false);
        Budget { configurations, memory, quota: usize::MAX, gauge, is_urgent, shared: Arc::default() }
    }

    /// Is not stopped by [`interrupt`]: for short work without which what was found cannot be
    /// reported.
    #[must_use]
    pub fn urgent(self) -> Budget {
        Budget { is_urgent: true, ..self }
    }

    /// At most this many configurations in each search.
    #[must_use]
    pub fn with_configurations(self, configurations: u64) -> Budget {
        Budget { configurations, ..self }
    }

    /// At most this many bytes in total, for all searches that share this budget.
    #[must_use]
    pub fn with_memory(self, memory: usize) -> Budget {
        Budget { memory, ..self }
    }

    /// Uses what `gauge` measures, such as the resident size of the process, where that is more
    /// than the searches report.
    #[must_use]
    pub fn with_gauge(self, gauge: fn() -> usize) -> Budget {
        Budget { gauge: Some(gauge), ..self }
    }

    /// At most this many bytes more than the searches that share this budget report now.
    #[must_use]
    pub fn with_quota(self, more: usize) -> Budget {
        let quota = self.memory_used().saturating_add(more).min(self.quota);
        Budget { quota, ..self }
    }

    /// A budget that is limited by this one and can also be stopped by itself.
    #[must_use]
    pub fn child(&self) -> Budget {
        let shared = Arc::new(Shared { parent: Some(Arc::clone(&self.shared)), ..Shared::default() });
        Budget { shared, ..self.clone() }
    }

    /// Requests every search with this budget, or a child of it, to stop. The first reason counts.
    pub fn stop(&self, reason: Reason) {
        let _already_stopped = self.shared.stop.set(reason);
    }

    /// Why searches have to stop; `None` if they may continue.
    #[must_use]
    pub fn stopped(&self) -> Option<Reason> {
        let stopped = self.shared.lineage().find_map(|it| it.stop.get().cloned());
        stopped.or_else(|| (is_interrupted() && !self.is_urgent).then_some(Reason::Interrupted))
    }

    /// Whether a search that has visited `configurations` may continue.
    ///
    /// # Errors
    ///
    /// The limit that was hit.
    pub fn allow(&self, configurations: u64) -> Result<(), Reason> {
        if let Some(reason) = self.stopped() {
            return Err(reason);
        }
        if self.configurations < configurations {
            return Err(Reason::Configurations(self.configurations));
        }
        self.allow_memory(0)
    }

    /// How many configurations each search may visit.
    #[must_use]
    pub fn configurations(&self) -> u64 {
        self.configurations
    }

    /// How many bytes all searches together may hold.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Whether `more` bytes may be allocated.
    ///
    /// # Errors
    ///
    /// The limit that would be hit.
    pub fn allow_memory(&self, more: usize) -> Result<(), Reason> {
        if self.quota != usize::MAX && self.quota < self.memory_used().saturating_add(more) {
            return Err(Reason::Memory(self.quota));
        }
        if self.memory == usize::MAX {
            return Ok(());
        }
        let measured = self.gauge.map_or(0, |gauge| gauge());
        let used = self.memory_used().max(measured);
        if self.memory < used.saturating_add(more) { Err(Reason::Memory(self.memory)) } else { Ok(()) }
    }

    /// The bytes that searches with this budget report.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        self.shared.root().memory.load(Ordering::Relaxed)
    }

    /// Approximate number of configurations visited so far by all searches that share this budget.
    #[must_use]
    pub fn visited(&self) -> u64 {
        self.shared.root().visited.load(Ordering::Relaxed)
    }

    /// Reports that `configurations` more were visited.
    pub fn visit(&self, configurations: u64) {
        self.shared.root().visited.fetch_add(configurations, Ordering::Relaxed);
    }

    /// Reports that a search has linearized at most `linearized` of `operations` operations so far.
    pub fn reach(&self, linearized: usize, operations: usize) {
        let half = |count: usize| u64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let new = half(linearized) << 32 | half(operations);
        let keeps_most = |old: u64| Some(if old as u32 == new as u32 { old.max(new) } else { new });
        let _always_set =
            self.shared.root().reached.fetch_update(Ordering::Relaxed, Ordering::Relaxed, keeps_most);
    }

    /// How many operations the search that reported last has linearized at most, and of how many.
    #[must_use]
    pub fn reached(&self) -> Option<(u64, u64)> {
        let reached = self.shared.root().reached.load(Ordering::Relaxed);
        (reached != 0).then_some((reached >> 32, reached & u64::from(u32::MAX)))
    }

    /// An account of memory, at zero.
    #[must_use]
    pub fn charge(&self) -> Charge {
        Charge { shared: Arc::clone(&self.shared), bytes: 0 }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Budget::unlimited()
    }
}

impl Shared {
    fn lineage(&self) -> impl Iterator<Item = &Shared> {
        std::iter::successors(Some(self), |it| it.parent.as_deref())
    }

    fn root(&self) -> &Shared {
        self.lineage().last().unwrap_or(self)
    }
}

/// The memory that one search reports to a shared budget; released when dropped.
#[derive(Debug)]
pub struct Charge {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Charge {
    /// The search now holds `bytes`.
    pub fn set(&mut self, bytes: usize) {
        let memory = &self.shared.root().memory;
        if self.bytes <= bytes {
            memory.fetch_add(bytes - self.bytes, Ordering::Relaxed);
        } else {
            memory.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Why a checker returned `Unknown`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It visited as many configurations as it was allowed.
    Configurations(u64),
    /// It needed more than this many bytes.
    Memory(usize),
    /// It was stopped after this long.
    Time(Duration),
    /// It was stopped because its result was no longer needed.
    Cancelled,
    /// The process was [interrupted](interrupt).
    Interrupted,
    /// It does not support such a problem.
    Refused(String),
    /// The specification could not be evaluated: a script has failed.
    Specification(String),
    /// Its evidence did not stand up to verification: a bug in Clewline.
    Internal(String),
    /// Operations of the system under test did not return, for no known cause: they may be slow.
    NoReturn(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Configurations(limit) => write!(f, "the limit of {limit} configurations was hit"),
            Reason::Memory(limit) => write!(f, "the memory limit of {} was hit", Bytes(*limit)),
            Reason::Time(limit) => write!(f, "the time limit of {limit:?} was hit"),
            Reason::Cancelled => write!(f, "the search was stopped because it was no longer needed"),
            Reason::Interrupted => write!(f, "interrupted"),
            Reason::Refused(why) | Reason::NoReturn(why) => write!(f, "{why}"),
            Reason::Specification(why) => write!(f, "the specification failed: {why}"),
            Reason::Internal(what) => write!(f, "internal error: {what}; please report this bug in Clewline"),
        }
    }
}

struct Bytes(usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
            if self.0 != 0 && self.0.trailing_zeros() >= shift {
                return write!(f, "{} {unit}", self.0 >> shift);
            }
        }
        write!(f, "{} bytes", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_stopped_with_its_parent_and_not_with_its_sibling() {
        let parent = Budget::unlimited();
        let (one, other) = (parent.child(), parent.child());
        one.stop(Reason::Cancelled);
        assert_eq!(one.allow(0), Err(Reason::Cancelled));
        assert_eq!(other.allow(0), Ok(()));
        parent.stop(Reason::Time(Duration::from_secs(1)));
        assert_eq!(other.allow(0), Err(Reason::Time(Duration::from_secs(1))));
        assert_eq!(one.allow(0), Err(Reason::Cancelled));
    }

    #[test]
    fn the_most_that_a_search_has_linearized_is_kept_until_another_one_reports() {
        let budget = Budget::unlimited();
        assert_eq!(budget.reached(), None);
        budget.child().reach(3, 10);
        budget.reach(2, 10);
        assert_eq!(budget.reached(), Some((3, 10)));
        budget.reach(1, 20);
        assert_eq!(budget.reached(), Some((1, 20)));
    }

    #[test]
    fn memory_is_shared_and_released() {
        let budget = Budget::unlimited().with_memory(1_000);
        let mut charge = budget.child().charge();
        charge.set(700);
        assert_eq!(budget.allow_memory(300), Ok(()));
        assert_eq!(budget.allow_memory(301), Err(Reason::Memory(1_000)));
        charge.set(100);
        assert_eq!(budget.memory_used(), 100);
        drop(charge);
        assert_eq!(budget.memory_used(), 0);
    }

    #[test]
    fn a_quota_counts_what_searches_hold_from_now_on() {
        let budget = Budget::unlimited();
        let mut charge = budget.charge();
        charge.set(700);
        let child = budget.child().with_quota(300);
        assert_eq!(child.allow_memory(300), Ok(()));
        assert_eq!(child.allow_memory(301), Err(Reason::Memory(1_000)));
        assert_eq!(child.child().with_quota(500).allow_memory(301), Err(Reason::Memory(1_000)));
        assert_eq!(budget.allow_memory(301), Ok(()));
        charge.set(600);
        assert_eq!(child.allow_memory(400), Ok(()));
    }

    #[test]
    fn a_gauge_counts_when_it_measures_more() {
        let budget = Budget::unlimited().with_memory(1_000).with_gauge(|| 999);
        assert_eq!(budget.allow_memory(1), Ok(()));
        assert_eq!(budget.allow_memory(2), Err(Reason::Memory(1_000)));
    }

    #[test]
    fn limits_are_named_in_round_units() {
        assert_eq!(Reason::Memory(1 << 30).to_string(), "the memory limit of 1 GiB was hit");
        assert_eq!(Reason::Memory(1_000).to_string(), "the memory limit of 1000 bytes was hit");
    }
}
