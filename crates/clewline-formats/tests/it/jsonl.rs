//! JSON lines: both kinds of line, and every way of getting them wrong.

use std::{io::Read, sync::Mutex};

use clewline_core::{Datum, Random, Value};
use clewline_testing::pick;

use crate::support::{canonical, check, check_error, format, options, read, show, write};

#[test]
fn operations_are_read_with_their_times() {
    check(
        "jsonl",
        r#"
        {"process": 1, "op": "enq", "arg": 3, "ret": true, "call": 12, "return": 15}
        {"process": 2, "op": "deq", "ret": 3, "call": 13, "return": 18, "object": "q1"}
        {"process": 3, "op": "deq", "call": 14}
        "#,
        r#"
        1 [0, 3] enq(3) → true
        2 [1, 4] "q1".deq() → 3
        3 [2, ..) deq() → ?
        "#,
    );
}

#[test]
fn operations_may_come_in_any_order_and_members_too() {
    check(
        "jsonl",
        r#"{"return":9,"call":7,"op":"b","process":"x"}
           {"call":-5,"return":-1,"op":"a","process":"x"}"#,
        r#"
        "x" [0, 1] a()
        "x" [2, 3] b()
        "#,
    );
}

#[test]
fn events_are_read_in_the_order_of_lines() {
    check(
        "jsonl",
        r#"
        {"event": "call", "process": 1, "op": "enq", "arg": 3}
        {"event": "call", "process": "b", "op": "deq"}
        {"event": "return", "process": 1, "ret": true}
        {"event": "return", "process": "b"}
        "#,
        r#"
        1 [0, 2] enq(3) → true
        "b" [1, 3] deq()
        "#,
    );
}

#[test]
fn a_failed_operation_is_removed_and_an_unknown_one_stays_pending() {
    check(
        "jsonl",
        r#"
        {"event": "call", "process": 1, "op": "a"}
        {"event": "fail", "process": 1}
        {"event": "call", "process": 1, "op": "b"}
        {"event": "info", "process": 1, "ret": null}
        {"event": "call", "process": 1, "op": "c"}
        {"event": "return", "process": 1, "op": "c", "ret": null}
        "#,
        "
        1 [2, ..) b() → ?
        1 [4, 5] c() → null
        ",
    );
}

#[test]
fn a_missing_result_is_not_null() {
    let text = r#"{"process":1,"op":"a","call":1,"return":2}
                  {"process":1,"op":"a","arg":null,"ret":null,"call":3,"return":4}
                  {"process":1,"op":"a","ret":null,"call":5,"return":null}"#;
    let recording = read("jsonl", text).unwrap();
    let rets: Vec<Option<Value>> = recording.history.operations().map(|it| it.ret.copied()).collect();
    assert_eq!(rets, [Some(Value::ABSENT), Some(Value::NIL), None]);
    let args: Vec<Value> = recording.history.operations().map(|it| it.call.arg).collect();
    assert_eq!(args, [Value::ABSENT, Value::NIL, Value::ABSENT]);
}

#[test]
fn equal_times_overlap_except_within_a_process() {
    check(
        "jsonl",
        r#"{"process":1,"op":"a","call":1,"return":2}
           {"process":2,"op":"b","call":2,"return":3}
           {"process":1,"op":"c","call":2,"return":2}"#,
        "
        1 [0, 2] a()
        2 [1, 5] b()
        1 [3, 4] c()
        ",
    );
    // No order of the ends keeps that of both processes, and claims none between them.
    check(
        "jsonl",
        r#"{"process":1,"op":"a","call":1,"return":2}
           {"process":2,"op":"b","call":1,"return":2}
           {"process":1,"op":"c","call":2,"return":3}
           {"process":2,"op":"d","call":2,"return":3}"#,
        "
        1 [0, 4] a()
        2 [1, 5] b()
        1 [2, 6] c()
        2 [3, 7] d()
        ",
    );
}

#[test]
fn an_id_is_given_or_the_number_of_the_line() {
    let text = "\n{\"process\":1,\"op\":\"a\",\"call\":1,\"return\":2,\"id\":\"first\"}\n\n \
                {\"process\":1,\"op\":\"b\",\"call\":3,\"return\":4}\n{\"process\":1,\"op\":\"c\",\"call\":5,\"id\":77}";
    check(
        "jsonl",
        text,
        r#"
        1 [0, 1] a() #"first"
        1 [2, 3] b() #3
        1 [4, ..) c() → ? #77
        "#,
    );
    let recording = read("jsonl", text).unwrap();
    assert_eq!(recording.names.lines, Some(vec![2, 4, 5]));
    let recording = read("jsonl", text.replace(", \"id\"", "")).unwrap();
    assert_eq!(recording.names.line(1), 4);
}

