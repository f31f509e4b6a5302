//! Jepsen's histories in JSON.

use crate::support::{canonical, check, check_error, read};

#[test]
fn objects_in_any_layout_are_read_as_in_edn() {
    let objects = [
        r#"{"type":"invoke","f":"write","process":0,"time":1,"value":3,"index":0}"#,
        r#"{"type":"invoke","f":"read","process":"c1"}"#,
        r#"{"type":"ok","f":"write","process":0,"value":3,"error":null}"#,
        r#"{"type":"fail","f":"read","process":"c1"}"#,
        r#"{"type":":invoke","f":":add","process":0,"value":{"b":1,"a":2}}"#,
        r#"{"type":":info","f":":add","process":0}"#,
    ];
    let expected = r#"
        0 [0, 2] write(3)
        0 [4, ..) add({"a":2,"b":1}) → ?
        "#;
    let array = format!("[{}]", objects.join(",\n"));
    for text in [&array, &objects.join("\n"), &objects.concat(), &array.replace(',', " ,\n ")] {
        check("jepsen-json", text, expected);
    }
    let edn = "{:type :invoke :f :write :process 0 :value 3} {:type :invoke :f :read :process 1}";
    let json =
        r#"{"type":"invoke","f":"write","process":0,"value":3}{"type":"invoke","f":"read","process":1}"#;
    assert_eq!(canonical(&read("jepsen-json", json).unwrap()), canonical(&read("jepsen", edn).unwrap()));
}

#[test]
fn keys_and_a_nemesis_are_known() {
    let text = r#"[{"process":"nemesis","type":"info","f":"start","value":"n1"},
        {"process":0,"type":"invoke","f":"read","value":[4,null]},
        {"process":0,"type":"ok","f":"read","value":[4,[1,2]]}]"#;
    check("jepsen-json", text, "0 [0, 1] 4.read() → [1, 2]");
    assert_eq!(read("jepsen-json", text).unwrap().names.notes.len(), 1);
}

#[test]
fn an_error_says_where_and_what_was_expected_and_found() {
    let check = |object: &str, expected: &str| {
        let good = r#"{"process":0,"type":"invoke","f":"read"}"#;
        check_error("jepsen-json", format!("[{good},\n{object}]"), expected, 1);
    };
    check(r#"{"process":1,"type":"invoke"}"#, "line 2, column 29: expected `f`, found `}`");
    check(r#"{"process":1,"f":"read"}"#, "line 2, column 24: expected `type`, found `}`");
    check(r#"{"type":"invoke","f":"read"}"#, "line 2, column 28: expected `process`, found `}`");
    check(r#"{"process":1,"typ":"ok"}"#, "line 2, column 14: expected `type`, found `\"typ\"`");
    check(
        r#"{"process":1,"type":"invok"}"#,
        "line 2, column 21: expected `:invoke`, `:ok`, `:fail` or `:info`, found `\"invok\"`; did you mean `:invoke`?",
    );
    check(
        "{\"process\":1,\n\"type\":\"begin\"}",
        "line 3, column 8: expected `:invoke`, `:ok`, `:fail` or `:info`, found `\"begin\"`",
    );
    check(
        r#"{"process":1.5,"type":"ok","f":"read"}"#,
        "line 2, column 12: expected a process (an integer or a text), found `1.5`",
    );
    check(r#"{"process":1,"process":1}"#, "line 2, column 24: `process` is given twice");
    check("3", "line 2, column 1: expected an object `{`, found `3`");
    check(
        r#"{"process":1,"type":"ok","f":"read"}"#,
        "line 2: an operation ends that was not open: its process has not called",
    );
}
