//! Logs: the operations of one thread, written only by that thread.
//!
//! A log is allocated before the run, with the calls that its thread will make. The thread fills
//! one slot after the other and publishes how many are full; no other thread writes. Readers read
//! only full slots: so a log can be read while its thread is stuck, and a stuck thread that
//! continues later does no harm.
//!
//! The count is stored with `Release`, which on x86 is a plain store and never waits. No thread
//! under test reads it, so it orders nothing that the subject does between threads.

use std::{
    cell::UnsafeCell,
    fmt,
    mem::MaybeUninit,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use clewline_core::Stamped;

/// The calls of a thread, and their results so far.
pub(crate) struct Log<C, R> {
    calls: Vec<C>,
    // Invariant: the first `full` slots are initialized and never written again.
    slots: Box<[Slot<R>]>,
    full: AtomicUsize,
    // Whether the writer has been handed out.
    taken: AtomicBool,
}

struct Slot<R>(UnsafeCell<MaybeUninit<Completion<R>>>);

struct Completion<R> {
    called: u64,
    returned: u64,
    ret: R,
}

// SAFETY: a slot is written by the one writer, before `full` passes it; other threads read it only
// after they have seen `full` pass it, which happens after the write (Release, Acquire). So no
// write races with another access. Results move to, and are read from, other threads: hence `R:
// Send + Sync`.
unsafe impl<C: Sync, R: Send + Sync> Sync for Log<C, R> {}

impl<C, R> Log<C, R> {
    /// A log for a thread that will make these calls.
    pub(crate) fn new(calls: Vec<C>) -> Self {
        // Written once now, so that the system has provided the memory before the thread needs it.
        let slots = calls.iter().map(|_| Slot(UnsafeCell::new(MaybeUninit::zeroed()))).collect();
        Log { calls, slots, full: AtomicUsize::new(0), taken: AtomicBool::new(false) }
    }

    /// The calls to make.
    pub(crate) fn calls(&self) -> &[C] {
        &self.calls
    }

    /// The number of operations that have returned.
    pub(crate) fn full(&self) -> usize {
        self.full.load(Ordering::Acquire)
    }

    /// The writer, which is handed out once.
    pub(crate) fn writer(&self) -> LogWriter<'_, C, R> {
        let was_taken = self.taken.swap(true, Ordering::Relaxed);
        assert!(!was_taken, "one thread writes a log");
        LogWriter { log: self, at: 0 }
    }

    fn completion(&self, at: usize) -> &Completion<R> {
        assert!(at < self.full(), "only full slots are read");
        // SAFETY: the slot is full, so it is initialized and no longer written (see the invariant
        // of `slots`).
        unsafe { (*self.slots[at].0.get()).assume_init_ref() }
    }

    /// The first `full` operations, which have returned, and the next one, if any, as pending.
    pub(crate) fn operations(&self, full: usize) -> Vec<Stamped<C, R>>
    where
        C: Clone,
        R: Clone,
    {
        let complete = (0..full).map(|at| {
            let Completion { called, returned, ret } = self.completion(at);
            let returned = Some((ret.clone(), *returned));
            Stamped { call: self.calls[at].clone(), called: *called, returned }
        });
        let mut operations = Vec::with_capacity(full + 1);
        operations.extend(complete);
        if let Some(call) = self.calls.get(full) {
            // Whether and when it was called is unknown; but not before the last one had returned.
            let called = operations.last().and_then(|it| it.returned.as_ref()).map_or(0, |it| it.1);
            operations.push(Stamped { call: call.clone(), called, returned: None });
        }
        operations
    }
}

impl<C, R> Drop for Log<C, R> {
    fn drop(&mut self) {
        let full = *self.full.get_mut();
        for slot in &mut self.slots[..full] {
            // SAFETY: the first `full` slots are initialized, and no other reader exists.
            unsafe { slot.0.get_mut().assume_init_drop() };
        }
    }
}

impl<C, R> fmt::Debug for Log<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("calls", &self.calls.len())
            .field("full", &self.full())
            .finish_non_exhaustive()
    }
}

/// The only writer of a log.
pub(crate) struct LogWriter<'a, C, R> {
    log: &'a Log<C, R>,
    // The number of full slots.
    at: usize,
}

impl<C, R> LogWriter<'_, C, R> {
    /// Records the result of the next operation.
    #[inline(always)]
    pub(crate) fn ret(&mut self, called: u64, returned: u64, ret: R) {
        let slot = &self.log.slots[self.at];
        // SAFETY: `full` has not passed this slot, so it is not read; and there is one writer, so
        // nothing else writes it.
        unsafe { (*slot.0.get()).write(Completion { called, returned, ret }) };
        self.at += 1;
        self.log.full.store(self.at, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_log_can_be_read_while_it_is_written() {
        let rounds = if cfg!(miri) { 50 } else { 20_000 };
        let log: Log<usize, String> = Log::new((0..rounds).collect());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = log.writer();
                for at in 0..rounds {
                    writer.ret(2 * at as u64, 2 * at as u64 + 1, at.to_string());
                }
            });
            loop {
                let full = log.full();
                if let Some(last) = full.checked_sub(1) {
                    assert_eq!(log.completion(last).ret, last.to_string());
                    assert_eq!(log.completion(last).returned, 2 * last as u64 + 1);
                }
                if full == rounds {
                    break;
                }
                std::hint::spin_loop();
            }
        });
        assert_eq!(log.operations(rounds).len(), rounds);
    }

    #[test]
    fn an_operation_that_has_not_returned_is_pending_and_the_last() {
        let log: Log<&str, u8> = Log::new(vec!["a", "b", "c"]);
        let mut writer = log.writer();
        writer.ret(1, 2, 7);
        let pending = Stamped { call: "b", called: 2, returned: None };
        assert_eq!(log.operations(1)[1], pending, "not called before the first had returned");
        assert_eq!(log.operations(1).len(), 2);
        assert_eq!(log.operations(0)[0], Stamped { call: "a", called: 0, returned: None });
    }

    #[test]
    fn results_are_dropped_with_the_log() {
        let counted = Arc::new(());
        let log: Log<(), Arc<()>> = Log::new(vec![(); 4]);
        let mut writer = log.writer();
        writer.ret(0, 1, Arc::clone(&counted));
        writer.ret(1, 2, Arc::clone(&counted));
        assert_eq!(Arc::strong_count(&counted), 3);
        drop(log);
        assert_eq!(Arc::strong_count(&counted), 1);
    }

    #[test]
    #[should_panic(expected = "one thread writes a log")]
    fn the_writer_of_a_log_is_handed_out_once() {
        let log: Log<(), ()> = Log::new(vec![()]);
        let (_one, _other) = (log.writer(), log.writer());
    }
}
