//! Matrices of a test: those written by hand, all of a size, random ones.

use std::collections::{BTreeSet, HashSet};

use crate::matrix::{Alphabet, Matrix, method};
use clewline_core::{FailsWhen, MayFail, NotFound, Random};

/// An entry of matrices.
#[derive(Clone, Debug)]
pub struct MatrixEntry {
    /// Calls that are made one after the other.
    pub calls: Vec<String>,
    /// How often it is drawn, compared with others.
    pub weight: u32,
    /// Entries of one group are all in one column.
    pub group: Option<String>,
    /// Whether a matrix has it at most once.
    pub is_once: bool,
}

impl MatrixEntry {
    /// Calls that are drawn with weight 1, on any thread, any number of times.
    #[must_use]
    pub fn new(calls: Vec<String>) -> MatrixEntry {
        MatrixEntry { calls, weight: 1, group: None, is_once: false }
    }
}

/// Which matrices are checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The entries of matrices.
    pub entries: Vec<MatrixEntry>,
    /// Made before every matrix.
    pub initial: Vec<String>,
    /// Made after every matrix.
    pub last: Vec<String>,
    /// Written by hand.
    pub matrices: Vec<Matrix>,
    /// All matrices up to this size.
    pub auto: Option<usize>,
    /// The number of random matrices; `None`: 100, or none if there are others.
    pub samples: Option<u64>,
    /// How many columns random ones have.
    pub columns: usize,
    /// How many entries a column of a random one has.
    pub rows: usize,
    /// The random seed.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            entries: Vec::new(),
            initial: Vec::new(),
            last: Vec::new(),
            matrices: Vec::new(),
            auto: None,
            samples: None,
            columns: 3,
            rows: 3,
            seed: 0,
        }
    }
}

/// The origin of a generated matrix.
enum MatrixOrigin {
    All,
    Random,
}

// The default number of random matrices.
const DEFAULT_SAMPLES: u64 = 100;
// After this number of duplicates in a row no new matrix is expected.
const CONSECUTIVE_DUPLICATES_MAX: u32 = 1_000;

