//! Backward revisits: a write that is added may be read by a read that was added earlier.
//!
//! Everything that was added after the read is deleted, except for what the write depends on. The
//! same deleted events could have been added in other ways, and each of them leads to the same
//! graph; so the read is revisited only where all of them were added *maximally*: each read reads
//! the last store, and each store comes last, of those that were there.
//!
//! Source: M. Kokologiannakis, I. Marmanis, V. Gladstein, V. Vafeiadis, "Truly stateless, optimal
//! dynamic partial order reduction", 2022, algorithm 1 and section 4.

use super::events::{Alternative, Event, EventId, Events, INITIAL, Kind, NOWHERE, Prefix};

impl Events {
    /// The revisits of `write`, which was added last.
    pub(super) fn revisits(&self, write: EventId) -> Vec<Alternative> {
        let event = self.at(write);
        let location = self.location(event);
        let mut all = Vec::new();
        for &read in &location.reads {
            if !event.causes.contains(self.at(read)) && self.can_be_deleted_after(read, event) {
                self.add_places(write, read, &mut all);
            }
        }
        all
    }

    /// Whether `event`, which is not `write`, stays if `read` is revisited by `write`.
    pub(super) fn is_kept(&self, event: EventId, read: EventId, write: &Event) -> bool {
        event <= read || write.causes.contains(self.at(event))
    }

    /// Whether `read`, and all events that would be deleted, were added maximally.
    fn can_be_deleted_after(&self, read: EventId, write: &Event) -> bool {
        let last = self.all.len() as EventId - 1;
        let mut deleted = (read + 1..last).filter(|it| !write.causes.contains(self.at(*it)));
        self.is_maximal(read, &write.causes) && deleted.all(|it| self.is_maximal(it, &write.causes))
    }

    /// Whether `event` was added maximally, with respect to the events before it and `causes`:
    /// those of the write that revisits.
    fn is_maximal(&self, event: EventId, causes: &Prefix) -> bool {
        let it = self.at(event);
        let is_there = |other: EventId| other <= event || causes.contains(self.at(other));
        let last = || {
            // The write that revisits was added last, and is not there.
            let revisiting = self.all.len() as EventId - 1;
            let stores = self.location(it).stores.iter().rev().copied();
            stores.filter(|it| *it != revisiting).find(|it| is_there(*it)).unwrap_or(INITIAL)
        };
        match it.kind {
            Kind::Local | Kind::Join(_) | Kind::Fence | Kind::Release => true,
            Kind::Value { .. } => it.source == 0,
            Kind::Read | Kind::UpdateRead { .. } | Kind::Object(_) => last() == it.source,
            Kind::Write | Kind::UpdateWrite => {
                debug_assert!(it.location != NOWHERE);
                let is_read = |read: &EventId| self.at(*read).source == event && is_there(*read);
                last() == event && !self.location(it).reads.iter().any(is_read)
            }
        }
    }

    /// The places in modification order at which `write` can be read by `read`, after the revisit.
    fn add_places(&self, write: EventId, read: EventId, to: &mut Vec<Alternative>) {
        let (event, revisited) = (self.at(write), self.at(read));
        let location = self.location(event);
        let kept = |it: EventId| it != write && self.is_kept(it, read, event);
        let seen = self.oldest_readable(location, &revisited.view);
        let mut add = |after: EventId| {
            if location.number(after) < seen || self.follower(location, after, kept).is_some() {
                return;
            }
            to.push(Alternative::Revisit { read, after, writes: true });
        };
        if event.kind == Kind::UpdateWrite {
            return add(self.source_of_update(write));
        }
        // What the task of the write knows, it knows without the write.
        let mut known = event.happened;
        known.exclude(event);
        let oldest = self.oldest_readable(location, &known);
        for number in oldest..=location.stores.len() {
            let after = location.store(number);
            if after == INITIAL || kept(after) {
                add(after);
            }
        }
    }
}
