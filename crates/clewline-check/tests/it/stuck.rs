//! Stuck histories, compared with every order of every set of operations.

use clewline_check::{JudgeOptions, Stuck, stuck};
use clewline_core::{Budget, Event, History, OperationId, Problem, Random, Reason, Specification, Value};
use clewline_specs::{mutex, queue, semaphore};

use crate::histories::drawn;

/// Every order of the complete operations and some pending ones: which pending ones, and the state
/// it leads to.
fn every_order<S: Specification>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    placed: &mut Vec<usize>,
    state: &S::State,
    orders: &mut Vec<(Vec<usize>, S::State)>,
) {
    let spans = history.spans();
    let left: Vec<usize> = (0..spans.len()).filter(|it| !placed.contains(it)).collect();
    if left.iter().all(|&it| spans[it].is_pending()) {
        let used = placed.iter().copied().filter(|&it| spans[it].is_pending()).collect();
        orders.push((used, state.clone()));
    }
    for &it in &left {
        if left.iter().any(|&other| spans[other].precedes(spans[it])) {
            continue;
        }
        let operation = history.operation(OperationId::from_index(it));
        let mut next = Vec::new();
        specification.step(state, operation.call, operation.ret, &mut next);
        placed.push(it);
        next.iter().for_each(|state| every_order(specification, history, placed, state, orders));
        placed.pop();
    }
}

/// The definition, from the orders one by one. `None` if there are none.
fn expected<S: Specification>(specification: &S, history: &History<S::Call, S::Return>) -> Option<Stuck> {
    let mut orders = Vec::new();
    every_order(specification, history, &mut Vec::new(), &specification.initial(), &mut orders);
    let pending = (0..history.len()).filter(|&it| history.spans()[it].is_pending());
    let (mut forbidden, mut suspected) = (Vec::new(), Vec::new());
    for it in pending {
        let id = OperationId::from_index(it);
        let blocks = |(used, state): &&(Vec<usize>, S::State)| {
            let mut next = Vec::new();
            specification.step(state, history.call(id), None, &mut next);
            !used.contains(&it) && next.is_empty()
        };
        if !orders.iter().any(|it| blocks(&it)) {
            forbidden.push(id);
        } else if !orders.iter().filter(|(used, _)| used.is_empty()).any(|it| blocks(&it)) {
            suspected.push(id);
        }
    }
    if orders.is_empty() && history.spans().iter().any(|it| it.is_pending()) {
        return None;
    }
    Some(match (forbidden.is_empty(), suspected.is_empty()) {
        (false, _) => Stuck::Forbidden(forbidden),
        (true, false) => Stuck::OneForbidden(suspected),
        (true, true) => Stuck::Allowed,
    })
}

/// Random events of four processes; about half of the histories have an order.
fn random_history<C: Copy>(random: &mut Random, calls: &[C], results: &[Value]) -> History<C, Value> {
    let mut open = [false; 4];
    let mut events = Vec::new();
    for _ in 0..1 + random.below(10) {
        let process = random.below(open.len());
        open[process] = !open[process];
        events.push(match open[process] {
            true => Event::call(process as u32, calls[random.below(calls.len())]),
            false => Event::ret(process as u32, results[random.below(results.len())]),
        });
    }
    History::from_events(events).unwrap()
}

#[derive(Debug, Default)]
struct Seen {
    allowed: usize,
    forbidden: usize,
    one_forbidden: usize,
    unordered: usize,
}

#[track_caller]
fn check_random<S>(specification: &S, calls: &[S::Call], results: &[Value]) -> Seen
where
    S: Specification<Return = Value> + Sync,
    S::Call: Copy + Sync,
{
    let mut seen = Seen::default();
    for seed in 0..6_000 {
        let history = random_history(&mut Random::new(seed), calls, results);
        let found = stuck(Problem::of_objects(specification, &history), &JudgeOptions::default());
        let expected = expected(specification, &history);
        match (&found, &expected) {
            (Stuck::Unknown(Reason::Refused(_)), None) => seen.unordered += 1,
            // An operation that never blocks must not block, whatever the others did.
            (Stuck::Forbidden(_), None) => seen.unordered += 1,
            _ => assert_eq!(Some(&found), expected.as_ref(), "seed {seed}: {history:#?}"),
        }
        match found {
            Stuck::Allowed => seen.allowed += 1,
            Stuck::Forbidden(_) => seen.forbidden += 1,
            Stuck::OneForbidden(_) => seen.one_forbidden += 1,
            Stuck::Unknown(_) => (),
        }
    }
    seen
}

