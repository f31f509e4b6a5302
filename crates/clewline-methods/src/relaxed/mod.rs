//! Relaxed objects: whether they keep their bound. Quasi linearizability of recorded histories, and
//! Round-Up under every interleaving.
//!
//! A relaxed structure may return elements out of order by a bound, its quasi factor. The check of
//! a matrix is that of [Line-Up](crate::line_up), with two differences. The reference is not the
//! serial executions of the subject, which are relaxed as well. It is a golden model: a
//! specification, another subject, or the subject itself configured with factor zero. And each
//! history is judged by how far its operations are from their places in the golden model:
//!
//! * in the *relaxed* reading, the golden model is itself a specification with a bound, such as
//!   `quasi-queue:2`, and histories are linearizable as that, with
//!   [`Reference::Named`](crate::line_up::Reference::Named);
//! * in the *displacement* reading there are two orders of a history's operations: one that
//!   respects real time, and one of the golden model. Within each class, no operation's places in
//!   the two differ by more than the factor of the class ([`Judging::Displaced`]). Structures other
//!   than specifications are called in every order, including orders that no thread would make,
//!   since the second order respects nothing.
//!
//! If a factor is requested, the check counts instead how many distinct histories need which:
//! [`FactorHistogram`].
//!
//! Matrices are [well-formed](clewline_matrix::well_formed::ElementCalls): they remove as much as
//! they add. Where a call still returns *empty*, and so an element is left, an additional call may
//! remove it (`drain.rs`). Violations are shown as by Line-Up.
//!
//! Source: L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up: runtime checking quasi
//! linearizability of concurrent data structures", 2013.

mod drain;
mod evidence;
mod factors;
mod judge;
mod judging;
mod orders;
mod quasi;
mod query;
mod request;

pub use clewline_matrix::well_formed::{ElementCalls, IllFormed};
pub use factors::{Factor, Factors};
pub use judge::relaxation;
pub use judging::{FactorHistogram, Judging, MATRIX_HISTORY_CONFIGURATIONS_MAX, WellFormed};
pub use quasi::{Quasi, QuasiReading};
pub use query::{Matrices, QuasiQuery};

pub(crate) use drain::{drained, elements_left};
pub(crate) use evidence::QuasiEvidence;
pub(crate) use judge::{JudgedRecording, judge_program, judge_recording};
pub(crate) use judging::{RelaxedVerdict, distribution, judge_displaced};
pub(crate) use orders::{headline, orders};
pub(crate) use quasi::Plan;
pub(crate) use request::QuasiRequest;
