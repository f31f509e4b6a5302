//! What a call does to a collection.

/// What a call does to a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed<E> {
    /// Adds an element.
    Add(E),
    /// Removes whichever it finds.
    Remove,
    /// Answers what it could have removed.
    Look,
}
