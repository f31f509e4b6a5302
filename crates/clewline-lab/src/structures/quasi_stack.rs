//! A stack in an immutable list that is replaced.
//!
//! Source: the kinds of L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up", 2013, table I, which
//! has a quasi stack that is in fact linearizable, and two bugs. Its implementation is not
//! described. Here the top is one word: an operation that pops a value copies the nodes above it,
//! and replaces the top by compare-and-swap.
//!
//! The plain variant pops the value on top. **b1** returns null when another thread was faster,
//! although the stack is not empty. **b2** pops any of the first k + 2 values from the top, where k
//! is 2, and so one that is more than k away.

use std::sync::Arc;

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::{relaxed::Relaxed, stack::Stack};
use clewline_threads::{
    Noise,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

use crate::{
    container::{AsStack, Container, STACK_RECIPE, any_of, relaxed_stack},
    entry::{Recipe, SubjectEntry, Variant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "quasi-stack",
    about: "a stack in a list whose first nodes are replaced at once",
    source: "L. Zhang, A. Chattopadhyay, C. Wang, Round-Up: runtime checking quasi linearizability of concurrent data structures, 2013",
    spec: "stack",
    lacks: &["peek"],
    invocations: &["push(1)", "push(2)", "pop"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Stack::default(), || AsStack(QuasiStack::new(Popper::Right))))
            },
        },
        Variant {
            name: "b1",
            flaw: Some("pop returns null though the stack is not empty, when another thread was faster"),
            quasi: Some(("pop", FACTOR)),
            recipe: Recipe { noise: Noise { between: 0.0, inside: 0.02 }, ..STACK_RECIPE },
            build: || Box::new(SubjectFactory::new(SPEC, || AsStack(QuasiStack::new(Popper::GivesUp)))),
        },
        Variant {
            name: "b2",
            flaw: Some("pop removes a value more than k away from the top"),
            quasi: Some(("pop", FACTOR)),
            recipe: STACK_RECIPE,
            build: || Box::new(SubjectFactory::new(SPEC, || AsStack(QuasiStack::new(Popper::ReachesTooFar)))),
        },
    ],
};

const FACTOR: u32 = 2;
const SPEC: Relaxed<Stack> = relaxed_stack(FACTOR);

const RECIPE: Recipe = Recipe { mix: &[("push", 1), ("pop", 1)], ..Recipe::PLAIN };

/// How values are popped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Popper {
    Right,
    /// Once, and if that fails there are none.
    GivesUp,
    /// From deeper than allowed.
    ReachesTooFar,
}

/// The stack.
struct QuasiStack {
    nodes: Nodes<Node>,
    top: AtomicU32,
    popper: Popper,
}

/// A node never changes.
struct Node {
    value: Value,
    below: u32,
}

impl QuasiStack {
    fn new(popper: Popper) -> Self {
        QuasiStack { nodes: Nodes::new(), top: AtomicU32::new(NONE), popper }
    }

    /// The first nodes from the top, as many as may be drawn from.
    fn first(&self, top: u32) -> Vec<Arc<Node>> {
        let reach = match self.popper {
            Popper::Right | Popper::GivesUp => 1,
            Popper::ReachesTooFar => FACTOR as usize + 2,
        };
        let mut first = Vec::new();
        let mut at = top;
        while at != NONE && first.len() < reach {
            let node = self.nodes.get(at);
            at = node.below;
            first.push(node);
        }
        first
    }
}

impl Container for QuasiStack {
    fn add(&self, value: Value) -> bool {
        let mut top = self.top.load(SeqCst);
        loop {
            let index = self.nodes.add(Node { value, below: top });
            match self.top.compare_exchange(top, index, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(other) => top = other,
            }
        }
    }

    fn remove(&self) -> Option<Value> {
        loop {
            let top = self.top.load(SeqCst);
            let first = self.first(top);
            let depth = any_of(&(0..first.len()).collect::<Vec<_>>())?;
            let below = first[depth].below;
            let rest = first[..depth]
                .iter()
                .rev()
                .fold(below, |below, it| self.nodes.add(Node { value: it.value, below }));
            if self.top.compare_exchange(top, rest, SeqCst, SeqCst).is_ok() {
                return Some(first[depth].value);
            }
            if self.popper == Popper::GivesUp {
                return None;
            }
        }
    }
}
