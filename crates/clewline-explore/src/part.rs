//! Parts of the executions of a scheduler, for several threads or processes.
//!
//! A part is a run of consecutive executions: the parts in their order have the executions of the
//! whole, in the same order. So whatever a search that stops at the first violation finds, and
//! counts up to there, follows from its parts, however many there are. A scheduler that goes in
//! rounds has parts that are consecutive within each [round](crate::PartPath::round).

use std::ops::Range;

/// Choices from the start of an execution on: indices of enabled steps, and values.
pub type Choices = Box<[u32]>;

/// A part of the executions of a scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    #[default]
    Whole,
    /// Those that begin with these choices. For [rounds](Division::Rounds): with one of them, and
    /// those of the first round if there are none.
    Below(Vec<Choices>),
    /// Those with these numbers.
    Numbers(Range<u64>),
    /// The first one below each child of the node with these choices, for
    /// [`split`](crate::split).
    Children(Choices),
}

/// How the executions of a scheduler are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Not at all: what one execution shows decides which others are needed.
    None,
    /// A tree, by its prefixes.
    Tree,
    /// A tree, one round after the other, by what the first round leaves to the others.
    Rounds,
    /// By number.
    Numbers,
}

/// A node, and the logarithm of the estimated number of executions below it.
pub(crate) type WeightedNode = (Choices, f64);

/// The number of executions in a block, which [`Part::Numbers`] does not divide.
pub(crate) const BLOCK_EXECUTIONS: u64 = 128;
