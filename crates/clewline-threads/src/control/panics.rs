//! Panics of tasks: recorded as results and not printed.

use std::{any::Any, cell::RefCell};

use super::explorer::explorer_local;

/// The kind of failure that ended a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// A panic.
    #[default]
    Panic,
    /// Freed memory was accessed.
    UseAfterFree,
    /// Memory was freed twice.
    DoubleFree,
    /// A signal.
    Crash,
    /// The program reported a failure, or misused a lock or its memory.
    Failure,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [FailureKind; 5] = [
        FailureKind::Panic,
        FailureKind::UseAfterFree,
        FailureKind::DoubleFree,
        FailureKind::Crash,
        FailureKind::Failure,
    ];
}

/// A panic of a task, or another failure that ended it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panic {
    /// Its kind.
    pub kind: FailureKind,
    /// Its message.
    pub message: String,
    /// File, line and column.
    pub place: Option<String>,
    /// The number of steps made when it began, if known.
    pub step: Option<u32>,
}

explorer_local! {
    // The place of the last panic of a task, and the number of steps before it.
    static LAST: RefCell<(Option<String>, Option<u32>)> = const { RefCell::new((None, None)) };
}

/// Records where a task panicked, and after how many steps.
pub(super) fn note(place: Option<String>, step: Option<u32>) {
    LAST.set((place, step));
}

/// The panic with the caught payload.
pub(super) fn caught(payload: &(dyn Any + Send)) -> Panic {
    let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let message = message.unwrap_or_else(|| "something that is no text".to_owned());
    let (place, step) = LAST.take();
    Panic { kind: FailureKind::Panic, message, place, step }
}
