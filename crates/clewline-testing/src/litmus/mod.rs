//! Litmus tests: small programs on atomics, and what each memory model lets them return.
//!
//! A program is written as a text: threads are separated by `|`, and accesses by blanks. `Wx1`
//! stores 1 to `x`, `Rx` loads it, `Xx1` swaps it for 1, and `F` is a fence. An ordering follows
//! after a dot: `.acq`, `.rel`, `.ar` or `.sc`; without one, an access is relaxed. Locations are
//! `x`, `y` and `z`, and hold 0 at first.
//!
//! An outcome is written in the same order: what each thread has read, and after `;` what the
//! locations hold in the end: `01|10;11`.
//!
//! What is allowed follows from definitions that share nothing with the engine: machines of
//! interleaved steps for sequential consistency and total store order, and the axioms of RC11 on
//! every candidate execution.

mod axioms;
mod machine;
mod program;
mod table;

use std::collections::BTreeSet;

pub use axioms::Candidates;
pub use program::{LOCATIONS, Op, Outcome, Program};
pub use table::{LITMUS, Litmus};

impl Program {
    /// What sequential consistency allows.
    #[must_use]
    pub fn sequential(&self) -> BTreeSet<Outcome> {
        machine::outcomes(self, false).0
    }

    /// What total store order allows.
    #[must_use]
    pub fn buffered(&self) -> BTreeSet<Outcome> {
        machine::outcomes(self, true).0
    }

    /// The number of executions that total store order allows: of relations reads-from and
    /// modification orders. All values that are stored to a location differ.
    #[must_use]
    pub fn buffered_graphs(&self) -> u64 {
        machine::outcomes(self, true).1
    }

    /// What RC11 allows: all of it, or what can be executed one step after the other.
    #[must_use]
    pub fn relaxed(&self, which: Candidates) -> BTreeSet<Outcome> {
        axioms::consistent(self, which).0
    }

    /// The number of executions that RC11 allows: of relations reads-from and modification orders.
    #[must_use]
    pub fn graphs(&self, which: Candidates) -> u64 {
        axioms::consistent(self, which).1
    }
}
