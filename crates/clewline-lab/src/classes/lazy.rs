//! A value that is made once, at its first use.
//!
//! A thread that finds it made takes it without a lock. Otherwise it takes the lock and checks
//! again, so that of several concurrent threads one makes it, and the others wait.

use clewline_matrix::{Component, Explorable};
use clewline_threads::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
};

use crate::{
    class::{Class, ClassVariant},
    locking::lock,
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "lazy",
    about: "a value that is made when it is first asked for",
    source: "Lazy Initialization of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[ClassVariant { name: "", flaw: None, build: component }],
};

struct Lazy {
    is_created: AtomicBool,
    value: AtomicU32,
    // How often the value was made.
    made: Mutex<u32>,
}

impl Lazy {
    fn new() -> Self {
        Lazy { is_created: AtomicBool::new(false), value: AtomicU32::new(0), made: Mutex::new(0) }
    }

    /// The value: the number of times one was made.
    fn value(&self) -> u32 {
        if !self.is_created.load(SeqCst) {
            let mut made = lock(&self.made);
            if !self.is_created.load(SeqCst) {
                *made += 1;
                self.value.store(*made, SeqCst);
                self.is_created.store(true, SeqCst);
            }
        }
        self.value.load(SeqCst)
    }

    fn is_value_created(&self) -> bool {
        self.is_created.load(SeqCst)
    }

    /// Does not make it.
    fn to_text(&self) -> String {
        if self.is_value_created() { self.value().to_string() } else { "not-created".to_owned() }
    }
}

fn component() -> Box<dyn Explorable> {
    let component = Component::new(Lazy::new);
    Box::new(
        component
            .call("value", Lazy::value)
            .call("to-string", Lazy::to_text)
            .call("is-value-created", Lazy::is_value_created),
    )
}
