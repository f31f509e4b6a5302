//! Random sample calls for generated histories.

use std::fmt;

use crate::{random::Random, value::Value};

/// Parameters of a generated history.
#[derive(Clone, Debug)]
pub struct GeneratorConfig {
    /// The number of operations.
    pub operations: usize,
    /// The number of processes.
    pub processes: usize,
    /// How many operations are open at a time, on average, when all processes are busy: from 0
    /// (serial) to 1 (every process has an operation open nearly always).
    pub overlap: f64,
    /// The weights of methods; methods that are not named have weight 0. Empty: equal weights.
    pub mix: Vec<(String, u32)>,
    /// Where values come from.
    pub values: ValueDomain,
    /// How many keys there are.
    pub keys: usize,
    /// How many objects there are.
    pub objects: usize,
    /// The share of operations that never return.
    pub pending: f64,
    /// The random seed: it determines the history.
    pub seed: u64,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        GeneratorConfig {
            operations: 100,
            processes: 4,
            overlap: 0.5,
            mix: Vec::new(),
            values: ValueDomain::Below(20),
            keys: 20,
            objects: 1,
            pending: 0.0,
            seed: 1,
        }
    }
}

/// Where generated values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueDomain {
    /// 1, 2, 3, …: no value is drawn twice.
    Distinct,
    /// Distinct and in random order: a permutation, which the seed determines, of the integers
    /// below a power of two.
    Shuffled,
    /// Integers from 0 up to this one, exclusive.
    Below(u32),
}

impl fmt::Display for ValueDomain {
    /// In the format of `--values`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueDomain::Distinct => f.write_str("distinct"),
            ValueDomain::Shuffled => f.write_str("shuffled"),
            ValueDomain::Below(bound) => bound.fmt(f),
        }
    }
}

/// Draws the random parts of a specification's sample calls.
#[derive(Clone, Debug)]
pub struct CallSampler {
    random: Random,
    mix: Vec<(String, u32)>,
    values: ValueDomain,
    keys: usize,
    last_drawn: i64,
    shuffle: Shuffle,
    turns: usize,
}

impl CallSampler {
    /// A sampler with the parameters of `config`.
    #[must_use]
    pub fn new(config: &GeneratorConfig) -> Self {
        let GeneratorConfig { mix, values, keys, seed, operations, .. } = config;
        CallSampler {
            random: Random::new(*seed),
            mix: mix.clone(),
            values: *values,
            keys: *keys,
            last_drawn: 0,
            shuffle: Shuffle::new(*operations, *seed),
            turns: 0,
        }
    }

    /// Draws methods by these weights from now on; methods that are not named have weight 0. Empty:
    /// equal weights.
    pub fn set_mix(&mut self, mix: &[(String, u32)]) {
        self.mix = mix.to_vec();
    }

    /// One of `methods`, drawn by their weights.
    pub fn method<'m>(&mut self, methods: &[&'m str]) -> &'m str {
        self.one_of(methods.iter().copied())
    }

    /// One of `methods`, of which there is at least one, drawn by their weights.
    pub fn one_of<'m>(&mut self, methods: impl Iterator<Item = &'m str> + Clone) -> &'m str {
        let mix = &self.mix;
        let weight = |method: &str| match mix.iter().find(|(name, _)| name == method) {
            Some((_, weight)) => *weight as usize,
            None => usize::from(mix.is_empty()),
        };
        let sum = methods.clone().map(weight).sum();
        let mut left = self.random.below(sum);
        for method in methods.clone() {
            let weight = weight(method);
            if left < weight {
                return method;
            }
            left -= weight;
        }
        let mut methods = methods;
        methods.next().expect("an object has at least one method")
    }

    /// An integer of the domain of values.
    pub fn int(&mut self) -> i64 {
        match self.values {
            ValueDomain::Below(bound) => self.random.below(bound as usize) as i64,
            ValueDomain::Distinct => {
                self.last_drawn += 1;
                self.last_drawn
            }
            ValueDomain::Shuffled => {
                self.last_drawn += 1;
                self.shuffle.place(self.last_drawn)
            }
        }
    }

    /// A value of the domain.
    pub fn value(&mut self) -> Value {
        Value::from(self.int())
    }

    /// One of the values that have been or may be drawn: what a `cas` expects, for example.
    pub fn old_value(&mut self) -> Value {
        let bound = match self.values {
            ValueDomain::Below(bound) => bound as usize,
            ValueDomain::Distinct | ValueDomain::Shuffled => self.last_drawn as usize + 1,
        };
        let drawn = self.random.below(bound) as i64;
        let int = if self.values == ValueDomain::Shuffled { self.shuffle.place(drawn) } else { drawn };
        Value::from(int)
    }

    /// A key.
    pub fn key(&mut self) -> Value {
        Value::from(self.random.below(self.keys))
    }

    /// Counts up from 0: for calls that must alternate, since otherwise every process would block.
    pub fn turn(&mut self) -> usize {
        self.turns += 1;
        self.turns - 1
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }
}

/// A permutation of the integers below a power of two; greater integers are mapped to themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    bits: u32,
    key: u64,
}

impl Shuffle {
    /// A permutation of at least `count` integers.
    fn new(count: usize, seed: u64) -> Shuffle {
        let bits = count.next_power_of_two().ilog2().clamp(2, 29);
        Shuffle { bits, key: Random::new(seed ^ 0x5_4FF1_E000).next() }
    }

    fn place(self, int: i64) -> i64 {
        let mask = (1_u64 << self.bits) - 1;
        let Some(mut it) = u64::try_from(int).ok().filter(|&it| it <= mask) else { return int };
        // Each step is invertible on `bits` bits: adding, multiplying by an odd number, and folding
        // the upper half into the lower one.
        for odd in [0x9E37_79B9_7F4A_7C15_u64, 0xBF58_476D_1CE4_E5B9] {
            it = it.wrapping_add(self.key).wrapping_mul(odd) & mask;
            it ^= it >> self.bits.div_ceil(2);
        }
        it.cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_is_a_permutation_without_order() {
        for (count, seed) in [(0, 1), (1, 2), (16, 3), (1_000, 4), (1 << 14, 5)] {
            let shuffle = Shuffle::new(count, seed);
            let room = 1_i64 << shuffle.bits;
            assert!(count as i64 <= room);
            let places: Vec<i64> = (0..room).map(|it| shuffle.place(it)).collect();
            let mut sorted = places.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..room), "{count} from seed {seed}");
            assert_eq!(shuffle.place(room), room);
            let ascents = places.windows(2).filter(|it| it[0] < it[1]).count() as i64;
            assert!(room < 1_000 || (room / 3..room * 2 / 3).contains(&ascents), "{ascents} of {room}");
        }
    }
}
