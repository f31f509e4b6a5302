//! Relaxed collections: with factor 0 they are the plain ones, and removing the first of equal
//! elements of a queue loses nothing.

use std::collections::BTreeSet;

use clewline_core::{Codec, Specification, Value};
use clewline_specs::{
    priority_queue::{self, First, PriorityQueue},
    queue::{self, Queue},
    relaxed::{Ordered, Relaxed},
    stack::{self, Stack},
};

/// Compares the possible results of both after every sequence of up to `left` calls.
fn compare<P: Ordered + Codec>(
    plain: &P,
    quasi: &Relaxed<P>,
    states: (&P::State, &<Relaxed<P> as Specification>::State),
    calls: &[P::Call],
    left: usize,
) -> usize {
    let mut compared = 0;
    for call in calls.iter().filter(|_| left != 0) {
        let returns = plain.returns(states.0, call);
        assert_eq!(returns, quasi.returns(states.1, call), "{states:?}: {call:?}");
        let (mut one, mut other) = (vec![states.0.clone()], vec![states.1.clone()]);
        plain.advance(&mut one, call, returns.first());
        quasi.advance(&mut other, call, returns.first());
        assert_eq!((one.len(), other.len()), (1, 1));
        compared += 1 + compare(plain, quasi, (&one[0], &other[0]), calls, left - 1);
    }
    compared
}

fn check_factor_0<P: Ordered + Codec + Copy>(plain: P, calls: &[P::Call]) {
    let quasi = Relaxed { plain, factor: 0 };
    let compared = compare(&plain, &quasi, (&plain.initial(), &quasi.initial()), calls, 6);
    assert!(1_000 < compared, "{compared}");
    assert_eq!(quasi.kind(), plain.kind());
}

fn value(int: i64) -> Value {
    Value::from(int)
}

#[test]
fn with_factor_0_nothing_is_relaxed() {
    let enqs = [1, 2].map(|it| queue::Call::Enq(value(it)));
    check_factor_0(Queue::default(), &[enqs[0], enqs[1], queue::Call::Deq, queue::Call::Peek]);
    let pushes = [1, 2].map(|it| stack::Call::Push(value(it)));
    check_factor_0(Stack::default(), &[pushes[0], pushes[1], stack::Call::Pop, stack::Call::Peek]);
    let adds = [1, 2].map(priority_queue::Call::Add);
    for first in [First::Greatest, First::Least] {
        let calls = [adds[0], adds[1], priority_queue::Call::Poll, priority_queue::Call::Peek];
        check_factor_0(PriorityQueue { first }, &calls);
    }
}

/// A relaxed queue in which any of several equal elements may be removed: elements, each with the
/// number of times it was overtaken.
type OrderedElements = Vec<(i64, u32)>;

fn dequeue(lines: &BTreeSet<OrderedElements>, value: i64, factor: u32) -> BTreeSet<OrderedElements> {
    let mut after = BTreeSet::new();
    for line in lines {
        for place in (0..line.len().min(factor as usize + 1)).filter(|&it| line[it].0 == value) {
            if line[..place].iter().all(|it| it.1 < factor) {
                let mut line = line.clone();
                line[..place].iter_mut().for_each(|it| it.1 += 1);
                line.remove(place);
                after.insert(line);
            }
        }
    }
    after
}

/// Compares the possible continuations if the first of equal elements is removed, and if any is.
fn compare_equals(
    quasi: &Relaxed<Queue>,
    state: &<Relaxed<Queue> as Specification>::State,
    lines: &BTreeSet<OrderedElements>,
    left: usize,
) -> usize {
    if left == 0 {
        return 1;
    }
    let mut compared = 0;
    for int in [1, 2] {
        let mut states = vec![state.clone()];
        quasi.advance(&mut states, &queue::Call::Enq(value(int)), Some(&Value::TRUE));
        let longer = lines.iter().map(|it| [&it[..], &[(int, 0)]].concat()).collect();
        compared += compare_equals(quasi, &states[0], &longer, left - 1);
        let mut states = vec![state.clone()];
        quasi.advance(&mut states, &queue::Call::Deq, Some(&value(int)));
        let shorter = dequeue(lines, int, quasi.factor);
        assert_eq!(states.is_empty(), shorter.is_empty(), "{state:?} or {lines:?}: {int} leaves");
        if let Some(state) = states.first() {
            compared += compare_equals(quasi, state, &shorter, left - 1);
        }
    }
    compared
}

