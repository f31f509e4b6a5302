//! Release/acquire: a load may read any store that is not too old, and a store may take any
//! position that is not too old.
//!
//! The stores of a location are kept in modification order. A load reads any of them that its task
//! has not seen overwritten; a store comes anywhere after what its task has seen; a
//! read-modify-write comes directly after the store it reads, and no store ever comes between the
//! two. Sequentially consistent accesses take effect in the order of the execution: each sees at
//! least what earlier ones of the location saw and stored, and fences extend this to the accesses
//! of their tasks before and after them.
//!
//! Source: J. Kang et al., "A promising semantics for relaxed-memory concurrency", 2017, without
//! its promises; the order of sequentially consistent accesses is that of O. Lahav et al.,
//! "Repairing sequential consistency in C/C++11", 2017, section 3, where it agrees with the
//! execution.

use std::sync::atomic::Ordering;

use clewline_explore::{Access, AtomicStep, SharedId};

use super::{AtomicAccess, ChoiceSource, MemoryState, Message, ReadModifyWrite, origin::Origin};
use crate::control::view::View;

// The distance between the stamps of consecutive stores; leaves room for stores between them.
pub(super) const STAMP_GAP: u64 = 1 << 40;

// The maximum number of times that a load at one place reads the same store that is not the newest.
// After that, newer stores have become visible.
const STALE_READS_MAX: u32 = 3;

impl MemoryState {
    /// The lowest stamp that an access with this ordering can read.
    fn oldest_readable(&self, by: AtomicAccess, order: Ordering) -> u64 {
        let seen = self.tasks[by.task.index()].clocks.now.oldest(by.object);
        let total = self.sc_order.get(by.object.0 as usize).copied().unwrap_or(0);
        if order == Ordering::SeqCst { seen.max(total) } else { seen }
    }

    fn messages(&self, object: SharedId) -> &[Message] {
        &self.locations[object.0 as usize].messages
    }

    /// The message that a load reads.
    pub(super) fn choose_load(&mut self, by: AtomicAccess, ask: &mut dyn ChoiceSource) -> usize {
        let floor = self.oldest_readable(by, by.order);
        let is_readable = |it: &Message| floor <= it.stamp;
        match ask.store(step(by, Access::Read, self.messages(by.object).len(), &mut |_| false)) {
            Some(at) => self.chosen(by, at, is_readable, ask),
            None => self.choose(by, is_readable, ask),
        }
    }

    /// The message that an update reads: one that no other update has read, or one that it leaves
    /// unchanged.
    pub(super) fn choose_update(
        &mut self,
        by: AtomicAccess,
        change: &mut ReadModifyWrite<'_>,
        ask: &mut dyn ChoiceSource,
    ) -> usize {
        let (floor, floor_if_left) =
            (self.oldest_readable(by, by.order), self.oldest_readable(by, change.failure));
        let messages = &self.locations[by.object.0 as usize].messages;
        let mut allowed: Vec<u64> = Vec::new();
        for (at, it) in messages.iter().enumerate() {
            let is_allowed = match (change.make)(it.value) {
                Some(_) => floor <= it.stamp && stamp_after(messages, at).is_some(),
                None => floor_if_left <= it.stamp,
            };
            allowed.extend(is_allowed.then_some(it.stamp));
        }
        let mut writes = |at: usize| (change.make)(messages[at].value).is_some();
        let step = step(by, Access::Update, messages.len(), &mut writes);
        let is_allowed = |it: &Message| allowed.contains(&it.stamp);
        match ask.store(AtomicStep { failure: change.failure, ..step }) {
            Some(at) => self.chosen(by, at, is_allowed, ask),
            None => self.choose(by, is_allowed, ask),
        }
    }

    /// Checks the message that a scheduler of graphs has chosen to be read. Returns it, or the
    /// newest if it is not allowed.
    fn chosen(
        &self,
        by: AtomicAccess,
        at: usize,
        is_allowed: impl Fn(&Message) -> bool,
        ask: &mut dyn ChoiceSource,
    ) -> usize {
        let messages = self.messages(by.object);
        let allowed = || (0..messages.len()).rev().filter(|it| is_allowed(&messages[*it]));
        let number = allowed().position(|it| it == at);
        ask.note_store(number, allowed().count());
        number.map_or(messages.len() - 1, |_| at)
    }

