//! A lock-free stack: a linked list whose head is replaced by compare-and-swap.
//!
//! Source: R. K. Treiber, "Systems programming: coping with parallelism", 1986. A push links its
//! node before the head and moves the head to it; a pop moves the head to the next node. Nodes are
//! never reused, so that an equal head has not changed.
//!
//! **aba** reuses nodes: a pop puts its node on a free list, from which a push takes one. Then an
//! equal head may have changed (the ABA problem). A pop has read head A and next node B; others pop
//! A and B, and push A again; the first pop finds head A, and moves the head to B, which is free or
//! holds another value by now. Elements are duplicated or lost. The usual cures are a counter
//! beside the head, as Treiber has it, hazard pointers, or epochs.

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::stack::{Call, Stack};
use clewline_threads::{
    Noise, Subject,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use crate::{
    arena::{Arena, NONE},
    entry::{Recipe, SubjectEntry, Variant},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "treiber-stack",
    about: "a lock-free stack",
    source: "R. K. Treiber, Systems programming: coping with parallelism, 1986",
    spec: "stack",
    lacks: &[],
    invocations: &["push(1)", "pop", "push(2)"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Stack::default(), || TreiberStack::new(Reuse::Never))),
        },
        Variant {
            name: "aba",
            flaw: Some(
                "nodes are used again, and a head that was replaced and put back passes for one that was not",
            ),
            // A pop has to be delayed while others pop twice and push. Runs are short, since delays
            // take time.
            quasi: None,
            recipe: Recipe { operations: 256, noise: Noise { between: 0.0, inside: 0.02 }, ..RECIPE },
            build: || Box::new(SubjectFactory::new(Stack::default(), || TreiberStack::new(Reuse::AtOnce))),
        },
    ],
};

const RECIPE: Recipe = Recipe { mix: &[("push", 1), ("pop", 1)], ..Recipe::PLAIN };

/// When a node that was popped is used again.
#[derive(Clone, Copy)]
enum Reuse {
    Never,
    /// By the next push, and the last one freed first, as memory allocators do.
    AtOnce,
}

/// The stack.
struct TreiberStack {
    nodes: Arena<Node>,
    head: AtomicU32,
    // The first node that may be used again.
    free: AtomicU32,
    reuse: Reuse,
}

#[derive(Default)]
struct Node {
    value: AtomicU64,
    next: AtomicU32,
}

impl TreiberStack {
    fn new(reuse: Reuse) -> Self {
        TreiberStack { nodes: Arena::new(), head: AtomicU32::new(NONE), free: AtomicU32::new(NONE), reuse }
    }

    fn push(&self, value: Value) {
        let index = self.allocate();
        self.nodes.get(index).value.store(value.word(), Ordering::Relaxed);
        self.link(&self.head, index);
    }

    fn pop(&self) -> Option<Value> {
        let index = self.unlink(&self.head)?;
        let value = self.nodes.get(index).value.load(Ordering::Relaxed);
        self.release(index);
        Value::from_word(value)
    }

    /// Puts a node at the head of a list.
    fn link(&self, list: &AtomicU32, index: u32) {
        let mut head = list.load(Ordering::Acquire);
        loop {
            self.nodes.get(index).next.store(head, Ordering::Relaxed);
            match list.compare_exchange(head, index, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }

    /// Takes the node at the head of a list.
    fn unlink(&self, list: &AtomicU32) -> Option<u32> {
        let mut head = list.load(Ordering::Acquire);
        loop {
            if head == NONE {
                return None;
            }
            let next = self.nodes.get(head).next.load(Ordering::Relaxed);
            // A head that has not changed still has the same next node, if nodes are not reused.
            match list.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(head),
                Err(other) => head = other,
            }
        }
    }

    fn allocate(&self) -> u32 {
        let free = match self.reuse {
            Reuse::Never => None,
            Reuse::AtOnce => self.unlink(&self.free),
        };
        free.unwrap_or_else(|| self.nodes.add())
    }

    fn release(&self, index: u32) {
        match self.reuse {
            Reuse::Never => (),
            Reuse::AtOnce => self.link(&self.free, index),
        }
    }
}

impl Subject<Stack> for TreiberStack {
    fn call(&self, call: &Call) -> Value {
        match *call {
            Call::Push(value) => {
                self.push(value);
                Value::TRUE
            }
            Call::Pop => self.pop().unwrap_or(Value::NIL),
            Call::Peek => {
                let head = self.head.load(Ordering::Acquire);
                let value = (head != NONE).then(|| self.nodes.get(head).value.load(Ordering::Relaxed));
                value.and_then(Value::from_word).unwrap_or(Value::NIL)
            }
        }
    }
}
