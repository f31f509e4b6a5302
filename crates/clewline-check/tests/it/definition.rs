//! The oracle itself, and the automaton that all searches use, compared with the definition: every
//! permutation of every subset of the pending operations, run on the specification directly.

use clewline_check::{check, search::SEARCHES};
use clewline_core::{Budget, Deterministic, Event, History, Problem, Random, Specification, Verdict};
use clewline_testing::share;

/// A queue of two values that may be full: deterministic.
struct Short;

/// A coin: `toss` returns either side and stores it, `look` returns which. Nondeterministic.
struct Coin;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Put(u8),
    Get,
}

impl Deterministic for Short {
    type State = Vec<u8>;
    type Call = Call;
    type Return = Option<u8>;

    fn initial(&self) -> Vec<u8> {
        Vec::new()
    }

    fn apply(&self, state: &mut Vec<u8>, call: &Call) -> Option<Option<u8>> {
        match *call {
            // Blocks when full.
            Call::Put(_) if state.len() == 2 => None,
            Call::Put(value) => {
                state.push(value);
                Some(None)
            }
            Call::Get if state.is_empty() => Some(None),
            Call::Get => Some(Some(state.remove(0))),
        }
    }
}

impl Specification for Coin {
    type State = u8;
    type Call = Call;
    type Return = Option<u8>;

    fn initial(&self) -> u8 {
        0
    }

    fn step(&self, &state: &u8, call: &Call, ret: Option<&Option<u8>>, next: &mut Vec<u8>) {
        match call {
            // `Put` returns nothing, and leaves either side up.
            Call::Put(_) if ret.is_none_or(Option::is_none) => next.extend([0, 1]),
            Call::Get if ret.is_none_or(|it| *it == Some(state)) => next.push(state),
            Call::Put(_) | Call::Get => (),
        }
    }
}

/// Whether the remaining operations can be placed.
pub(crate) fn is_linearizable<S: Specification>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    placed: &mut Vec<usize>,
    state: &S::State,
) -> bool {
    let spans = history.spans();
    let left: Vec<usize> = (0..spans.len()).filter(|it| !placed.contains(it)).collect();
    if left.iter().all(|&it| spans[it].ret().is_none()) {
        return true;
    }
    for &it in &left {
        if left.iter().any(|&other| spans[other].ret().is_some_and(|ret| ret < spans[it].call())) {
            continue;
        }
        let operation = history.operations().nth(it).unwrap();
        let mut next = Vec::new();
        specification.step(state, operation.call, operation.ret, &mut next);
        placed.push(it);
        if next.iter().any(|state| is_linearizable(specification, history, placed, state)) {
            return true;
        }
        placed.pop();
    }
    false
}

fn random_history(random: &mut Random) -> History<Call, Option<u8>> {
    let mut pending: [Option<Call>; 3] = [None; 3];
    let mut events = Vec::new();
    for _ in 0..4 + random.below(9) {
        let process = random.below(3);
        events.push(match pending[process].take() {
            Some(Call::Put(_)) => Event::ret(process as u32, None),
            Some(Call::Get) => Event::ret(process as u32, [None, Some(0), Some(1)][random.below(3)]),
            None => {
                let call = [Call::Put(0), Call::Put(1), Call::Get][random.below(3)];
                pending[process] = Some(call);
                Event::call(process as u32, call)
            }
        });
    }
    History::from_events(events).unwrap()
}

#[track_caller]
fn check_searches<S: Specification<Call = Call, Return = Option<u8>> + Sync>(specification: &S) {
    let (mut holds, mut violated) = (0, 0);
    for seed in 0..share(40_000) {
        let history = random_history(&mut Random::new(seed));
        let expected = is_linearizable(specification, &history, &mut Vec::new(), &specification.initial());
        *if expected { &mut holds } else { &mut violated } += 1;
        let problem = Problem::new(specification, &history);
        for checker in &SEARCHES {
            let verdict = check(*checker, &problem, &Budget::unlimited());
            let name = checker.name();
            assert_eq!(matches!(verdict, Verdict::Holds(_)), expected, "{name}, seed {seed}: {history:#?}");
            assert_eq!(
                matches!(verdict, Verdict::Violated(_)),
                !expected,
                "{name}, seed {seed}: {history:#?}"
            );
        }
    }
    assert!(share(4_000) < holds && share(4_000) < violated, "{holds} hold, {violated} are violated");
}

#[test]
fn searches_agree_with_the_definition_for_a_deterministic_object() {
    check_searches(&Short);
}

#[test]
fn searches_agree_with_the_definition_for_a_nondeterministic_object() {
    check_searches(&Coin);
}
