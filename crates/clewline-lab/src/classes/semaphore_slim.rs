//! A semaphore: a waiter takes one of a number of permits, and a release gives some back.
//!
//! The count changes only under the lock, and is read without. A waiter reads it first: without a
//! permit it yields once, before it takes the lock and sleeps.

use clewline_matrix::{Component, Explorable};
use clewline_threads::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};

use crate::{
    class::{Class, ClassVariant},
    monitor::Monitor,
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "semaphore-slim",
    about: "a semaphore, with one permit at first",
    source: "SemaphoreSlim of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[ClassVariant { name: "", flaw: None, build: || component(1) }],
};

/// The semaphore. Other classes count with it, too.
pub(super) struct Semaphore {
    count: AtomicU32,
    // How many sleep.
    sleepers: Monitor<u32>,
}

impl Semaphore {
    pub(super) const fn new(count: u32) -> Self {
        Semaphore { count: AtomicU32::new(count), sleepers: Monitor::new(0) }
    }

    pub(super) fn current_count(&self) -> u32 {
        self.count.load(SeqCst)
    }

    /// Gives `n` permits, and returns how many there were.
    pub(super) fn release(&self, n: u32) -> u32 {
        let sleepers = self.sleepers.enter();
        let before = self.count.fetch_add(n, SeqCst);
        if 0 < *sleepers {
            self.sleepers.wake_all();
        }
        before
    }

    fn wait(&self) {
        if self.current_count() == 0 {
            thread::yield_now();
        }
        let mut sleepers = self.sleepers.enter();
        while self.current_count() == 0 {
            *sleepers += 1;
            sleepers = self.sleepers.wait(sleepers);
            *sleepers -= 1;
        }
        self.count.fetch_sub(1, SeqCst);
    }

    /// Takes a permit, unless there is none.
    pub(super) fn try_wait(&self) -> bool {
        if self.current_count() == 0 {
            return false;
        }
        let _inside = self.sleepers.enter();
        let is_there = self.current_count() != 0;
        if is_there {
            self.count.fetch_sub(1, SeqCst);
        }
        is_there
    }
}

fn component(count: u32) -> Box<dyn Explorable> {
    let component = Component::new(move || Semaphore::new(count));
    Box::new(
        component
            .call("current-count", Semaphore::current_count)
            .call("release", |it| it.release(1))
            .call("release(2)", |it| it.release(2))
            .call("wait", Semaphore::wait)
            .call("wait-zero", Semaphore::try_wait),
    )
}
