//! Finite multisets: the state of bags, multisets and priority queues.

use std::{collections::BTreeMap, fmt};

use clewline_core::Value;

/// Elements, each with its number of copies.
#[derive(Clone, PartialEq, Eq, Hash)]
// No count is 0, so that equal multisets compare equal.
pub struct Copies<T>(BTreeMap<T, usize>);

/// The format of a state in reports: each copy is listed.
impl<T: fmt::Debug> fmt::Debug for Copies<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copies = self.0.iter().flat_map(|(element, &count)| std::iter::repeat_n(element, count));
        f.debug_list().entries(copies).finish()
    }
}

impl<T: Ord> Copies<T> {
    /// Empty.
    #[must_use]
    pub const fn new() -> Self {
        Copies(BTreeMap::new())
    }

    /// Adds a copy.
    pub fn add(&mut self, element: T) {
        *self.0.entry(element).or_default() += 1;
    }

    /// Removes one copy. Returns whether there was one.
    pub fn remove(&mut self, element: &T) -> bool {
        match self.0.get_mut(element) {
            None => return false,
            Some(1) => drop(self.0.remove(element)),
            Some(count) => *count -= 1,
        }
        true
    }

    /// Whether there is a copy.
    #[must_use]
    pub fn contains(&self, element: &T) -> bool {
        self.0.contains_key(element)
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The distinct elements in ascending order.
    pub fn elements(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.keys()
    }

    /// About how many bytes this takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + tree_bytes::<(T, usize)>(self.0.len())
    }
}

impl<T: Ord> Default for Copies<T> {
    fn default() -> Self {
        Copies::new()
    }
}

/// About how many bytes an array of `len` values takes on the heap.
pub(crate) fn array_bytes(len: usize) -> usize {
    // Adds half of what doubling leaves unused, and the overhead of the allocator.
    (len + len / 2) * size_of::<Value>() + 16
}

/// About how many bytes a B-tree of `len` entries takes on the heap.
pub(crate) fn tree_bytes<E>(len: usize) -> usize {
    // A node has room for eleven entries and is about two thirds full; sixteen bytes link it to
    // others.
    len.div_ceil(7) * (11 * size_of::<E>() + 16)
}
