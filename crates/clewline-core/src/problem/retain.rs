//! What is left of operations.

/// What a weaker problem keeps of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retain {
    /// Everything.
    All,
    /// Everything, should it have happened; but perhaps it did not.
    Optional,
    /// The call: what it returned, and when, is forgotten, as if it were pending.
    CallOnly,
    /// That it may have happened: at any time, with any answer, or not at all.
    Unconstrained,
    /// Nothing.
    Drop,
}

/// How much of an operation that is there is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Known {
    /// Everything.
    All,
    /// Everything but whether it happened.
    Doubted,
    /// Not what it returned.
    Call,
}
