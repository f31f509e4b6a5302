//! Relaxed collections: with factor 0 they are the plain ones, and of equals in a queue the first may as well leave.

use std::collections::BTreeSet;

use clewline_core::{Codec, Specification, Value};
use clewline_specs::{
    priority_queue::{self, First, PriorityQueue},
    queue::{self, Queue},
    relaxed::{Ordered, Relaxed},
    stack::{self, Stack},
};

/// What both may answer is compared after every sequence of up to `left` calls.
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
    Value::small(int).unwrap()
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

/// A queue out of order of which any of several equals may leave: elements, each with how often it was overtaken.
type Line = Vec<(i64, u32)>;

fn dequeue(lines: &BTreeSet<Line>, value: i64, factor: u32) -> BTreeSet<Line> {
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

/// Compares what may happen next if the first of equals leaves, and if any does.
fn compare_equals(
    quasi: &Relaxed<Queue>,
    state: &<Relaxed<Queue> as Specification>::State,
    lines: &BTreeSet<Line>,
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
fn of_equals_in_a_queue_the_first_may_as_well_leave() {
    for factor in [1, 2] {
        let quasi = Relaxed { plain: Queue::default(), factor };
        let compared = compare_equals(&quasi, &quasi.initial(), &BTreeSet::from([Vec::new()]), 9);
        assert!(10_000 < compared, "{compared}");
    }
}

/// Whether the first, at its place and with its value, should leave before the other.
type IsBefore = fn((usize, i64), (usize, i64)) -> bool;

/// Where `line` may be after an element with this value has left.
fn leave(line: &Line, value: i64, factor: u32, is_before: IsBefore) -> BTreeSet<Line> {
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

/// What is compared with a model in which any of several equals may leave.
struct Compared<'c, P: Ordered> {
    quasi: &'c Relaxed<P>,
    add: fn(i64) -> P::Call,
    remove: P::Call,
    found: fn(i64) -> P::Return,
    is_before: IsBefore,
}

impl<P: Ordered> Compared<'_, P> {
    /// Compares what may happen in the next `left` steps.
    fn compare(
        &self,
        states: &[<Relaxed<P> as Specification>::State],
        lines: &BTreeSet<Line>,
        left: usize,
    ) -> usize {
        if left == 0 {
            return 1;
        }
        let mut compared = 0;
        for int in [1, 2] {
            let mut after = states.to_vec();
            self.quasi.advance(&mut after, &(self.add)(int), Some(&self.quasi.plain.added()));
            let longer = lines.iter().map(|it| [&it[..], &[(int, 0)]].concat()).collect();
            compared += self.compare(&after, &longer, left - 1);
            let mut after = states.to_vec();
            self.quasi.advance(&mut after, &self.remove, Some(&(self.found)(int)));
            let gone = |it: &Line| leave(it, int, self.quasi.factor, self.is_before);
            let shorter: BTreeSet<Line> = lines.iter().flat_map(gone).collect();
            assert_eq!(after.is_empty(), shorter.is_empty(), "{states:?} or {lines:?}: {int} leaves");
            if !after.is_empty() {
                compared += self.compare(&after, &shorter, left - 1);
            }
        }
        compared
    }
}

#[test]
fn of_equals_in_a_stack_any_may_leave() {
    for factor in [1, 2] {
        let quasi = &Relaxed { plain: Stack::default(), factor };
        let (add, remove) = (|it| stack::Call::Push(value(it)), stack::Call::Pop);
        let compared = Compared { quasi, add, remove, found: value, is_before: |one, other| other.0 < one.0 };
        let compared = compared.compare(&[quasi.initial()], &BTreeSet::from([Vec::new()]), 8);
        assert!(1_000 < compared, "{compared}");
    }
}

#[test]
fn equals_in_a_priority_queue_do_not_overtake_each_other() {
    for factor in [1, 2] {
        let quasi = &Relaxed { plain: PriorityQueue { first: First::Greatest }, factor };
        let (add, remove) = (priority_queue::Call::Add, priority_queue::Call::Poll);
        let found = |it| priority_queue::Return::First(Some(it));
        let compared = Compared { quasi, add, remove, found, is_before: |one, other| other.1 < one.1 };
        let compared = compared.compare(&[quasi.initial()], &BTreeSet::from([Vec::new()]), 8);
        assert!(1_000 < compared, "{compared}");
    }
}
