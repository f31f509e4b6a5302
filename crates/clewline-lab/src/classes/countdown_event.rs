//! An event that is set when it has been signalled a given number of times.
//!
//! The count goes up and down by compare-and-swap, until it is zero; then it stays so. The thread
//! that brings it to zero sets the event for which the others wait.

use clewline_matrix::{Component, Explorable};
use clewline_threads::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::manual_reset_event::Event;
use crate::class::{Class, ClassVariant};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "countdown-event",
    about: "an event that is set when it has been signalled often enough: twice, if nothing is added",
    source: "CountdownEvent of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[ClassVariant { name: "", flaw: None, build: component }],
};

struct Countdown {
    count: AtomicU32,
    event: Event,
}

/// Why a call is refused.
#[derive(Debug)]
enum Refused {
    /// More signals than were left.
    TooMany,
    /// The event is set, and nothing can be added any more.
    Set,
}

impl Countdown {
    fn new(count: u32) -> Self {
        Countdown { count: AtomicU32::new(count), event: Event::new() }
    }

    /// Counts down by `n`, and returns whether that brought it to zero.
    fn signal(&self, n: u32) -> Result<bool, Refused> {
        let mut count = self.count.load(SeqCst);
        loop {
            let Some(rest) = count.checked_sub(n) else { return Err(Refused::TooMany) };
            match self.count.compare_exchange(count, rest, SeqCst, SeqCst) {
                Ok(_) => {
                    if rest == 0 {
                        self.event.set();
                    }
                    return Ok(rest == 0);
                }
                Err(other) => count = other,
            }
        }
    }

    /// Counts up by `n`, unless the event is set.
    fn try_add_count(&self, n: u32) -> bool {
        let mut count = self.count.load(SeqCst);
        loop {
            if count == 0 {
                return false;
            }
            match self.count.compare_exchange(count, count + n, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(other) => count = other,
            }
        }
    }

    fn add_count(&self, n: u32) -> Result<(), Refused> {
        if self.try_add_count(n) { Ok(()) } else { Err(Refused::Set) }
    }

    fn current_count(&self) -> u32 {
        self.count.load(SeqCst)
    }

    fn is_set(&self) -> bool {
        self.current_count() == 0
    }

    fn wait(&self) {
        if !self.is_set() {
            self.event.wait();
        }
    }
}

fn component() -> Box<dyn Explorable> {
    let component = Component::new(|| Countdown::new(2));
    Box::new(
        component
            .call("is-set", Countdown::is_set)
            .call("wait", Countdown::wait)
            .call("wait-zero", Countdown::is_set)
            .call("current-count", Countdown::current_count)
            .call("wait-one", |it| it.event.wait_one())
            .call("signal", |it| it.signal(1))
            .call("signal(2)", |it| it.signal(2))
            .call("add-count", |it| it.add_count(1))
            .call("add-count(2)", |it| it.add_count(2))
            .call("try-add-count", |it| it.try_add_count(1))
            .call("try-add-count(2)", |it| it.try_add_count(2)),
    )
}
