//! Crashes in JSON lines: which processes they end, and what calls after them.

use clewline_core::{Recording, Value};

use crate::support::{read, write};

/// For each crash: its text, the events before it, and the processes that it ended.
fn crashes(recording: &Recording) -> Vec<(String, u32, Vec<u32>)> {
    let crash = |it: &clewline_core::Crash| {
        let note = &recording.names.notes[it.note];
        (note.text.clone(), note.from, it.ended.iter().map(|it| it.0).collect())
    };
    recording.names.crashes.iter().map(crash).collect()
}

/// The process of each operation, and its name.
fn processes(recording: &Recording) -> Vec<(u32, String)> {
    let name = |it: u32| recording.values.show(recording.names.processes[it as usize]).to_string();
    recording.history.operations().map(|it| (it.process.0, name(it.process.0))).collect()
}

const EVENTS: &str = r#"{"event": "call", "process": 1, "op": "a"}
{"event": "call", "process": 2, "op": "b"}
{"event": "crash", "process": 1}
{"event": "call", "process": 1, "op": "c"}
{"event": "return", "process": 2}
{"event": "crash"}
{"event": "call", "process": 1, "op": "d"}
{"event": "return", "process": 1}
"#;

#[test]
fn events_after_a_crash_are_those_of_another_process() {
    let recording = read("jsonl", EVENTS).unwrap();
    assert_eq!(
        crashes(&recording),
        [("crash of 1".to_owned(), 2, vec![0]), ("crash".to_owned(), 4, vec![1, 2])]
    );
    let expected = [(0, "1"), (1, "2"), (2, "1"), (3, "1")];
    assert_eq!(processes(&recording), expected.map(|(id, name)| (id, name.to_owned())));
    let pending = recording.history.operations().filter(|it| it.ret.is_none()).count();
    assert_eq!(pending, 2);
}

const TIMED: &str = r#"{"event": "crash", "time": 5, "node": "n1", "process": [1, "two"]}
{"process": 1, "op": "a", "call": 1}
{"process": "two", "op": "b", "call": 2, "return": 5}
{"process": 3, "op": "c", "call": 3, "return": 9}
{"process": 1, "op": "d", "call": 6, "return": 7}
"#;

#[test]
fn crashes_have_times_among_operations() {
    let recording = read("jsonl", TIMED).unwrap();
    assert_eq!(crashes(&recording), [("crash of n1".to_owned(), 4, vec![0, 1])]);
    let expected = [(0, "1"), (1, "\"two\""), (2, "3"), (3, "1")];
    assert_eq!(processes(&recording), expected.map(|(id, name)| (id, name.to_owned())));
}

#[test]
fn crashes_are_read_as_they_were_written() {
    for text in [EVENTS, TIMED] {
        let recording = read("jsonl", text).unwrap();
        let written = write("jsonl", &recording).unwrap();
        let again = read("jsonl", &written).unwrap_or_else(|error| panic!("{error}\n{written}"));
        assert_eq!(crashes(&again), crashes(&recording), "{written}");
        assert_eq!(processes(&again), processes(&recording), "{written}");
        assert_eq!(again.history.spans().len(), recording.history.spans().len());
        assert_eq!(write("jsonl", &again).unwrap(), written);
        let nodes = |it: &Recording| it.names.crashes.iter().map(|it| it.node.clone()).collect::<Vec<_>>();
        assert_eq!(nodes(&again), nodes(&recording));
    }
    // In Jepsen's format a crash is a note, and the process goes on.
    let recording = read("jsonl", EVENTS).unwrap();
    let again = read("jepsen", write("jepsen", &recording).unwrap()).unwrap();
    assert!(again.names.crashes.is_empty());
    assert_eq!(again.names.notes.len(), 2);
    assert_eq!(again.history.len(), 4);
}

#[test]
fn long_files_are_read_in_parallel_with_their_crashes() {
    let mut text = String::new();
    for round in 0..30_000 {
        let process = round % 7;
        text.push_str(&format!(
            "{{\"event\": \"call\", \"process\": {process}, \"op\": \"a\", \"arg\": {round}}}\n"
        ));
        if round % 1_000 == 999 {
            text.push_str("{\"event\": \"crash\"}\n");
        } else {
            text.push_str(&format!("{{\"event\": \"return\", \"process\": {process}}}\n"));
        }
    }
    let one = read("jsonl", &text).unwrap();
    assert_eq!((one.names.crashes.len(), one.names.processes.len()), (30, 30 * 7));
    let options = clewline_formats::ReadOptions { jobs: 4, ..Default::default() };
    let format = crate::support::format("jsonl");
    let four = format.read(&mut text.as_bytes(), &options).unwrap();
    assert_eq!(crashes(&four), crashes(&one));
    assert_eq!(four.history, one.history);
}

#[test]
fn an_initial_state_comes_before_a_crash() {
    let text = "{\"initial\": 3}\n{\"event\": \"call\", \"process\": 0, \"op\": \"write\", \"arg\": 1}\n\
                {\"event\": \"fail\", \"process\": 0}\n{\"event\": \"crash\"}\n";
    let recording = read("jsonl", text).unwrap();
    assert_eq!(recording.initial, Some(Value::from(3)));
    assert_eq!(crashes(&recording), [("crash".to_owned(), 2, vec![0])]);
}

#[track_caller]
fn check_error(text: impl AsRef<str>, expected: &str) {
    let error = read("jsonl", text.as_ref()).expect_err("this cannot be read").to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn wrong_crashes_are_errors() {
    let operation = "{\"process\": 1, \"op\": \"a\", \"call\": 1, \"return\": 9}\n";
    let with = |line: &str| format!("{operation}{line}");
    check_error(
        with(r#"{"event": "crash", "time": 5}"#),
        "an operation returns after a crash of its process",
    );
    check_error(with(r#"{"event": "crash", "time": 1}"#), "at the very time of a crash");
    check_error(with(r#"{"event": "crash"}"#), "`time`");
    check_error(
        with(r#"{"event": "crash", "time": 9, "process": 2}"#),
        "process 2 crashes, and makes no call",
    );
    check_error(with(r#"{"event": "crash", "time": 9, "process": []}"#), "expected a process that crashed");
    check_error(with(r#"{"event": "crash", "time": 9, "node": "n1"}"#), "expected `process` beside `node`");
    check_error(r#"{"process": [1], "op": "a", "call": 1}"#, "expected an integer or a text");
}
