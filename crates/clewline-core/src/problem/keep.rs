//! What is left of operations.

/// What a weaker problem keeps of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Everything.
    Whole,
    /// The call: what it returned, and when, is forgotten, as if it were pending.
    Call,
    /// That it may have happened: at any time, with any answer, or not at all.
    Chance,
    /// Nothing.
    Nothing,
}
