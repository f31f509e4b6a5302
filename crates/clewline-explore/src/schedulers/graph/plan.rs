//! An order in which the events of a graph can be executed, if there is one.
//!
//! Each event comes after those before it in program order and after the store that it reads.
//! Sequentially consistent events also come after those whose effects they observe: such an event,
//! or an event that happens after such a fence, comes before another of its location in
//! modification order and reads-from, and this is such an event or happens before such a fence.
//! There is no cycle if and only if the graph is consistent; that each location is coherent is
//! checked elsewhere.
//!
//! Source: O. Lahav, V. Vafeiadis, J. Kang, C. Hur, D. Dreyer, "Repairing sequential consistency in
//! C/C++11", 2017, section 3, for executions whose steps can be made one after the other.

use super::events::{Event, EventId, Events, INITIAL, Kind, NOWHERE};
use crate::step::TaskId;

impl Events {
    /// The tasks that make the steps of the graph, in an order in which they can be executed.
    pub(super) fn plan(&self) -> Option<Vec<TaskId>> {
        let before = self.total_order();
        let mut done = vec![false; self.all.len()];
        let mut made = vec![0; self.tasks.len()];
        let (mut plan, mut left) = (Vec::with_capacity(self.all.len()), self.all.len());
        while left != 0 {
            let left_before = left;
            for task in 0..self.tasks.len() {
                while self.can_begin(task, &made) {
                    let step = self.step(task, made[task]);
                    if step.is_empty() || !step.iter().all(|it| self.is_ready(*it, step, &before, &done)) {
                        break;
                    }
                    if self.at(step[0]).begins_step {
                        plan.push(TaskId(task as u8));
                    }
                    step.iter().for_each(|it| done[*it as usize] = true);
                    (made[task], left) = (made[task] + step.len(), left - step.len());
                }
            }
            if left == left_before {
                return self.can_wait(&made, &done).then_some(plan);
            }
        }
        Some(plan)
    }

    /// Whether `task` can begin, if each has executed `made` of its events.
    pub(super) fn can_begin(&self, task: usize, made: &[usize]) -> bool {
        let has_started = |(by, events): (TaskId, u32)| events as usize <= made[by.index()];
        self.after[task].iter().all(|it| self.tasks[it.index()].len() == made[it.index()])
            && self.starts[task].is_none_or(has_started)
    }

    /// Whether the events that were not executed can be executed later: each acquires a lock, and
    /// waits for a release that is not there yet.
    pub(super) fn can_wait(&self, made: &[usize], done: &[bool]) -> bool {
        let mut rest = self.tasks.iter().zip(made).map(|(events, made)| &events[*made..]);
        rest.all(|rest| match *rest {
            [] => true,
            [event] if self.at(event).kind.holds() => {
                let is_done = |it: EventId| done[it as usize];
                let source = self.at(event).source;
                (source == INITIAL || is_done(source))
                    && self.awaited(event).into_iter().all(|it| it.is_none_or(is_done))
            }
            _ => false,
        })
    }

    /// The events of `task` from `first` on that are executed as one step.
    pub(super) fn step(&self, task: usize, first: usize) -> &[EventId] {
        let rest = &self.tasks[task][first..];
        let others = rest.iter().skip(1).position(|it| self.at(*it).begins_step);
        &rest[..others.map_or(rest.len(), |it| it + 1)]
    }

    /// Whether an event of `step` can be executed, if those of `done` have been.
    pub(super) fn is_ready(
        &self,
        event: EventId,
        step: &[EventId],
        before: &[(EventId, EventId)],
        done: &[bool],
    ) -> bool {
        let is_done = |other: EventId| other == INITIAL || done[other as usize] || step.contains(&other);
        self.is_unblocked(event, is_done) && {
            let first = before.partition_point(|it| it.1 < event);
            before[first..].iter().take_while(|it| it.1 == event).all(|it| is_done(it.0))
        }
    }

    /// Pairs of events in the total order: the second observes the first. Sorted by the second.
    pub(super) fn total_order(&self) -> Vec<(EventId, EventId)> {
        let mut pairs = Vec::new();
        if (0..).zip(&self.all).filter(|it: &(EventId, &Event)| it.1.is_total()).nth(1).is_none() {
            return pairs;
        }
        // The accesses of each location, in coherence order. Those at one position are reads.
        let mut accesses = vec![Vec::new(); self.locations.len()];
        let mut fences: Vec<(EventId, Vec<Span>)> = Vec::new();
        for (id, event) in (0..).zip(&self.all).filter(|it| it.1.is_total()) {
            match event.kind {
                Kind::Fence => fences.push((id, self.spans(event))),
                _ => accesses[event.location as usize].push((self.coherence(id), id)),
            }
        }
        for accesses in &mut accesses {
            accesses.sort_unstable();
            let mut before: &[(usize, EventId)] = &[];
            for now in accesses.chunk_by(|one, other| one.0 == other.0) {
                pairs.extend(before.iter().flat_map(|one| now.iter().map(|other| (one.1, other.1))));
                before = now;
            }
        }
        for (fence, spans) in &fences {
            for (span, accesses) in spans.iter().zip(&accesses) {
                let after = accesses.iter().filter(|it| span.first < it.0);
                pairs.extend(after.map(|it| (*fence, it.1)));
                pairs.extend(accesses.iter().filter(|it| it.0 < span.last).map(|it| (it.1, *fence)));
            }
            let observes =
                |other: &[Span]| spans.iter().zip(other).any(|(one, other)| one.first < other.last);
            let others = fences.iter().filter(|it| it.0 != *fence && observes(&it.1));
            pairs.extend(others.map(|it| (*fence, it.0)));
        }
        pairs.sort_unstable_by_key(|it| it.1);
        pairs
    }

    /// What a sequentially consistent fence has to do with each location.
    fn spans(&self, fence: &Event) -> Vec<Span> {
        let mut spans = vec![Span { first: usize::MAX, last: 0 }; self.locations.len()];
        for (id, it) in (0..).zip(&self.all).filter(|it| it.1.location != NOWHERE) {
            let (at, span) = (self.coherence(id), &mut spans[it.location as usize]);
            if it.happened.contains(fence) {
                span.first = span.first.min(at);
            }
            if fence.happened.contains(it) {
                span.last = span.last.max(at);
            }
        }
        spans
    }

    /// The position of an access in the coherence order of its location: a read comes after the
    /// store that it reads, and before the next one. Positions begin with 1.
    fn coherence(&self, access: EventId) -> usize {
        let event = self.at(access);
        let location = self.location(event);
        if event.kind.reads() {
            return 2 * location.number(event.source) + 2;
        }
        2 * location.number(access) + 1
    }
}

/// The first position in coherence order of the accesses after a fence, and the last of those
/// before it.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: usize,
    last: usize,
}
