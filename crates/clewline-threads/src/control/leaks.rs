//! Leaks: what is made in an execution and never dropped.

use std::cell::RefCell;

use super::{explorer::explorer_local, place::Place};

/// Something that was never dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Where it was made.
    pub place: Place,
}

explorer_local! {
    // What is alive in the execution that is watched, in the order in which it was made. Few, and mostly the youngest die first.
    static ALIVE: RefCell<Option<Vec<(usize, Leak)>>> = const { RefCell::new(None) };
}

/// Something was made at `address`.
#[inline]
#[track_caller]
pub(crate) fn note_created(address: usize) {
    let place = Place::caller();
    // A thread that is ending watches nothing.
    let _ = ALIVE.try_with(|it| {
        if let Some(alive) = &mut *it.borrow_mut() {
            alive.push((address, Leak { place }));
        }
    });
}

/// What was at `address` is no more.
#[inline]
pub(crate) fn note_dropped(address: usize) {
    let _ = ALIVE.try_with(|it| {
        if let Some(alive) = &mut *it.borrow_mut()
            && let Some(at) = alive.iter().rposition(|it| it.0 == address)
        {
            alive.remove(at);
        }
    });
}

/// While there is one, what is made and dropped on this thread is watched.
#[derive(Debug)]
pub(super) struct LeakDetector {
    // `None` once it is over.
    outer: Option<Option<Vec<(usize, Leak)>>>,
}

impl LeakDetector {
    pub(super) fn begin() -> LeakDetector {
        LeakDetector { outer: Some(ALIVE.replace(Some(Vec::new()))) }
    }

    /// What is alive, oldest first.
    pub(super) fn end(mut self) -> Vec<Leak> {
        let alive = ALIVE.replace(self.outer.take().flatten());
        alive.unwrap_or_default().into_iter().map(|it| it.1).collect()
    }
}

impl Drop for LeakDetector {
    fn drop(&mut self) {
        if let Some(outer) = self.outer.take() {
            ALIVE.set(outer);
        }
    }
}
