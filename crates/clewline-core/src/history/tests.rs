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
