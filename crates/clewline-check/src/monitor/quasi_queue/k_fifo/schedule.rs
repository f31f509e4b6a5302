//! The search for two rows: elements as they were added, and as they were removed.
//!
//! Both rows grow from their fronts in turn, place by place. Nothing is remembered of the elements that stand in both; of the
//! others, of which there are at most k + 1 on either side, the place in the row in which they stand. The element that has to
//! come soonest lest it be too late is tried first. A configuration that led nowhere is remembered, so that nothing is
//! tried twice; where the first attempt succeeds nothing is.
//!
//! Before each attempt it is counted whether those that stand in one row can still reach the other in time: with them,
//! everybody has to come who precedes one of them.
//!
//! Invariants: the row of adds is as long as that of removals, or longer by one until all removals are in it. Every element
//! in a row comes after all that precede it there. Nobody who found nothing precedes an operation in a row, unless it has been put
//! at a cut.


use std::collections::HashSet;

use clewline_core::Budget;

use super::{half::Side, merge::Both};
use crate::monitor::{
    columns::NONE,
    quasi_queue::elements::{Elements, MOST_DEAD, Reached},
};

/// See the [module](self).
pub(in super::super) struct Rows<'e> {
    elements: &'e Elements,
    factor: usize,
    adds: Side,
    removes: Side,
    empties: Side,
    // By place.
    add_row: Vec<u32>,
    remove_row: Vec<u32>,
    // By place: the latest call of a removal up to it.
    latest_remove: Vec<u32>,
    // By element.
    add_place: Vec<u32>,
    remove_place: Vec<u32>,
    // How many in the row of adds are never removed.
    kept: usize,
    // Who found nothing, in the order in which they were put at cuts, and the place of each cut.
    cuts: Vec<(u32, u32)>,
    frames: Vec<Frame>,
    candidates: Vec<u32>,
    dead: HashSet<Box<[u32]>>,
    deepest: usize,
    reached: Reached,
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

/// Which row grows next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Add,
    Remove,
    // Both are complete.
    Over,
}

/// What a search came to.
pub(in super::super) enum Found {
    /// Both rows.
    Rows(Both),
    /// There are none.
    None { reached: Reached },
    /// Too many steps, or it was told to stop.
    GaveUp,
}

