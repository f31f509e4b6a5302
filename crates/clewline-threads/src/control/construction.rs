//! Whether a subject is being constructed.

use std::{any::Any, cell::Cell, panic};

use super::explorer::explorer_local;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Other,
    Constructing,
    Dropping,
}

explorer_local! {
    static PHASE: Cell<Phase> = const { Cell::new(Phase::Other) };
}

/// Whether a subject for tasks is being constructed on this thread, or dropped.
pub(crate) fn is_constructing() -> bool {
    PHASE.try_with(Cell::get).is_ok_and(|it| it != Phase::Other)
}

/// The panic payload of a constructor that has to run in a task.
struct NeedsTask;

/// The constructor of a subject starts a thread, which has to be a task. If it is not in a task
/// itself, it is abandoned, and runs again in one.
pub(crate) fn require_task() {
    if PHASE.try_with(Cell::get) == Ok(Phase::Constructing) {
        panic::resume_unwind(Box::new(NeedsTask));
    }
}

/// Whether a constructor has to run in a task.
pub(super) fn needs_task(payload: &(dyn Any + Send)) -> bool {
    payload.is::<NeedsTask>()
}

/// Constructs a subject.
pub(super) fn construct<T>(make: impl FnOnce() -> T) -> T {
    during(Phase::Constructing, make)
}

/// Drops a subject.
pub(super) fn destroy<T>(subject: T) {
    during(Phase::Dropping, || drop(subject));
}

fn during<T>(phase: Phase, act: impl FnOnce() -> T) -> T {
    struct Reset(Phase);
    impl Drop for Reset {
        fn drop(&mut self) {
            PHASE.set(self.0);
        }
    }
    let _reset = Reset(PHASE.replace(phase));
    act()
}
