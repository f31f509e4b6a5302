//! A register: one word that is read and written.
//!
//! A sequentially consistent write has taken effect when it returns. A `Relaxed` one may still wait
//! in the processor's store buffer, and a read on another processor that is called after the write
//! has returned finds the old value. Lowe's example is a Java variable that is not volatile.

use clewline_core::{Value, ValueDomain};
use clewline_matrix::SubjectFactory;
use clewline_specs::register::{Call, Register};
use clewline_threads::{
    Subject,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "register",
    about: "a register in one atomic word",
    source: "G. Lowe, Testing for linearizability, 2017, section 8",
    spec: "register",
    lacks: &[],
    invocations: &["write(1)", "read", "write(2)"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Register::new(), || Word::new(Ordering::SeqCst))),
        },
        Variant {
            name: "unsynchronized",
            flaw: Some("reads and writes are not ordered between processors"),
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Register::new(), || Word::new(Ordering::Relaxed))),
        },
    ],
};

const RECIPE: Recipe =
    Recipe { threads: 2, mix: &[("read", 6), ("write", 4)], values: ValueDomain::Below(10), ..Recipe::PLAIN };

/// The register.
struct Word {
    word: AtomicU64,
    order: Ordering,
}

impl Word {
    fn new(order: Ordering) -> Self {
        Word { word: AtomicU64::new(Value::NIL.word()), order }
    }
}

impl Subject<Register> for Word {
    fn call(&self, call: &Call) -> Value {
        match *call {
            Call::Read => Value::from_word(self.word.load(self.order)).expect("a value was written"),
            Call::Write(value) => {
                self.word.store(value.word(), self.order);
                Value::TRUE
            }
        }
    }
}
