//! The mailbox of the manual page on Line-Up: with its bug, and without.
//!
//! `cargo run --example mailbox` shows both reports.

use clewline::{
    LineUp,
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
};

/// Keeps the latest value until it is taken.
#[derive(Debug)]
struct Mailbox {
    value: AtomicU32,
    is_full: AtomicBool,
}

impl Mailbox {
    fn new() -> Mailbox {
        Mailbox { value: AtomicU32::new(0), is_full: AtomicBool::new(false) }
    }

    /// Puts a value in. If there was one, it is gone.
    fn put(&self, value: u32) {
        self.value.store(value, SeqCst);
        self.is_full.store(true, SeqCst);
    }

    /// Takes the value out, if there is one.
    fn take(&self) -> Option<u32> {
        if self.is_full.swap(false, SeqCst) { Some(self.value.load(SeqCst)) } else { None }
    }
}

impl Default for Mailbox {
    fn default() -> Self {
        Mailbox::new()
    }
}

/// The same in one atomic word, so that each operation is a single access: 0 is an empty mailbox.
#[derive(Debug, Default)]
struct Mended(AtomicU32);

impl Mended {
    /// Puts a value in, which is not 0.
    fn put(&self, value: u32) {
        self.0.store(value, SeqCst);
    }

    /// Takes the value out, if there is one.
    fn take(&self) -> Option<u32> {
        Some(self.0.swap(0, SeqCst)).filter(|it| *it != 0)
    }
}

/// The report on the first one.
pub(crate) fn broken() -> String {
    let line_up = LineUp::new(Mailbox::new)
        .call("put(1)", |it| it.put(1))
        .call("put(2)", |it| it.put(2))
        .call("take", |it| it.take())
        .threads(2)
        .operations(3);
    line_up.run().map_or_else(|error| error.to_string(), |tested| tested.to_string())
}

/// The report on the second one.
pub(crate) fn mended() -> String {
    let line_up = LineUp::new(Mended::default)
        .call("put(1)", |it| it.put(1))
        .call("put(2)", |it| it.put(2))
        .call("take", |it| it.take())
        .threads(2)
        .operations(3);
    line_up.run().map_or_else(|error| error.to_string(), |tested| tested.to_string())
}

/// Shows both reports.
#[allow(dead_code, reason = "the tests of the manual take the rest of this file")]
fn main() {
    println!("{}\n{}", broken(), mended());
}
