use clewline_core::{
    Allowed, Deterministic, FailurePoint, History, ObjectId, OperationId, ProcessId, Reason, Timed, Verdict,
    erase_with_debug,
};

use super::{
    super::{block::wrap, tests},
    trace,
};

#[track_caller]
fn check_trace(
    rows: &[tests::Row],
    counterexample: &[u32],
    breaking: &FailurePoint,
    width: usize,
    expected: &str,
) {
    let case = tests::case(rows);
    let verdict = tests::exhausted(counterexample, &[], breaking.operation.0);
    let Verdict::Violated(violation) = &verdict else { panic!("violated, as it was made") };
    let written = wrap(&trace(&tests::judged(&case, &verdict), violation, breaking, width), width);
    assert_eq!(written, expected.trim_start_matches('\n'), "written:\n{written}");
}

fn at(operation: u32, events: usize, allowed: &[&str]) -> FailurePoint {
    let allowed = Allowed::These(allowed.iter().map(|it| tests::operation(it)).collect());
    FailurePoint::new(events, OperationId(operation), allowed)
}

/// 1 and 2 are added concurrently and removed; then 1 is removed again.
const AGAIN: [tests::Row; 5] = [
    (0, Some(1), 0, Some((None, 2))),
    (1, Some(2), 1, Some((None, 3))),
    (0, None, 4, Some((Some(1), 6))),
    (10, None, 5, Some((Some(1), 7))),
    (1, None, 8, None),
];

#[test]
fn a_short_trace_is_shown_up_to_the_failure_point() {
    check_trace(
        &AGAIN,
        &[0, 2, 3],
        &at(3, 7, &["deq() → 2", "deq() → null"]),
        80,
        "
  event  process
      1  0        calls enq(1)
      2  1        calls enq(2)
      3  0        returns
      4  1        returns
      5  0        calls deq()
      6  10       calls deq()
      7  0        returns 1
      8  10       returns 1

  Here no order is left: deq() may not return 1. Allowed: 2, null.
",
    );
}

/// One process does a hundred operations; another adds 1000 early and late takes a value that was
/// never added.
fn long() -> Vec<tests::Row> {
    let mut rows: Vec<tests::Row> =
        (0..100).map(|it| (0, Some(it), 10 * it, Some((None, 10 * it + 1)))).collect();
    rows.push((1, Some(1_000), 205, Some((None, 206))));
    rows.push((2, None, 972, Some((Some(7), 995))));
    rows
}

#[test]
fn a_single_event_is_not_left_out() {
    let mut rows = long();
    rows[1] = (0, Some(1), 10, Some((None, 12)));
    rows[100] = (1, Some(1_000), 5, Some((None, 11)));
    let case = tests::case(&rows);
    let late = (0..102).find(|&it| case.history.call(OperationId(it)).is_none()).unwrap();
    // enq(1000) is the second to be called.
    let verdict = tests::exhausted(&[1, late], &[], late);
    let Verdict::Violated(violation) = &verdict else { panic!("violated, as it was made") };
    let written =
        wrap(&trace(&tests::judged(&case, &verdict), violation, &at(late, 203, &["deq() → 0"]), 80), 80);
    let expected = "      …  2 events left out
      3  1        calls enq(1000)
      4  0        calls enq(1)
      5  1        returns
      …  ";
    assert!(written.contains(expected), "{written}");
}

#[test]
fn of_a_long_trace_the_counterexample_the_overlapping_and_the_last_events_are_shown() {
    let case = tests::case(&long());
    let position = |call: Option<i64>| {
        let is_it = |it: &u32| case.history.call(OperationId(*it)) == &call;
        (0..102).find(is_it).unwrap()
    };
    let (early, late) = (position(Some(1_000)), position(None));
    check_trace(
        &long(),
        &[early, late],
        &at(late, 203, &["deq() → 0"]),
        80,
        "
  event  process
      …  42 events left out
     43  1        calls enq(1000)
     44  1        returns
      …  154 events left out
    199  2        calls deq()
    200  0        calls enq(98)
    201  0        returns
    202  0        calls enq(99)
    203  0        returns
    204  2        returns 7

  Here no order is left: deq() may not return 7. Allowed: 0.
",
    );
}

