//! Matrices of a test: those written by hand, all of a size, random ones.

use std::collections::HashSet;

use clewline_core::Random;

use super::{Alphabet, Matrix};

/// What a matrix is made of.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Calls that are always made one after the other.
    pub(super) calls: Vec<String>,
    /// How often it is drawn, compared with others.
    pub(super) weight: u32,
    /// Entries of one group are all in one column.
    pub(super) group: Option<String>,
    /// Whether a matrix has it at most once.
    pub(super) is_once: bool,
}

impl Entry {
    pub(super) fn new(calls: Vec<String>) -> Entry {
        Entry { calls, weight: 1, group: None, is_once: false }
    }
}

/// Which matrices are checked.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) entries: Vec<Entry>,
    pub(super) initial: Vec<String>,
    pub(super) last: Vec<String>,
    /// Written by hand.
    pub(super) matrices: Vec<Matrix>,
    /// All matrices up to this size.
    pub(super) auto: Option<usize>,
    /// So many random ones; `None` if nobody has said.
    pub(super) samples: Option<u64>,
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) seed: u64,
}

/// Where a matrix comes from that nobody wrote.
enum Origin {
    All,
    Random,
}

// So many random ones if nothing else is said.
const SAMPLES: u64 = 100;
// After so many in a row that had been there before there is nothing new.
const MISSES: u32 = 1_000;

impl Plan {
    /// The matrices, those by hand first. Of others that differ in nothing but the order of their columns, only one is there.
    /// `alphabet` is the plan's [own](Self::alphabet).
    pub(super) fn matrices<'a>(&'a self, alphabet: &'a Alphabet) -> impl Iterator<Item = Matrix> + Send + 'a {
        let by_hand = self.matrices.iter().map(|it| Matrix {
            initial: self.initial.clone(),
            columns: it.columns.clone(),
            last: self.last.clone(),
        });
        let all = self.all(alphabet).map(|it| (Origin::All, it));
        let others = all.chain(self.random().map(|it| (Origin::Random, it)));
        let mut seen: HashSet<Vec<Vec<String>>> = HashSet::new();
        let (mut samples, mut misses) = (self.samples_or_usual(), 0);
        let distinct = others.map_while(move |(origin, matrix)| {
            let mut columns = matrix.columns.clone();
            columns.sort();
            let is_new = seen.insert(columns);
            if let Origin::Random = origin {
                misses = if is_new { 0 } else { misses + 1 };
                if samples == 0 || misses == MISSES {
                    return None;
                }
                samples -= u64::from(is_new);
            }
            Some(is_new.then_some(matrix))
        });
        by_hand.chain(distinct.flatten())
    }

    /// How many random ones there are to be.
    pub(super) fn samples_or_usual(&self) -> u64 {
        let has_others = !self.matrices.is_empty() || self.auto.is_some();
        self.samples.unwrap_or(if has_others { 0 } else { SAMPLES })
    }

    /// What all matrices of a size are made of.
    pub(super) fn alphabet(&self) -> Alphabet {
        Alphabet {
            entries: self.entries.iter().map(|it| it.calls.clone()).collect(),
            initial: self.initial.clone(),
            last: self.last.clone(),
        }
    }

    /// All of one column and row, then all of two, and so on.
    fn all<'a>(&'a self, alphabet: &'a Alphabet) -> impl Iterator<Item = Matrix> + Send + 'a {
        let sizes = 1..=self.auto.unwrap_or(0);
        sizes.flat_map(|n| alphabet.all(n)).filter(|it| is_allowed(it, &self.entries))
    }

    /// Random ones for ever. Nothing but the seed and the number of a matrix decides which it is.
    fn random(&self) -> impl Iterator<Item = Matrix> + Send + '_ {
        let is_wanted = 0 < self.samples_or_usual() && self.entries.iter().any(|it| 0 < it.weight);
        (0..u64::MAX).take_while(move |_| is_wanted).map(|number| {
            let mut random = Random::new(self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            self.draw(&mut random)
        })
    }

    fn draw(&self, random: &mut Random) -> Matrix {
        // Each group has its column, whether or not it is drawn there.
        let homes: Vec<usize> = self.entries.iter().map(|_| random.below(self.columns)).collect();
        let home = |group: &str| self.entries.iter().position(|it| it.group.as_deref() == Some(group));
        let mut used = vec![false; self.entries.len()];
        let mut columns = vec![Vec::new(); self.columns];
        // Row by row, so that what may be there only once is in every column alike.
        for _ in 0..self.rows {
            for (at, column) in columns.iter_mut().enumerate() {
                let weight = |number: usize, entry: &Entry| {
                    let is_here = entry.group.as_deref().and_then(home).is_none_or(|it| homes[it] == at);
                    if is_here && !(entry.is_once && used[number]) { entry.weight as usize } else { 0 }
                };
                let weights: Vec<usize> =
                    self.entries.iter().enumerate().map(|(number, it)| weight(number, it)).collect();
                let mut drawn = random.below(weights.iter().sum());
                let found = weights.iter().position(|&it| {
                    let is_it = drawn < it;
                    drawn = drawn.wrapping_sub(it);
                    is_it
                });
                // Nothing may be left: then the column is shorter.
                if let Some(number) = found {
                    used[number] = true;
                    column.extend(self.entries[number].calls.iter().cloned());
                }
            }
        }
        columns.retain(|it: &Vec<String>| !it.is_empty());
        Matrix { initial: self.initial.clone(), columns, last: self.last.clone() }
    }
}

