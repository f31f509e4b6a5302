//! The assertion for tests.

use clewline_core::{History, Specification, Verdict};

use clewline_methods::check;

/// Asserts that `history` is linearizable with respect to `specification`.
///
/// ```should_panic
/// use clewline::{Event, History, assert_linearizable};
/// # struct Flag;
/// # impl clewline::Deterministic for Flag {
/// #     type State = bool;
/// #     type Call = &'static str;
/// #     type Return = bool;
/// #     fn initial(&self) -> bool { false }
/// #     fn apply(&self, state: &mut bool, call: &&'static str) -> Option<bool> {
/// #         *state |= *call == "raise";
/// #         Some(*state)
/// #     }
/// # }
///
/// // The flag is raised, and a later operation finds it not raised.
/// let history = History::from_events([
///     Event::call(0, "raise"),
///     Event::ret(0, true),
///     Event::call(1, "look"),
///     Event::ret(1, false),
/// ])?;
/// assert_linearizable(&Flag, &history); // panics; the message shows both operations
/// # Ok::<(), clewline::Error>(())
/// ```
///
/// # Panics
///
/// With the whole report, if the history is not linearizable or a limit was hit.
#[track_caller]
pub fn assert_linearizable<S>(specification: &S, history: &History<S::Call, S::Return>)
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    let report = check(specification, history);
    match report.verdict() {
        Verdict::Holds(_) => (),
        Verdict::Violated(_) | Verdict::Unknown(_) => panic!("{report}"),
    }
}
