//! Data races: two accesses to a cell, one of which writes, and neither of which happens before the other.
//!
//! Each task counts its stretches between two releases; a [view](super::view::View) says which stretch of which task it
//! contains. So an access happened before everything done under a view that contains its stretch.
//!
//! Source: C. Flanagan and S. N. Freund, "FastTrack: efficient and precise dynamic race detection", 2009; but all reads are kept.

use clewline_explore::TaskId;

use super::{place::Place, view::View};

/// What was done to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellAccess {
    /// It was read.
    Read,
    /// It was written.
    Write,
    /// A pointer to it was taken, and probably written through.
    Pointer,
    /// It was dropped.
    Drop,
}

/// One of the two accesses of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RacingAccess {
    /// Who.
    pub task: TaskId,
    /// Where in the source.
    pub place: Place,
    /// What it did.
    pub access: CellAccess,
}

/// Two accesses to a cell that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The one that came first in this execution.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
}

impl Race {
    /// Whether one of the two certainly writes, and the other certainly accesses. If not, a pointer was taken, and only who did
    /// so knows whether it was written through.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.first.access != CellAccess::Pointer && self.second.access != CellAccess::Pointer
    }
}

/// What was done to a cell that may race with what is done next.
#[derive(Debug, Default)]
pub(super) struct CellAccesses {
    // The last of each task that wrote, and the last of each that read, with the stretch in which it did.
    last: Vec<(RacingAccess, u32)>,
}

impl CellAccesses {
    /// `toucher` accesses the cell with that view. Answers a race, a certain one if there is any.
    pub(super) fn record(&mut self, toucher: RacingAccess, view: &View) -> Option<Race> {
        let writes = toucher.access != CellAccess::Read;
        let races = self.last.iter().filter(|(it, stretch)| {
            (writes || it.access != CellAccess::Read) && it.task != toucher.task && view.time(it.task) < *stretch
        });
        let mut races = races.map(|it| Race { first: it.0, second: toucher });
        let race = races.clone().find(Race::is_certain).or_else(|| races.next());
        // What happened before this, and is no stronger, will not race with anything that this one does not race with.
        let is_over = |(it, stretch): &(RacingAccess, u32)| {
            *stretch <= view.time(it.task) && (toucher.access == CellAccess::Write || it.access == toucher.access)
        };
        self.last.retain(|it| !is_over(it));
        self.last.push((toucher, view.time(toucher.task)));
        race
    }
}
