//! A lock-free stack that can push and pop several elements at a time.
//!
//! Nodes never change once they are reachable, and are never reused. So a thread that has read the
//! head has read the whole stack as it was at that moment, and a range is pushed or popped by one
//! compare-and-swap.

use clewline_matrix::{Component, Explorable};
use clewline_threads::sync::atomic::{AtomicU32, Ordering::SeqCst};

use crate::{
    class::{Class, ClassVariant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "concurrent-stack",
    about: "a lock-free stack with ranges",
    source: "ConcurrentStack of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[ClassVariant { name: "", flaw: None, build: component }],
};

struct Stack {
    nodes: Nodes<Node>,
    head: AtomicU32,
}

struct Node {
    value: u32,
    next: u32,
}

impl Stack {
    fn new() -> Self {
        Stack { nodes: Nodes::new(), head: AtomicU32::new(NONE) }
    }

    /// Pushes `values`, the last of them on top.
    fn push_range(&self, values: impl Iterator<Item = u32> + Clone) {
        let mut head = self.head.load(SeqCst);
        loop {
            let top = values.clone().fold(head, |next, value| self.nodes.add(Node { value, next }));
            match self.head.compare_exchange(head, top, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }

    /// Pops as many elements as there are, and at most `n`.
    fn try_pop_range(&self, n: usize) -> Vec<u32> {
        let mut head = self.head.load(SeqCst);
        loop {
            let values: Vec<u32> = self.values(head).take(n).collect();
            if values.is_empty() {
                return values;
            }
            let rest = values.iter().fold(head, |at, _| self.nodes.get(at).next);
            match self.head.compare_exchange(head, rest, SeqCst, SeqCst) {
                Ok(_) => return values,
                Err(other) => head = other,
            }
        }
    }

    fn try_pop(&self) -> Option<u32> {
        self.try_pop_range(1).pop()
    }

    fn try_peek(&self) -> Option<u32> {
        self.values(self.head.load(SeqCst)).next()
    }

    fn count(&self) -> usize {
        self.values(self.head.load(SeqCst)).count()
    }

    fn to_sorted_array(&self) -> Vec<u32> {
        let mut values: Vec<u32> = self.values(self.head.load(SeqCst)).collect();
        values.sort_unstable();
        values
    }

    fn clear(&self) {
        self.head.store(NONE, SeqCst);
    }

    /// The elements from a node down.
    fn values(&self, head: u32) -> impl Iterator<Item = u32> {
        let mut at = head;
        std::iter::from_fn(move || {
            let node = (at != NONE).then(|| self.nodes.get(at))?;
            at = node.next;
            Some(node.value)
        })
    }
}

fn component() -> Box<dyn Explorable> {
    let component = Component::new(Stack::new);
    Box::new(
        component
            .call("clear", Stack::clear)
            .call("count", Stack::count)
            .call("push(10)", |it| it.push_range(std::iter::once(10)))
            .call("push(20)", |it| it.push_range(std::iter::once(20)))
            .call("push-range-ten", |it| it.push_range(1..=10))
            .call("try-pop", Stack::try_pop)
            .call("try-pop-range(1)", |it| it.try_pop_range(1))
            .call("try-pop-range(2)", |it| it.try_pop_range(2))
            .call("try-pop-range(4)", |it| it.try_pop_range(4))
            .call("try-peek", Stack::try_peek)
            .call("to-array-order-by", Stack::to_sorted_array),
    )
}
