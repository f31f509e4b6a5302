//! Dead ends, compared with every configuration that can be reached.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use clewline_check::{JudgeOptions, dead_ends, judge};
use clewline_core::{OperationId, PartialLinearization, Problem, StateId, Verdict};
use clewline_specs::CATALOG;

use crate::histories::{drawn, random_history};

/// The operation that returns first of those that are left, and those that may come next.
fn candidates(problem: &Problem<'_>, done: &[bool]) -> Option<(usize, Vec<usize>)> {
    let spans = problem.spans();
    let left = || (0..problem.len()).filter(|&at| !done[at]);
    let next = left().filter(|&at| !spans[at].is_pending()).min_by_key(|&at| spans[at].end())?;
    Some((next, left().filter(|&at| spans[at].call() < spans[next].end()).collect()))
}

/// For each operation at which an order may end: the length of the longest. Visits every
/// configuration.
fn every_dead_end(problem: &Problem<'_>) -> BTreeMap<OperationId, usize> {
    let mut automaton = problem.automaton();
    let labels = automaton.labels().to_vec();
    let mut ends = BTreeMap::new();
    let initial = BTreeSet::from([automaton.initial()]);
    let mut open = vec![(vec![false; problem.len()], initial)];
    let mut seen: HashSet<(Vec<bool>, BTreeSet<StateId>)> = open.iter().cloned().collect();
    while let Some((done, states)) = open.pop() {
        let Some((next, candidates)) = candidates(problem, &done) else { continue };
        let mut is_dead = true;
        for at in candidates {
            let mut after = BTreeSet::new();
            for &state in &states {
                after
                    .extend((0..).map_while(|nth| automaton.step(state, labels[at], nth)).map(|it| it.state));
            }
            if after.is_empty() {
                continue;
            }
            is_dead = false;
            let mut done = done.clone();
            done[at] = true;
            if seen.insert((done.clone(), after.clone())) {
                open.push((done, after));
            }
        }
        if is_dead {
            let length = done.iter().filter(|it| **it).count();
            let longest = ends.entry(problem.operations()[next]).or_insert(0);
            *longest = length.max(*longest);
        }
    }
    ends
}

/// Real time and the specification allow the order, and do not allow what cannot come next.
#[track_caller]
fn check_dead_end(problem: &Problem<'_>, end: &PartialLinearization) {
    let mut replay = problem.replay();
    let mut done = vec![false; problem.len()];
    for &id in &end.prefix {
        let at = problem.position(id).unwrap();
        let (_, allowed) = candidates(problem, &done).expect("something is left");
        assert!(allowed.contains(&at), "{end:?} keeps no order");
        assert!(replay.advance(at), "{end:?} is not allowed");
        done[at] = true;
    }
    let at = problem.position(end.next).unwrap();
    assert_eq!(candidates(problem, &done).map(|it| it.0), Some(at));
    assert!(!replay.advance(at), "{end:?} goes on");
}

#[test]
fn every_dead_end_is_found_with_its_longest_order() {
    let (mut violated, mut held, mut several) = (0, 0, 0);
    for entry in &CATALOG {
        for seed in 0..60 {
            let case = random_history(entry.name, seed);
            for problem in case.problems().into_iter().flat_map(Problem::into_parts) {
                let is_violated = matches!(
                    judge(vec![problem.clone()], &JudgeOptions::default()).verdict,
                    Verdict::Violated(_)
                );
                if !is_violated {
                    held += 1;
                    continue;
                }
                let ends = dead_ends(&problem, u64::MAX, usize::MAX);
                ends.iter().for_each(|it| check_dead_end(&problem, it));
                let lengths: BTreeMap<OperationId, usize> =
                    ends.iter().map(|it| (it.next, it.prefix.len())).collect();
                assert_eq!(lengths, every_dead_end(&problem), "{} seed {seed}: {problem:?}", entry.name);
                assert!(ends.is_sorted_by(|one, other| other.prefix.len() <= one.prefix.len()));
                violated += 1;
                several += usize::from(1 < ends.len());
            }
        }
    }
    assert!(
        100 < violated && 100 < held && 20 < several,
        "{violated} violated, {held} hold, {several} several"
    );
}

#[test]
fn each_operation_has_its_own_dead_end() {
    let case = drawn(
        "register",
        "
        A: |---write 1---|  |-read → 2-|
        B:  |---write 2---|               |-read → 1-|
        ",
    );
    let problem = case.problems().remove(0);
    let determines: Vec<(usize, String)> =
        dead_ends(&problem, 1_000, 8).iter().map(|it| (it.prefix.len(), case.label(it.next))).collect();
    assert_eq!(determines, [(3, "read() → 1".to_owned()), (2, "read() → 2".to_owned())]);
}

#[test]
fn dead_ends_found_in_a_few_steps_are_right() {
    for steps in 0..60 {
        let case = drawn(
            "queue",
            "
            A: |-enq 1-| |---enq 2---| |-deq → 3-|
            B:  |-enq 3-| |-deq → 2-|
            ",
        );
        let problem = case.problems().remove(0);
        dead_ends(&problem, steps, 8).iter().for_each(|it| check_dead_end(&problem, it));
    }
}
