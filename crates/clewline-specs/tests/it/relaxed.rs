//! Relaxed collections: with factor 0 they are the plain ones, and of equals in a queue the first may as well leave.

use std::collections::BTreeSet;

use clewline_core::{Notation, Specification, Value};
use clewline_specs::{
    priority_queue::{self, First, PriorityQueue},
    queue::{self, Queue},
    relaxed::{Ordered, Relaxed},
    stack::{self, Stack},
};

/// What both may answer is compared after every sequence of up to `left` calls.
fn compare<P: Ordered + Notation>(
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

fn check_factor_0<P: Ordered + Notation + Copy>(plain: P, calls: &[P::Call]) {
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

/// Where `line` may be after an element with this value has left; `is_before` says who of two is overtaken by the other.
fn leave(
    line: &Line,
    value: i64,
    factor: u32,
    is_before: fn((usize, i64), (usize, i64)) -> bool,
) -> BTreeSet<Line> {
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

/// Compares what may happen next with a model in which any of several equals may leave.
fn compare_any<P: Ordered>(
    (quasi, add, remove): (&Relaxed<P>, fn(i64) -> P::Call, P::Call),
    (states, lines): (&[<Relaxed<P> as Specification>::State], &BTreeSet<Line>),
    (found, is_before): (fn(i64) -> P::Return, fn((usize, i64), (usize, i64)) -> bool),
    left: usize,
) -> usize
where
    P::Call: Copy,
{
    if left == 0 {
        return 1;
    }
    let mut compared = 0;
    for int in [1, 2] {
        let mut after = states.to_vec();
        quasi.advance(&mut after, &add(int), Some(&quasi.plain.added()));
        let longer = lines.iter().map(|it| [&it[..], &[(int, 0)]].concat()).collect();
        compared += compare_any((quasi, add, remove), (&after, &longer), (found, is_before), left - 1);
        let mut after = states.to_vec();
        quasi.advance(&mut after, &remove, Some(&found(int)));
        let shorter: BTreeSet<Line> =
            lines.iter().flat_map(|it| leave(it, int, quasi.factor, is_before)).collect();
        assert_eq!(after.is_empty(), shorter.is_empty(), "{states:?} or {lines:?}: {int} leaves");
        if !after.is_empty() {
            compared += compare_any((quasi, add, remove), (&after, &shorter), (found, is_before), left - 1);
        }
    }
    compared
}

#[test]
fn of_equals_in_a_stack_any_may_leave() {
    for factor in [1, 2] {
        let quasi = Relaxed { plain: Stack::default(), factor };
        let object =
            (&quasi, (|it| stack::Call::Push(value(it))) as fn(i64) -> stack::Call, stack::Call::Pop);
        let start = (&[quasi.initial()][..], &BTreeSet::from([Vec::new()]));
        let compared = compare_any(object, start, (value, |one, other| other.0 < one.0), 8);
        assert!(1_000 < compared, "{compared}");
    }
}

#[test]
fn equals_in_a_priority_queue_do_not_overtake_each_other() {
    for factor in [1, 2] {
        let quasi = Relaxed { plain: PriorityQueue { first: First::Greatest }, factor };
        let add: fn(i64) -> priority_queue::Call = priority_queue::Call::Add;
        let object = (&quasi, add, priority_queue::Call::Poll);
        let start = (&[quasi.initial()][..], &BTreeSet::from([Vec::new()]));
        let found: fn(i64) -> priority_queue::Return = |it| priority_queue::Return::First(Some(it));
        let compared = compare_any(object, start, (found, |one, other| other.1 < one.1), 8);
        assert!(1_000 < compared, "{compared}");
    }
}
