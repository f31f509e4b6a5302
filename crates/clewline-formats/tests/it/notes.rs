//! Notes on a history: moments and intervals, in JSON lines and by Jepsen's nemesis.

use clewline_core::{Note, Random, Recording};
use clewline_formats::formats;

use crate::support::{check_error, format, options, read, show, write};

/// `text [from, until]`, one a line.
fn notes(recording: &Recording) -> String {
    let until = |it: &Note| it.until.map_or_else(|| "..)".to_owned(), |until| format!("{until}]"));
    recording.names.notes.iter().map(|it| format!("{} [{}, {}\n", it.text, it.from, until(it))).collect()
}

#[track_caller]
fn check_notes(name: &str, text: &str, expected: &[&str]) {
    let recording = read(name, text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(notes(&recording), expected.iter().map(|it| format!("{it}\n")).collect::<String>());
}

#[test]
fn notes_have_times_among_operations() {
    let text = r#"
        {"note": "partition n1 | n2", "time": 2, "until": 6}
        {"process": 1, "op": "a", "call": 1, "return": 3}
        {"process": 2, "op": "b", "call": 4, "return": 7}
        {"time": 5, "mine": [1], "note": "kill n2"}
        {"until": null, "note": "skew", "time": 4}
        {"note": "first", "time": -9}
        {"note": "last", "time": 99}
        "#;
    check_notes(
        "jsonl",
        text,
        &["partition n1 | n2 [1, 3]", "kill n2 [3, 3]", "skew [3, ..)", "first [0, 0]", "last [4, 4]"],
    );
    // The operations are the same as without them.
    let operations: String =
        text.lines().filter(|it| !it.contains("\"note\"")).map(|it| format!("{it}\n")).collect();
    let [with, without] = [text, &operations].map(|it| show(&read("jsonl", it).unwrap()));
    assert_eq!(with, without);
}

/// As for operations, what touches overlaps: an interval includes calls and returns at its ends.
#[test]
fn an_interval_includes_the_events_at_its_ends() {
    let operations = r#"{"process": 1, "op": "a", "call": 1, "return": 5}
        {"process": 2, "op": "b", "call": 9, "return": 12}
        "#;
    let note = |from, until| format!("{operations}{{\"note\": \"x\", \"time\": {from}, \"until\": {until}}}");
    check_notes("jsonl", &note(5, 9), &["x [1, 3]"]);
    check_notes("jsonl", &note(6, 8), &["x [2, 2]"]);
}

#[test]
fn notes_stand_between_the_lines_of_events() {
    check_notes(
        "jsonl",
        r#"
        {"event": "begin", "note": "partition"}
        {"event": "call", "process": 1, "op": "a"}
        {"event": "begin", "note": "skew"}
        {"event": "note", "note": "kill", "time": 12}
        {"event": "call", "process": 2, "op": "b"}
        {"event": "end", "note": "partition"}
        {"event": "return", "process": 1}
        {"event": "begin", "note": "partition"}
        "#,
        &["partition [0, 2]", "skew [1, ..)", "kill [1, 1]", "partition [3, ..)"],
    );
}

#[test]
fn a_note_in_a_line_of_an_operation_is_the_users_own() {
    check_notes("jsonl", r#"{"note": {"x": 1}, "process": 1, "op": "a", "call": 0, "return": 1}"#, &[]);
    check_notes(
        "jsonl",
        "{\"event\": \"call\", \"process\": 1, \"op\": \"a\"}\n{\"event\": \"return\", \"process\": 1, \"note\": 7}",
        &[],
    );
}

#[test]
fn a_file_may_hold_nothing_but_notes() {
    check_notes("jsonl", r#"{"note": "x", "time": 3}"#, &["x [0, 0]"]);
    check_notes("jsonl", r#"{"event": "begin", "note": "x"}"#, &["x [0, ..)"]);
}

#[test]
fn notes_that_make_no_sense_are_refused() {
    for (text, expected) in [
        (
            r#"{"note": "x"}"#,
            "line 1, column 13: expected `time`, the time of the note, or `event`, found `}`",
        ),
        (r#"{"note": 3, "time": 3}"#, "line 1, column 10: expected a text, found `3`"),
        (r#"{"note": "x", "time": "y"}"#, "line 1, column 23: expected an integer, found `\"y\"`"),
        (r#"{"note": "x", "time": 3, "time": 4}"#, "line 1, column 34: `time` is given twice"),
        (r#"{"note": "x", "time": 3, "until": 2}"#, "line 1, column 35: expected a time from 3 on, found 2"),
        (r#"{"event": "note"}"#, "line 1, column 17: expected `note`, the text of the note, found `}`"),
        (
            r#"{"event": "begin", "note": "x", "until": 3}"#,
            "line 1, column 42: expected a note without `until`: in a file of events, `begin` and `end` mark an interval",
        ),
        (r#"{"event": "end", "note": "x"}"#, "line 1: the interval \"x\" ends, and has not begun"),
        (
            "{\"event\": \"begin\", \"note\": \"x\"}\n{\"event\": \"end\", \"note\": \"x\"}\n{\"event\": \"end\", \"note\": \"x\"}",
            "line 3: the interval \"x\" ends, and has not begun",
        ),
        (
            r#"{"event": "pause", "note": "x"}"#,
            "line 1, column 11: expected `call`, `return`, `fail`, `info`, `crash`, `note`, `begin` or `end`, found `pause`",
        ),
    ] {
        check_error("jsonl", text, expected, 0);
    }
    let operation = r#"{"process": 1, "op": "a", "call": 1, "return": 3}"#;
    check_error(
        "jsonl",
        format!("{operation}\n{{\"event\": \"note\", \"note\": \"x\"}}"),
        "line 2: expected a note with `time`, not with `event`, as on line 1: one file holds one kind of line",
        1,
    );
    check_error(
        "jsonl",
        "{\"event\": \"call\", \"process\": 1, \"op\": \"a\"}\n{\"note\": \"x\", \"time\": 1}",
        "line 2: expected a note with `event`: `note`, `begin` or `end`, as on line 1: one file holds one kind of line",
        1,
    );
}

/// Blocks are parsed by several threads; positions do not depend on that.
#[test]
fn notes_are_the_same_for_any_number_of_threads() {
    let mut text = String::new();
    for at in 0..40_000 {
        if at % 9_000 == 17 {
            text.push_str(&format!("{{\"event\": \"note\", \"note\": \"{at}\"}}\n"));
        }
        text.push_str(&format!(
            "{{\"event\": \"call\", \"process\": {at}, \"op\": \"abcdefghijklmnopqrstuvwxyz\"}}\n"
        ));
    }
    let read = |jobs| format("jsonl").read(&mut text.as_bytes(), &options(false, jobs)).unwrap();
    let expected: String =
        (0..5).map(|it| it * 9_000 + 17).map(|it| format!("{it} [{it}, {it}]\n")).collect();
    for jobs in [1, 3] {
        assert_eq!(notes(&read(jobs)), expected, "{jobs} threads");
    }
}

#[test]
fn a_stream_skips_notes() {
    let mut follower = formats::jsonl::ENTRY.follow().unwrap();
    let mut rows = 0;
    let text =
        "{\"note\": \"x\", \"time\": 3}\n{\"process\": 1, \"op\": \"a\", \"call\": 1, \"return\": 3}\n";
    follower.take(text.as_bytes(), &mut |_| rows += 1).unwrap();
    assert_eq!(rows, 1);
    let error = follower.take(b"{\"note\": 3, \"time\": 3}\n", &mut |_| ()).unwrap_err();
    assert_eq!(error.to_string(), "line 3, column 10: expected a text, found `3`");
}

#[test]
fn what_the_nemesis_did_is_noted() {
    let call = |process: i32| format!("{{:process {process} :type :invoke :f :read}}\n");
    let nemesis =
        |f: &str, value: &str| format!("{{:process :nemesis :type :info :f :{f} :value {value}}}\n");
    let text = [
        nemesis("start-partition", ":majority"),
        call(0),
        nemesis("start-partition", "{\"n1\" #{\"n2\"}}"),
        call(1),
        // An operation by itself, from its beginning to its end.
        nemesis("check-offsets", "nil"),
        call(2),
        nemesis("check-offsets", "nil"),
        nemesis("kill", "[\"n1\"]"),
        call(3),
        nemesis("kill", "nil"),
        nemesis("stop-partition", "nil"),
        call(4),
        nemesis("stop-partition", ":healed"),
        nemesis("start", "nil"),
        call(5),
        nemesis("start", "nil"),
        // The network is cut once more, for good.
        nemesis("start", "\"cut n3 off\""),
        call(6),
    ];
    check_notes(
        "jepsen",
        &text.concat(),
        &[
            "partition: majority [0, 5]",
            "check-offsets [2, 3]",
            "kill: [\"n1\"] [3, 6]",
            "cut n3 off [6, ..)",
        ],
    );
}

/// Notes in random places are in the same places after they were written and read.
#[test]
fn notes_survive_writing() {
    let mut random = Random::new(5);
    for round in 0..400 {
        let mut text = String::new();
        // In every other history a process continues after an operation of unknown outcome, so that
        // it is written as events.
        for process in 0..6 {
            text.push_str(&format!(
                "{{\"event\": \"call\", \"process\": {process}, \"op\": \"a\", \"arg\": 1}}\n"
            ));
            let end = if round % 2 == 0 && process == 3 { "info" } else { "return" };
            if random.chance(0.7) {
                text.push_str(&format!("{{\"event\": \"{end}\", \"process\": {process}}}\n"));
            }
        }
        text.push_str("{\"event\": \"call\", \"process\": 9, \"op\": \"a\", \"arg\": 1}\n");
        let mut recording = read("jsonl", &text).unwrap();
        let ranks: Vec<u32> = ends(&recording);
        let mut place = || random.below(ranks.last().map_or(0, |&it| it as usize) + 2) as u32;
        for number in 0..3 {
            let (one, other) = (place(), place());
            let until = [Some(one.max(other)), Some(one), None][number];
            let from = if number == 0 { one.min(other) } else { one };
            recording.names.notes.push(Note { text: format!("note \"{number}\""), from, until });
        }
        for name in ["jsonl", "jepsen"] {
            let again = read(name, write(name, &recording).unwrap()).unwrap();
            assert_eq!(places(&again), places(&recording), "{name}\n{text}");
        }
    }
}

/// Of several open intervals of one text the last that began ends first.
#[test]
fn intervals_of_one_text_may_overlap() {
    let text = r#"{"event": "begin", "note": "x"}
{"process": 1, "op": "a", "event": "call"}
{"event": "begin", "note": "y"}
{"event": "begin", "note": "x"}
{"process": 1, "event": "info"}
{"process": 1, "op": "b", "event": "call"}
{"event": "end", "note": "x"}
{"process": 2, "op": "c", "event": "call"}
{"event": "end", "note": "x"}
{"process": 3, "op": "d", "event": "call"}
{"event": "end", "note": "y"}
"#;
    let recording = read("jsonl", text).unwrap();
    check_notes("jsonl", text, &["x [0, 4]", "y [1, 5]", "x [1, 3]"]);
    let written = write("jsonl", &recording).unwrap();
    assert_eq!(places(&read("jsonl", &written).unwrap()), places(&recording), "{written}");
    // Where neither is within the other, they exchange their ends: as many are open everywhere.
    let mut crossed = recording;
    crossed.names.notes[0].until = Some(3);
    crossed.names.notes[2].until = Some(4);
    assert_eq!(write("jsonl", &crossed).unwrap(), written);
}

/// The ranks of all calls and returns, in order.
fn ends(recording: &Recording) -> Vec<u32> {
    let spans = recording.history.spans().iter();
    let mut ends: Vec<u32> = spans.flat_map(|it| [Some(it.call()), it.ret()]).flatten().collect();
    ends.sort_unstable();
    ends
}

/// Each note with the number of calls and returns before its beginning and before its end.
fn places(recording: &Recording) -> Vec<(String, usize, Option<usize>)> {
    let ends = ends(recording);
    let before = |events: u32| ends.partition_point(|&it| it < events);
    let place = |it: &Note| (it.text.clone(), before(it.from), it.until.map(before));
    let mut places: Vec<_> = recording.names.notes.iter().map(place).collect();
    places.sort();
    places
}
