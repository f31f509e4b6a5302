//! Unusual, truncated or invalid files: checked if they are unambiguous, otherwise rejected with
//! line and column.

use crate::run::{Folder, Ran, clewline};

/// Checks `text` as a history of `spec`; the files of the test are in a folder of that name.
#[track_caller]
fn run(test: &str, spec: &str, text: impl AsRef<[u8]>) -> Ran {
    let folder = Folder::new(&format!("edges-{test}"));
    std::fs::write(folder.path("odd.jsonl"), text).expect("a file for the test");
    clewline(&folder, &["check", "odd.jsonl", "--spec", spec], "")
}

#[track_caller]
fn check_verdict(test: &str, spec: &str, text: impl AsRef<[u8]>, expected: &str) {
    let ran = run(test, spec, text);
    let code = match expected {
        "holds" => 0,
        "violated" => 1,
        _ => panic!("`{expected}` is no verdict"),
    };
    assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{test}: {ran:?}");
    assert!(ran.first_line().starts_with(&format!("{expected}: odd.jsonl is ")), "{test}: {ran:?}");
}

/// Such a file is an error, with nothing on standard output.
#[track_caller]
fn check_error(test: &str, spec: &str, text: impl AsRef<[u8]>, expected: &str) {
    let ran = run(test, spec, text);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{test}: {ran:?}");
    // The line follows.
    let first = ran.stderr.lines().next().unwrap_or_default();
    assert_eq!(first, format!("error: odd.jsonl: {expected}"), "{test}");
}

const ENQ: &str = r#"{"process": 0, "op": "enq", "arg": 1, "call": 0, "return": 1}"#;
const DEQ: &str = r#"{"process": 0, "op": "deq", "ret": 1, "call": 2, "return": 3}"#;
const EMPTY: &str = r#"{"process": 1, "op": "deq", "ret": null, "call": 2, "return": 3}"#;

#[test]
fn a_call_without_a_return_is_pending() {
    let pending = r#"{"process": 0, "op": "enq", "arg": 1, "call": 0}"#;
    check_verdict("pending-alone", "queue", pending, "holds");
    let seen = r#"{"process": 1, "op": "deq", "ret": 1, "call": 2, "return": 3}"#;
    check_verdict("pending-seen", "queue", format!("{pending}\n{seen}\n"), "holds");
    check_verdict("pending-unseen", "queue", format!("{pending}\n{EMPTY}\n"), "holds");
    // Many libraries write a missing value as null.
    let nulls = r#"{"process": 0, "op": "deq", "ret": null, "call": 2, "return": null}"#;
    check_verdict("pending-nulls", "queue", format!("{ENQ}\n{nulls}\n{EMPTY}\n"), "holds");
    let event = r#"{"event": "call", "process": 0, "op": "deq"}"#;
    check_verdict("pending-event", "queue", event, "holds");
}

#[test]
fn a_return_before_its_call_names_the_line() {
    check_error(
        "return-time",
        "queue",
        format!("{ENQ}\n\n{}\n", DEQ.replace("\"return\": 3", "\"return\": 1")),
        "line 3: an operation returns before it is called",
    );
    check_error(
        "return-event",
        "queue",
        r#"{"event": "return", "process": 0, "ret": 1}"#,
        "line 1: an operation ends that was not open: its process has not called",
    );
}

#[test]
fn two_open_operations_of_one_process_name_both_lines() {
    let expected = "line 3: a process calls while its previous operation is still open (called on line 1)";
    let late = ENQ.replace("\"return\": 1", "\"return\": 3");
    check_error("open-times", "queue", format!("{late}\n{EMPTY}\n{DEQ}\n"), expected);
    let pending = ENQ.replace(", \"return\": 1", "");
    check_error("open-pending", "queue", format!("{pending}\n{EMPTY}\n{DEQ}\n"), expected);
    let call = r#"{"event": "call", "process": 0, "op": "deq"}"#;
    check_error("open-events", "queue", format!("{call}\n\n{call}\n"), expected);
}

#[test]
fn an_id_that_is_used_again_names_both_lines() {
    let named = |line: &str| line.replace('}', ", \"id\": \"x\"}");
    check_error(
        "id",
        "queue",
        format!("{}\n{EMPTY}\n{}\n", named(ENQ), named(DEQ)),
        "line 3: the id \"x\" is already that of line 1",
    );
}

#[test]
fn equal_times_overlap() {
    let touching = EMPTY.replace("\"call\": 2", "\"call\": 1");
    check_verdict("equal-touching", "queue", format!("{ENQ}\n{touching}\n"), "holds");
    check_verdict("equal-apart", "queue", format!("{ENQ}\n{EMPTY}\n"), "violated");
    // The order of one process is known.
    let own = touching.replace("\"process\": 1", "\"process\": 0");
    check_verdict("equal-own", "queue", format!("{ENQ}\n{own}\n"), "violated");
    check_verdict("equal-shuffled", "queue", format!("{own}\n{ENQ}\n"), "violated");
    // Also for operations that take no time.
    let instant = |line: &str| line.replace("\"call\": 0, \"return\": 1", "\"call\": 3, \"return\": 3");
    check_verdict("equal-instant", "queue", format!("{EMPTY}\n{}\n", instant(ENQ)), "holds");
    check_verdict("equal-first", "queue", format!("{}\n{EMPTY}\n", instant(ENQ)), "holds");
}

