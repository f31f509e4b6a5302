//! Waiting loops: repeated reads of the same values.
//!
//! A task in such a loop observes nothing new until another task changes one of the objects it
//! reads, so it waits for that. A loop is classified as waiting if it made the same accesses at the
//! same places several times, and nothing it read or wrote has changed meanwhile. If it declares
//! that it spins (`spin_loop`, `yield_now`), two rounds are enough. Otherwise it may be a counting
//! loop, so its [local state](super::local_state) is compared as well: if that is equal too, the
//! loop waits for certain. Else it gets many more rounds, unless the state is not known, and the
//! classification is a [guess](SpinLoop::is_guess).
//!
//! A loop that waits may also change something in each round: it counts its attempts, or takes back
//! what it added. In long executions it is classified as waiting, by a guess, if it made the same
//! accesses in many rounds, no other task has changed anything meanwhile, and it declares that it
//! spins, or one of the values that it reads stayed as it was.
//!
//! If no other task can move either, a waiting task continues: it may count its rounds and give up.
//! Only if it is proven that it [repeats](super::repeat) itself is it stuck.

use clewline_explore::SharedId;

use super::place::Place;

/// The accesses of a task since it last changed anything.
#[derive(Debug, Default)]
pub(super) struct SpinDetector {
    observed: Vec<ObservedAccess>,
    // A Bloom filter of the observed accesses: an access that is not in it was not observed.
    filter: u64,
    // The number of hints among them.
    hints: usize,
    /// The accesses of a long execution before that, as far as only the task itself has changed
    /// anything meanwhile.
    kept: Vec<ObservedAccess>,
    /// How many times something was kept.
    keeps: u32,
    /// How many changes there had been of all tasks then.
    changes: u64,
    /// How many times the task waited in a loop that changes something: it waited in vain.
    waits: u32,
    /// How many times the local state was not that of a round before, and for how many accesses it
    /// is not looked at: that takes longer than many accesses do.
    misses: u32,
    unlooked: usize,
}

#[derive(Clone, Copy, Debug)]
struct ObservedAccess {
    place: Place,
    // `NONE` for a hint.
    object: SharedId,
    version: u32,
    // The hash of the local state if it was computed, and can be.
    local_state: Option<Option<u64>>,
    // Whether it changes something; only of what is kept.
    changes: bool,
}

impl ObservedAccess {
    fn is_like(&self, other: &ObservedAccess) -> bool {
        self.is_at(other) && self.version == other.version
    }

    fn is_at(&self, other: &ObservedAccess) -> bool {
        (self.place, self.object) == (other.place, other.object)
    }

    /// Whether the access that is shown changes a part of the object that this one does not access.
    fn is_apart(&self, other: &ObservedAccess) -> bool {
        !other.changes || self.object != other.object || self.place.offset() != other.place.offset()
    }
}

/// A waiting loop.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SpinLoop {
    /// The objects it reads.
    pub(super) objects: Vec<SharedId>,
    /// How many accesses a round has.
    pub(super) accesses: usize,
    /// It may be a counting loop.
    pub(super) is_guess: bool,
}

// How many equal rounds make a waiting loop: with a hint, with equal local states, and with
// changing ones.
const ROUNDS_WITH_HINT: usize = 2;
const ROUNDS_WITH_SAME_STATE: usize = 4;
const ROUNDS_WITH_CHANGING_STATE: usize = 24;
// After how many changes loops that change something are looked for.
const CHANGES_PER_LOOK: u32 = 16;
// How many times such a loop gets twice as many rounds as before, if nothing else can move.
const LONGER_WAITS_MAX: u32 = 5;
// How many times twice as many rounds pass before the local state is looked at again.
const MISSES_MAX: u32 = 2;
// The maximum length of a round that is recognised.
const LOOP_ACCESSES_MAX: usize = 64;

