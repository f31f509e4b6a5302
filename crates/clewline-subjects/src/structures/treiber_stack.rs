//! A lock-free stack: a linked list whose head is replaced by compare-and-swap.

use clewline_core::Value;
use clewline_specs::stack::{Call, Stack};
use clewline_threads::{
    Rig, Subject,
    sync::{AtomicU32, AtomicU64, Ordering},
};

use crate::{
    Entry, Recipe, Variant,
    arena::{Arena, NONE},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "treiber-stack",
    about: "a lock-free stack",
    source: "R. K. Treiber, Systems programming: coping with parallelism, 1986",
    spec: "stack",
    variants: &[Variant {
        name: "",
        flaw: None,
        recipe: Recipe { mix: &[("push", 1), ("pop", 1)], ..Recipe::PLAIN },
        build: || Box::new(Rig::new(Stack::default(), TreiberStack::default)),
    }],
};

#[derive(Default)]
struct TreiberStack {
    nodes: Arena<Node>,
    head: AtomicU32,
}

#[derive(Default)]
struct Node {
    value: AtomicU64,
    next: AtomicU32,
}

impl TreiberStack {
    fn push(&self, value: Value) {
        let index = self.nodes.add();
        let node = self.nodes.get(index);
        node.value.store(value.word(), Ordering::Relaxed);
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            node.next.store(head, Ordering::Relaxed);
            match self.head.compare_exchange(head, index, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }

    fn pop(&self) -> Option<Value> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            if head == NONE {
                return None;
            }
            let node = self.nodes.get(head);
            let next = node.next.load(Ordering::Relaxed);
            match self.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Value::from_word(node.value.load(Ordering::Relaxed)),
                Err(other) => head = other,
            }
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