/// Whether groups are in one column each, and nothing is there twice that may be there once.
fn is_allowed(matrix: &Matrix, entries: &[Entry]) -> bool {
    let times = |entry: &Entry, column: &[String]| {
        column.windows(entry.calls.len().max(1)).filter(|it| **it == *entry.calls).count()
    };
    let n_columns = |group: &str| {
        let has = |column: &&Vec<String>| {
            entries.iter().any(|it| it.group.as_deref() == Some(group) && 0 < times(it, column))
        };
        matrix.columns.iter().filter(has).count()
    };
    entries.iter().all(|entry| {
        let n: usize = matrix.columns.iter().map(|it| times(entry, it)).sum();
        !(entry.is_once && 1 < n) && entry.group.as_deref().is_none_or(|it| n_columns(it) <= 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let entry = |call: &str| Entry::new(vec![call.to_owned()]);
        Plan {
            entries: vec![
                entry("push"),
                Entry { group: Some("consumers".to_owned()), ..entry("pop") },
                Entry { group: Some("consumers".to_owned()), ..entry("peek") },
                Entry { is_once: true, ..entry("close") },
            ],
            initial: Vec::new(),
            last: Vec::new(),
            matrices: Vec::new(),
            auto: None,
            samples: None,
            columns: 3,
            rows: 3,
            seed: 1,
        }
    }

    fn matrices(plan: &Plan) -> Vec<Matrix> {
        plan.matrices(&plan.alphabet()).collect()
    }

    fn count(matrix: &Matrix, calls: &[&str]) -> Vec<usize> {
        let has = |it: &&String| calls.contains(&it.as_str());
        matrix.columns.iter().map(|it| it.iter().filter(has).count()).collect()
    }

    #[test]
    fn groups_stay_in_one_column_and_what_is_once_is_there_once() {
        let auto = Plan { auto: Some(2), samples: Some(0), ..plan() };
        let random: Vec<Matrix> = matrices(&plan());
        assert_eq!(random.len(), 100);
        for matrix in random.iter().cloned().chain(matrices(&auto)) {
            let consumers = count(&matrix, &["pop", "peek"]);
            assert!(consumers.iter().filter(|it| **it != 0).count() <= 1, "{matrix}");
            assert!(count(&matrix, &["close"]).iter().sum::<usize>() <= 1, "{matrix}");
        }
        let homes: HashSet<usize> = random
            .iter()
            .filter_map(|it| count(it, &["pop", "peek"]).iter().position(|it| *it != 0))
            .collect();
        assert_eq!(homes.len(), 3, "every column has its turn");
    }

    #[test]
    fn weights_say_how_often() {
        let mut heavy = plan();
        heavy.entries.truncate(1);
        heavy.entries.push(Entry { weight: 9, ..Entry::new(vec!["get".to_owned()]) });
        let drawn: Vec<Matrix> = (0..200).map(|it| heavy.draw(&mut Random::new(it))).collect();
        let n = |call: &str| drawn.iter().map(|it| count(it, &[call]).iter().sum::<usize>()).sum::<usize>();
        assert_eq!(n("push") + n("get"), 200 * 9);
        assert!((100..260).contains(&n("push")), "{}", n("push"));
    }

    #[test]
    fn matrices_that_differ_in_the_order_of_columns_are_checked_once() {
        let mut few = Plan { columns: 2, rows: 1, ..plan() };
        few.entries = vec![Entry::new(vec!["a".to_owned()]), Entry::new(vec!["b".to_owned()])];
        let mut drawn: Vec<Vec<String>> = matrices(&few).iter().map(|it| it.columns.concat()).collect();
        drawn.iter_mut().for_each(|it| it.sort());
        drawn.sort();
        assert_eq!(drawn, [["a", "a"], ["a", "b"], ["b", "b"]]);
        // Of those by hand, all are.
        few.matrices = vec!["a | b".parse().unwrap(), "b | a".parse().unwrap()];
        assert_eq!(matrices(&few).len(), 2);
        few.auto = Some(2);
        assert_eq!(matrices(&few).len(), 2 + 1 + 10);
    }
}
