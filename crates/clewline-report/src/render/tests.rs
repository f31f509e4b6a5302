use std::{collections::VecDeque, sync::Arc, time::Duration};

use clewline_core::{
    Deterministic, ErasedHistory, Explanation, History, Names, Note, ObjectId, OperationId, Problem,
    ProcessId, Reason, Shown, ShownArguments, ShownReturn, Span, Timed, Value, Values, Verdict, Violation,
    Witness,
};

use super::{
    CheckedHistory, Source, WitnessShown, count, html, json, present,
    text::{Paint, Style},
};

#[derive(Debug)]
struct Queue;

/// Enqueues a value, or dequeues one.
type Call = Option<i64>;
type Return = Option<i64>;

impl Deterministic for Queue {
    type State = VecDeque<i64>;
    type Call = Call;
    type Return = Return;

    fn initial(&self) -> VecDeque<i64> {
        VecDeque::new()
    }

    fn apply(&self, state: &mut VecDeque<i64>, call: &Call) -> Option<Return> {
        match *call {
            Some(value) => {
                state.push_back(value);
                Some(None)
            }
            None => Some(state.pop_front()),
        }
    }
}

fn show(call: &Call, ret: Option<&Return>) -> Shown {
    let (method, arguments) = match call {
        Some(value) => ("enq", vec![value.to_string()]),
        None => ("deq", Vec::new()),
    };
    let ret = match (call, ret) {
        (_, None) => Some(ShownReturn::Pending),
        (Some(_), Some(_)) => None,
        (None, Some(it)) => Some(it.map_or(ShownReturn::Null, ShownReturn::Int)),
    };
    Shown { method: method.to_owned(), arguments: ShownArguments::List(arguments), ret }
}

#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) history: History<Call, Return>,
    pub(super) names: Names,
    values: Arc<Values>,
}

impl ErasedHistory for Drawn {
    fn problems(&self) -> Vec<Problem<'_>> {
        Problem::of_objects_shown(&Queue, &self.history, &show)
    }

    fn shown(&self, operation: OperationId) -> Shown {
        show(self.history.call(operation), self.history.ret(operation))
    }

    fn process(&self, operation: OperationId) -> ProcessId {
        self.history.process(operation)
    }

    fn object(&self, operation: OperationId) -> ObjectId {
        self.history.objects()[operation.index()]
    }

    fn source(&self, operation: OperationId) -> usize {
        self.history.source(operation)
    }

    fn spans(&self) -> &[Span] {
        self.history.spans()
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn values(&self) -> &Arc<Values> {
        &self.values
    }
}

/// A process, its call, the time of the call, its result and the time of the return.
pub(super) type Row = (u32, Call, i64, Option<(Return, i64)>);

/// Operations on one object.
pub(super) fn case(operations: &[Row]) -> Drawn {
    let timed = operations.iter().map(|&(process, call, called, returned)| Timed {
        process: ProcessId(process),
        object: ObjectId(0),
        call,
        called,
        returned,
    });
    let history = History::from_operations(timed).expect("well formed");
    Drawn { history, names: Names::default(), values: Arc::default() }
}

/// 1 and 2 are enqueued one after the other, and 2 is dequeued first, while another operation is
/// pending.
fn overtaken() -> Drawn {
    case(&[
        (0, Some(1), 0, Some((None, 1))),
        (0, Some(2), 2, Some((None, 3))),
        (1, None, 4, Some((Some(2), 6))),
        (2, None, 5, None),
    ])
}

fn ids(of: &[u32]) -> Vec<OperationId> {
    of.iter().copied().map(OperationId).collect()
}

pub(super) fn exhausted(counterexample: &[u32], prefix: &[u32], next: u32) -> Verdict {
    let explanation = Explanation::Exhausted { prefix: ids(prefix), next: OperationId(next) };
    let mut violation = Violation::found(ids(counterexample), explanation);
    (violation.is_verified, violation.is_minimal) = (true, true);
    Verdict::Violated(violation)
}

