//! Containers to which values are added and from which they are removed, with the calls of a
//! specification.
//!
//! The same container is a queue to one specification and a relaxed queue to another: calls and
//! results are the same, and only the allowed results differ.

use clewline_core::{Specification, Value};
use clewline_specs::{
    Capacity, priority_queue,
    queue::{self, Queue},
    relaxed::Relaxed,
    stack::{self, Stack},
};
use clewline_threads::{Subject, choose};

use crate::entry::Recipe;

/// A queue that may be out of order by `factor`.
pub(crate) const fn relaxed_queue(factor: u32) -> Relaxed<Queue> {
    Relaxed { plain: Queue { capacity: Capacity::UNBOUNDED }, factor }
}

/// A stack that may be out of order by `factor`.
pub(crate) const fn relaxed_stack(factor: u32) -> Relaxed<Stack> {
    Relaxed { plain: Stack { capacity: Capacity::UNBOUNDED }, factor }
}

/// Stress settings of relaxed queues. Runs are short, so that every search ends.
pub(crate) const QUEUE_RECIPE: Recipe =
    Recipe { operations: 32, mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN };

/// The same for stacks.
pub(crate) const STACK_RECIPE: Recipe = Recipe { mix: &[("push", 1), ("pop", 1)], ..QUEUE_RECIPE };

/// A container with insertion and removal.
pub(crate) trait Container: Send + Sync + 'static {
    /// Adds a value; returns whether there was room.
    fn add(&self, value: Value) -> bool;

    /// Removes one, or finds none.
    fn remove(&self) -> Option<Value>;
}

/// A container that should be a queue.
pub(crate) struct AsQueue<T>(pub(crate) T);

impl<S, T> Subject<S> for AsQueue<T>
where
    S: Specification<Call = queue::Call, Return = Value>,
    T: Container,
{
    fn call(&self, call: &queue::Call) -> Value {
        match *call {
            queue::Call::Enq(value) => Value::bool(self.0.add(value)),
            queue::Call::Deq => self.0.remove().unwrap_or(Value::NIL),
            queue::Call::Peek => panic!("the queue offers no `peek`"),
        }
    }
}

/// A container that should be a stack.
pub(crate) struct AsStack<T>(pub(crate) T);

impl<S, T> Subject<S> for AsStack<T>
where
    S: Specification<Call = stack::Call, Return = Value>,
    T: Container,
{
    fn call(&self, call: &stack::Call) -> Value {
        match *call {
            stack::Call::Push(value) => Value::bool(self.0.add(value)),
            stack::Call::Pop => self.0.remove().unwrap_or(Value::NIL),
            stack::Call::Peek => panic!("the stack offers no `peek`"),
        }
    }
}

/// A container of integers with insertion and removal.
pub(crate) trait Integers: Send + Sync + 'static {
    /// Adds an integer.
    fn add(&self, int: i64);

    /// Removes one, or finds none.
    fn remove(&self) -> Option<i64>;
}

/// A container of integers that should be a priority queue.
pub(crate) struct AsPriorityQueue<T>(pub(crate) T);

impl<S, T> Subject<S> for AsPriorityQueue<T>
where
    S: Specification<Call = priority_queue::Call, Return = priority_queue::Return>,
    T: Integers,
{
    fn call(&self, call: &priority_queue::Call) -> priority_queue::Return {
        match *call {
            priority_queue::Call::Add(int) => {
                self.0.add(int);
                priority_queue::Return::Done(true)
            }
            priority_queue::Call::Poll => priority_queue::Return::First(self.0.remove()),
            priority_queue::Call::Peek => panic!("the priority queue offers no `peek`"),
        }
    }
}

/// One of several, at random or by the choice of the schedule; `None` if there are none.
///
/// An implementation that starts at a random position and continues from there until it finds
/// something can find any of the elements. Here all positions are read first, and only then one of
/// the elements found is drawn. The possible results are the same, and an exploration need not try
/// equivalent draws.
pub(crate) fn any_of<T: Copy>(found: &[T]) -> Option<T> {
    match found {
        [] => None,
        [only] => Some(*only),
        _ => Some(found[choose(found.len())]),
    }
}
