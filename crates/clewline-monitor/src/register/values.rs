//! Values of a register, and chains of those that replaced each other.

/// The number of the initial value.
pub(super) const INITIAL: u32 = 0;

/// Which operation wrote a value, when it was found and what replaced it.
#[derive(Clone, Copy)]
pub(super) struct Value {
    // The position of the operation that wrote it, or `NONE`.
    pub(super) write: u32,
    // The value that replaced it, if an operation says so, or `NONE`.
    pub(super) next: u32,
    // The first gap in which a read of it ends, `NONE` if there is no read; the last gap in which
    // one begins.
    pub(super) found_by: u32,
    pub(super) found_from: u32,
}

/// What is known about each value, by number.
pub(super) struct Values {
    pub(super) all: Vec<Value>,
    // How many of them were written.
    pub(super) written: usize,
    pub(super) broken: Option<BrokenRule>,
}

/// A chain of values: its first, and its zone.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    pub(super) head: u32,
    // The first gap in which one of its operations ends. That of the initial value lies before all
    // gaps.
    pub(super) first_end: u32,
    // The last gap in which one of its operations begins.
    pub(super) last_begin: u32,
}

impl Chain {
    pub(super) fn is_forward(&self) -> bool {
        self.first_end < self.last_begin
    }
}

/// The rule that is broken. Numbers are those of values.
#[derive(Clone, Copy)]
pub(super) enum BrokenRule {
    /// The value was found, and never written.
    Unwritten(u32),
    /// Both values replaced the same one.
    ReplacedTwice(u32, u32),
    /// Values replace each other in a cycle.
    Cycle,
    /// The value was written before something that comes earlier in its chain.
    Write(u32),
    /// The value was found before something that comes earlier in its chain.
    Read(u32),
    /// The chain was current before the last operation of the initial value's chain.
    NotInitial(Chain),
    /// The zones overlap, the first of which is forward.
    Overlap(Chain, Chain),
}