#[test]
fn a_mutex_may_block_as_the_definition_says() {
    let seen = check_random(
        &mutex::Mutex,
        &[mutex::Call::Lock, mutex::Call::Lock, mutex::Call::Unlock],
        &[Value::TRUE],
    );
    let Seen { allowed, forbidden, one_forbidden, unordered } = seen;
    assert!(300 < allowed && 300 < forbidden && 300 < one_forbidden && 300 < unordered, "{seen:?}");
}

#[test]
fn a_semaphore_may_block_as_the_definition_says() {
    for permits in 0..3 {
        let calls = [semaphore::Call::Acquire, semaphore::Call::Acquire, semaphore::Call::Release];
        let seen = check_random(&semaphore::Semaphore { permits }, &calls, &[Value::TRUE]);
        let Seen { allowed, forbidden, one_forbidden, unordered } = seen;
        assert!(300 < allowed && 300 < forbidden, "{permits}: {seen:?}");
        assert!(100 < one_forbidden || permits == 0, "{permits}: {seen:?}");
        assert!(100 < unordered || permits == 2, "{permits}: {seen:?}");
    }
}

/// Only the empty history, or one in which nothing is pending, is allowed.
#[test]
fn a_queue_never_blocks() {
    let one = Value::from(1);
    let calls = [queue::Call::Enq(one), queue::Call::Deq];
    let seen = check_random(&queue::Queue::default(), &calls, &[Value::TRUE, Value::NIL, one]);
    assert!(100 < seen.allowed && 2_000 < seen.forbidden && seen.one_forbidden == 0, "{seen:?}");
}

#[track_caller]
fn check_drawing(spec: &str, drawing: &str, expected: &str) {
    let case = drawn(spec, drawing);
    let determines = |ids: Vec<OperationId>| -> Vec<String> {
        ids.into_iter().map(|it| format!("{} of {:?}", case.label(it), case.process(it))).collect()
    };
    let found = match stuck(case.problems(), &JudgeOptions::default()) {
        Stuck::Allowed => "allowed".to_owned(),
        Stuck::Forbidden(ids) => format!("forbidden: {}", determines(ids).join(", ")),
        Stuck::OneForbidden(ids) => format!("one forbidden: {}", determines(ids).join(", ")),
        Stuck::Unknown(reason) => format!("unknown: {reason}"),
    };
    assert_eq!(found, expected);
}

#[test]
fn blocking_on_a_held_mutex_is_allowed() {
    check_drawing(
        "mutex",
        "
        A: |-lock-|
        B:    |-lock
        C:           |-lock
        ",
        "allowed",
    );
}

#[test]
fn blocking_on_a_released_mutex_is_forbidden() {
    check_drawing(
        "mutex",
        "
        A: |-lock-|   |-unlock-|
        B:    |-lock
        ",
        "forbidden: lock() → ? of p1",
    );
}

/// The wake-up was lost: one of the two should hold the mutex by now.
#[test]
fn one_of_two_locks_on_a_released_mutex_must_not_block() {
    check_drawing(
        "mutex",
        "
        A: |-lock-|   |-unlock-|
        B:    |-lock
        C:      |-lock
        ",
        "one forbidden: lock() → ? of p1, lock() → ? of p2",
    );
}

/// The release gave its permit away and did not return.
#[test]
fn an_operation_that_took_effect_must_not_block() {
    check_drawing(
        "semaphore:0",
        "
        A: |-release
        B:    |-acquire-|
        C:    |-acquire
        ",
        "forbidden: release() → ? of p0",
    );
}

#[test]
fn keys_block_independently() {
    check_drawing("map", "A: |-put [0 1]-| |-get 0", "forbidden: get(0) → ? of p0");
    check_drawing("map", "A: |-put [0 1]-| |-get 0 → 1-|", "allowed");
}

#[test]
fn a_breadth_first_pass_that_takes_too_long_is_unknown() {
    let case = drawn("mutex", "A: |-lock-| |-unlock-| |-lock-| |-lock");
    let options =
        JudgeOptions { budget: Budget::unlimited().with_configurations(1), ..JudgeOptions::default() };
    assert_eq!(stuck(case.problems(), &options), Stuck::Unknown(Reason::Configurations(1)));
}
