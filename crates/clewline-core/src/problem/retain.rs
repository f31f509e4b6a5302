//! What a weakened problem retains of its operations.

/// What a weaker problem retains of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retain {
    /// Everything.
    All,
    /// Everything, but the operation need not have taken effect.
    Optional,
    /// The call: the result and the time of the return are dropped, as if it were pending.
    CallOnly,
    /// Only that it may take effect: at any time, with any result, or not at all.
    Unconstrained,
    /// Nothing.
    Drop,
}

/// What is retained of an operation that was not dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Retained {
    /// Everything.
    All,
    /// Everything, but the operation need not have taken effect.
    Optional,
    /// The call, without its result.
    CallOnly,
}
