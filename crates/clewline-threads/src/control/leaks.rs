//! Leaks: objects created in an execution and never dropped.

use std::cell::RefCell;

use super::{explorer::explorer_local, place::Place};

/// An object that was never dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Where it was created.
    pub place: Place,
}

explorer_local! {
    // The live objects of the watched execution, in creation order. There are few, and the youngest
    // are usually dropped first.
    static ALIVE: RefCell<Option<Vec<(usize, Leak)>>> = const { RefCell::new(None) };
}

/// An object was created at `address`.
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

/// The object at `address` was dropped.
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

/// Watches the objects created and dropped on this thread while it lives.
#[derive(Debug)]
pub(super) struct LeakDetector {
    // `None` when watching has ended.
    outer: Option<Option<Vec<(usize, Leak)>>>,
}

impl LeakDetector {
    pub(super) fn begin() -> LeakDetector {
        LeakDetector { outer: Some(ALIVE.replace(Some(Vec::new()))) }
    }

    /// The live objects, oldest first.
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