impl Plan {
    /// The matrices, those written by hand first. Others are there once up to the order of columns.
    #[must_use]
    pub fn matrices(&self) -> Box<dyn Iterator<Item = Matrix> + Send + '_> {
        let all = self.all().map(|it| (MatrixOrigin::All, it));
        let others = all.chain(self.random().map(|it| (MatrixOrigin::Random, it)));
        let mut seen: HashSet<Vec<Vec<String>>> = HashSet::new();
        let (mut samples, mut misses) = (self.samples_or_usual(), 0);
        let is_drawn = samples != 0;
        let distinct = others.map_while(move |(origin, matrix)| {
            if !is_drawn {
                // All matrices of a size are distinct, and may be too many to remember.
                return Some(Some(matrix));
            }
            let mut columns = matrix.columns.clone();
            columns.sort();
            let is_new = seen.insert(columns);
            if let MatrixOrigin::Random = origin {
                misses = if is_new { 0 } else { misses + 1 };
                if samples == 0 || misses == CONSECUTIVE_DUPLICATES_MAX {
                    return None;
                }
                samples -= u64::from(is_new);
            }
            Some(is_new.then_some(matrix))
        });
        Box::new(self.by_hand().chain(distinct.flatten()))
    }

    fn by_hand(&self) -> impl Iterator<Item = Matrix> + Send + '_ {
        self.matrices.iter().map(|it| Matrix {
            initial: self.initial.clone(),
            columns: it.columns.clone(),
            last: self.last.clone(),
        })
    }

    /// The only matrix, if one was written by hand and there are no others.
    #[must_use]
    pub fn only(&self) -> Option<Matrix> {
        let is_only = self.matrices.len() == 1 && self.auto.is_none() && self.samples_or_usual() == 0;
        self.by_hand().next().filter(|_| is_only)
    }

    /// How many matrices there are at most, if that can be counted.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let (alphabet, some) = (self.alphabet(), self.matrices.len() as u64);
        let all = (1..=self.auto.unwrap_or(0)).try_fold(some, |sum, n| sum.checked_add(alphabet.count(n)?));
        all.and_then(|it| it.checked_add(self.samples_or_usual()))
    }

    /// What is wrong with `may_fail`: a method that neither a matrix nor one of `others` calls.
    #[must_use]
    pub fn unknown_method(&self, may_fail: &MayFail, others: &[String]) -> Option<NotFound> {
        if self.entries.is_empty() && others.is_empty() {
            // One matrix need not have all calls.
            return None;
        }
        let entries = self.entries.iter().flat_map(|it| &it.calls);
        let by_hand = self.matrices.iter().flat_map(|it| it.columns.iter().flatten());
        let calls = entries.chain(by_hand).chain(&self.initial).chain(&self.last).chain(others);
        let known: BTreeSet<&str> = calls.map(|it| method(it)).collect();
        let is_known = |name: &&str| {
            let it = MayFail::new().and(name, "", FailsWhen::Always);
            known.iter().any(|known| it.names(known))
        };
        let unknown = may_fail.methods().find(|it| !is_known(it))?;
        Some(NotFound::new("operation", unknown, known))
    }

    /// Whether random matrices are drawn until the time is up, not a number of them.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        self.samples == Some(u64::MAX)
    }

    /// How many random ones there are to be.
    #[must_use]
    pub fn samples_or_usual(&self) -> u64 {
        let has_others = !self.matrices.is_empty() || self.auto.is_some();
        self.samples.unwrap_or(if has_others { 0 } else { DEFAULT_SAMPLES })
    }

    /// Sequences of which a matrix has all calls or none. Not those whose calls may also occur
    /// alone.
    #[must_use]
    pub fn sequences(&self) -> Vec<Vec<String>> {
        let may_be_alone =
            |call: &String| self.entries.iter().any(|it| it.weight != 0 && it.calls == [call.as_str()]);
        let sequences = self.entries.iter().map(|it| &it.calls).filter(|it| 1 < it.len());
        sequences.filter(|it| !it.iter().all(may_be_alone)).cloned().collect()
    }

    /// The alphabet of all matrices of a size.
    fn alphabet(&self) -> Alphabet {
        Alphabet {
            entries: self.entries.iter().map(|it| it.calls.clone()).collect(),
            initial: self.initial.clone(),
            last: self.last.clone(),
        }
    }

    /// All matrices of one column and row, then of two, and so on.
    fn all(&self) -> impl Iterator<Item = Matrix> + Send + '_ {
        let (sizes, alphabet) = (1..=self.auto.unwrap_or(0), self.alphabet());
        sizes.flat_map(move |n| alphabet.all(n)).filter(|it| is_allowed(it, &self.entries))
    }

    /// An endless sequence of random matrices. Each is determined by the seed and its number.
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
        // Row by row, so that entries that occur only once are equally likely in every column.
        for _ in 0..self.rows {
            for (at, column) in columns.iter_mut().enumerate() {
                let weight = |number: usize, entry: &MatrixEntry| {
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
                // If no entry is left, the column is shorter.
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

/// Whether each group is in one column, and no once-entry occurs twice.
fn is_allowed(matrix: &Matrix, entries: &[MatrixEntry]) -> bool {
    let times = |entry: &MatrixEntry, column: &[String]| {
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
        let entry = |call: &str| MatrixEntry::new(vec![call.to_owned()]);
        Plan {
            entries: vec![
                entry("push"),
                MatrixEntry { group: Some("consumers".to_owned()), ..entry("pop") },
                MatrixEntry { group: Some("consumers".to_owned()), ..entry("peek") },
                MatrixEntry { is_once: true, ..entry("close") },
            ],
            seed: 1,
            ..Plan::default()
        }
    }

    fn matrices(plan: &Plan) -> Vec<Matrix> {
        plan.matrices().collect()
    }

    fn count(matrix: &Matrix, calls: &[&str]) -> Vec<usize> {
        let has = |it: &&String| calls.contains(&it.as_str());
        matrix.columns.iter().map(|it| it.iter().filter(has).count()).collect()
    }

    #[test]
    fn groups_stay_in_one_column_and_once_entries_occur_once() {
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
    fn calls_that_may_also_be_made_alone_are_no_sequence() {
        let calls = |text: &str| crate::matrix::calls(text).unwrap();
        let mut locks = plan();
        locks.entries = vec![
            MatrixEntry::new(calls("lock unlock")),
            MatrixEntry::new(calls("push push")),
            MatrixEntry::new(calls("push")),
        ];
        assert_eq!(locks.sequences(), [calls("lock unlock")]);
        locks.entries[2].weight = 0;
        assert_eq!(locks.sequences(), [calls("lock unlock"), calls("push push")]);
    }

    #[test]
    fn weights_say_how_often() {
        let mut heavy = plan();
        heavy.entries.truncate(1);
        heavy.entries.push(MatrixEntry { weight: 9, ..MatrixEntry::new(vec!["get".to_owned()]) });
        let drawn: Vec<Matrix> = (0..200).map(|it| heavy.draw(&mut Random::new(it))).collect();
        let n = |call: &str| drawn.iter().map(|it| count(it, &[call]).iter().sum::<usize>()).sum::<usize>();
        assert_eq!(n("push") + n("get"), 200 * 9);
        assert!((100..260).contains(&n("push")), "{}", n("push"));
    }

    #[test]
    fn matrices_that_differ_in_the_order_of_columns_are_checked_once() {
        let mut few = Plan { columns: 2, rows: 1, ..plan() };
        few.entries = vec![MatrixEntry::new(vec!["a".to_owned()]), MatrixEntry::new(vec!["b".to_owned()])];
        let mut drawn: Vec<Vec<String>> = matrices(&few).iter().map(|it| it.columns.concat()).collect();
        drawn.iter_mut().for_each(|it| it.sort());
        drawn.sort();
        assert_eq!(drawn, [["a", "a"], ["a", "b"], ["b", "b"]]);
        // Of those by hand, all are.
        few.matrices = vec!["a | b".parse().unwrap(), "b | a".parse().unwrap()];
        assert_eq!(matrices(&few).len(), 2);
        assert_eq!(few.only(), None);
        few.auto = Some(2);
        assert_eq!((matrices(&few).len(), few.count()), (2 + 1 + 10, Some(2 + 1 + 10)));
        // Random matrices that were listed are not repeated.
        few.samples = Some(50);
        assert_eq!((matrices(&few).len(), few.count()), (2 + 1 + 10 + 3, Some(2 + 1 + 10 + 50)));
    }
}
