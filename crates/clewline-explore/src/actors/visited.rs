//! The states that were visited: a set of fingerprints that many threads fill at once.

use std::sync::atomic::{AtomicU64, Ordering};

/// A set of 64-bit fingerprints, open addressed, without locks. It does not grow by itself: whoever has it alone makes it grow
/// while there is room.
///
/// Cost: 8 bytes for each place, of which at most seven in ten are taken.
#[derive(Debug)]
pub(crate) struct Visited {
    // 0 is free.
    places: Vec<AtomicU64>,
    taken: AtomicU64,
}

impl Visited {
    /// An empty set of this many places, which is a power of two.
    pub(crate) fn new(places: usize) -> Self {
        debug_assert!(places.is_power_of_two(), "places are found by a mask");
        Visited { places: (0..places).map(|_| AtomicU64::new(0)).collect(), taken: AtomicU64::new(0) }
    }

    /// Whether `fingerprint` is new. It no longer is.
    pub(crate) fn insert(&self, fingerprint: u64) -> bool {
        let wanted = fingerprint.max(1);
        let mask = self.places.len() - 1;
        let mut at = (wanted.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize & mask;
        loop {
            let found = self.places[at].load(Ordering::Relaxed);
            if found == wanted {
                return false;
            }
            if found == 0 {
                // Nothing else is published by this, so no order is needed.
                match self.places[at].compare_exchange(0, wanted, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return true,
                    Err(other) if other == wanted => return false,
                    Err(_) => (),
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Says that so many new ones were inserted: whoever inserts tells so now and then.
    pub(crate) fn count(&self, new: u64) {
        self.taken.fetch_add(new, Ordering::Relaxed);
    }

    /// Whether it is time to grow.
    pub(crate) fn is_crowded(&self) -> bool {
        let taken = self.taken.load(Ordering::Relaxed);
        self.places.len() as u64 * 7 <= taken * 10
    }

    pub(crate) fn bytes(&self) -> usize {
        self.places.len() * size_of::<AtomicU64>()
    }

    /// How many bytes it takes when it has grown.
    pub(crate) fn next_bytes(&self) -> usize {
        // In big steps while that costs little.
        let factor = if self.places.len() < 1 << 22 { 4 } else { 2 };
        self.bytes() * factor
    }

    /// More places.
    pub(crate) fn grow(&mut self) {
        let bigger = Visited::new(self.next_bytes() / size_of::<AtomicU64>());
        self.places.iter().map(|it| it.load(Ordering::Relaxed)).filter(|it| *it != 0).for_each(|it| {
            bigger.insert(it);
        });
        bigger.count(self.taken.load(Ordering::Relaxed));
        *self = bigger;
    }
}
