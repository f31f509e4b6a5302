//! What an access has read: where the store comes from, and which newer one it missed.

use clewline_explore::TaskId;

/// Where a store comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its number among the stores of the execution, from 1; 0 if it is the initial value.
    pub number: u32,
    /// The task that made it.
    pub task: TaskId,
    /// The step in which it was made, from 1; 0 if that is not known.
    pub step: u32,
}

impl Origin {
    /// The initial value.
    pub(in crate::control) const INITIAL: Origin = Origin { number: 0, task: TaskId(0), step: 0 };
}

/// A newer store than the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Its value.
    pub value: u64,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it waits in a store buffer.
    pub is_buffered: bool,
}

/// What an access has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The value.
    pub value: u64,
    /// Where the store comes from.
    pub origin: Origin,
    /// The newest store, if that is another one.
    pub missed: Option<Missed>,
}

impl Loaded {
    /// Says which store was read, what was missed and why, after the value; `show` formats a value.
    #[must_use]
    pub fn describe(&self, show: impl FnOnce(u64) -> String) -> String {
        let Some(missed) = self.missed else { return String::new() };
        let of = |words: &str, of: Origin| match of.step {
            0 => String::new(),
            step => format!("{words} step {step}"),
        };
        let (from, value, of) = (of(", from", self.origin), show(missed.value), of(" of", missed.origin));
        let why =
            if missed.is_buffered { ", which is still in a store buffer" } else { ": nothing orders them" };
        format!("{from}, not {value}{of}{why}")
    }
}
