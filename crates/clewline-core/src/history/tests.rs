use super::*;

type H = History<&'static str, i32>;

fn timed(process: u32, call: &'static str, called: i64, returned: Option<i64>) -> Timed<&'static str, i32> {
    Timed {
        process: ProcessId(process),
        object: ObjectId(0),
        call,
        called,
        returned: returned.map(|at| (0, at)),
    }
}

#[test]
fn operations_are_sorted_by_call_and_keep_their_source_positions() {
    let history = H::from_operations([
        timed(1, "b", 20, Some(30)),
        timed(0, "a", 10, Some(25)),
        timed(2, "c", 40, None),
    ])
    .unwrap();
    let calls: Vec<&str> = history.operations().map(|it| *it.call).collect();
    assert_eq!(calls, ["a", "b", "c"]);
    let sources: Vec<usize> = history.operations().map(|it| history.source(it.id)).collect();
    assert_eq!(sources, [1, 0, 2]);
    assert_eq!(format!("{:?}", history.spans()), "[[0, 2], [1, 3], [4, ..)]");
}

#[test]
fn equal_times_overlap() {
    let history = H::from_operations([timed(0, "a", 1, Some(2)), timed(1, "b", 2, Some(3))]).unwrap();
    assert!(!history.spans()[0].precedes(history.spans()[1]));
    let history = H::from_operations([timed(0, "a", 1, Some(2)), timed(1, "b", 3, Some(4))]).unwrap();
    assert!(history.spans()[0].precedes(history.spans()[1]));
}

#[test]
fn one_process_may_call_at_the_time_of_its_return() {
    let history =
        H::from_operations([timed(0, "c", 2, Some(9)), timed(0, "b", 2, Some(2)), timed(0, "a", 1, Some(2))])
            .unwrap();
    let calls: Vec<&str> = history.operations().map(|it| *it.call).collect();
    assert_eq!(calls, ["a", "b", "c"]);
}

#[track_caller]
fn check_malformed(result: Result<H, Malformed>, index: usize, other: Option<usize>, reason: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.index(), error.other()), (index, other));
    assert!(error.reason().contains(reason), "{error}");
}

#[test]
fn a_return_before_its_call_is_rejected() {
    let result = H::from_operations([timed(0, "a", 1, Some(2)), timed(1, "b", 5, Some(4))]);
    check_malformed(result, 1, None, "returns before it is called");
}

#[test]
fn two_open_operations_of_one_process_are_rejected() {
    let result = H::from_operations([timed(0, "b", 3, Some(5)), timed(0, "a", 1, Some(4))]);
    check_malformed(result, 0, Some(1), "still open");
    let result = H::from_operations([timed(0, "a", 1, None), timed(0, "b", 7, Some(8))]);
    check_malformed(result, 1, Some(0), "still open");
    let result = H::from_events([Event::call(0, "a"), Event::call(0, "b")]);
    check_malformed(result, 1, Some(0), "still open");
}

#[test]
fn a_process_may_go_on_from_an_operation_that_it_has_abandoned() {
    let columns = |operations: &[Timed<&'static str, i32>]| {
        let mut columns = TimedColumns::with_capacity(0);
        operations.iter().for_each(|it| columns.push(it.clone()));
        columns
    };
    let going_on = [timed(0, "a", 1, None), timed(0, "b", 7, Some(8)), timed(0, "c", 9, None)];
    let history = columns(&going_on).finish_abandoned().unwrap();
    assert_eq!(history.spans(), [Span::new(0, None), Span::new(1, Some(2)), Span::new(3, None)]);
    assert!(columns(&going_on).finish().is_err());
    let overlapping = [timed(0, "a", 1, Some(8)), timed(0, "b", 7, None)];
    assert!(columns(&overlapping).finish_abandoned().is_err());
}

#[test]
fn an_end_without_a_call_is_rejected() {
    check_malformed(H::from_events([Event::ret(3, 0)]), 0, None, "not open");
    let result = H::from_events([Event::call(0, "a"), Event::Info(ProcessId(0)), Event::ret(0, 0)]);
    check_malformed(result, 2, None, "not open");
}

#[test]
fn failed_operations_are_removed_and_unknown_ones_stay_pending() {
    let process = ProcessId(0);
    let history = H::from_events([
        Event::call(0, "failed"),
        Event::Fail(process),
        Event::call(0, "unknown"),
        Event::Info(process),
        Event::call(0, "done"),
        Event::ret(0, 7),
        Event::call(0, "open"),
    ])
    .unwrap();
    let operations: Vec<(&str, Option<i32>)> =
        history.operations().map(|it| (*it.call, it.ret.copied())).collect();
    assert_eq!(operations, [("unknown", None), ("done", Some(7)), ("open", None)]);
    assert_eq!(history.source(OperationId(0)), 2);
    assert!(!history.is_complete());
}

#[test]
fn events_come_back_in_order() {
    let history =
        H::from_operations([timed(0, "a", 1, Some(4)), timed(1, "b", 2, Some(3)), timed(2, "c", 2, None)])
            .unwrap();
    let events: Vec<(u32, End)> = history.events().into_iter().map(|(id, end)| (id.0, end)).collect();
    assert_eq!(events, [(0, End::Call), (1, End::Call), (2, End::Call), (1, End::Return), (0, End::Return)]);
}

