//! The search for a schedule: the sequence of elements as they were added, and as they were
//! removed.
//!
//! Both sequences grow from their fronts in turn, place by place. Elements that are in both need
//! not be remembered; of the others, at most k + 1 in either sequence, the place in their sequence.
//! The element with the earliest deadline is tried first. A dead configuration is remembered, so
//! that nothing is tried twice; if the first attempt succeeds nothing is remembered.
//!
//! Before each attempt it is counted whether the elements in only one sequence can still reach the
//! other in time: together with all operations that precede one of them.
//!
//! Invariants: the sequence of adds is as long as that of removals, or longer by one until all
//! removals are in it. Every element in a sequence comes after all that precede it there. No
//! *empty* result precedes an operation in a sequence, unless it has been put at a cut.

use std::collections::HashSet;

use clewline_core::Budget;

use super::{half::Half, merge::Schedule};
use crate::{
    columns::NONE,
    quasi_queue::elements::{DEAD_CONFIGS_MAX, Elements, SearchPosition},
};

/// See the [module](self).
pub(in super::super) struct ScheduleSearch<'e> {
    elements: &'e Elements,
    factor: usize,
    adds: Half,
    removes: Half,
    empties: Half,
    // By place.
    added: Vec<u32>,
    removed: Vec<u32>,
    // By place: the latest call of a removal up to it.
    latest_remove: Vec<u32>,
    // By element.
    add_place: Vec<u32>,
    remove_place: Vec<u32>,
    // How many in the sequence of adds are never removed.
    kept: usize,
    // The *empty* results, in the order in which they were put at cuts, and the place of each cut.
    cuts: Vec<(u32, u32)>,
    frames: Vec<Frame>,
    candidates: Vec<u32>,
    dead: HashSet<Box<[u32]>>,
    deepest: usize,
    reached: SearchPosition,
}

/// What may come next at some point of the search.
struct Frame {
    turn: Turn,
    // Of `candidates`: all of this frame, and those not tried yet.
    start: usize,
    next: usize,
    // How many cuts there were before.
    cuts: usize,
}

/// Which sequence grows next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Add,
    Remove,
    // Both are complete.
    Over,
}

/// The result of a search.
pub(in super::super) enum SearchResult {
    /// Both sequences.
    Found(Schedule),
    /// There are none.
    None { reached: SearchPosition },
    /// Too many steps, or it was stopped.
    GaveUp,
}