/// `deq() → 2`, in parts.
pub(super) fn operation(label: &str) -> Shown {
    let (call, ret) = label.split_once(" → ").unwrap_or((label, ""));
    Shown::of_texts(call, (ret != "?").then_some(ret))
}

pub(super) fn judged<'a>(case: &'a dyn ErasedHistory, verdict: &'a Verdict) -> CheckedHistory<'a> {
    CheckedHistory {
        name: "lost.jsonl",
        source: Source::File,
        spec: "queue",
        case,
        verdict,
        others: &[],
        violated: 0,
        algorithm: "wg-graph",
        parts: 1,
        configurations: 1_234,
        elapsed: Duration::from_millis(1_251),
        stream: None,
        next: &[],
    }
}

#[test]
fn further_violated_parts_are_listed_with_their_lines() {
    let case = overtaken();
    let (first, other) = (exhausted(&[0, 1, 2], &[0, 1], 2), exhausted(&[3], &[], 3));
    let Verdict::Violated(other) = other else { panic!("it is violated") };
    let others = [other];
    let judged = CheckedHistory { others: &others, violated: 4, parts: 9, ..judged(&case, &first) };
    let text = present::text(&judged, &Style::default());
    assert!(text.contains("  4 of 9 parts are violated. The others:\n\n  line 4: "), "{text}");
    assert!(text.contains("\n  and 2 more\n"), "{text}");
    let json = json::report(&judged, WitnessShown::Not).to_string();
    assert!(json.contains("\"violated_parts\":4,\"others\":[{\"counterexample\":[3],\"text\":\""), "{json}");
    let page = html::write(&html::Page::of(&judged));
    assert!(page.contains("4 of 9 parts are violated. The others:"), "{page}");
    let one = CheckedHistory { others: &[], violated: 1, ..judged };
    assert!(!present::text(&one, &Style::default()).contains("are violated"));
    assert!(!json::report(&one, WitnessShown::Not).to_string().contains("others"));
}

#[track_caller]
fn check_text(judged: &CheckedHistory<'_>, style: &Style, expected: &str) {
    let written = present::text(judged, style);
    assert_eq!(written, expected.trim_start_matches('\n'), "written:\n{written}");
}

#[track_caller]
fn check_json(judged: &CheckedHistory<'_>, witness: WitnessShown, expected: &str) {
    assert_eq!(json::report(judged, witness).to_string(), expected);
}

#[test]
fn a_violation_is_drawn_and_explained() {
    let next = ["clewline check lost.jsonl --spec queue --format json".to_owned()];
    check_text(
        &CheckedHistory { next: &next, ..judged(&overtaken(), &exhausted(&[0, 1, 2], &[0, 1], 2)) },
        &Style::default(),
        "
violated: lost.jsonl is not linearizable as a queue

  These 3 operations are a counterexample, whether or not the other operation
  took effect. Each must take effect at one moment between its call and its
  return, its linearization point. Whichever moments are chosen, some result is
  wrong. Time runs to the right, one row a process:

  0: |--enq(1)--|  |--enq(2)--|
  1:                             |--deq() → 2--|

  The longest order found is enq(1), enq(2). There deq() → 2 cannot come next:
  it could only have been deq() → 1.
  In lost.jsonl: lines 1, 2, 3.

checked by wg-graph in 1.2 s: 4 operations, 1 object, 1,234 configurations
next: clewline check lost.jsonl --spec queue --format json
",
    );
}

#[test]
fn an_operation_that_is_impossible_by_itself_is_explained() {
    let invented = case(&[(0, None, 0, Some((Some(5), 1)))]);
    check_text(
        &judged(&invented, &exhausted(&[0], &[], 0)),
        &Style::default(),
        "
violated: lost.jsonl is not linearizable as a queue

  This operation is a counterexample by itself. Wherever it takes effect, its
  result is wrong.

  0: |--deq() → 5--|

  deq() → 5 cannot come first: it could only have been deq() → null. Nothing
  that may have come before it helps.
  In lost.jsonl: line 1.

checked by wg-graph in 1.2 s: 1 operation, 1 object, 1,234 configurations
",
    );
}

