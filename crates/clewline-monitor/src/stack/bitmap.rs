//! A bitmap with predecessors: sixty-four bits a word, and above each level one that says which
//! words are not zero.

const WORD_BITS: usize = u64::BITS as usize;

/// A set of small integers, from which none is ever removed.
#[derive(Clone, Debug)]
pub(super) struct Bitmap {
    // The bits first.
    levels: Vec<Vec<u64>>,
}

impl Bitmap {
    /// No integers; they will be less than `bound`.
    pub(super) fn new(bound: usize) -> Bitmap {
        // The bound itself may be asked for.
        let mut words = bound / WORD_BITS + 1;
        let mut levels = vec![vec![0; words]];
        while words != 1 {
            words = words.div_ceil(WORD_BITS);
            levels.push(vec![0; words]);
        }
        Bitmap { levels }
    }

    pub(super) fn insert(&mut self, member: usize) {
        let mut place = member;
        for level in &mut self.levels {
            let word = &mut level[place / WORD_BITS];
            let was_empty = *word == 0;
            *word |= 1 << (place % WORD_BITS);
            if !was_empty {
                return;
            }
            place /= WORD_BITS;
        }
    }

    /// The greatest member less than `bound`, which is not greater than the bound of all.
    pub(super) fn below(&self, bound: usize) -> Option<usize> {
        let mut place = bound;
        for (height, level) in self.levels.iter().enumerate() {
            let word = level[place / WORD_BITS] & ((1 << (place % WORD_BITS)) - 1);
            if word != 0 {
                let mut found = place / WORD_BITS * WORD_BITS + greatest(word);
                for lower in self.levels[..height].iter().rev() {
                    found = found * WORD_BITS + greatest(lower[found]);
                }
                return Some(found);
            }
            place /= WORD_BITS;
        }
        None
    }
}

fn greatest(word: u64) -> usize {
    word.ilog2() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use clewline_core::Random;

    #[test]
    fn predecessors_are_those_of_a_sorted_set() {
        let mut random = Random::new(13);
        for bound in [1, 2, 63, 64, 65, 4_096, 4_097, 300_000] {
            let mut bitmap = Bitmap::new(bound);
            let mut sorted = std::collections::BTreeSet::new();
            for _ in 0..200 {
                let asked = random.below(bound + 1);
                assert_eq!(bitmap.below(asked), sorted.range(..asked).next_back().copied(), "{bound}");
                assert_eq!(bitmap.below(bound), sorted.last().copied(), "{bound}");
                let member = random.below(bound);
                bitmap.insert(member);
                sorted.insert(member);
            }
        }
    }
}
