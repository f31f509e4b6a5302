//! An event that is set and reset by hand: whoever waits goes on while it is set.
//!
//! The state is one word: bit 0 says that the event is set, the rest counts those who wait.
//!
//! **pre** (root cause A) reads the state twice in `wait`: once for what the compare-and-swap expects, once more for what
//! the new state is computed from. If the event is set and reset in between, a waiter is counted that takes the event for
//! set, or the count is lost, and it is never woken.

use clewline_core::Cause;
use clewline_threads::{
    Component, Explorable,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

use crate::{Class, ClassVariant, Flaw};

/// What the command line knows.
pub const ENTRY: Class = Class {
    name: "manual-reset-event",
    about: "an event that is set and reset by hand",
    source: "ManualResetEventSlim of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[
        ClassVariant { name: "", flaw: None, build: || component(Reading::Once) },
        ClassVariant {
            name: "pre",
            flaw: Some(Flaw {
                letter: 'A',
                about: "`wait` reads the state twice, and computes the new one from the second",
                cause: Cause::Blocking,
                matrix: "wait | set reset set",
                initial: "",
            }),
            build: || component(Reading::Twice),
        },
    ],
};

#[derive(Clone, Copy)]
enum Reading {
    Once,
    Twice,
}

struct Event {
    state: AtomicU32,
    reading: Reading,
}

const SET: u32 = 1;

impl Event {
    fn set(&self) {
        // Whoever waits sees it, and counts itself out.
        self.state.fetch_or(SET, SeqCst);
    }

    fn reset(&self) {
        self.state.fetch_and(!SET, SeqCst);
    }

    fn is_set(&self) -> bool {
        self.state.load(SeqCst) & SET == SET
    }

    fn wait(&self) {
        loop {
            let state = self.state.load(SeqCst);
            if state & SET == SET {
                return;
            }
            let read = match self.reading {
                Reading::Once => state,
                Reading::Twice => self.state.load(SeqCst),
            };
            if self.state.compare_exchange(state, read, SeqCst, SeqCst).is_ok() {
                thread::yield_now();
            }
        }
    }
}

fn component(reading: Reading) -> Box<dyn Explorable> {
    let component = Component::new(move || Event { state: AtomicU32::new(0), reading });
    Box::new(
        component
            .call("set", Event::set)
            .call("wait", Event::wait)
            .call("reset", Event::reset)
            .call("is-set", Event::is_set),
    )
}