#[test]
fn the_number_of_events_is_bounded_and_the_call_is_one_of_them() {
    let mut rows: Vec<tests::Row> =
        (0..100).map(|it| (0, Some(it), 10 * it, Some((None, 10 * it + 1)))).collect();
    rows.push((2, None, 5, Some((Some(-1), 2_000))));
    let case = tests::case(&rows);
    let verdict = tests::exhausted(&[1], &[], 1);
    let Verdict::Violated(violation) = &verdict else { panic!("violated, as it was made") };
    let written =
        wrap(&trace(&tests::judged(&case, &verdict), violation, &at(1, 201, &["deq() → 0"]), 80), 80);
    let description = written.lines().filter(|it| it.contains(" calls ") || it.contains(" returns")).count();
    assert_eq!(description, 20, "{written}");
    assert!(written.contains("      3  2        calls deq()\n      …  180 events left out\n"), "{written}");
}

#[test]
fn texts_are_shortened_and_sentences_broken_where_room_is_short() {
    let rows: [tests::Row; 2] =
        [(0, Some(123_456_789_012), 0, Some((None, 1))), (1, None, 2, Some((Some(9_876_543_210_123), 3)))];
    check_trace(
        &rows,
        &[0, 1],
        &at(1, 3, &["deq() → 123456789012"]),
        36,
        "
  event  process
      1  0        calls enq…6789012)
      2  0        returns
      3  1        calls deq()
      4  1        returns 9…43210123

  Here no order is left: deq() may
  not return 9876543210123. Allowed:
  123456789012.
",
    );
}

#[track_caller]
fn check_instead(allowed: Allowed, expected: &str) {
    let case = tests::case(&AGAIN);
    let verdict = tests::exhausted(&[3], &[], 3);
    let Verdict::Violated(violation) = &verdict else { panic!("violated, as it was made") };
    let breaking = FailurePoint::new(7, OperationId(3), allowed);
    let written = wrap(&trace(&tests::judged(&case, &verdict), violation, &breaking, 200), 200);
    let sentence = "  Here no order is left: deq() may not return 1. ";
    assert_eq!(written.lines().last().unwrap(), format!("{sentence}{expected}"));
}

#[test]
fn unknown_results_are_not_listed() {
    check_instead(
        Allowed::Unknown(Reason::Configurations(7)),
        "What was allowed is not known: the limit of 7 configurations was hit.",
    );
}

#[test]
fn an_operation_that_should_block_has_no_result() {
    check_instead(Allowed::Blocked, "It should still be waiting: no result was allowed.");
}

#[test]
fn an_empty_result_is_shown_in_words() {
    check_instead(Allowed::These(vec![tests::operation("enq(1)")]), "Allowed: to return nothing.");
}

#[test]
fn of_many_results_some_are_shown() {
    let many = (0..2_000).map(|it| tests::operation(&format!("deq() → {it}"))).collect();
    check_instead(Allowed::These(many), "Allowed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 1,988 more.");
}

/// A cell for one character, whose operations are shown by `Debug`.
#[derive(Clone, Debug)]
struct Cell;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    Put(char),
}

impl Deterministic for Cell {
    type State = Option<char>;
    type Call = Call;
    type Return = bool;

    fn initial(&self) -> Option<char> {
        None
    }

    fn apply(&self, state: &mut Option<char>, Call::Put(char): &Call) -> Option<bool> {
        Some(state.replace(*char).is_some())
    }
}

#[test]
fn a_quote_as_an_argument_hides_no_result() {
    let put = Timed {
        process: ProcessId(0),
        object: ObjectId(0),
        call: Call::Put('"'),
        called: 0,
        returned: Some((true, 1)),
    };
    let case = erase_with_debug(Cell, History::from_operations([put]).unwrap());
    let verdict = tests::exhausted(&[0], &[], 0);
    let Verdict::Violated(violation) = &verdict else { panic!("violated, as it was made") };
    let breaking = at(0, 1, &["Put('\"') → false"]);
    let written = wrap(&trace(&tests::judged(&*case, &verdict), violation, &breaking, 80), 80);
    let expected = "
  event  process
      1  0        calls Put('\"')
      2  0        returns true

  Here no order is left: Put('\"') may not return true. Allowed: false.
";
    assert_eq!(written, expected.trim_start_matches('\n'));
}