#[test]
fn removing_the_first_of_equal_elements_of_a_queue_loses_nothing() {
    for factor in [1, 2] {
        let quasi = Relaxed { plain: Queue::default(), factor };
        let compared = compare_equals(&quasi, &quasi.initial(), &BTreeSet::from([Vec::new()]), 9);
        assert!(10_000 < compared, "{compared}");
    }
}

/// Whether the first element, given its position and value, should be removed before the other.
type IsBefore = fn((usize, i64), (usize, i64)) -> bool;

/// The possible states after an element with this value was removed from `line`.
fn leave(line: &OrderedElements, value: i64, factor: u32, is_before: IsBefore) -> BTreeSet<OrderedElements> {
    let mut after = BTreeSet::new();
    for place in (0..line.len()).filter(|&it| line[it].0 == value) {
        let is_passed = |it: usize| is_before((it, line[it].0), (place, value));
        let passed: Vec<usize> = (0..line.len()).filter(|&it| is_passed(it)).collect();
        if passed.len() <= factor as usize && passed.iter().all(|&it| line[it].1 < factor) {
            let mut line = line.clone();
            passed.iter().for_each(|&it| line[it].1 += 1);
            line.remove(place);
            after.insert(line);
        }
    }
    after
}

/// A relaxed collection that is compared with a model in which any of several equal elements may be
/// removed.
struct Compared<'c, P: Ordered> {
    quasi: &'c Relaxed<P>,
    add: fn(i64) -> P::Call,
    remove: P::Call,
    found: fn(i64) -> P::Return,
    is_before: IsBefore,
}

impl<P: Ordered> Compared<'_, P> {
    /// Compares what is possible in the next `left` steps.
    fn compare(
        &self,
        states: &[<Relaxed<P> as Specification>::State],
        lines: &BTreeSet<OrderedElements>,
        left: usize,
    ) -> usize {
        if left == 0 {
            return 1;
        }
        let mut compared = 0;
        for int in [1, 2] {
            let mut after = states.to_vec();
            self.quasi.advance(&mut after, &(self.add)(int), Some(&self.quasi.plain.add_result()));
            let longer = lines.iter().map(|it| [&it[..], &[(int, 0)]].concat()).collect();
            compared += self.compare(&after, &longer, left - 1);
            let mut after = states.to_vec();
            self.quasi.advance(&mut after, &self.remove, Some(&(self.found)(int)));
            let gone = |it: &OrderedElements| leave(it, int, self.quasi.factor, self.is_before);
            let shorter: BTreeSet<OrderedElements> = lines.iter().flat_map(gone).collect();
            assert_eq!(after.is_empty(), shorter.is_empty(), "{states:?} or {lines:?}: {int} leaves");
            if !after.is_empty() {
                compared += self.compare(&after, &shorter, left - 1);
            }
        }
        compared
    }
}

#[test]
fn any_of_equal_elements_of_a_stack_may_be_removed() {
    for factor in [1, 2] {
        let quasi = &Relaxed { plain: Stack::default(), factor };
        let (add, remove) = (|it| stack::Call::Push(value(it)), stack::Call::Pop);
        let compared = Compared { quasi, add, remove, found: value, is_before: |one, other| other.0 < one.0 };
        let compared = compared.compare(&[quasi.initial()], &BTreeSet::from([Vec::new()]), 8);
        assert!(1_000 < compared, "{compared}");
    }
}

#[test]
fn equal_elements_of_a_priority_queue_do_not_overtake_each_other() {
    for factor in [1, 2] {
        let quasi = &Relaxed { plain: PriorityQueue { first: First::Greatest }, factor };
        let (add, remove) = (priority_queue::Call::Add, priority_queue::Call::Poll);
        let found = |it| priority_queue::Return::First(Some(it));
        let compared = Compared { quasi, add, remove, found, is_before: |one, other| other.1 < one.1 };
        let compared = compared.compare(&[quasi.initial()], &BTreeSet::from([Vec::new()]), 8);
        assert!(1_000 < compared, "{compared}");
    }
}
