//! Waiting loops: repeated reads of the same values.
//!
//! A task in such a loop observes nothing new until another task changes one of the objects it
//! reads, so it waits for that. A loop is classified as waiting if it made the same accesses at the
//! same places several times, and nothing it read or wrote has changed meanwhile. If it declares
//! that it spins (`spin_loop`, `yield_now`), two rounds are enough. Otherwise it may be a counting
//! loop, so its [local state](super::local_state) is compared as well: if that is equal too, the
//! loop waits for certain. Else it gets many more rounds, and the classification is a
//! [guess](SpinLoop::is_guess).
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
}

#[derive(Clone, Copy, Debug)]
struct ObservedAccess {
    place: Place,
    // `NONE` for a hint.
    object: SharedId,
    version: u32,
    // The hash of the local state, once computed.
    local_state: Option<u64>,
}

impl ObservedAccess {
    fn is_like(&self, other: &ObservedAccess) -> bool {
        (self.place, self.object, self.version) == (other.place, other.object, other.version)
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
// The maximum length of a round that is recognised.
const LOOP_ACCESSES_MAX: usize = 64;

impl SpinDetector {
    /// The task has changed something, or begins again.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.filter != 0 {
            self.observed.clear();
            (self.filter, self.hints) = (0, 0);
        }
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
        self.observed.push(ObservedAccess { place, object, version, local_state: None });
        !is_new
    }

    /// The waiting loop of the task, if any. The closure returns the hash of its local state, if it
    /// can be determined.
    #[cold]
    pub(super) fn spin_loop(&mut self, local_state: impl FnOnce() -> Option<u64>) -> Option<SpinLoop> {
        let n = self.observed.len();
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
            if let Some(local_state) = local_state.take() {
                self.observed[n - 1].local_state = local_state();
            }
            // If the state cannot be determined, both are `None`.
            let is_same = || self.observed[n - 1].local_state == self.observed[n - 1 - length].local_state;
            if self.repeats(length, ROUNDS_WITH_SAME_STATE) && is_same() {
                return Some(self.found(length, ROUNDS_WITH_SAME_STATE, false));
            }
            if self.repeats(length, ROUNDS_WITH_CHANGING_STATE) {
                return Some(self.found(length, ROUNDS_WITH_CHANGING_STATE, true));
            }
        }
        if 2 * ROUNDS_WITH_CHANGING_STATE * LOOP_ACCESSES_MAX < n {
            self.observed.drain(..n - ROUNDS_WITH_CHANGING_STATE * LOOP_ACCESSES_MAX);
        }
        None
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
        let mut objects: Vec<SharedId> = self.observed[n - length..].iter().map(|it| it.object).collect();
        objects.retain(|it| *it != SharedId::NONE);
        let accesses = objects.len();
        objects.sort_unstable();
        objects.dedup();
        // The remaining rounds are enough for the next time.
        self.observed.drain(..n - (rounds - 1) * length);
        SpinLoop { objects, accesses, is_guess }
    }
}

#[cfg(test)]
mod tests;
