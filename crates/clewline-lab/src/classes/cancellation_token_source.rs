//! A source that is canceled once, and then runs the registered callbacks.
//!
//! `increment` registers a callback that adds one to a counter, and returns whether the source was
//! canceled already, in which case it adds one itself. It puts its callback into a list and then
//! reads the state again: if it was canceled in the meantime, it takes the callback back, unless
//! the canceling thread has taken it. The first thread that cancels takes the callbacks one after
//! the other; later ones have nothing to do.

use clewline_matrix::{Component, Explorable};
use clewline_threads::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use crate::{
    class::{Class, ClassVariant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "cancellation-token-source",
    about: "an operation that can be canceled once, and then calls its callbacks",
    source: "CancellationTokenSource of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[ClassVariant { name: "", flaw: None, build: component }],
};

struct Source {
    is_canceled: AtomicBool,
    callbacks: Nodes<Callback>,
    last: AtomicU32,
    counter: AtomicU32,
}

struct Callback {
    is_taken: AtomicBool,
    before: u32,
}

impl Callback {
    /// Whether the caller is the one to run the callback.
    fn take(&self) -> bool {
        !self.is_taken.swap(true, SeqCst)
    }
}

impl Source {
    fn new() -> Self {
        Source {
            is_canceled: AtomicBool::new(false),
            callbacks: Nodes::new(),
            last: AtomicU32::new(NONE),
            counter: AtomicU32::new(0),
        }
    }

    fn call_back(&self) {
        self.counter.fetch_add(1, SeqCst);
    }

    fn register(&self) -> u32 {
        let mut before = self.last.load(SeqCst);
        loop {
            let index = self.callbacks.add(Callback { is_taken: AtomicBool::new(false), before });
            match self.last.compare_exchange(before, index, SeqCst, SeqCst) {
                Ok(_) => return index,
                Err(other) => before = other,
            }
        }
    }

    /// Returns whether it was canceled already.
    fn increment(&self) -> bool {
        let is_mine = self.is_canceled.load(SeqCst) || {
            let index = self.register();
            self.is_canceled.load(SeqCst) && self.callbacks.get(index).take()
        };
        if is_mine {
            self.call_back();
        }
        is_mine
    }

    fn cancel(&self) {
        if self.is_canceled.swap(true, SeqCst) {
            return;
        }
        let mut index = self.last.load(SeqCst);
        while index != NONE {
            let callback = self.callbacks.get(index);
            if callback.take() {
                self.call_back();
            }
            index = callback.before;
        }
    }
}

fn component() -> Box<dyn Explorable> {
    let component = Component::new(Source::new);
    Box::new(component.call("increment", Source::increment).call("cancel", Source::cancel))
}
