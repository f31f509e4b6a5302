//! Weaving: an order of all operations, from the order in which elements were peeled.
//!
//! Elements are inserted from the bottom. All operations on one element, from its add to its
//! removal, go next to each other behind everything before the element's last call; what is
//! inserted later may come in between, and then lies above it. The gap of an operation is moved, if
//! necessary, between those of its neighbours, so that gaps ascend along the order at all times.
//! Otherwise the positions would depend on the order of insertion.
//!
//! Cost: O(n), and sorting the observers of each element.

use super::{
    bitmap::Bitmap,
    peeling::{Peeled, is_easy},
};
use crate::{
    columns::{Columns, NONE},
    lifetimes::{Lifetimes, ObserversByElement},
};

/// The order of all operations, given the gap of each operation that returns *empty*.
pub(super) fn weave(
    columns: &Columns,
    lifetimes: &Lifetimes,
    peeled: Peeled,
    mut empties: Vec<(u32, u32)>,
) -> Vec<u32> {
    let Peeled { order, mut slots } = peeled;
    empties.sort_by_key(|&(_, gap)| gap);
    empties.iter().for_each(|&(at, gap)| slots[at as usize] = gap);
    let empties: Vec<u32> = empties.into_iter().map(|(at, _)| at).collect();
    let mut weaver = Weaver::new(columns.gaps(), slots);
    weaver.insert(0, &empties);
    drop(empties);
    let observers = ObserversByElement::new(columns, lifetimes);
    let mut thread: Vec<u32> = Vec::new();
    let easy = (0..).zip(&lifetimes.all).filter(|it| is_easy(it.1) && it.1.add != NONE).map(|it| it.0);
    for element in order.iter().copied().chain(easy) {
        let life = &lifetimes.all[element as usize];
        thread.clear();
        thread.push(life.add);
        thread.extend_from_slice(observers.of(element));
        let slot = |at: u32| weaver.slots[at as usize];
        // An observer that was done in a gap before the add or after the removal moves to that of
        // the add or the removal.
        let (from, to) = (slot(life.add), if life.remove == NONE { columns.last } else { slot(life.remove) });
        thread[1..].sort_by_key(|&at| slot(at));
        thread[1..].iter().for_each(|&at| {
            let slot = &mut weaver.slots[at as usize];
            *slot = (*slot).max(from).min(to);
        });
        thread.extend((life.remove != NONE).then_some(life.remove));
        weaver.insert(life.inside_before, &thread);
    }
    drop((order, observers));
    weaver.finish()
}

/// A list of operations along which gaps ascend.
struct Weaver {
    // By position; the list's head comes after all.
    next: Vec<u32>,
    slots: Vec<u32>,
    // By gap: the last operation of it, for the gaps in `used`.
    tails: Vec<u32>,
    used: Bitmap,
}

impl Weaver {
    fn new(gaps: usize, slots: Vec<u32>) -> Weaver {
        Weaver { next: vec![NONE; slots.len() + 1], slots, tails: vec![NONE; gaps], used: Bitmap::new(gaps) }
    }

    /// Puts the operations of `thread` behind all that are in the list with gaps before `gap`.
    fn insert(&mut self, gap: u32, thread: &[u32]) {
        let head = self.slots.len() as u32;
        let (mut tail, least) = match self.used.below(gap as usize) {
            Some(used) => (self.tails[used], used as u32),
            None => (head, 0),
        };
        let after = self.next[tail as usize];
        let greatest = if after == NONE { NONE } else { self.slots[after as usize] };
        for &at in thread {
            let slot = self.slots[at as usize].max(least).min(greatest);
            self.slots[at as usize] = slot;
            self.next[tail as usize] = at;
            tail = at;
            // Otherwise an operation in the same gap is already behind it.
            if slot != greatest {
                self.tails[slot as usize] = at;
                self.used.insert(slot as usize);
            }
        }
        self.next[tail as usize] = after;
    }

    fn finish(self) -> Vec<u32> {
        let Weaver { next, slots, tails, used } = self;
        let head = slots.len();
        drop((slots, tails, used));
        let mut order = Vec::with_capacity(head);
        let mut at = next[head];
        while at != NONE {
            order.push(at);
            at = next[at as usize];
        }
        order
    }
}
