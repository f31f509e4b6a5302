//! An event that is set and reset manually: waiting threads continue while it is set.
//!
//! The state is one word: bit 0 is set if the event is set, the rest counts the waiters. It changes
//! only under the lock, and is read without. A waiter reads the state, yields once, and then counts
//! itself by compare-and-swap, which fails if the state has changed since; then it sleeps until the
//! next set. A set of an event that is set has no waiter to wake.
//!
//! **pre** (root cause A) reads the state a second time when it computes the new one. If the event
//! was set at that moment and is reset before the swap, then the swap finds what it expects and
//! sets the event again, with a waiter. The next set finds it set, wakes no thread, and the waiter
//! sleeps forever.

use clewline_matrix::{Component, Explorable};
use clewline_methods::line_up::Cause;
use clewline_threads::{
    sync::{
        MutexGuard,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

use crate::{
    class::{Class, ClassVariant, Flaw},
    monitor::Monitor,
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "manual-reset-event",
    about: "an event that is set and reset by hand",
    source: "ManualResetEvent of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[
        ClassVariant { name: "", flaw: None, build: || component(StateReads::Once) },
        ClassVariant {
            name: "pre",
            flaw: Some(Flaw {
                letter: 'A',
                about: "`wait` reads the state twice: once to compare with, once more to compute the new one from",
                cause: Cause::Deadlock,
                matrix: "wait | set reset set",
                initial: "",
            }),
            build: || component(StateReads::Twice),
        },
    ],
};

/// How often `wait` reads the state before it swaps.
#[derive(Clone, Copy)]
enum StateReads {
    Once,
    Twice,
}

/// The event. Other classes wait with it, too.
pub(super) struct Event {
    state: AtomicU32,
    // How often sleeping threads were woken.
    wake_count: Monitor<u32>,
    state_reads: StateReads,
}

const SET: u32 = 1;
const WAITER: u32 = 2;

impl Event {
    /// One that is not set.
    pub(super) const fn new() -> Self {
        Event { state: AtomicU32::new(0), wake_count: Monitor::new(0), state_reads: StateReads::Once }
    }

    pub(super) fn set(&self) {
        if self.is_set() {
            return;
        }
        let mut wakings = self.wake_count.enter();
        let before = self.state.swap(SET, SeqCst);
        if before & !SET != 0 {
            *wakings += 1;
            self.wake_count.wake_all();
        }
    }

    fn reset(&self) {
        let _inside = self.wake_count.enter();
        self.state.fetch_and(!SET, SeqCst);
    }

    pub(super) fn is_set(&self) -> bool {
        self.state.load(SeqCst) & SET == SET
    }

    pub(super) fn wait(&self) {
        loop {
            let state = self.state.load(SeqCst);
            if state & SET == SET {
                return;
            }
            // It may be set soon, and then the thread need not sleep.
            thread::yield_now();
            let read = match self.state_reads {
                StateReads::Once => state,
                StateReads::Twice => self.state.load(SeqCst),
            };
            let wakings = self.wake_count.enter();
            if self.state.compare_exchange(state, read + WAITER, SeqCst, SeqCst).is_ok() {
                return self.sleep(wakings);
            }
        }
    }

    /// Waits without yielding first.
    pub(super) fn wait_one(&self) {
        let wakings = self.wake_count.enter();
        if !self.is_set() {
            self.state.fetch_add(WAITER, SeqCst);
            self.sleep(wakings);
        }
    }

    /// Sleeps until the next set. The caller has counted itself in.
    fn sleep(&self, mut wakings: MutexGuard<'_, u32>) {
        let before = *wakings;
        while *wakings == before {
            wakings = self.wake_count.wait(wakings);
        }
    }
}

fn component(reading: StateReads) -> Box<dyn Explorable> {
    let component = Component::new(move || Event { state_reads: reading, ..Event::new() });
    Box::new(
        component
            .call("set", Event::set)
            .call("wait", Event::wait)
            .call("reset", Event::reset)
            .call("is-set", Event::is_set)
            .call("wait-one", Event::wait_one),
    )
}
