//! Porcupine's key-value logs: get, put and append.

use clewline_core::Datum;

use crate::support::{check, check_error, read, write};

#[test]
fn gets_puts_and_appends_are_read() {
    check(
        "porcupine-kv",
        r#"{:process 0, :type :invoke, :f :append, :key "0", :value "x 0 0 y"}
           {:process 1, :type :invoke, :f :get, :key "0", :value nil}
           {:process 0, :type :ok, :f :append, :key "0", :value "x 0 0 y"}
           {:process 1, :type :ok, :f :get, :key "0", :value ""}
           {:process 1, :type :invoke, :f :put, :key "1", :value "z"}"#,
        r#"
        0 [0, 2] append(["0", "x 0 0 y"])
        1 [1, 3] get("0") → ""
        1 [4, ..) put(["1", "z"]) → ?
        "#,
    );
}

#[test]
fn a_key_that_was_never_written_reads_as_the_empty_text() {
    let recording = read("porcupine-kv", "").unwrap();
    assert_eq!(recording.values.get(recording.missing), Datum::Text(""));
}

#[test]
fn an_error_says_where_and_what_was_expected_and_found() {
    let good = "{:process 0 :type :invoke :f :get :key 1}\n";
    let check = |line: &str, expected: &str| {
        check_error("porcupine-kv", format!("{good}{line}"), expected, 1);
    };
    check(
        "{:process 1 :type :invoke :f :cas :key 1}",
        "line 2: expected `:get`, `:put` or `:append`, found \"cas\"",
    );
    check("{:process 1 :type :invoke :f :get}", "line 2: expected `:key`, found a call without it");
    check("{:process 1 :type :invoke :f :put :key 1}", "line 2: expected `:value`, found a call without it");
    check(
        "{:process 0 :type :ok :f :get :key 2 :value 3}",
        "line 2: expected the key 1, as in the call on line 1, found 2",
    );
    check(
        "{:process 0 :type :ok :f :put :key 2 :value 3}",
        "line 2: expected the end of \"get\", called on line 1, found the end of \"put\"",
    );
    check("{:process 0 :key 1 :key 2}", "line 2, column 20: expected each key once, found `:key`");
}

#[test]
fn what_was_read_is_written() {
    let text = "\
{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x\"}
{:process 1, :type :invoke, :f :get, :key [0 1], :value nil}
{:process 0, :type :ok, :f :append, :key \"0\", :value \"x\"}
{:process 1, :type :info, :f :get, :key [0 1], :value nil}
{:process 1, :type :invoke, :f :put, :key 0, :value [1 2]}
{:process 1, :type :ok, :f :put, :key 0, :value 7}
";
    assert_eq!(write("porcupine-kv", &read("porcupine-kv", text).unwrap()).unwrap(), text);
}

#[test]
fn histories_that_the_format_cannot_express_are_refused() {
    let line = r#"{"process":1,"op":"get","arg":1,"call":1}"#;
    let error = write("porcupine-kv", &read("jsonl", line).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "in this format a key that was never written reads as \"\", here as null");
    let refused = |line: &str| {
        let mut recording = read("jsonl", format!(r#"{{"process":1,"call":1,"return":2,{line}}}"#)).unwrap();
        recording.missing = recording.values.text("");
        write("porcupine-kv", &recording).unwrap_err().to_string()
    };
    let neither = "is none of get with a key, put and append with a key and a value";
    assert_eq!(refused(r#""op":"pop","arg":1"#), format!("operation 0 (\"pop\") {neither}"));
    assert_eq!(refused(r#""op":"put","arg":1"#), format!("operation 0 (\"put\") {neither}"));
    assert_eq!(refused(r#""op":"get""#), "operation 0 (\"get\") has no key");
    assert_eq!(
        refused(r#""op":"put","arg":[1,2],"ret":2"#),
        "operation 0 (\"put\") returns its argument, which in this format means that it returns nothing"
    );
}
