//! Latches in shared memory: one flag, or two that are set one after the other.

use clewline_core::Value;
use clewline_lab::{Recipe, SubjectEntry, Variant};
use clewline_matrix::SubjectFactory;
use clewline_threads::{
    Subject,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::specification::{Call, Latch};

/// The entry in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "flag",
    about: "a latch in an atomic flag",
    source: "an example",
    spec: "latch",
    lacks: &[],
    invocations: &["set", "is-set"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Latch, || Flags {
                    flags: [AtomicBool::new(false)],
                    turn: AtomicBool::new(false),
                }))
            },
        },
        Variant {
            name: "twice",
            flaw: Some("two flags are set one after the other, and each is read in turn"),
            quasi: None,
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Latch, || Flags {
                    flags: [AtomicBool::new(false), AtomicBool::new(false)],
                    turn: AtomicBool::new(false),
                }))
            },
        },
    ],
};

const RECIPE: Recipe = Recipe { threads: 2, operations: 64, ..Recipe::PLAIN };

struct Flags<const N: usize> {
    flags: [AtomicBool; N],
    turn: AtomicBool,
}

impl<const N: usize> Subject<Latch> for Flags<N> {
    fn call(&self, call: &Call) -> Value {
        match call {
            Call::Set => {
                self.flags.iter().for_each(|it| it.store(true, Ordering::SeqCst));
                Value::TRUE
            }
            Call::IsSet => {
                let turn = self.turn.fetch_xor(true, Ordering::SeqCst);
                Value::bool(self.flags[usize::from(turn) % N].load(Ordering::SeqCst))
            }
        }
    }
}