#[test]
fn unknown_members_are_skipped() {
    check(
        "jsonl",
        r#"{"note": {"a": [1, {"b": "}"}]}, "process":1, "time": 1.5e9, "op":"a","call":1, "": null}"#,
        "1 [0, ..) a() → ?",
    );
    check_error(
        "jsonl",
        r#"{"note": [1,], "process":1,"op":"a","call":1}"#,
        "line 1, column 13: expected a value, found `]`",
        0,
    );
}

#[test]
fn names_of_members_may_be_escaped() {
    check("jsonl", r#"{"proc\u0065ss":1,"\u006fp":"a","call":1}"#, "1 [0, ..) a() → ?");
}

#[test]
fn lines_that_are_not_like_those_before_are_read_with_the_same_care() {
    let good = r#"{"process":9,"op":"a","call":0,"return":0}"#;
    let read_after = |line: &str| read("jsonl", format!("{good}\n{good}\n{line}"));
    for line in [
        r#"{,"op":"a","process":1,"call":1}"#,
        r#"{"process":1"op":"a","call":1}"#,
        r#"{"process":1,,"op":"a","call":1}"#,
        r#"{"process":1,"op":"a","call":1,}"#,
        r#"{"process":1,"op":"a","op":"a","call":1}"#,
        r#"{"process":1,"op":"a","calls":1}"#,
        r#"{"process":1,"op":"a" "call":1}"#,
    ] {
        let error = read_after(line).expect_err(line).to_string();
        assert!(error.starts_with("line 3, column "), "{error}");
    }
    for line in [
        r#"{"process": 1,"op":"a" ,"call":1}"#,
        r#"{"op":"a","process":1,"call":1}"#,
        r#"{ "process" : 1 , "op" : "a" , "call" : 1 }"#,
        r#"{"process":1,"opera":0,"op":"a","call":1}"#,
    ] {
        let recording = read_after(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(show(&recording).ends_with("\n1 [4, ..) a() → ?\n"), "{line}: {}", show(&recording));
    }
}

#[test]
fn an_empty_file_is_a_history() {
    for text in ["", "\n\n  \r\n", "\u{feff}", "\u{feff}\n"] {
        assert_eq!(read("jsonl", text).unwrap().history.len(), 0);
    }
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_no_part_of_a_line() {
    check("jsonl", "\u{feff}{\"process\":1,\"op\":\"a\",\"call\":1}\r\n", "1 [0, ..) a() → ?");
}

#[test]
fn odd_values_are_kept_in_one_form() {
    let text = r#"{"process":1,"op":"a","arg":[1.50, {"b": 1, "a": [ ]}, 18446744073709551616],"call":1}"#;
    let recording = read("jsonl", text).unwrap();
    let arg = recording.history.call(clewline_core::OperationId(0)).arg;
    let Datum::List(items) = recording.values.get(arg) else { panic!("arrays are lists") };
    let items: Vec<Datum<'_>> = items.iter().map(|&it| recording.values.get(it)).collect();
    let expected = ["1.5", r#"{"a":[],"b":1}"#, "18446744073709551616"];
    assert_eq!(items, expected.map(Datum::Other));
}

#[test]
fn an_error_says_where_and_what_was_expected_and_found() {
    let good = "{\"process\":1,\"op\":\"a\",\"call\":1,\"return\":2}\n";
    let check = |line: &str, expected: &str| {
        check_error("jsonl", format!("{good}\n{line}\n{good}"), expected, 1);
    };
    check("[1]", "line 3, column 1: expected `{`, found `[`");
    check("{} x", "line 3, column 4: expected the end of the line, found `x`");
    check(
        "{}",
        "line 3, column 2: expected `process`, the caller, as in {\"process\": 1, \"op\": \"enq\", \"arg\": 3, \
         \"ret\": true, \"call\": 12, \"return\": 15}, found `}`",
    );
    check(
        r#"{"process":1}"#,
        "line 3, column 13: expected `call`, the time of the call, or `event`, found `}`",
    );
    check(r#"{"process":1,"call":1}"#, "line 3, column 22: expected `op`: what is called, found `}`");
    check(r#"{"process":1,"event":"call"}"#, "line 3, column 28: expected `op`: what is called, found `}`");
    check(r#"{"process":1.5"#, "line 3, column 12: expected an integer or a text, found `1.5`");
    check(r#"{"process":null"#, "line 3, column 12: expected an integer or a text, found `null`");
    check(r#"{"é😀":1,"op":7}"#, "line 3, column 14: expected a text, found `7`");
    check(r#"{"call":"now"}"#, "line 3, column 9: expected an integer, found `\"now\"`");
    check(
        r#"{"return":99999999999999999999}"#,
        "line 3, column 11: expected an integer, of at most 64 bits, found `99999999999999999999`",
    );
    check(r#"{"id":[1]}"#, "line 3, column 7: expected an integer or a text, found `[`");
    check(
        r#"{"event":"done"}"#,
        "line 3, column 10: expected `call`, `return`, `fail`, `info`, `crash`, `note`, `begin` or `end`, found `done`",
    );
    check(r#"{"op":"a","arg":1,"op":"b"}"#, "line 3, column 24: `op` is given twice");
    check(
        r#"{"process":1,"op":"a","call":3,"ret":4}"#,
        "line 3, column 38: expected `return`, the time of the return, where there is a result (`ret`)",
    );
    check(
        r#"{"process":1,"op":"a","call":3,"return":null,"ret":4}"#,
        "line 3, column 52: expected `return`, the time of the return, where there is a result (`ret`)",
    );
    check(
        r#"{"process":1,"event":"info","ret":4}"#,
        "line 3, column 35: expected a result (`ret`) only in a `return`",
    );
    check(
        r#"{"process":1,"event":"return","return":4}"#,
        "line 3, column 40: expected an event without times: the order of the lines is the order of events",
    );
    check(
        r#"{"process":1,"event":"call","op":"a"}"#,
        "line 3: expected an operation, as on line 1, found an event: one file holds one kind of line",
    );
}

#[test]
fn an_error_says_which_member_may_be_misspelt() {
    let check = |line: &str, expected: &str| {
        let good = "{\"process\":1,\"op\":\"a\",\"call\":1,\"return\":2}\n";
        check_error("jsonl", format!("{good}\n{line}\n{good}"), expected, 1);
    };
    check(r#"{"proces":1,"op":"a"}"#, "line 3, column 2: expected `process`, the caller, found `proces`");
    check(
        r#"{"process":1,"operation":"a","call":3}"#,
        "line 3, column 14: expected `op`: what is called, found `operation`",
    );
    check(
        r#"{"process":1,"op":"a","cal":3}"#,
        "line 3, column 23: expected `call`, the time of the call, or `event`, found `cal`",
    );
    check(
        r#"{"process":1,"mine":2,"call":3}"#,
        "line 3, column 31: expected `op`: what is called, found `}`",
    );
    check(
        r#"{"event":"retrun"}"#,
        "line 3, column 10: expected `call`, `return`, `fail`, `info`, `crash`, `note`, `begin` or `end`, found \
         `retrun`; did you mean `return`?",
    );
}

#[test]
fn invalid_utf8_is_an_error() {
    let mut text = b"{\"process\":1,\"op\":\"a\",\"call\":1}\n{\"op\":\"\xc3\xa9".to_vec();
    text.push(0xff);
    text.extend_from_slice(b"\"}\n{");
    check_error("jsonl", text, "line 2, column 9: expected text in UTF-8, found other bytes", 1);
    // A line before it that is wrong comes first.
    check_error("jsonl", b"x\n\xff", "line 1, column 1: expected `{`, found `x`", 0);
}

#[test]
fn deep_values_are_an_error() {
    let text = format!(r#"{{"process":1,"op":"a","call":1,"arg":{}1}}"#, "[".repeat(65));
    check_error("jsonl", text, "line 1, column 102: brackets nest deeper than 64", 0);
}

#[test]
fn a_collision_names_both_lines() {
    check_error(
        "jsonl",
        r#"{"process":1,"op":"a","call":1,"return":5}

           {"process":2,"op":"a","call":1,"return":5}
           {"process":1,"op":"b","call":4,"return":8}"#,
        "line 4: a process calls while its previous operation is still open (called on line 1)",
        3,
    );
    check_error(
        "jsonl",
        r#"{"process":1,"op":"a","call":5,"return":4}"#,
        "line 1: an operation returns before it is called",
        1,
    );
    let call = r#"{"process":1,"op":"a","event":"call"}"#;
    check_error(
        "jsonl",
        format!("{call}\n\n{call}\n"),
        "line 3: a process calls while its previous operation is still open (called on line 1)",
        1,
    );
    check_error(
        "jsonl",
        r#"{"process":1,"event":"fail"}"#,
        "line 1: an operation ends that was not open: its process has not called",
        0,
    );
    check_error(
        "jsonl",
        format!("{call}\n{}", r#"{"process":1,"op":"b","event":"return"}"#),
        "line 2: expected the end of \"a\", called on line 1, found the end of \"b\"",
        1,
    );
    let operation = r#"{"process":1,"op":"a","call":1}"#;
    check_error(
        "jsonl",
        format!("{call}\n{operation}"),
        "line 2: expected an event, as on line 1, found an operation: one file holds one kind of line",
        1,
    );
}

#[test]
fn an_id_that_is_used_again_names_both_lines() {
    let line = |process: u32, id: &str| format!("{{\"process\":{process},\"op\":\"a\",\"call\":1{id}}}\n");
    let text = line(1, ",\"id\":\"x\"") + &line(2, "") + "\n" + &line(3, ",\"id\":\"x\"") + "\n";
    check_error("jsonl", text, "line 4: the id \"x\" is already that of line 1", 3);
    // The number of a line is the id of an operation that has none.
    let text = line(1, "") + &line(2, ",\"id\":0");
    check_error("jsonl", text, "line 2: the id 0 is already that of line 1", 2);
    let text = line(1, ",\"id\":1") + &line(2, ",\"id\":0");
    assert!(read("jsonl", text).is_ok());
    // An event that ends an operation may repeat its id, and no other.
    let event =
        |event: &str, id: u32| format!("{{\"process\":1,\"op\":\"a\",\"event\":\"{event}\",\"id\":{id}}}\n");
    check("jsonl", &(event("call", 7) + &event("return", 7)), "1 [0, 1] a() #7");
    check_error(
        "jsonl",
        event("call", 7) + &event("return", 8),
        "line 2: expected the id 7, as in the call on line 1, found the id 8",
        1,
    );
    let text = event("call", 7) + &event("fail", 7) + &event("call", 7);
    check_error("jsonl", text, "line 3: the id 7 is already that of line 1", 3);
}

/// Some hundred thousand lines of all sorts, in a few blocks.
fn large_file(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for line in 0..60_000 {
        if random.chance(0.01) {
            text.push('\n');
        }
        let process = [line.to_string(), format!("\"p{line}\"")][random.below(2)].clone();
        let op = ["enq", "deq", "é"][random.below(3)];
        let arg = match random.below(5) {
            0 => format!("\"text {}\"", random.below(50_000)),
            1 => format!("[{}, {{\"k\": {}}}]", random.below(10), random.below(40_000)),
            2 => random.next().to_string(),
            3 => format!("{}.25", random.below(1000)),
            _ => random.below(1000).to_string(),
        };
        let object = random.below(100);
        let (call, length) = (random.below(1_000_000), random.below(1_000));
        text.push_str(&format!(
            "{{\"process\": {process}, \"op\": \"{op}\", \"arg\": {arg}, \"call\": {call}, \"return\": {}, \
             \"object\": \"o{object}\"}}\n",
            call + length
        ));
    }
    text
}

#[test]
fn several_threads_read_the_same_as_one() {
    let text = large_file(3);
    assert!(4 << 20 < text.len(), "several blocks");
    let jsonl = format("jsonl");
    let one = jsonl.read(&mut text.as_bytes(), &options(false, 1)).unwrap();
    for &jobs in pick(&[3][..], &[2, 3, 8]) {
        let many = jsonl.read(&mut text.as_bytes(), &options(false, jobs)).unwrap();
        // Word for word, not just in meaning.
        assert_eq!(many.history, one.history);
        assert_eq!(many.names.processes, one.names.processes);
        assert_eq!(many.names.objects, one.names.objects);
        assert_eq!(many.names.lines, one.names.lines);
        assert_eq!(show(&many), show(&one));
    }
}

#[test]
fn several_threads_find_the_same_error_as_one() {
    let text = large_file(4);
    let lines = text.lines().count();
    let all = ["{\"process\": tru}", "{\"process\":1,\"event\":\"fail\"}", "\u{fffd}"];
    for (at, wrong) in all.into_iter().enumerate() {
        // In `./test` each at one place.
        for place in [0, lines / 3, lines - 1].into_iter().skip(pick(at, 0)).take(pick(1, 3)) {
            let mut text: Vec<&str> = text.lines().collect();
            text.insert(place, wrong);
            // A later one is none of our business.
            text.push("nonsense");
            let text = text.join("\n");
            let error = |jobs| format("jsonl").read(&mut text.as_bytes(), &options(false, jobs)).unwrap_err();
            let (one, many) = (error(1), error(2));
            assert_eq!((one.to_string(), one.read), (many.to_string(), many.read));
            assert!(one.to_string().starts_with(&format!("line {}", place + 1)), "{one}");
        }
    }
}

#[test]
fn progress_is_reported() {
    let text = large_file(5);
    for jobs in [1, 2] {
        let reported = Mutex::new(Vec::new());
        let progress = |read: u64| reported.lock().unwrap().push(read);
        let options = clewline_formats::ReadOptions { jobs, progress: &progress, ..Default::default() };
        format("jsonl").read(&mut text.as_bytes(), &options).unwrap();
        let reported = reported.into_inner().unwrap();
        assert!(4 < reported.len() && reported.is_sorted(), "{reported:?}");
        assert_eq!(reported.last(), Some(&(text.len() as u64)));
    }
}

#[test]
fn a_file_that_cannot_be_read_on_is_an_error() {
    struct Broken(&'static [u8]);
    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(std::io::Error::other("the disk is gone"));
            }
            self.0.read(buffer)
        }
    }
    let mut broken = Broken(b"{\"process\":1,\"op\":\"a\",\"call\":1}\n");
    let error = format("jsonl").read(&mut broken, &options(false, 1)).unwrap_err();
    assert_eq!(error.to_string(), "line 1: cannot be read: the disk is gone");
}

#[test]
fn what_was_read_is_written() {
    let text = "\
{\"process\": 1, \"op\": \"enq\", \"arg\": [1, \"é\\n\", null], \"ret\": true, \"call\": 0, \"return\": 2}
{\"process\": \"b\", \"op\": \"deq\", \"object\": \"q\", \"call\": 1}
";
    assert_eq!(write("jsonl", &read("jsonl", text).unwrap()).unwrap(), text);
    let text = "\
{\"process\": 1, \"op\": \"a\", \"id\": \"x\", \"call\": 0, \"return\": 1}
{\"process\": 1, \"op\": \"b\", \"id\": 1, \"call\": 2}
";
    assert_eq!(write("jsonl", &read("jsonl", text.replace(", \"id\": 1", "")).unwrap()).unwrap(), text);
}

#[test]
fn a_process_that_goes_on_is_written_as_events() {
    let text = "\
{\"process\": 1, \"op\": \"a\", \"event\": \"call\"}
{\"process\": 1, \"event\": \"info\"}
{\"process\": 1, \"op\": \"b\", \"arg\": 2, \"event\": \"call\"}
{\"process\": 1, \"ret\": 3, \"event\": \"return\"}
";
    assert_eq!(write("jsonl", &read("jsonl", text).unwrap()).unwrap(), text);
}

#[test]
fn processes_that_call_as_they_return_are_written_with_equal_times() {
    let text = r#"{"process":1,"op":"a","call":1,"return":2}
                  {"process":1,"op":"b","call":2,"return":2}
                  {"process":1,"op":"c","call":2,"return":3}
                  {"process":2,"op":"d","call":2,"return":9}
                  {"process":3,"op":"e","call":3,"return":5}
                  {"process":2,"op":"f","call":10,"return":11}"#;
    let recording = read("jsonl", text).unwrap();
    // Process 1 alone keeps its order.
    assert!(write("jepsen", &recording).is_ok());
    let both = format!(
        "{text}\n{}",
        r#"{"process":4,"op":"g","call":0,"return":2}
                                       {"process":4,"op":"h","call":2,"return":4}"#
    );
    for text in [text, &both] {
        let recording = read("jsonl", text).unwrap();
        let written = write("jsonl", &recording).unwrap();
        assert_eq!(canonical(&read("jsonl", &written).unwrap()), canonical(&recording), "{written}");
    }
    let error = write("jepsen", &read("jsonl", &both).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operation 1 (\"b\") is called at the time at which its process's previous operation returns, and a log \
         of events must put one before the other"
    );
    // The lines of this process are out of order, so that of its operations at time 2 is not known.
    let shuffled = r#"{"process":1,"op":"b","call":2,"return":2}
                      {"process":1,"op":"a","call":1,"return":2}
                      {"process":1,"op":"c","call":2,"return":2}"#;
    let error = write("jsonl", &read("jsonl", shuffled).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operation 0 (\"b\") overlaps another operation of its process, so that their order is not known"
    );
}

#[test]
fn what_is_left_of_failed_operations_is_written_from_time_0() {
    let text = "\
{\"event\": \"call\", \"process\": 1, \"op\": \"a\"}
{\"event\": \"call\", \"process\": 2, \"op\": \"b\"}
{\"event\": \"fail\", \"process\": 1}
";
    let written = write("jsonl", &read("jsonl", text).unwrap()).unwrap();
    assert_eq!(written, "{\"process\": 2, \"op\": \"b\", \"call\": 0}\n");
}

#[test]
fn values_that_json_cannot_express_are_refused() {
    let keyword = "{:process 0 :type :invoke :f :write :value :x}";
    let error = write("jsonl", &read("jepsen", keyword).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operation 0 (\"write\") cannot be written: JSON has no symbols such as :x"
    );
    let set = "{:process 0 :type :invoke :f :write :value #{1}}";
    let error = write("jsonl", &read("jepsen", set).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "operation 0 (\"write\") cannot be written: JSON has no way to write #{1}");
    let store = r#"{:process 0 :type :invoke :f :put :key 1 :value ""}"#;
    let error = write("jsonl", &read("porcupine-kv", store).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operation 0 (\"put\") writes \"\", as which a key reads that was never written; the format has null there"
    );
}

#[test]
fn a_key_that_was_never_written_reads_as_null() {
    let store =
        r#"{:process 0 :type :invoke :f :get :key "k"} {:process 0 :type :ok :f :get :key "k" :value ""}"#;
    let written = write("jsonl", &read("porcupine-kv", store.replace("} {", "}\n{")).unwrap()).unwrap();
    assert_eq!(
        written,
        "{\"process\": 0, \"op\": \"get\", \"arg\": \"k\", \"ret\": null, \"call\": 0, \"return\": 1}\n"
    );
}

#[test]
fn an_array_and_a_stream_are_read_as_lines_are() {
    let lines = [
        r#"{"process": 1, "op": "enq", "arg": [3, {"a": "}"}], "call": 1, "return": 4}"#,
        r#"{"process": 2, "op": "deq", "ret": "é\"{", "call": 2, "return": 3, "object": "q"}"#,
        r#"{"note": "kill", "time": 2}"#,
        r#"{"process": 3, "op": "deq", "call": 2}"#,
    ];
    let whole = read("jsonl", lines.join("\n")).unwrap();
    let pretty = lines.map(|it| it.replace(',', ",\n  "));
    let layouts = [
        format!("[{}]", lines.join(",\n")),
        format!("\u{feff}\n [ {} ] ", lines.join(" , ")),
        lines.concat(),
        lines.join(" "),
        pretty.join("\n"),
        format!("[{}]\n", pretty.join(",")),
        format!("[{}][{}]", lines[..1].join(","), lines[1..].join(",")),
    ];
    for text in layouts {
        let read = read("jsonl", &text).unwrap();
        let without_ids = |text: String| {
            text.lines().map(|it| it.split(" #").next().unwrap().to_owned() + "\n").collect::<String>()
        };
        assert_eq!(without_ids(show(&read)), show(&whole), "{text}");
        assert_eq!(read.names.notes, whole.names.notes, "{text}");
    }
}

#[test]
fn operations_on_one_line_are_identified_by_their_positions() {
    let text = r#"{"process": 1, "op": "a", "call": 1}{"process": 2, "op": "b", "call": 1, "id": "x"} {"process": 3, "op": "c", "call": 1}"#;
    check(
        "jsonl",
        text,
        r#"
        1 [0, ..) a() → ? #0
        2 [1, ..) b() → ? #"x"
        3 [2, ..) c() → ? #2
        "#,
    );
}

#[test]
fn errors_in_an_array_have_their_place() {
    let operation = r#"{"process": 1, "op": "a", "call": 1, "return": 2}"#;
    let check = |more: &str, expected: &str| {
        check_error("jsonl", format!("[{operation},\n  {more}]"), expected, 1);
    };
    check(
        r#"{"process": 2, "op": "b"}"#,
        "line 2, column 27: expected `call`, the time of the call, or `event`, found `}`",
    );
    check("{\"process\": 2,\n\"op\": 7}", "line 3, column 7: expected a text, found `7`");
    check("7", "line 2, column 3: expected an object `{`, found `7`");
    let two = format!("[{operation} {operation}]");
    check_error("jsonl", two, "line 1, column 52: expected `,` or `]`, found `{`", 1);
    check_error(
        "jsonl",
        format!("[{operation}"),
        "line 1, column 51: expected `,` or `]`, found the end of the file",
        1,
    );
    check_error(
        "jsonl",
        format!("{operation}{operation}{{\"process\""),
        "line 1, column 99: expected the `}` of this object, found the end of the file",
        2,
    );
}

#[test]
fn an_initial_state_comes_first() {
    let operation = r#"{"process": 1, "op": "read", "ret": 0, "call": 1, "return": 2, "initial": 7}"#;
    let initial = |text: &str| {
        let recording = read("jsonl", text).unwrap();
        assert_eq!(recording.history.len(), 1);
        recording.initial.map(|it| recording.values.show(it).to_string())
    };
    assert_eq!(initial(operation), None);
    for (state, expected) in
        [("0", "0"), ("[1, 2]", "[1, 2]"), (r#"{"k": 1, "l": null}"#, r#"[["k", 1], ["l", null]]"#)]
    {
        let lines = format!("{{\"initial\": {state}}}\n{operation}\n");
        assert_eq!(initial(&lines).as_deref(), Some(expected));
        assert_eq!(initial(&format!("[{{\"initial\": {state}}}, {operation}]")).as_deref(), Some(expected));
        let recording = read("jsonl", &lines).unwrap();
        let again = write("jsonl", &recording).unwrap();
        assert_eq!(initial(&again).as_deref(), Some(expected));
    }
    let late = format!("{operation}\n{{\"initial\": 0}}\n");
    assert!(
        read("jsonl", &late).unwrap_err().to_string().contains("expected the initial state once, and first")
    );
    let twice = format!("{{\"initial\": 0}}\n{{\"initial\": 0}}\n{operation}\n");
    assert_eq!(
        read("jsonl", twice).unwrap_err().to_string(),
        "line 2, column 13: expected the initial state once, and first"
    );
}

/// The hint of each operation, in the order of the history.
fn orders(text: &str) -> Vec<Option<i64>> {
    let recording = read("jsonl", text).unwrap();
    let Some(orders) = &recording.names.orders else { return Vec::new() };
    let order = |source: usize| orders.get(source).copied().flatten();
    recording.history.operations().map(|it| order(recording.history.source(it.id))).collect()
}

#[test]
fn order_hints_are_read_and_written() {
    let operations = r#"
        {"process": 1, "op": "a", "call": 12, "return": 15, "order": 7}
        {"process": 2, "op": "b", "call": 13, "return": 18}
        {"process": 3, "op": "c", "order": -3, "call": 10}
        {"process": 4, "op": "d", "order": "the user's own", "call": 11}
        "#;
    assert_eq!(orders(operations), [Some(-3), None, Some(7), None]);
    let again = write("jsonl", &read("jsonl", operations).unwrap()).unwrap();
    assert_eq!(orders(&again), [Some(-3), None, Some(7), None]);
    let events = r#"
        {"event": "call", "process": 1, "op": "a"}
        {"event": "call", "process": 2, "op": "b", "order": 5}
        {"event": "return", "process": 1, "order": 9}
        {"event": "return", "process": 2}
        "#;
    assert_eq!(orders(events), [Some(9), Some(5)]);
    assert_eq!(orders(r#"{"process": 1, "op": "a", "call": 12}"#), []);
    let twice = r#"{"process": 1, "op": "a", "call": 12, "order": 1, "order": 2}"#;
    assert!(read("jsonl", twice).unwrap_err().to_string().contains("`order` is given twice"));
}