#[test]
fn a_file_without_operations_is_refused() {
    let nothing = "line 1: expected an operation, found none: there is nothing in it";
    check_error("nothing", "queue", "", nothing);
    check_error("blank", "queue", "\n  \n\r\n", nothing);
    check_error("mark", "queue", "\u{feff}", nothing);
    // One that had no effect is an operation, and shows nothing.
    let failed =
        "{\"event\": \"call\", \"process\": 0, \"op\": \"deq\"}\n{\"event\": \"fail\", \"process\": 0}\n";
    assert_eq!(run("failed", "queue", failed).code, 3);
}

/// The process that writes the history into a pipe may have died.
#[test]
fn nothing_on_standard_input_is_no_history() {
    let folder = Folder::new("edges-pipe");
    let ran = clewline(&folder, &["check", "-", "--spec", "queue"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(ran.stderr, "error: standard input: expected a history, found nothing in it\n");
    let ran = clewline(&folder, &["check", "-", "--spec", "queue", "--input-format", "jsonl"], "");
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_last_line_that_was_cut_off_is_named() {
    check_verdict("cut-end", "queue", format!("{ENQ}\n{DEQ}"), "holds");
    check_error(
        "cut-brace",
        "queue",
        format!("{ENQ}\n{}", &DEQ[..DEQ.len() - 1]),
        "line 2, column 61: expected `,` or `}`, found the end of the line",
    );
    // Wherever it was cut, after the first byte of the line.
    for end in 1..DEQ.len() {
        let ran = run("cut", "queue", format!("{ENQ}\n{}", &DEQ[..end]));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "cut after {end} bytes: {ran:?}");
        assert!(ran.stderr.starts_with("error: odd.jsonl: line 2, column "), "{}", ran.stderr);
    }
}

#[test]
fn line_ends_and_marks_of_other_systems_are_read() {
    check_verdict("crlf", "queue", format!("{ENQ}\r\n\r\n{DEQ}\r\n"), "holds");
    check_verdict("crlf-cut", "queue", format!("{ENQ}\r\n{DEQ}\r"), "holds");
    check_verdict("bom", "queue", format!("\u{feff}{ENQ}\r\n{DEQ}\r\n"), "holds");
    check_error(
        "bom-inside",
        "queue",
        format!("{ENQ}\n\u{feff}{DEQ}\n"),
        "line 2, column 1: expected `{`, found `\\u{feff}`",
    );
}

#[test]
fn integers_of_any_size_are_values() {
    let pair = |enq: &str, deq: &str| {
        let (enq, deq) = (format!("\"arg\": {enq}"), format!("\"ret\": {deq}"));
        format!("{}\n{}\n", ENQ.replace("\"arg\": 1", &enq), DEQ.replace("\"ret\": 1", &deq))
    };
    let huge = "99999999999999999999999";
    check_verdict("huge", "queue", pair(huge, huge), "holds");
    check_verdict("huge-next", "queue", pair(huge, "99999999999999999999998"), "violated");
    // Neither cut to 64 bits nor rounded to what a float can hold.
    check_verdict("huge-cut", "queue", pair("18446744073709551616", "0"), "violated");
    check_verdict("huge-float", "queue", pair("9007199254740993", "9007199254740992"), "violated");
    let least = "-9223372036854775808";
    check_verdict("huge-least", "queue", pair(least, least), "holds");
}

#[test]
fn integers_that_must_fit_64_bits_are_refused_beyond() {
    let huge = "99999999999999999999999";
    check_error(
        "huge-priority",
        "priority-queue",
        ENQ.replace("enq", "add").replace("\"arg\": 1", &format!("\"arg\": {huge}")),
        &format!("line 1: `add`: expected an integer of 64 bits, found {huge}"),
    );
    check_error(
        "huge-time",
        "queue",
        ENQ.replace("\"call\": 0", &format!("\"call\": -{huge}")),
        &format!("line 1, column 47: expected an integer, of at most 64 bits, found `-{huge}`"),
    );
    let extremes = ENQ.replace("\"call\": 0", "\"call\": -9223372036854775808");
    let extremes = extremes.replace("\"return\": 1", "\"return\": 9223372036854775807");
    check_verdict("huge-times", "queue", extremes, "holds");
}

#[test]
fn brackets_that_nest_deeply_are_refused_and_do_not_exhaust_the_stack() {
    let nested = |depth: usize| {
        let list = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        ENQ.replace("\"arg\": 1", &format!("\"arg\": {list}"))
    };
    check_verdict("deep-enough", "queue", nested(64), "holds");
    check_error("deep", "queue", nested(1_000_000), "line 1, column 100: brackets nest deeper than 64");
    // Also in fields that are ignored.
    let own = ENQ.replace("\"arg\"", &format!("\"mine\": {}, \"arg\"", "{\"a\": ".repeat(100_000)));
    let ran = run("deep-own", "queue", own);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains(": brackets nest deeper than 64\n"), "{}", ran.stderr);
}

#[test]
fn bytes_that_are_not_utf_8_are_named() {
    let mut text = format!("{ENQ}\n").into_bytes();
    text.extend_from_slice(b"{\"process\": 0, \"op\": \"\xff\"");
    check_error("bytes", "queue", text, "line 2, column 23: expected text in UTF-8, found other bytes");
    check_error(
        "bytes-null",
        "queue",
        b"\0\x01binary",
        "line 1, column 1: expected `{`, found `\\0\\u{1}binary`",
    );
    check_error(
        "bytes-surrogate",
        "queue",
        ENQ.replace("\"arg\": 1", r#""arg": "\ud800""#),
        "line 1, column 37: expected two surrogates, high and low, found `\\ud800`",
    );
}

#[test]
fn one_text_may_have_two_json_spellings() {
    let enq = ENQ.replace("\"arg\": 1", r#""arg": "\u00e9\ud83d\ude00\/""#);
    let deq = DEQ.replace("\"ret\": 1", "\"ret\": \"é😀/\"");
    check_verdict("spelling", "queue", format!("{enq}\n{deq}\n"), "holds");
    let enq = ENQ.replace("\"arg\": 1", "\"arg\": 1.50");
    let deq = DEQ.replace("\"ret\": 1", "\"ret\": 15e-1");
    check_verdict("decimals", "queue", format!("{enq}\n{deq}\n"), "holds");
}

#[test]
fn a_path_that_is_not_a_file_is_named() {
    let folder = Folder::new("edges-folder");
    std::fs::create_dir(folder.path("inner.jsonl")).unwrap();
    for name in ["inner.jsonl", ".", "nowhere.jsonl", "inner.jsonl/nowhere"] {
        let ran = clewline(&folder, &["check", name, "--spec", "queue"], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.starts_with(&format!("error: {name}: ")), "{}", ran.stderr);
    }
}

#[test]
fn operations_and_values_of_another_specification_are_named() {
    let check = |test: &str, spec: &str, line: &str, expected: &str| {
        check_error(
            &format!("unreadable-{test}"),
            spec,
            format!("\n{line}\n"),
            &format!("line 2: {expected}"),
        );
    };
    check(
        "operation",
        "queue",
        &ENQ.replace("enq", "push"),
        "no operation is called `push` (there are enq, deq, peek)",
    );
    check("argument", "queue", &ENQ.replace(", \"arg\": 1", ""), "`enq`: expected a value, found nothing");
    check(
        "null",
        "queue",
        &ENQ.replace("\"arg\": 1", "\"arg\": null"),
        "`enq`: expected a value other than null, which means that there is none, found null",
    );
    check(
        "type",
        "priority-queue",
        &ENQ.replace("enq", "add").replace("\"arg\": 1", "\"arg\": \"1\""),
        "`add`: expected an integer of 64 bits, found \"1\"",
    );
    let pair = r#"{"process": 0, "op": "cas", "arg": [1], "ret": true, "call": 0, "return": 1}"#;
    check("list", "cas-register", pair, "`cas`: expected [old, new], found [1]");
    check(
        "extra",
        "queue",
        &DEQ.replace("\"ret\"", "\"arg\": 7, \"ret\""),
        "`deq`: expected no argument, found 7",
    );
    check(
        "answer",
        "queue",
        &DEQ.replace("\"ret\": 1, ", ""),
        "the result of `deq`: expected a value, or null for none, found nothing",
    );
    check(
        "truth",
        "set",
        &DEQ.replace("deq", "contains").replace("\"ret\"", "\"arg\": 1, \"ret\""),
        "the result of `contains`: expected true or false, found 1",
    );
}

#[test]
fn other_formats_have_other_line_ends_too() {
    let store = "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x\"}
{:process 0, :type :ok, :f :append, :key \"0\", :value \"x\"}
{:process 1, :type :invoke, :f :get, :key \"0\", :value nil}
{:process 1, :type :ok, :f :get, :key \"0\", :value \"x\"}
";
    let jepsen = "{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 1}
";
    let log = "INFO  jepsen.util - 0\t:invoke\t:write\t1
INFO  jepsen.util - 0\t:ok\t:write\t1
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\t1
";
    for (name, spec, text) in
        [("kv.txt", "map", store), ("h.edn", "register", jepsen), ("h.log", "register", log)]
    {
        for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            let folder = Folder::new("edges-formats").with(name, &text);
            let ran = clewline(&folder, &["check", name, "--spec", spec, "--format", "json"], "");
            assert_eq!(ran.code, 0, "{text:?}: {ran:?}");
            assert_eq!(ran.json()[0]["operations"], 2, "{text:?}");
        }
    }
}
