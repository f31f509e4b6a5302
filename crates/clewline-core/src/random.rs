//! A small random number generator with a stable sequence: one seed gives one run, on every
//! machine.

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
/// 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that depends only on `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Any 64 bits.
    #[allow(clippy::should_implement_trait, reason = "it never ends, so it is no use as an iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        it ^ (it >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // Multiply and keep the high half: the bias is below 2^-32 for every bound we use.
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// True with probability `share`.
    pub fn chance(&mut self, share: f64) -> bool {
        ((self.next() >> 11) as f64) < share * (1_u64 << 53) as f64
    }
}
