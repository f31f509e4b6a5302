//! The next graph that is to be explored.

use std::sync::atomic::Ordering;

use super::{
    events::{Alternative, Event, EventId, Events, INITIAL, Kind},
    state::Graph,
};
use crate::step::TaskId;

impl Graph {
    /// Changes the graph to the next one that is to be executed, if there is one.
    pub(super) fn advance(&mut self) -> bool {
        loop {
            if self.events.all.len() == self.base {
                let Some((events, base)) = self.kept.pop() else { return false };
                (self.events, self.base) = (events, base);
                continue;
            }
            let last = self.events.all.len() as EventId - 1;
            let Some(alternative) = self.events.at_mut(last).alternatives.pop() else {
                self.events.pop();
                continue;
            };
            self.revisited = None;
            let plan = match alternative {
                Alternative::Revisit { read, after, writes } => self.revisit(last, read, after, writes),
                _ if !self.take(last, alternative) => None,
                _ => Self::plan(&self.events, self.stale_max, &mut self.is_bounded),
            };
            if let Some(plan) = plan {
                self.run.begin(plan);
                return true;
            }
        }
    }

    /// How to execute the graph, if it is consistent, and its stale accesses are not too many.
    fn plan(events: &Events, stale_max: Option<u32>, is_bounded: &mut bool) -> Option<Vec<TaskId>> {
        let plan = events.plan()?;
        let is_within = stale_max.is_none_or(|most| events.is_within(most));
        *is_bounded |= !is_within;
        is_within.then_some(plan)
    }

    /// Changes the graph as `alternative` of its last event says. Returns whether it is to be
    /// executed.
    fn take(&mut self, last: EventId, alternative: Alternative) -> bool {
        match alternative {
            Alternative::Value(value) => self.events.at_mut(last).source = value,
            Alternative::After(store) => self.events.place(last, store),
            Alternative::Source { store, writes } => {
                let event = self.events.at(last);
                let order = event.kind.ordering(event.order, writes);
                let is_taken =
                    writes && self.events.follower(self.events.location(event), store, |_| true).is_some();
                self.events.set_source(last, store, order);
                if writes {
                    let write = self.events.push_update_write(last);
                    self.events.at_mut(write).alternatives = self.events.revisits(write);
                }
                // Two updates cannot read one store. But the other one may read this one.
                return !is_taken;
            }
            Alternative::Revisit { .. } => (),
        }
        true
    }

    /// `read` reads `write`, the last event, which comes directly after `after`. Returns how to
    /// execute that, if it is consistent.
    ///
    /// If `read` belongs to an update, whether that writes, and so its ordering, is known only when
    /// it has read. At first it is supposed to write.
    fn revisit(
        &mut self,
        write: EventId,
        read: EventId,
        after: EventId,
        writes: bool,
    ) -> Option<Vec<TaskId>> {
        let events = &self.events;
        let keeps = |it: EventId| it == write || events.is_kept(it, read, events.at(write));
        let (mut events, renamed) = events.restricted(keeps);
        let id = |it: EventId| renamed.get(it as usize).copied().unwrap_or(INITIAL);
        let (new_write, new_read, after_new) = (id(write), id(read), id(after));
        events.place(new_write, after_new);
        let Event { kind, order, .. } = *events.at(new_read);
        events.set_source(new_read, new_write, kind.ordering(order, writes));
        let is_update = matches!(kind, Kind::UpdateRead { .. });
        let plan = Self::plan(&events, self.stale_max, &mut self.is_bounded);
        if plan.is_none() {
            if is_update && writes {
                self.suppose_no_write(Alternative::Revisit { read, after, writes });
            }
            return None;
        }
        self.revisited = Some((new_read, Alternative::Revisit { read, after, writes }));
        let base = std::mem::replace(&mut self.base, events.all.len());
        self.kept.push((std::mem::replace(&mut self.events, events), base));
        plan
    }

    /// The same revisit of the last event is to be explored for an update that does not write.
    fn suppose_no_write(&mut self, alternative: Alternative) {
        if let (Alternative::Revisit { read, after, .. }, Some(last)) =
            (alternative, self.events.all.last_mut())
        {
            last.alternatives.push(Alternative::Revisit { read, after, writes: false });
        }
    }

    /// Whether the update with this read was revisited and supposed to do something else than it
    /// does, which is to write if `writes`, so that the order of the execution is not right.
    pub(super) fn is_supposed_otherwise(&mut self, update: EventId, writes: bool) -> bool {
        let Some((read, alternative)) = self.revisited else { return false };
        let (Alternative::Revisit { writes: supposed, .. }, Kind::UpdateRead { success, failure }) =
            (alternative, self.events.at(update).kind)
        else {
            return false;
        };
        if read != update || writes == supposed {
            return false;
        }
        // If it could write, that would have been found consistent before.
        let is_worse = writes || (failure == Ordering::SeqCst && success != Ordering::SeqCst);
        if is_worse
            && !writes
            && let Some((events, base)) = self.kept.pop()
        {
            (self.events, self.base) = (events, base);
            self.suppose_no_write(alternative);
        }
        is_worse
    }
}