impl SpinDetector {
    /// The task has changed something, or begins again.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.filter != 0 || self.keeps != 0 {
            self.observed.clear();
            self.kept.clear();
            (self.keeps, self.waits) = (0, 0);
            (self.misses, self.unlooked) = (0, 0);
            (self.filter, self.hints) = (0, 0);
        }
    }

    /// The task has changed something, in a long execution; it is the change with this number.
    /// Returns the loop in which it waits, if any.
    #[cold]
    pub(super) fn keep(&mut self, change: u64) -> Option<SpinLoop> {
        let rounds_min = ROUNDS_WITH_CHANGING_STATE;
        if std::mem::replace(&mut self.changes, change) + 1 != change {
            self.kept.clear();
        }
        self.observed.last_mut().into_iter().for_each(|it| it.changes = true);
        self.kept.append(&mut self.observed);
        (self.filter, self.hints) = (0, 0);
        self.keeps += 1;
        if !self.keeps.is_multiple_of(CHANGES_PER_LOOK) {
            return None;
        }
        let n = self.kept.len();
        let found = (1..=LOOP_ACCESSES_MAX.min(n / (rounds_min << self.waits))).find(|length| {
            if !self.kept[n - 1 - length].is_at(&self.kept[n - 1]) {
                return false;
            }
            let last = &self.kept[n - rounds_min * length..];
            let mut rounds = last.rchunks(*length);
            let (Some(round), mut earlier) = (rounds.next(), rounds) else { return false };
            let is_equal = |it: &[ObservedAccess]| it.iter().zip(round).all(|(one, other)| one.is_at(other));
            let stays = |it: &ObservedAccess| round.iter().all(|other| it.is_apart(other));
            earlier.all(is_equal) && round.iter().any(stays)
        });
        if let Some(length) = found {
            self.waits = (self.waits + 1).min(LONGER_WAITS_MAX);
            let round = std::mem::take(&mut self.kept).split_off(n - length);
            return Some(SpinLoop::of(&round, true));
        }
        if 2 * rounds_min * LOOP_ACCESSES_MAX < n {
            self.kept.drain(..n - rounds_min * LOOP_ACCESSES_MAX);
        }
        None
    }

    /// Whether the task has waited in a loop that changes something, and no other task has changed
    /// an object of it since.
    pub(super) fn has_waited(&self) -> bool {
        self.waits != 0
    }

    /// The task accesses `object`, or gives a hint. Returns whether it may be in a loop: then the
    /// caller must call [`spin_loop`](Self::spin_loop).
    #[inline(always)]
    pub(super) fn note(&mut self, place: Place, object: SharedId, version: u32) -> bool {
        // An object that has changed counts as a different one.
        let mixed = (place.word() >> 3) as u32 ^ object.0 ^ version.wrapping_mul(5);
        let bit = 1 << (mixed & 63);
        let is_new = self.filter & bit == 0;
        self.filter |= bit;
        self.hints += usize::from(object == SharedId::NONE);
        self.observed.push(ObservedAccess { place, object, version, local_state: None, changes: false });
        !is_new
    }

    /// The waiting loop of the task, if any. The closure returns the hash of its local state, if it
    /// can be determined.
    #[cold]
    pub(super) fn spin_loop(&mut self, local_state: impl FnOnce() -> Option<u64>) -> Option<SpinLoop> {
        let n = self.observed.len();
        let is_looked_at = self.unlooked == 0;
        self.unlooked = self.unlooked.saturating_sub(1);
        let mut local_state = Some(local_state);
        for length in 1..=LOOP_ACCESSES_MAX.min(n / ROUNDS_WITH_HINT) {
            if !self.repeats(length, ROUNDS_WITH_HINT) {
                continue;
            }
            let has_hint =
                self.hints != 0 && self.observed[n - length..].iter().any(|it| it.object == SharedId::NONE);
            if has_hint {
                return Some(self.found(length, ROUNDS_WITH_HINT, false));
            }
            if !self.repeats(length, ROUNDS_WITH_SAME_STATE - 1) {
                continue;
            }
            // Not for two rounds that are taken for one.
            if let Some(local_state) = local_state.take()
                && is_looked_at
                && self.has_same_state(length, local_state)
                && self.repeats(length, ROUNDS_WITH_SAME_STATE)
            {
                // Of two states that are not known it is not known whether they are the same.
                let is_guess = self.observed[n - 1].local_state == Some(None);
                return Some(self.found(length, ROUNDS_WITH_SAME_STATE, is_guess));
            }
            if self.repeats(length, ROUNDS_WITH_CHANGING_STATE) {
                return Some(self.found(length, ROUNDS_WITH_CHANGING_STATE, true));
            }
        }
        if local_state.is_some() {
            (self.misses, self.unlooked) = (0, 0);
        }
        if 2 * ROUNDS_WITH_CHANGING_STATE * LOOP_ACCESSES_MAX < n {
            self.observed.drain(..n - ROUNDS_WITH_CHANGING_STATE * LOOP_ACCESSES_MAX);
        }
        None
    }

    /// Whether the local state is that of a round before. One access of each round is looked at.
    fn has_same_state(&mut self, length: usize, local_state: impl FnOnce() -> Option<u64>) -> bool {
        let n = self.observed.len();
        let before = self.observed[n - 1 - length].local_state;
        let is_other = |it: &ObservedAccess| it.local_state.is_some();
        if before.is_none() && self.observed[n - length..n - 1].iter().any(is_other) {
            return false;
        }
        let now = local_state();
        self.observed[n - 1].local_state = Some(now);
        if before.is_some_and(|it| it != now) {
            self.unlooked = (length << self.misses) + length - 1;
            self.misses = (self.misses + 1).min(MISSES_MAX);
        }
        before == Some(now)
    }

    /// Whether the last `rounds` rounds of this length were equal.
    fn repeats(&self, length: usize, rounds: usize) -> bool {
        // Then each access equals the one a round before.
        let n = self.observed.len();
        rounds * length <= n && {
            let compared = (rounds - 1) * length;
            let (later, earlier) =
                (&self.observed[n - compared..], &self.observed[n - compared - length..n - length]);
            later.iter().rev().zip(earlier.iter().rev()).all(|(one, other)| one.is_like(other))
        }
    }

    fn found(&mut self, length: usize, rounds: usize, is_guess: bool) -> SpinLoop {
        let n = self.observed.len();
        let found = SpinLoop::of(&self.observed[n - length..], is_guess);
        // The remaining rounds are enough for the next time.
        self.observed.drain(..n - (rounds - 1) * length);
        found
    }
}

impl SpinLoop {
    fn of(round: &[ObservedAccess], is_guess: bool) -> SpinLoop {
        let mut objects: Vec<SharedId> = round.iter().map(|it| it.object).collect();
        objects.retain(|it| *it != SharedId::NONE);
        let accesses = objects.len();
        objects.sort_unstable();
        objects.dedup();
        SpinLoop { objects, accesses, is_guess }
    }
}

#[cfg(test)]
mod tests;
