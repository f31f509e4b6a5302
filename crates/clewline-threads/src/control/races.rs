//! Data races: two accesses to a cell, at least one a write, that are not ordered by
//! happens-before.
//!
//! Each task counts the intervals between its releases; a [view](super::view::View) contains a
//! number of intervals of each task. So an access happens before everything done under a view that
//! contains its interval.
//!
//! Source: C. Flanagan and S. N. Freund, "FastTrack: efficient and precise dynamic race detection",
//! 2009; but all reads are kept.

use clewline_explore::TaskId;

use super::{place::Place, view::View};

/// The kind of an access to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellAccess {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A pointer was taken, and probably written through.
    Pointer,
    /// The cell was dropped.
    Drop,
    /// A volatile read, which is not atomic.
    VolatileRead,
    /// A volatile write, which is not atomic.
    VolatileWrite,
    /// An atomic read, which races with plain writes only.
    AtomicRead,
    /// An atomic write, which races with plain accesses only.
    AtomicWrite,
    /// The memory was freed.
    Free,
}

impl CellAccess {
    /// Each of them.
    pub const ALL: [CellAccess; 9] = [
        CellAccess::Read,
        CellAccess::Write,
        CellAccess::Pointer,
        CellAccess::Drop,
        CellAccess::VolatileRead,
        CellAccess::VolatileWrite,
        CellAccess::AtomicRead,
        CellAccess::AtomicWrite,
        CellAccess::Free,
    ];

    /// Its name in reports for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CellAccess::Read => "read",
            CellAccess::Write => "write",
            CellAccess::Pointer => "pointer",
            CellAccess::Drop => "drop",
            CellAccess::VolatileRead => "volatile-read",
            CellAccess::VolatileWrite => "volatile-write",
            CellAccess::AtomicRead => "atomic-read",
            CellAccess::AtomicWrite => "atomic-write",
            CellAccess::Free => "free",
        }
    }
}

/// One of the two accesses of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RacingAccess {
    /// The task.
    pub task: TaskId,
    /// The place in the source.
    pub place: Place,
    /// The kind of access.
    pub access: CellAccess,
    /// The number of bytes, if known.
    pub size: Option<u32>,
}

/// A change of the code that would have ordered two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// What would be needed.
    pub kind: RemedyKind,
    /// The place in the source.
    pub place: Place,
}

/// What would order two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemedyKind {
    /// A store there with release ordering.
    Release,
    /// A load there with acquire ordering.
    Acquire,
    /// The lock that was taken there, which the first access was made without.
    LockForFirst,
    /// The lock that was taken there, which the second access was made without.
    LockForSecond,
}

impl RemedyKind {
    /// Each of them.
    pub const ALL: [RemedyKind; 4] =
        [RemedyKind::Release, RemedyKind::Acquire, RemedyKind::LockForFirst, RemedyKind::LockForSecond];

    /// Its name in reports for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RemedyKind::Release => "release",
            RemedyKind::Acquire => "acquire",
            RemedyKind::LockForFirst => "lock-for-first",
            RemedyKind::LockForSecond => "lock-for-second",
        }
    }
}

/// Two unordered accesses to a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRace {
    /// The access that came first in this execution.
    pub first: RacingAccess,
    /// The other access.
    pub second: RacingAccess,
    /// What would have ordered them, all together, as far as known.
    pub remedies: Vec<Remedy>,
}

impl DataRace {
    /// Whether one of the two is certainly a write, and the other certainly an access. If not, a
    /// pointer was taken, and whether it was written through is unknown.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.first.access != CellAccess::Pointer && self.second.access != CellAccess::Pointer
    }
}

/// The accesses to a cell that may race with the next one.
#[derive(Debug, Default)]
pub(super) struct CellAccesses {
    // The last write and the last read of each task, with the interval of each.
    last: Vec<(RacingAccess, u32)>,
}

impl CellAccesses {
    /// The memory that they use.
    pub(super) fn own_memory(&self) -> std::ops::Range<usize> {
        let range = self.last.as_ptr_range();
        range.start.addr()..range.end.addr()
    }

    /// Records an access to the cell with that view. Returns a race, a certain one if there is any.
    pub(super) fn record(&mut self, toucher: RacingAccess, view: &View) -> Option<DataRace> {
        let writes = toucher.access != CellAccess::Read;
        let races = self.last.iter().filter(|(it, stretch)| {
            (writes || it.access != CellAccess::Read)
                && it.task != toucher.task
                && view.time(it.task) < *stretch
        });
        let mut races = races.map(|it| DataRace { first: it.0, second: toucher, remedies: Vec::new() });
        let race = races.clone().find(DataRace::is_certain).or_else(|| races.next());
        // An earlier ordered access that is not stronger races only with accesses that also race
        // with this one.
        let is_over = |(it, stretch): &(RacingAccess, u32)| {
            *stretch <= view.time(it.task)
                && (toucher.access == CellAccess::Write || it.access == toucher.access)
        };
        self.last.retain(|it| !is_over(it));
        self.last.push((toucher, view.time(toucher.task)));
        race
    }
}
