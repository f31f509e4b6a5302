//! Sorting by small keys: one sort for all of them.
//!
//! A sort of the standard library is compiled once for each element type and each key, to more code
//! than most of its callers. Here keys are computed first, and numbers are sorted.

/// Sorts `all`, stably, by a key each.
pub fn sort_by_key<T: Copy>(all: &mut [T], key: impl Fn(T) -> u32) {
    let keys: Vec<u32> = all.iter().map(|&it| key(it)).collect();
    if let Some(order) = order(&keys) {
        let sorted: Vec<T> = order.into_iter().map(|it| all[it as u32 as usize]).collect();
        all.copy_from_slice(&sorted);
    }
}

/// The positions of `keys` in ascending order, each in the lower half of a word; `None` if they
/// ascend as they are.
fn order(keys: &[u32]) -> Option<Vec<u64>> {
    if keys.is_sorted() {
        return None;
    }
    let mut order: Vec<u64> = (0..).zip(keys).map(|(at, &key)| u64::from(key) << 32 | at).collect();
    order.sort_unstable();
    Some(order)
}

#[cfg(test)]
mod tests {
    use crate::random::Random;

    use super::*;

    #[test]
    fn it_agrees_with_the_stable_sort_of_the_standard_library() {
        let mut random = Random::new(5);
        let mut ties = 0;
        for length in 0..60 {
            let keys: Vec<u32> = (0..length).map(|_| u32::MAX - random.below(20) as u32).collect();
            let mut found: Vec<usize> = (0..length).rev().collect();
            let mut expected = found.clone();
            sort_by_key(&mut found, |it| keys[it]);
            expected.sort_by_key(|&it| keys[it]);
            assert_eq!(found, expected, "seed 5, keys {keys:?}");
            ties += expected.windows(2).filter(|it| keys[it[0]] == keys[it[1]]).count();
        }
        assert_ne!(ties, 0, "equal keys occurred");
    }
}