#[test]
fn ids_need_not_be_small() {
    let (process, object) = (ProcessId(u32::MAX), ObjectId(u32::MAX - 1));
    let events = [Event::Call(process, object, "a"), Event::Return(process, 1)];
    assert_eq!(H::from_events(events).unwrap().operation(OperationId(0)).object, object);
}

/// Whether it is known that operation `one` returned before `other` was called.
fn is_known(all: &[Timed<&str, i32>], one: usize, other: usize) -> bool {
    let end = |it: usize| all[it].returned.map_or(i64::MAX, |(_, at)| at);
    if end(one) < all[other].called {
        return true;
    }
    if one == other || all[one].process != all[other].process || all[other].called < end(one) {
        return false;
    }
    let is_moment = |it: usize| all[it].called == end(it);
    let own: Vec<usize> = (0..all.len()).filter(|&it| all[it].process == all[one].process).collect();
    let in_order = own.windows(2).all(|it| end(it[0]) <= all[it[1]].called);
    !(is_moment(one) && is_moment(other)) || (in_order && one < other)
}

/// Random operations with few different times, in the order of time or in any order.
fn random_operations(random: &mut crate::Random) -> Vec<Timed<&'static str, i32>> {
    let mut all = Vec::new();
    for process in 0..1 + random.below(3) as u32 {
        let mut free = random.below(3) as i64;
        for _ in 0..random.below(5) {
            let called = free + random.below(2) as i64;
            let end = called + random.below(3) as i64;
            let is_last = random.chance(0.1);
            all.push(timed(process, "a", called, (!is_last).then_some(end)));
            free = end;
            if is_last {
                break;
            }
        }
    }
    if random.chance(0.5) {
        for at in (1..all.len()).rev() {
            all.swap(at, random.below(at + 1));
        }
    } else {
        all.sort_by_key(|it| it.called);
    }
    all
}

#[test]
fn a_history_has_every_order_that_is_known_and_no_other() {
    let mut random = crate::Random::new(41);
    let (mut exact, mut less) = (0, 0);
    for _ in 0..20_000 {
        let all = random_operations(&mut random);
        let history = H::from_operations(all.clone()).unwrap();
        let known = |one: usize, other: usize| is_known(&all, one, other);
        let turns = |time: i64, process: u32| {
            (0..all.len()).any(|one| {
                all[one].process.0 == process
                    && all[one].returned.is_some_and(|it| it.1 == time)
                    && (0..all.len())
                        .any(|it| all[it].process.0 == process && all[it].called == time && known(one, it))
            })
        };
        let is_alone = |time: i64| (0..3).filter(|&it| turns(time, it)).count() < 2;
        let mut has_all = true;
        for one in history.operations() {
            for other in history.operations() {
                let (at, to) = (history.source(one.id), history.source(other.id));
                let (found, expected) = (one.span.precedes(other.span), known(at, to));
                assert!(expected || !found, "{all:?}: {at} does not precede {to}: {history:?}");
                let is_tie = all[at].returned.is_some_and(|it| it.1 == all[to].called);
                assert!(
                    found == expected || (is_tie && !is_alone(all[to].called)),
                    "{all:?}: {at} precedes {to}"
                );
                has_all &= found == expected;
            }
        }
        let spans = history.spans();
        assert!(spans.is_sorted_by_key(|it| it.call), "{all:?}: {spans:?}");
        if has_all { exact += 1 } else { less += 1 }
    }
    println!("{exact} exact, {less} with less order");
    assert!(500 < exact && 500 < less, "{exact} exact, {less} with less order");
}

#[test]
fn one_process_keeps_its_order_at_touching_times() {
    let history = H::from_operations([
        timed(0, "a", 1, Some(2)),
        timed(1, "x", 2, Some(2)),
        timed(0, "b", 2, Some(2)),
        timed(0, "c", 2, Some(3)),
    ]);
    let history = history.unwrap();
    let calls: Vec<&str> = history.operations().map(|it| *it.call).collect();
    assert_eq!(calls, ["a", "x", "b", "c"]);
    assert_eq!(format!("{:?}", history.spans()), "[[0, 2], [1, 6], [3, 4], [5, 7]]");
    // Each of two processes has one that returns and one that is called at time 2.
    let history = H::from_operations([
        timed(0, "a", 1, Some(2)),
        timed(1, "x", 1, Some(2)),
        timed(0, "b", 2, Some(3)),
        timed(1, "y", 2, Some(3)),
    ]);
    assert_eq!(format!("{:?}", history.unwrap().spans()), "[[0, 4], [1, 5], [2, 6], [3, 7]]");
}

#[test]
fn equal_operations_of_one_process_are_ordered_only_if_the_input_is() {
    let at_two = |call| timed(0, call, 2, Some(2));
    let history = H::from_operations([timed(0, "a", 1, Some(2)), at_two("b"), at_two("c")]).unwrap();
    assert_eq!(format!("{:?}", history.spans()), "[[0, 1], [2, 3], [4, 5]]");
    let history = H::from_operations([at_two("b"), timed(0, "a", 1, Some(2)), at_two("c")]).unwrap();
    assert_eq!(format!("{:?}", history.spans()), "[[0, 1], [2, 4], [3, 5]]");
}
