//! Loops that wait for someone else: the same reads of the same values again and again.
//!
//! A task that runs round such a loop would see nothing new until somebody changes one of the objects that it reads, so it
//! waits until somebody does. A loop is taken for one that waits if it made the same accesses in the same places several
//! times, and nothing that it read or wrote has changed in between. If it says that it spins (`spin_loop`, `yield_now`),
//! two rounds are enough; if not, it may be a loop that counts, and gets a few more.
//!
//! If nobody else can move either, a waiting task goes on after all: it may count its rounds and give up. Only if many
//! rounds bring nothing is it stuck.

use clewline_explore::SharedId;

use super::Place;

/// What a task has accessed since it last changed anything.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    seen: Vec<Seen>,
    // One bit for each access that was seen: whoever is not in here has not been.
    filter: u64,
    // Where in `seen` each round is looked for begins.
    hints: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    place: Place,
    // `NONE` for a hint.
    object: SharedId,
    version: u32,
}

// How many equal rounds make a loop that waits.
const ROUNDS: usize = 4;
const ROUNDS_WITH_HINT: usize = 2;
// The longest round that is recognised.
const LONGEST: usize = 64;

impl Rounds {
    /// The task has changed something, or begins anew.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.filter != 0 {
            self.seen.clear();
            (self.filter, self.hints) = (0, 0);
        }
    }

    /// The task accesses `object`, or says that it spins. Answers the objects of the loop if it runs round one.
    #[inline(always)]
    pub(super) fn note(&mut self, place: Place, object: SharedId, version: u32) -> Option<Vec<SharedId>> {
        let seen = Seen { place, object, version };
        // Whatever has changed since is something else.
        let mixed = (place.word() >> 3) as u32 ^ object.0 ^ version.wrapping_mul(5);
        let bit = 1 << (mixed & 63);
        let is_new = self.filter & bit == 0;
        self.filter |= bit;
        self.hints += usize::from(object == SharedId::NONE);
        self.seen.push(seen);
        if is_new { None } else { self.round() }
    }

    #[cold]
    fn round(&mut self) -> Option<Vec<SharedId>> {
        let seen = &self.seen;
        let n = seen.len();
        for length in 1..=LONGEST.min(n / ROUNDS_WITH_HINT) {
            if seen[n - 1] != seen[n - 1 - length] {
                continue;
            }
            let round = &seen[n - length..];
            let has_hint = self.hints != 0 && round.iter().any(|it| it.object == SharedId::NONE);
            let rounds = if has_hint { ROUNDS_WITH_HINT } else { ROUNDS };
            let is_loop = rounds * length <= n
                && (1..rounds).all(|back| &seen[n - (back + 1) * length..n - back * length] == round);
            if is_loop {
                let mut objects: Vec<SharedId> = round.iter().map(|it| it.object).collect();
                objects.retain(|it| *it != SharedId::NONE);
                objects.sort_unstable();
                objects.dedup();
                // The rounds so far are enough for the next time.
                self.seen.drain(..n - (rounds - 1) * length);
                return Some(objects);
            }
        }
        if 4 * LONGEST < n {
            self.seen.drain(..n - 2 * LONGEST);
        }
        None
    }
}