#[test]
fn of_a_long_order_the_end_is_shown() {
    let mut operations: Vec<_> = (0..7).map(|it| (0, Some(it), 2 * it, Some((None, 2 * it + 1)))).collect();
    operations.push((1, None, 20, Some((Some(9), 21))));
    let case = case(&operations);
    let verdict = exhausted(&[7], &[0, 1, 2, 3, 4, 5, 6], 7);
    let written = present::text(&judged(&case, &verdict), &Style::default());
    assert!(
        written.contains(
            "is 2 other operations, then enq(2), enq(3), enq(4),\n  enq(5), enq(6). There deq() → 9 cannot"
        ),
        "{written}"
    );
}

#[test]
fn a_verdict_that_holds_says_what_that_means() {
    check_text(
        &judged(&overtaken(), &Verdict::Holds(Witness { order: ids(&[0, 1]) })),
        &Style::default(),
        "
holds: lost.jsonl is linearizable as a queue

  Its 4 operations have a linearization: an order in which each takes effect at
  one moment between its call and its return, and every result is right.

checked by wg-graph in 1.2 s: 4 operations, 1 object, 1,234 configurations
",
    );
}

#[test]
fn a_witness_is_written_out_when_asked_for() {
    let mut case = overtaken();
    let name = Arc::make_mut(&mut case.values).text("q1");
    case.names.objects = vec![name];
    let verdict = Verdict::Holds(Witness { order: ids(&[1, 2]) });
    let style = Style { witness: WitnessShown::Whole, ..Style::default() };
    let written = present::text(&judged(&case, &verdict), &style);
    assert!(
        written.contains("\n  1. enq(2) on q1   (process 0)\n  2. deq() → 2 on q1   (process 1)\n"),
        "{written}"
    );
}

#[test]
fn a_limit_that_was_hit_is_named_in_the_first_line() {
    check_text(
        &judged(&overtaken(), &Verdict::Unknown(Reason::Time(Duration::from_secs(10)))),
        &Style::default(),
        "
unknown: whether lost.jsonl is linearizable as a queue: the time limit of 10s was hit

  The search ended early. It has found nothing wrong so far, and it has not
  shown that all is well.

checked by wg-graph in 1.2 s: 4 operations, 1 object, 1,234 configurations
",
    );
}

#[test]
fn colour_is_for_the_verdict_alone() {
    let case = overtaken();
    let line = present::first_line(&judged(&case, &exhausted(&[0], &[], 0)), Paint::Coloured);
    assert_eq!(line, "\x1b[1;31mviolated\x1b[0m: lost.jsonl is not linearizable as a queue");
}

#[test]
fn json_names_the_counterexample_by_the_ids_of_the_file() {
    let mut case = overtaken();
    let values = Arc::make_mut(&mut case.values);
    let (name, id) = (values.text("q\"1"), values.text("x"));
    case.names.objects = vec![name];
    case.names.ids = Some(vec![Value::ABSENT, id]);
    check_json(
        &judged(&case, &exhausted(&[0, 1, 2], &[0, 1], 2)),
        WitnessShown::Whole,
        "{\"file\":\"lost.jsonl\",\"verdict\":\"violated\",\"cause\":\"not-linearizable\",\"operations\":4,\"objects\":1,\
         \"algorithm\":\"wg-graph\",\"elapsed_ms\":1251,\"explanation\":{\"object\":\"q\\\"1\",\
         \"counterexample\":[0,\"x\",2],\"text\":\"The longest order found is enq(1), enq(2). There deq() → 2 cannot \
         come next: it could only have been deq() → 1.\"}}",
    );
}

#[test]
fn json_gives_a_witness_only_when_asked_for() {
    let case = overtaken();
    let verdict = Verdict::Holds(Witness { order: ids(&[1, 0]) });
    let start = "{\"file\":\"lost.jsonl\",\"verdict\":\"holds\",\"operations\":4,\"objects\":1,\
                 \"algorithm\":\"wg-graph\",\"elapsed_ms\":1251";
    check_json(&judged(&case, &verdict), WitnessShown::Not, &format!("{start}}}"));
    check_json(&judged(&case, &verdict), WitnessShown::Whole, &format!("{start},\"witness\":[1,0]}}"));
}

