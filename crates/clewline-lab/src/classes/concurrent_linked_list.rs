//! A doubly linked list whose nodes have a lock each.
//!
//! Between two sentinels each node has links to its neighbours. An operation that adds or removes
//! locks the nodes whose links change, from left to right, so that there is no deadlock. From the
//! right end the nodes are not known before they are locked: they are read, then locked in order,
//! and validated, and if they are no neighbours any more the operation retries. The count changes
//! while all locks are held.
//!
//! **pre** (root cause C) does not validate: a node that was the last when it was read is removed
//! although another thread has removed it in the meantime.

use std::sync::Arc;

use clewline_matrix::{Component, Explorable};
use clewline_methods::line_up::Cause;
use clewline_threads::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

use crate::{
    class::{Class, ClassVariant, Flaw},
    locking::lock,
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "concurrent-linked-list",
    about: "a list with two ends, whose nodes have a lock each",
    source: "ConcurrentLinkedList of the Parallel Extensions preview, after Burckhardt et al., Line-Up, 2010",
    variants: &[
        ClassVariant { name: "", flaw: None, build: || component(Check::Again) },
        ClassVariant {
            name: "pre",
            flaw: Some(Flaw {
                letter: 'C',
                about: "`remove-last` locks the last node and does not look again whether it still is the last",
                cause: Cause::NotLinearizable,
                matrix: "add-first(10) remove-last-out | remove-last-out",
                initial: "",
            }),
            build: || component(Check::Never),
        },
    ],
};

/// Whether nodes that were read before they were locked are validated.
#[derive(Clone, Copy)]
enum Check {
    Again,
    Never,
}

struct List {
    nodes: Nodes<Node>,
    first: u32,
    last: u32,
    count: AtomicU32,
    check: Check,
}

struct Node {
    value: u32,
    links: Mutex<Links>,
}

#[derive(Clone, Copy)]
struct Links {
    left: u32,
    right: u32,
}

impl Node {
    fn new(value: u32, left: u32, right: u32) -> Self {
        Node { value, links: Mutex::new(Links { left, right }) }
    }

    fn links(&self) -> MutexGuard<'_, Links> {
        lock(&self.links)
    }
}

impl List {
    fn new(check: Check) -> Self {
        let nodes = Nodes::new();
        // Numbers are given in order, from 1.
        let first = nodes.add(Node::new(0, NONE, 2));
        let last = nodes.add(Node::new(0, first, NONE));
        List { nodes, first, last, count: AtomicU32::new(0), check }
    }

    fn node(&self, index: u32) -> Arc<Node> {
        self.nodes.get(index)
    }

    fn count(&self) -> i32 {
        self.count.load(SeqCst).cast_signed()
    }

    fn add_first(&self, value: u32) {
        let first = self.node(self.first);
        let mut left = first.links();
        let second = self.node(left.right);
        let mut right = second.links();
        let added = self.nodes.add(Node::new(value, self.first, left.right));
        (left.right, right.left) = (added, added);
        self.count.fetch_add(1, SeqCst);
    }

    fn add_last(&self, value: u32) {
        let last = self.node(self.last);
        loop {
            let index = last.links().left;
            let neighbour = self.node(index);
            let (mut left, mut right) = (neighbour.links(), last.links());
            if right.left != index {
                // Another thread was faster.
                drop((left, right));
                thread::yield_now();
                continue;
            }
            let added = self.nodes.add(Node::new(value, index, self.last));
            (left.right, right.left) = (added, added);
            self.count.fetch_add(1, SeqCst);
            return;
        }
    }

    fn remove_first(&self) -> Option<u32> {
        let first = self.node(self.first);
        let mut left = first.links();
        if left.right == self.last {
            return None;
        }
        let removed = self.node(left.right);
        let links = removed.links();
        let behind = self.node(links.right);
        let mut right = behind.links();
        (left.right, right.left) = (links.right, self.first);
        self.count.fetch_sub(1, SeqCst);
        Some(removed.value)
    }

    fn remove_last(&self) -> Option<u32> {
        let last = self.node(self.last);
        loop {
            let index = last.links().left;
            if index == self.first {
                return None;
            }
            let removed = self.node(index);
            let before = removed.links().left;
            let neighbour = self.node(before);
            let (mut left, links, mut right) = (neighbour.links(), removed.links(), last.links());
            let is_unchanged = match self.check {
                Check::Again => left.right == index && links.left == before && right.left == index,
                Check::Never => true,
            };
            if is_unchanged {
                (left.right, right.left) = (self.last, before);
                self.count.fetch_sub(1, SeqCst);
                return Some(removed.value);
            }
            // Another thread was faster.
            drop((left, links, right));
            thread::yield_now();
        }
    }
}

fn component(check: Check) -> Box<dyn Explorable> {
    let component = Component::new(move || List::new(check));
    Box::new(
        component
            .call("count", List::count)
            .call("add-first(10)", |it| it.add_first(10))
            .call("add-last(20)", |it| it.add_last(20))
            .call("remove-first", |it| it.remove_first().is_some())
            .call("remove-first-out", List::remove_first)
            .call("remove-last", |it| it.remove_last().is_some())
            .call("remove-last-out", List::remove_last),
    )
}
