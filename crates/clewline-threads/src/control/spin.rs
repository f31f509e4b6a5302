//! Loops that wait for someone else: the same reads of the same values again and again.
//!
//! A task that runs round such a loop would see nothing new until somebody changes one of the objects that it reads, so it
//! waits until somebody does. A loop is taken for one that waits if it made the same accesses in the same places several
//! times, and nothing that it read or wrote has changed in between. If it says that it spins (`spin_loop`, `yield_now`),
//! two rounds are enough. If not, it may be a loop that counts, so its [mind](super::local) is looked at as well: if that has
//! not changed either, it waits for certain. Else it gets many more rounds, and what comes then is a [guess](Round::is_guess).
//!
//! If nobody else can move either, a waiting task goes on after all: it may count its rounds and give up. Only if many
//! rounds bring nothing is it stuck.

use clewline_explore::SharedId;

use super::place::Place;

/// What a task has accessed since it last changed anything.
#[derive(Debug, Default)]
pub(super) struct SpinDetector {
    observed: Vec<ObservedAccess>,
    // One bit for each access that was seen: whoever is not in here has not been.
    filter: u64,
    // How many of them were hints.
    hints: usize,
}

#[derive(Clone, Copy, Debug)]
struct ObservedAccess {
    place: Place,
    // `NONE` for a hint.
    object: SharedId,
    version: u32,
    // What the task had in mind, once it was asked.
    local_state: Option<u64>,
}

impl ObservedAccess {
    fn is_like(&self, other: &ObservedAccess) -> bool {
        (self.place, self.object, self.version) == (other.place, other.object, other.version)
    }
}

/// A loop that waits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SpinLoop {
    /// What it looks at.
    pub(super) objects: Vec<SharedId>,
    /// It may as well count.
    pub(super) is_guess: bool,
}

// How many equal rounds make a loop that waits: if it says so, if its mind is the same, and if not.
const ROUNDS_WITH_HINT: usize = 2;
const ROUNDS_WITH_SAME_STATE: usize = 4;
const ROUNDS_WITH_CHANGING_STATE: usize = 24;
// The longest round that is recognised.
const LOOP_ACCESSES_MAX: usize = 64;

impl SpinDetector {
    /// The task has changed something, or begins anew.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.filter != 0 {
            self.observed.clear();
            (self.filter, self.hints) = (0, 0);
        }
    }

    /// The task accesses `object`, or says that it spins. Answers whether it may run round a loop: then somebody must ask for
    /// the [round](Self::round).
    #[inline(always)]
    pub(super) fn note(&mut self, place: Place, object: SharedId, version: u32) -> bool {
        // Whatever has changed since is something else.
        let mixed = (place.word() >> 3) as u32 ^ object.0 ^ version.wrapping_mul(5);
        let bit = 1 << (mixed & 63);
        let is_new = self.filter & bit == 0;
        self.filter |= bit;
        self.hints += usize::from(object == SharedId::NONE);
        self.observed.push(ObservedAccess { place, object, version, local_state: None });
        !is_new
    }

    /// The loop that it waits in, if it does. `mind` answers what it has in mind, if anybody can tell.
    #[cold]
    pub(super) fn spin_loop(&mut self, mind: impl FnOnce() -> Option<u64>) -> Option<SpinLoop> {
        let n = self.observed.len();
        let mut mind = Some(mind);
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
            if let Some(mind) = mind.take() {
                self.observed[n - 1].local_state = mind();
            }
            // If nobody can tell, both are none.
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

    /// Whether the last rounds, so many of this length, were alike.
    fn repeats(&self, length: usize, rounds: usize) -> bool {
        // Then each access is like the one a round before.
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
        objects.sort_unstable();
        objects.dedup();
        // The rounds so far are enough for the next time.
        self.observed.drain(..n - (rounds - 1) * length);
        SpinLoop { objects, is_guess }
    }
}

#[cfg(test)]
mod tests;
