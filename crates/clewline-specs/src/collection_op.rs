//! What a call does to a collection.

/// What a call does to a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionOp<E> {
    /// Adds an element.
    Add(E),
    /// Removes the element that the collection chooses.
    Remove,
    /// Returns the element that `Remove` could remove.
    Peek,
}
