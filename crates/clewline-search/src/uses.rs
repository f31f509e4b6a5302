//! Which pending operations were used, as far as it matters: how many of each kind, and when.
//!
//! Pending operations with the same role and value are *alike*. They are used in the order of
//! their calls, so the n-th one must have been called when the n-th one is used. A *use* counts
//! them for a part of a linearization, whatever comes before: for each kind, the number used in
//! it, and the *slack*, which is how many may have been used before the part.

use std::collections::HashMap;

use clewline_core::RoleKind;

use clewline_monitor::Columns;

use crate::links::positions_by_call;

/// The number of the use in which there is nothing.
pub const NOTHING: u32 = 0;

/// The operations of one kind that are used in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Count {
    kind: u32,
    used: u32,
    // How many may have been used before, at most.
    slack: u32,
}

/// Uses by their numbers, and the pending operations of each kind.
#[derive(Debug)]
pub struct Uses {
    // The pending operations of each kind, by their calls: pushes by value, and pops at the end.
    alike: Vec<Vec<u32>>,
    // The counts of each use, by kinds; equal uses have the same number.
    uses: Vec<Box<[Count]>>,
    numbers: HashMap<Box<[Count]>, u32>,
    // For two parts, the use of one after the other, if it is possible.
    joined: HashMap<(u32, u32), Option<u32>>,
    // How many counts there are in all uses.
    length: usize,
}

impl Uses {
    /// The use in which there is nothing, and the pending operations.
    #[must_use]
    pub fn new(columns: &Columns) -> Uses {
        let mut uses = Uses {
            alike: vec![Vec::new(); columns.names.len() + 1],
            uses: vec![Box::default()],
            numbers: HashMap::from([(Box::default(), NOTHING)]),
            joined: HashMap::new(),
            length: 0,
        };
        for at in positions_by_call(columns) {
            if let Some(kind) = kind_of(columns, at) {
                uses.alike[kind as usize].push(at);
            }
        }
        uses
    }

    /// The pending operation that stands for a push of this value, or a pop if there is none: the
    /// one called first.
    #[must_use]
    pub fn first(&self, value: Option<u32>) -> Option<u32> {
        let kind = value.map_or(self.alike.len() - 1, |it| it as usize);
        self.alike[kind].first().copied()
    }

    /// The use of one more operation like `at`, in the gap `gap` or later, after the part `before`.
    pub fn and(&mut self, columns: &Columns, before: u32, at: u32, gap: u32) -> Option<u32> {
        let kind = kind_of(columns, at)?;
        let is_called = |&it: &u32| columns.intervals[it as usize].left <= gap;
        let called = self.alike[kind as usize].partition_point(is_called) as u32;
        let one = self.number(vec![Count { kind, used: 1, slack: called.checked_sub(1)? }]);
        self.join(before, one)
    }

    /// The use of two parts, of which the second comes after the first; `None` if too many are used
    /// in the first.
    pub fn join(&mut self, first: u32, second: u32) -> Option<u32> {
        if first == NOTHING || second == NOTHING {
            return Some(first | second);
        }
        if let Some(&known) = self.joined.get(&(first, second)) {
            return known;
        }
        let joined = self.fits(first, second).then(|| {
            let (before, after) = (&self.uses[first as usize], &self.uses[second as usize]);
            let mut counts = before.to_vec();
            for it in after {
                match counts.binary_search_by_key(&it.kind, |it| it.kind) {
                    Ok(place) => {
                        let count = &mut counts[place];
                        count.slack = count.slack.min(it.slack - count.used);
                        count.used += it.used;
                    }
                    Err(place) => counts.insert(place, *it),
                }
            }
            self.number(counts)
        });
        self.joined.insert((first, second), joined);
        joined
    }

    /// Whether the second part may come after the first.
    #[must_use]
    pub fn fits(&self, first: u32, second: u32) -> bool {
        let mut before = self.uses[first as usize].iter().peekable();
        self.uses[second as usize].iter().all(|it| {
            while before.next_if(|other| other.kind < it.kind).is_some() {}
            before.peek().is_none_or(|other| other.kind != it.kind || other.used <= it.slack)
        })
    }

    /// Whether all that is possible after a part with the use `other`, and all that is possible
    /// before it, is possible with the use `it`.
    #[must_use]
    pub fn is_as_good(&self, it: u32, other: u32) -> bool {
        self.counts(it, other, |it, other| it.used <= other.used && other.slack <= it.slack)
    }

    /// Whether no more operations of any kind are used in `it` than in `other`.
    #[must_use]
    pub fn is_as_little(&self, it: u32, other: u32) -> bool {
        self.counts(it, other, |it, other| it.used <= other.used)
    }

    /// Whether each kind that is in `it` is in `other` as well, and `compare` finds it to be fine.
    fn counts(&self, it: u32, other: u32, compare: impl Fn(Count, Count) -> bool) -> bool {
        if it == NOTHING || it == other {
            return true;
        }
        let mut others = self.uses[other as usize].iter().peekable();
        self.uses[it as usize].iter().all(|&it| {
            while others.next_if(|other| other.kind < it.kind).is_some() {}
            others.peek().is_some_and(|&&other| other.kind == it.kind && compare(it, other))
        })
    }

    /// Replaces each pending operation of an order by one like it, in the order of their calls.
    pub fn resolve(&self, columns: &Columns, order: &mut [u32]) {
        let mut used = vec![0; self.alike.len()];
        for at in order {
            if let Some(kind) = kind_of(columns, *at) {
                *at = self.alike[kind as usize][used[kind as usize]];
                used[kind as usize] += 1;
            }
        }
    }

    fn number(&mut self, counts: Vec<Count>) -> u32 {
        let counts = counts.into_boxed_slice();
        if let Some(&number) = self.numbers.get(&counts) {
            return number;
        }
        let number = self.uses.len() as u32;
        self.length += counts.len();
        self.uses.push(counts.clone());
        self.numbers.insert(counts, number);
        number
    }

    /// How many bytes there are.
    #[must_use]
    pub fn bytes(&self) -> usize {
        2 * self.length * size_of::<Count>()
            + self.uses.capacity() * 3 * size_of::<Box<[Count]>>()
            + self.joined.capacity() * 2 * size_of::<(u32, u32, u32)>()
    }
}

/// The kind of a pending operation that may take effect.
fn kind_of(columns: &Columns, at: u32) -> Option<u32> {
    match columns.kinds[at as usize] {
        _ if !columns.is_pending(at as usize) => None,
        RoleKind::Add => Some(columns.elements[at as usize]),
        RoleKind::RemoveUnknown => Some(columns.names.len() as u32),
        _ => None,
    }
}