#[test]
fn json_gives_the_reason_of_an_unknown() {
    check_json(
        &judged(&overtaken(), &Verdict::Unknown(Reason::Memory(1 << 30))),
        WitnessShown::Whole,
        "{\"file\":\"lost.jsonl\",\"verdict\":\"unknown\",\"operations\":4,\"objects\":1,\
         \"algorithm\":\"wg-graph\",\"elapsed_ms\":1251,\"reason\":\"the memory limit of 1 GiB was hit\"}",
    );
}

#[test]
fn thousands_stand_apart() {
    assert_eq!(count(1, "thing", "things"), "1 thing");
    assert_eq!(count(999, "thing", "things"), "999 things");
    assert_eq!(count(1_234_567, "thing", "things"), "1,234,567 things");
}

#[test]
fn an_operation_that_can_come_next_is_not_the_one_that_cannot() {
    let case = case(&[
        (0, Some(1), 0, Some((None, 1))),
        (0, Some(2), 2, Some((None, 3))),
        (1, None, 4, Some((Some(2), 5))),
    ]);
    // A search may stop before enq(2), because it knows the next operations.
    let verdict = exhausted(&[0, 1, 2], &[0], 1);
    let written = present::text(&judged(&case, &verdict), &Style::default());
    assert!(written.contains("is enq(1), enq(2). There deq() → 2 cannot come next:\n"), "{written}");
}

#[test]
fn of_a_large_counterexample_the_end_is_drawn() {
    let operations: Vec<Row> = (0..50).map(|it| (0, Some(it), 2 * it, Some((None, 2 * it + 1)))).collect();
    let case = case(&operations);
    let counterexample: Vec<u32> = (0..50).collect();
    let written = present::text(&judged(&case, &exhausted(&counterexample, &[], 0)), &Style::default());
    // Before the sentence that ends in a colon, which leads to the drawing.
    let sentence = written.replace("\n  ", " ");
    let expected = "The 10 others of them are not drawn. Time runs to the right, one row a process:\n";
    assert!(sentence.contains(expected), "{written}");
    assert!(written.contains("|-enq(10)-|") && !written.contains("|-enq(9)-|"), "{written}");
}

#[test]
fn notes_are_listed_those_during_the_counterexample_first() {
    let mut case = overtaken();
    let note = |text: &str, from, until| Note { text: text.to_owned(), from, until };
    case.names.notes = vec![note("early", 0, Some(0)), note("late", 7, None), note("partition", 2, Some(5))];
    let verdict = exhausted(&[0, 1, 2], &[0, 1], 2);
    let text = present::text(&judged(&case, &verdict), &Style::default());
    let line = "notes:    partition (events 3 to 5), early (before event 1), late (from event 8 on)";
    assert!(text.replace("\n          ", " ").contains(line), "{text}");
    let report = json::report(&judged(&case, &verdict), WitnessShown::Not);
    let expected = serde_json::json!([
        {"text": "early", "from": 0, "until": 0},
        {"text": "late", "from": 7, "until": null},
        {"text": "partition", "from": 2, "until": 5},
    ]);
    assert_eq!(report.get("notes"), Some(expected));
    // Of many notes only the first are listed; without any there is no line.
    case.names.notes = (0..10).map(|it| note("n", it, Some(it))).collect();
    let text = present::text(&judged(&case, &verdict), &Style::default());
    assert!(text.replace("\n          ", " ").contains("n (after event 6), and 4 more\n"), "{text}");
    let text = present::text(&judged(&overtaken(), &verdict), &Style::default());
    assert!(!text.contains("notes:"), "{text}");
    assert_eq!(json::report(&judged(&overtaken(), &verdict), WitnessShown::Not).get("notes"), None);
}