impl<'e> ScheduleSearch<'e> {
    pub(in super::super) fn new(elements: &'e Elements, factor: u32) -> ScheduleSearch<'e> {
        ScheduleSearch {
            elements,
            factor: factor as usize,
            adds: Half::new(&elements.adds),
            removes: Half::new(&elements.removes),
            empties: Half::new(&elements.empties),
            added: Vec::with_capacity(elements.len()),
            removed: Vec::with_capacity(elements.removed()),
            latest_remove: Vec::with_capacity(elements.removed()),
            add_place: vec![NONE; elements.len()],
            remove_place: vec![NONE; elements.len()],
            kept: 0,
            cuts: Vec::new(),
            frames: Vec::new(),
            candidates: Vec::new(),
            dead: HashSet::new(),
            deepest: 0,
            reached: SearchPosition { gaps: [NONE; 3] },
        }
    }

    /// Searches, for at most `steps` steps and within the budget.
    pub(in super::super) fn search(&mut self, steps: u64, budget: &Budget) -> SearchResult {
        let mut left = steps;
        if !self.enter() {
            return SearchResult::None { reached: self.reached };
        }
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return SearchResult::None { reached: self.reached };
            };
            let turn = frame.turn;
            if turn == Turn::Over {
                let (added, removed) = (std::mem::take(&mut self.added), std::mem::take(&mut self.removed));
                return SearchResult::Found(Schedule {
                    added,
                    removed,
                    cuts: std::mem::take(&mut self.cuts),
                });
            }
            let Some(&element) = self.candidates.get(frame.next) else {
                self.retreat();
                continue;
            };
            frame.next += 1;
            left -= 1;
            let is_stopped = left.is_multiple_of(1 << 12) && budget.stopped().is_some();
            if left == 0 || is_stopped || DEAD_CONFIGS_MAX <= self.dead.len() {
                return SearchResult::GaveUp;
            }
            self.place(turn, element);
            if !self.enter() {
                self.undo();
            }
        }
    }

    /// Gives up the current configuration for good.
    fn retreat(&mut self) {
        let key = self.key();
        self.dead.insert(key);
        self.leave();
        if !self.frames.is_empty() {
            self.undo();
        }
    }

    /// Drops the last frame, and the cuts that were made when it was entered.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.candidates.truncate(frame.start);
        self.uncut(frame.cuts);
    }

    fn uncut(&mut self, cuts: usize) {
        while cuts < self.cuts.len() {
            if let Some((empty, _)) = self.cuts.pop() {
                self.empties.unplace(empty);
            }
        }
    }

    /// Enters the current configuration; false if it is dead.
    fn enter(&mut self) -> bool {
        let cuts = self.cuts.len();
        self.cut();
        let turn = self.turn();
        let is_over_too_soon = turn == Turn::Over && self.cuts.len() != self.elements.empties.len();
        let is_hopeless = is_over_too_soon
            || !self.is_in_time(Turn::Add)
            || !self.is_in_time(Turn::Remove)
            || (!self.dead.is_empty() && self.dead.contains(&self.key()));
        if is_hopeless {
            self.note();
            self.uncut(cuts);
            return false;
        }
        let start = self.candidates.len();
        match turn {
            Turn::Add => self.collect_adds(),
            Turn::Remove => self.collect_removes(),
            Turn::Over => (),
        }
        self.frames.push(Frame { turn, start, next: start, cuts });
        self.note();
        true
    }

    /// Records how far the search has come.
    fn note(&mut self) {
        let depth = self.added.len() + self.removed.len();
        if self.deepest <= depth {
            self.deepest = depth;
            self.reached.gaps = [&self.adds, &self.removes, &self.empties].map(Half::first_end);
        }
    }

    fn turn(&self) -> Turn {
        if self.removed.len() < self.added.len().min(self.elements.removed()) {
            Turn::Remove
        } else if self.added.len() < self.elements.len() {
            Turn::Add
        } else {
            Turn::Over
        }
    }

    fn place(&mut self, turn: Turn, element: u32) {
        let at = element as usize;
        match turn {
            Turn::Add => {
                self.add_place[at] = self.added.len() as u32;
                self.added.push(element);
                self.adds.place(element);
                self.kept += usize::from(self.elements.removed() <= at);
            }
            Turn::Remove => {
                self.remove_place[at] = self.removed.len() as u32;
                self.removed.push(element);
                let latest = self.latest_remove.last().copied().unwrap_or(0);
                self.latest_remove.push(latest.max(self.removes.spans[at].left));
                self.removes.place(element);
            }
            Turn::Over => (),
        }
    }

    /// Undoes what the last frame placed.
    fn undo(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        match frame.turn {
            Turn::Add => {
                if let Some(element) = self.added.pop() {
                    self.add_place[element as usize] = NONE;
                    self.adds.unplace(element);
                    self.kept -= usize::from(self.elements.removed() <= element as usize);
                }
            }
            Turn::Remove => {
                if let Some(element) = self.removed.pop() {
                    self.remove_place[element as usize] = NONE;
                    self.latest_remove.pop();
                    self.removes.unplace(element);
                }
            }
            Turn::Over => (),
        }
    }

    /// Puts all *empty* results here that may be here. This loses nothing: the operations that
    /// follow in the sequences may take effect later anyway.
    fn cut(&mut self) {
        let place = self.added.len();
        let is_empty = place == self.removed.len()
            && self.kept == 0
            && self.only_in(Turn::Add).next().is_none()
            && self.only_in(Turn::Remove).next().is_none();
        if !is_empty || self.empties.is_done() {
            return;
        }
        let first_add = self.adds.first_end();
        if first_add < self.latest_remove.last().copied().unwrap_or(0) {
            return;
        }
        let ends = first_add.min(self.removes.first_end());
        while let Some(empty) = self.empties.first_open(ends.min(self.empties.first_end())) {
            self.empties.place(empty);
            self.cuts.push((empty, place as u32));
        }
    }

    /// The elements that are in this sequence and will be in the other, in the order of the
    /// sequence.
    fn only_in(&self, turn: Turn) -> impl Iterator<Item = u32> {
        let (sequence, other) = match turn {
            Turn::Add => (&self.added, &self.remove_place),
            Turn::Remove | Turn::Over => (&self.removed, &self.add_place),
        };
        let recent = &sequence[sequence.len().saturating_sub(self.factor + 2)..];
        let is_removed = |it: &u32| (*it as usize) < self.elements.removed();
        recent.iter().copied().filter(move |it| other[*it as usize] == NONE && is_removed(it))
    }

    /// Whether the elements that are only in this sequence can reach the other in time.
    fn is_in_time(&self, turn: Turn) -> bool {
        let (half, places, next) = match turn {
            Turn::Add => (&self.removes, &self.add_place, self.removed.len()),
            Turn::Remove | Turn::Over => (&self.adds, &self.remove_place, self.added.len()),
        };
        let mut latest = 0;
        let mut count = 0;
        for element in self.only_in(turn) {
            count += 1;
            latest = latest.max(half.spans[element as usize].left);
            // The last place at which it may come.
            let deadline = places[element as usize] as usize + self.factor;
            let Some(room) = (deadline + 1).checked_sub(next) else { return false };
            // Of those so far, the ones that do not precede the latest come in addition to all that
            // do.
            let besides = self.only_in(turn).take(count);
            let besides = besides.filter(|&it| latest <= half.spans[it as usize].right).count();
            if room < besides || half.exceeds(latest, room - besides) {
                return false;
            }
        }
        true
    }

    /// The element of one sequence that has to come now in the other, as it could not come later.
    fn due(&self, turn: Turn) -> Option<u32> {
        let (places, next) = match turn {
            Turn::Add => (&self.add_place, self.removed.len()),
            Turn::Remove | Turn::Over => (&self.remove_place, self.added.len()),
        };
        self.only_in(turn).next().filter(|&it| places[it as usize] as usize + self.factor == next)
    }

    fn collect_adds(&mut self) {
        let place = self.added.len();
        let due = self.due(Turn::Remove);
        // An element that is removed was added before any element whose add was called after a
        // later removal returned.
        let waiting = self.only_in(Turn::Remove).next();
        let since = waiting.map_or(self.removed.len(), |it| self.remove_place[it as usize] as usize);
        let ends = self.removed[since..].iter().map(|&it| self.removes.spans[it as usize].right);
        let end = ends.fold(self.removes.first_end().min(self.empties.first_end()), u32::min);
        let end = end.min(self.adds.first_end());
        let start = self.candidates.len();
        let removed = self.elements.removed();
        for element in self.adds.open(end) {
            let is_kept = removed <= element as usize;
            if due.is_some_and(|it| it != element) || is_kept && place + self.factor < removed + self.kept {
                continue;
            }
            self.candidates.push(element);
        }
        let key = |&it: &u32| match (self.remove_place[it as usize], self.removes.spans.get(it as usize)) {
            (NONE, None) => (2, it),
            (NONE, Some(span)) => (1, span.left.saturating_add(span.right)),
            (place, _) => (0, place),
        };
        self.candidates[start..].sort_by_key(key);
    }

    fn collect_removes(&mut self) {
        let due = self.due(Turn::Add);
        let end = self.removes.first_end().min(self.empties.first_end());
        let start = self.candidates.len();
        for element in self.removes.open(end) {
            if due.is_none_or(|it| it == element) {
                self.candidates.push(element);
            }
        }
        let key = |&it: &u32| match (self.add_place[it as usize], self.adds.spans[it as usize]) {
            (NONE, span) => (1, span.left.saturating_add(span.right)),
            (place, _) => (0, place),
        };
        self.candidates[start..].sort_by_key(key);
    }

    /// All that matters of the current configuration.
    fn key(&self) -> Box<[u32]> {
        let mut key = Vec::with_capacity(4 * self.factor + 16);
        for half in [&self.adds, &self.removes, &self.empties] {
            key.push(half.frontier);
            key.extend(&half.ahead);
            key.push(NONE);
        }
        let mut unpaired: Vec<u32> = self.only_in(Turn::Add).collect();
        unpaired.sort_unstable();
        key.extend(unpaired.into_iter().map(|it| self.add_place[it as usize]));
        let mut unpaired: Vec<u32> = self.only_in(Turn::Remove).collect();
        unpaired.sort_unstable();
        for it in unpaired {
            let place = self.remove_place[it as usize];
            let ends = self.removed[place as usize..].iter().map(|&it| self.removes.spans[it as usize].right);
            key.extend([place, ends.min().unwrap_or(NONE)]);
        }
        key.into_boxed_slice()
    }
}
