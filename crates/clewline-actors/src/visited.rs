//! The set of visited states: fingerprints, inserted by many threads concurrently.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::interned::Fingerprint;

/// A lock-free set of fingerprints with open addressing. It does not grow by itself: a thread with
/// exclusive access has to call [`grow`](Self::grow) in time.
///
/// Invariant: the upper half of a slot is set right after the lower one, by the same thread, and
/// then never again.
///
/// Cost: 16 bytes for each slot, at most 70% of which are used.
#[derive(Debug)]
pub(crate) struct Visited {
    slots: Vec<HashSlot>,
    taken: AtomicU64,
}

// Both halves are 0 while it is free, and neither is afterwards.
#[derive(Debug, Default)]
struct HashSlot {
    low: AtomicU64,
    high: AtomicU64,
}

impl Visited {
    /// An empty set with this number of slots, which is a power of two.
    pub(crate) fn new(places: usize) -> Self {
        debug_assert!(places.is_power_of_two(), "places are found by a mask");
        Visited { slots: (0..places).map(|_| HashSlot::default()).collect(), taken: AtomicU64::new(0) }
    }

    /// Loads the home slot of `fingerprint`. Its address does not depend on its contents, so that
    /// several loads can overlap.
    pub(crate) fn prefetch(&self, fingerprint: Fingerprint) -> u64 {
        self.slots[self.home(fingerprint as u64)].low.load(Ordering::Relaxed)
    }

    fn home(&self, low: u64) -> usize {
        (low >> 20) as usize & (self.slots.len() - 1)
    }

    /// Whether `fingerprint` is new. It no longer is.
    pub(crate) fn insert(&self, fingerprint: Fingerprint) -> bool {
        let (low, high) = ((fingerprint as u64).max(1), ((fingerprint >> 64) as u64).max(1));
        let mask = self.slots.len() - 1;
        let mut at = self.home(low);
        loop {
            let place = &self.slots[at];
            let mut found = place.low.load(Ordering::Relaxed);
            if found == 0 {
                // This publishes no other data, so `Relaxed` suffices.
                match place.low.compare_exchange(0, low, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => {
                        place.high.store(high, Ordering::Relaxed);
                        return true;
                    }
                    Err(other) => found = other,
                }
            }
            if found == low && place.high() == high {
                return false;
            }
            at = (at + 1) & mask;
        }
    }

    /// Counts `new` insertions. Threads that insert call this from time to time.
    pub(crate) fn count(&self, new: u64) {
        self.taken.fetch_add(new, Ordering::Relaxed);
    }

    /// Whether it should grow.
    pub(crate) fn is_crowded(&self) -> bool {
        let taken = self.taken.load(Ordering::Relaxed);
        self.slots.len() as u64 * 7 <= taken * 10
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<HashSlot>()
    }

    /// The number of bytes after it has grown.
    pub(crate) fn next_bytes(&self) -> usize {
        // In big steps while that is cheap.
        let factor = if self.slots.len() < 1 << 18 { 4 } else { 2 };
        self.bytes() * factor
    }

    /// Enlarges the set.
    pub(crate) fn grow(&mut self) {
        let bigger = Visited::new(self.next_bytes() / size_of::<HashSlot>());
        for place in &self.slots {
            let low = place.low.load(Ordering::Relaxed);
            if low != 0 {
                bigger.insert(u128::from(place.high()) << 64 | u128::from(low));
            }
        }
        bigger.count(self.taken.load(Ordering::Relaxed));
        *self = bigger;
    }
}

impl HashSlot {
    // The upper half of a used slot. The thread that took the slot may not have stored it yet.
    fn high(&self) -> u64 {
        loop {
            match self.high.load(Ordering::Relaxed) {
                0 => std::hint::spin_loop(),
                high => return high,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_that_share_a_half_are_different() {
        let visited = Visited::new(8);
        let all = [1u128 << 64 | 7, 2 << 64 | 7, 2 << 64 | 8, 7 << 64 | 1];
        assert!(all.iter().all(|it| visited.insert(*it)));
        assert!(!all.iter().any(|it| visited.insert(*it)));
    }

    #[test]
    fn growing_forgets_nothing() {
        let mut visited = Visited::new(8);
        let all: Vec<u128> = (1..6).map(|it| it << 70 | it << 30).collect();
        all.iter().for_each(|it| _ = visited.insert(*it));
        visited.count(5);
        let bytes = visited.next_bytes();
        visited.grow();
        assert_eq!(visited.bytes(), bytes);
        assert!(!visited.is_crowded() && !all.iter().any(|it| visited.insert(*it)));
    }
}
