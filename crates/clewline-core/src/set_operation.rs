//! Operations of a set that can be read as a whole.

use rustc_hash::FxHashMap;

/// What an operation of a set does, and what it returned: for the checker of sets that are read as
/// a whole. A result is `None` if the operation is pending, or did not say it.
///
/// This is a promise about the specification: the operation is allowed in a state, and changes it,
/// exactly as the same operation of a mathematical set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOperation<E = u64> {
    /// Adds the element.
    Add {
        /// The element.
        element: E,
        /// Whether it was not there before.
        is_new: Option<bool>,
    },
    /// Removes the element.
    Remove {
        /// The element.
        element: E,
        /// Whether it was there before.
        was_there: Option<bool>,
    },
    /// Looks whether the element is there.
    Contains {
        /// The element.
        element: E,
        /// Whether it is there.
        is_there: Option<bool>,
    },
    /// Reads all elements.
    Read {
        /// The elements, in any order.
        elements: Option<Vec<E>>,
    },
}

/// The operations of a problem, with elements as numbers from 0 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOperations {
    /// The element of each number, as its specification names it.
    pub names: Vec<u64>,
    /// The operations, by position. The elements of a read ascend.
    pub operations: Vec<SetOperation<u32>>,
}

impl SetOperations {
    /// Numbers the elements of `operations` in the order in which they occur. `None` if one of the
    /// operations is not known.
    pub(crate) fn collect(operations: impl Iterator<Item = Option<SetOperation>>) -> Option<SetOperations> {
        let mut names: Vec<u64> = Vec::new();
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let mut number = |element: u64| {
            *numbers.entry(element).or_insert_with(|| {
                names.push(element);
                names.len() as u32 - 1
            })
        };
        let mut numbered = |operation: SetOperation| match operation {
            SetOperation::Add { element, is_new } => SetOperation::Add { element: number(element), is_new },
            SetOperation::Remove { element, was_there } => {
                SetOperation::Remove { element: number(element), was_there }
            }
            SetOperation::Contains { element, is_there } => {
                SetOperation::Contains { element: number(element), is_there }
            }
            SetOperation::Read { elements } => {
                let elements = elements.map(|all| {
                    let mut all: Vec<u32> = all.into_iter().map(&mut number).collect();
                    all.sort_unstable();
                    all.dedup();
                    all
                });
                SetOperation::Read { elements }
            }
        };
        let operations = operations.map(|it| it.map(&mut numbered)).collect::<Option<Vec<_>>>()?;
        Some(SetOperations { names, operations })
    }
}
