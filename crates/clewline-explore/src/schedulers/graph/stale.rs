//! How many accesses of a graph take another store than the newest.
//!
//! That depends on the order in which events are executed, so the order with the fewest counts. It
//! is found by a search. What stores nothing, and stores that leave all accesses that follow as
//! they are, can be executed as soon as possible; of other stores each may be the next one.
//!
//! A graph has at least as many stale accesses as the graphs that lead to it: those are a part of
//! it, or a revisit has deleted from them what was added maximally, which is never stale. So
//! nothing is lost if graphs with more of them than the bound are not continued.

use std::collections::HashMap;

use super::events::{EventId, Events, INITIAL, Kind};

struct Search<'a> {
    events: &'a Events,
    // What comes first among sequentially consistent events.
    before: Vec<(EventId, EventId)>,
    // Where as many more stale accesses were not enough.
    failed: HashMap<Vec<usize>, u32>,
}

impl Events {
    /// Whether the events can be executed in an order with at most `most` stale accesses.
    pub(super) fn is_within(&self, most: u32) -> bool {
        let mut search = Search { events: self, before: self.total_order(), failed: HashMap::new() };
        search.finds(vec![0; self.tasks.len()], vec![false; self.all.len()], most)
    }

    /// The last store of the event's location among those that were executed.
    fn newest(&self, event: EventId, done: &[bool]) -> EventId {
        let stores = self.location(self.at(event)).stores.iter().rev();
        stores.copied().find(|it| done[*it as usize]).unwrap_or(INITIAL)
    }

    /// How many accesses of a step are stale if it is executed now; `None` if it cannot be.
    fn stale_in(&self, step: &[EventId], done: &[bool]) -> Option<u32> {
        let mut stale = 0;
        for event in step.iter().copied() {
            let it = self.at(event);
            match it.kind {
                Kind::Object(_) if self.newest(event, done) != it.source => return None,
                Kind::Read | Kind::UpdateRead { .. } => {
                    stale += u32::from(self.newest(event, done) != it.source);
                }
                Kind::Write => {
                    let location = self.location(it);
                    let is_last = location.number(self.newest(event, done)) < location.number(event);
                    stale += u32::from(!is_last);
                }
                _ => (),
            }
        }
        Some(stale)
    }

    /// Whether no access that is executed later becomes stale because of a step.
    fn is_harmless(&self, step: &[EventId], done: &[bool]) -> bool {
        let is_left = |it: &EventId| !done[*it as usize] && !step.contains(it);
        step.iter().copied().filter(|it| matches!(self.at(*it).kind, Kind::Write | Kind::UpdateWrite)).all(
            |store| {
                let location = self.location(self.at(store));
                let number = location.number(store);
                let mut stores = location.stores[..number].iter();
                let mut reads = location.reads.iter().filter(|it| is_left(it));
                !stores.any(is_left) && reads.all(|it| number <= location.number(self.at(*it).source))
            },
        )
    }
}

impl Search<'_> {
    /// Whether what is not `done` can be executed with `most` stale accesses.
    fn finds(&mut self, mut made: Vec<usize>, mut done: Vec<bool>, most: u32) -> bool {
        let mut others = self.go_on(&mut made, &mut done);
        if others.is_empty() {
            return done.iter().all(|it| *it) || self.events.can_wait(&made, &done);
        }
        if self.failed.get(&made).is_some_and(|it| most <= *it) {
            return false;
        }
        others.sort_unstable();
        for (stale, task) in others {
            if stale <= most {
                let (mut made, mut done) = (made.clone(), done.clone());
                self.execute(task, &mut made, &mut done);
                if self.finds(made, done, most - stale) {
                    return true;
                }
            }
        }
        self.failed.insert(made, most);
        false
    }

    /// Executes what can be executed without a choice. Returns the other tasks that can go on, with
    /// the number of stale accesses of their next step.
    fn go_on(&self, made: &mut [usize], done: &mut [bool]) -> Vec<(u32, usize)> {
        loop {
            let (mut others, mut is_changed) = (Vec::new(), false);
            for task in 0..made.len() {
                while let Some(stale) = self.next(task, made, done) {
                    let step = self.events.step(task, made[task]);
                    if stale != 0 || !self.events.is_harmless(step, done) {
                        others.push((stale, task));
                        break;
                    }
                    self.execute(task, made, done);
                    is_changed = true;
                }
            }
            if !is_changed {
                return others;
            }
        }
    }

    /// How many accesses of the next step of `task` are stale; `None` if it cannot be executed.
    fn next(&self, task: usize, made: &[usize], done: &[bool]) -> Option<u32> {
        let step = self.events.step(task, made[task]);
        let can_go_on = !step.is_empty()
            && self.events.can_begin(task, made)
            && step.iter().all(|it| self.events.is_ready(*it, step, &self.before, done));
        if can_go_on { self.events.stale_in(step, done) } else { None }
    }

    fn execute(&self, task: usize, made: &mut [usize], done: &mut [bool]) {
        let step = self.events.step(task, made[task]);
        step.iter().for_each(|it| done[*it as usize] = true);
        made[task] += step.len();
    }
}