    /// Chooses the message to read; the newest comes first.
    fn choose(
        &mut self,
        by: AtomicAccess,
        is_allowed: impl Fn(&Message) -> bool,
        ask: &mut dyn ChoiceSource,
    ) -> usize {
        let messages = self.messages(by.object);
        let newest = messages.len() - 1;
        let is_fresh = |it: &Message| {
            let key = (by.task, by.place, by.object, it.stamp);
            !self
                .stale_reads
                .iter()
                .any(|old| (old.0, old.1, old.2, old.3) == key && STALE_READS_MAX <= old.4)
        };
        let choices: Vec<usize> = (0..=newest)
            .rev()
            .filter(|&at| is_allowed(&messages[at]) && (at == newest || is_fresh(&messages[at])))
            .collect();
        let at = self.pick(&choices, newest, ask);
        if at != newest {
            let stamp = self.messages(by.object)[at].stamp;
            self.note_stale(by, stamp);
        }
        at
    }

    /// One of `choices`, of which the first is the usual one; `default` if there is none.
    fn pick(&mut self, choices: &[usize], default: usize, ask: &mut dyn ChoiceSource) -> usize {
        let usual = choices.first().copied().unwrap_or(default);
        if choices.len() < 2 {
            return usual;
        }
        if self.stale_left == 0 {
            self.is_cut_short = true;
            return usual;
        }
        let at = choices[ask.value(choices.len() as u32) as usize];
        self.stale_left -= u32::from(at != usual);
        at
    }

    fn note_stale(&mut self, by: AtomicAccess, stamp: u64) {
        let place = by.place;
        let is_same =
            |it: &&mut (_, _, _, _, u32)| (it.0, it.1, it.2, it.3) == (by.task, place, by.object, stamp);
        match self.stale_reads.iter_mut().find(is_same) {
            Some(it) => it.4 += 1,
            None => self.stale_reads.push((by.task, place, by.object, stamp, 1)),
        }
    }

    /// Inserts a store into the modification order; at its end by default.
    pub(super) fn place_store(
        &mut self,
        by: AtomicAccess,
        value: u64,
        view: View,
        origin: Origin,
        ask: &mut dyn ChoiceSource,
    ) {
        let floor = self.oldest_readable(by, by.order);
        let messages = self.messages(by.object);
        let is_free = |at: &usize| floor <= messages[*at].stamp && stamp_after(messages, *at).is_some();
        let choices: Vec<usize> = (0..messages.len()).rev().filter(is_free).collect();
        let last = messages.len() - 1;
        let after = match ask.store(step(by, Access::Write, messages.len(), &mut |_| false)) {
            Some(at) => {
                let number = choices.iter().position(|it| *it == at);
                ask.note_store(number, choices.len());
                number.map_or(last, |_| at)
            }
            None => self.pick(&choices, last, ask),
        };
        self.insert(by, after, value, view, origin);
    }

    /// Inserts the store of an update directly after the store it read.
    pub(super) fn follow(&mut self, by: AtomicAccess, at: usize, value: u64, view: View, origin: Origin) {
        self.insert(by, at, value, view, origin);
        self.locations[by.object.0 as usize].messages[at].is_followed = true;
    }

    fn insert(&mut self, by: AtomicAccess, after: usize, value: u64, view: View, origin: Origin) {
        let location = &mut self.locations[by.object.0 as usize];
        let stamp = stamp_after(&location.messages, after).expect("there is room where a store is placed");
        // `view` need not contain it: a task that joins the view has read this message.
        self.tasks[by.task.index()].clocks.now.saw(by.object, stamp);
        location.messages.insert(after + 1, Message { stamp, value, view, is_followed: false, origin });
        if after + 2 == location.messages.len() {
            location.held = value;
        }
        if by.order == Ordering::SeqCst {
            self.advance_sc_order(by.object, stamp);
        }
    }
}

/// The access, as schedulers of graphs see it.
fn step<'a>(
    by: AtomicAccess,
    access: Access,
    stores: usize,
    writes: &'a mut dyn FnMut(usize) -> bool,
) -> AtomicStep<'a> {
    let AtomicAccess { task, object, order, .. } = by;
    AtomicStep { task, object, access, order, failure: order, stores, writes }
}

/// A stamp between message `at` and the next, if a store may come there.
fn stamp_after(messages: &[Message], at: usize) -> Option<u64> {
    let stamp = messages[at].stamp;
    match messages.get(at + 1) {
        None => Some(stamp + STAMP_GAP),
        Some(_) if messages[at].is_followed => None,
        Some(next) => Some(stamp + (next.stamp - stamp) / 2).filter(|it| *it != stamp),
    }
}