impl<'e> Rows<'e> {
    pub(in super::super) fn new(elements: &'e Elements, factor: u32) -> Rows<'e> {
        Rows {
            elements,
            factor: factor as usize,
            adds: Side::new(&elements.adds),
            removes: Side::new(&elements.removes),
            empties: Side::new(&elements.empties),
            add_row: Vec::with_capacity(elements.len()),
            remove_row: Vec::with_capacity(elements.removed()),
            latest_remove: Vec::with_capacity(elements.removed()),
            add_place: vec![NONE; elements.len()],
            remove_place: vec![NONE; elements.len()],
            kept: 0,
            cuts: Vec::new(),
            frames: Vec::new(),
            candidates: Vec::new(),
            dead: HashSet::new(),
            deepest: 0,
            reached: Reached { gaps: [NONE; 3] },
        }
    }

    /// Searches, for at most so many steps and as long as the budget lasts.
    pub(in super::super) fn search(&mut self, steps: u64, budget: &Budget) -> Found {
        let mut left = steps;
        if !self.enter() {
            return Found::None { reached: self.reached };
        }
        loop {
            let Some(frame) = self.frames.last_mut() else { return Found::None { reached: self.reached } };
            let turn = frame.turn;
            if turn == Turn::Over {
                let (added, removed) =
                    (std::mem::take(&mut self.add_row), std::mem::take(&mut self.remove_row));
                return Found::Rows(Both { added, removed, cuts: std::mem::take(&mut self.cuts) });
            }
            let Some(&element) = self.candidates.get(frame.next) else {
                self.retreat();
                continue;
            };
            frame.next += 1;
            left -= 1;
            let is_stopped = left.is_multiple_of(1 << 12) && budget.stopped().is_some();
            if left == 0 || is_stopped || MOST_DEAD <= self.dead.len() {
                return Found::GaveUp;
            }
            self.place(turn, element);
            if !self.enter() {
                self.take_back();
            }
        }
    }

    /// Gives up the current configuration for good.
    fn retreat(&mut self) {
        let key = self.key();
        self.dead.insert(key);
        self.leave();
        if !self.frames.is_empty() {
            self.take_back();
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

    /// Enters the current configuration; false if it leads nowhere.
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

    /// Notes how far the search has come.
    fn note(&mut self) {
        let depth = self.add_row.len() + self.remove_row.len();
        if self.deepest <= depth {
            self.deepest = depth;
            self.reached.gaps = [&self.adds, &self.removes, &self.empties].map(Side::first_end);
        }
    }

    fn turn(&self) -> Turn {
        if self.remove_row.len() < self.add_row.len().min(self.elements.removed()) {
            Turn::Remove
        } else if self.add_row.len() < self.elements.len() {
            Turn::Add
        } else {
            Turn::Over
        }
    }

    fn place(&mut self, turn: Turn, element: u32) {
        let at = element as usize;
        match turn {
            Turn::Add => {
                self.add_place[at] = self.add_row.len() as u32;
                self.add_row.push(element);
                self.adds.place(element);
                self.kept += usize::from(self.elements.removed() <= at);
            }
            Turn::Remove => {
                self.remove_place[at] = self.remove_row.len() as u32;
                self.remove_row.push(element);
                let latest = self.latest_remove.last().copied().unwrap_or(0);
                self.latest_remove.push(latest.max(self.removes.spans[at].left));
                self.removes.place(element);
            }
            Turn::Over => (),
        }
    }

    /// Takes back what the last frame placed.
    fn take_back(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        match frame.turn {
            Turn::Add => {
                if let Some(element) = self.add_row.pop() {
                    self.add_place[element as usize] = NONE;
                    self.adds.unplace(element);
                    self.kept -= usize::from(self.elements.removed() <= element as usize);
                }
            }
            Turn::Remove => {
                if let Some(element) = self.remove_row.pop() {
                    self.remove_place[element as usize] = NONE;
                    self.latest_remove.pop();
                    self.removes.unplace(element);
                }
            }
            Turn::Over => (),
        }
    }

    /// Puts here whoever may have found nothing here. It costs nothing: who comes later in the rows may come later anyway.
    fn cut(&mut self) {
        let place = self.add_row.len();
        let is_empty = place == self.remove_row.len()
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

    /// The elements that are in this row and will be in the other, in the order of the row.
    fn only_in(&self, turn: Turn) -> impl Iterator<Item = u32> {
        let (row, other) = match turn {
            Turn::Add => (&self.add_row, &self.remove_place),
            Turn::Remove | Turn::Over => (&self.remove_row, &self.add_place),
        };
        let recent = &row[row.len().saturating_sub(self.factor + 2)..];
        let is_removed = |it: &u32| (*it as usize) < self.elements.removed();
        recent.iter().copied().filter(move |it| other[*it as usize] == NONE && is_removed(it))
    }

    /// Whether those that are in this row only can reach the other in time.
    fn is_in_time(&self, turn: Turn) -> bool {
        let (side, places, next) = match turn {
            Turn::Add => (&self.removes, &self.add_place, self.remove_row.len()),
            Turn::Remove | Turn::Over => (&self.adds, &self.remove_place, self.add_row.len()),
        };
        let mut latest = 0;
        let mut count = 0;
        for element in self.only_in(turn) {
            count += 1;
            latest = latest.max(side.spans[element as usize].left);
            // The last place at which it may come.
            let deadline = places[element as usize] as usize + self.factor;
            let Some(room) = (deadline + 1).checked_sub(next) else { return false };
            // Of those so far, who does not precede the latest comes on top of all that do.
            let besides = self.only_in(turn).take(count);
            let besides = besides.filter(|&it| latest <= side.spans[it as usize].right).count();
            if room < besides || side.exceeds(latest, room - besides) {
                return false;
            }
        }
        true
    }

    /// Who of one row has to come now in the other, as it could not come later.
    fn due(&self, turn: Turn) -> Option<u32> {
        let (places, next) = match turn {
            Turn::Add => (&self.add_place, self.remove_row.len()),
            Turn::Remove | Turn::Over => (&self.remove_place, self.add_row.len()),
        };
        self.only_in(turn).next().filter(|&it| places[it as usize] as usize + self.factor == next)
    }

    fn collect_adds(&mut self) {
        let place = self.add_row.len();
        let due = self.due(Turn::Remove);
        // Whoever is removed has been added, before everybody whose add was called after a later removal returned.
        let waiting = self.only_in(Turn::Remove).next();
        let since = waiting.map_or(self.remove_row.len(), |it| self.remove_place[it as usize] as usize);
        let ends = self.remove_row[since..].iter().map(|&it| self.removes.spans[it as usize].right);
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
        for side in [&self.adds, &self.removes, &self.empties] {
            key.push(side.frontier);
            key.extend(&side.ahead);
            key.push(NONE);
        }
        let mut alone: Vec<u32> = self.only_in(Turn::Add).collect();
        alone.sort_unstable();
        key.extend(alone.into_iter().map(|it| self.add_place[it as usize]));
        let mut alone: Vec<u32> = self.only_in(Turn::Remove).collect();
        alone.sort_unstable();
        for it in alone {
            let place = self.remove_place[it as usize];
            let ends =
                self.remove_row[place as usize..].iter().map(|&it| self.removes.spans[it as usize].right);
            key.extend([place, ends.min().unwrap_or(NONE)]);
        }
        key.into_boxed_slice()
    }
}
