//! Jepsen's logs: which lines are operations, and their outcomes.

use crate::support::{canonical, check, check_error, read, write};

#[test]
fn lines_are_read_as_operations_of_a_register() {
    check(
        "jepsen-log",
        "INFO  jepsen.util - 0\t:invoke\t:read\tnil
         2015-01-01 12:00 INFO jepsen.util - 1\t:invoke\t:write\t4
         WARN something else
         INFO  jepsen.util - 0\t:ok\t:read\tnil
         INFO  jepsen.util - 2\t:invoke\t:cas\t[1 3]
         INFO  jepsen.util - :nemesis\t:info\t:start\tnil
         INFO  jepsen.util - 2\t:fail\t:cas\t[1 3]
         INFO  jepsen.util - 1\t:ok\t:write\t4
         INFO  jepsen.util - 2\t:invoke\t:cas\t[4 5]
         INFO  jepsen.util - 2\t:ok\t:cas\t[4 5]\n",
        "
        0 [0, 2] read() → null
        1 [1, 5] write(4)
        2 [3, 4] cas([1, 3]) → false
        2 [6, 7] cas([4, 5]) → true
        ",
    );
}

#[test]
fn timed_out_operations_are_pending_and_failed_ones_had_no_effect() {
    check(
        "jepsen-log",
        "jepsen.util - 0\t:invoke\t:write\t1
         jepsen.util - 0\t:fail\t:write\t1
         jepsen.util - 0\t:invoke\t:write\t2
         jepsen.util - 0\t:fail\t:write\t:timed-out
         jepsen.util - 0\t:invoke\t:cas\t[1 2]
         jepsen.util - 0\t:fail\t:cas\t:timed-out
         jepsen.util - 0\t:invoke\t:cas\t[1 3]
         jepsen.util - 0\t:info\t:cas\t[1 3]
         jepsen.util - 0\t:invoke\t:read\tnil
         jepsen.util - 0\t:ok\t:read\t:timed-out\r",
        "
        0 [2, ..) write(2) → ?
        0 [4, ..) cas([1, 2]) → ?
        0 [6, ..) cas([1, 3]) → ?
        0 [8, ..) read() → ?
        ",
    );
}

#[test]
fn an_error_says_where_and_what_was_expected_and_found() {
    let good = "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n";
    let check = |line: &str, expected: &str| {
        check_error("jepsen-log", format!("{good}\nINFO  jepsen.util - {line}"), expected, 1);
    };
    check("1\t:invoke\t:push\t1", "line 3, column 31: expected `:read`, `:write` or `:cas`, found `:`");
    check("1\t:invoke", "line 3, column 30: expected `:read`, `:write` or `:cas`, found the end of the line");
    check("1\t:invoke\t:write\t", "line 3, column 38: expected a value, found the end of the line");
    check("1\t:invoke\t:write", "line 3, column 37: expected a value, found the end of the line");
    check("1\t:invoke\t:cas\t[1 2", "line 3, column 40: expected a value, found the end of the line");
    check("1\t:invoke\t:cas\t[1 @]", "line 3, column 39: expected a form, found `@`");
    check("1\t:invoke\t:cas\t1 2", "line 3, column 38: expected the end of the value, found `2`");
    check(
        "0\t:invoke\t:read\tnil",
        "line 3: a process calls while its previous operation is still open (called on line 1)",
    );
    check(
        "0\t:ok\t:write\tnil",
        "line 3: expected the end of \"read\", called on line 1, found the end of \"write\"",
    );
    check("1\t:ok\t:read\tnil", "line 3: an operation ends that was not open: its process has not called");
}

#[test]
fn what_was_read_is_written() {
    let text = "\
INFO  jepsen.util - 0\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:invoke\t:cas\t[1 2]
INFO  jepsen.util - 0\t:ok\t:read\t\"a\\tb\"
INFO  jepsen.util - 1\t:fail\t:cas\t[1 2]
INFO  jepsen.util - 0\t:invoke\t:write\tnil
INFO  jepsen.util - 0\t:info\t:write\t:timed-out
INFO  jepsen.util - 0\t:invoke\t:write\t3
INFO  jepsen.util - 0\t:ok\t:write\t3
";
    let recording = read("jepsen-log", text).unwrap();
    assert_eq!(write("jepsen-log", &recording).unwrap(), text);
    let again = read("jepsen-log", text).unwrap();
    assert_eq!(canonical(&again), canonical(&recording));
}

#[test]
fn histories_that_the_log_cannot_express_are_refused() {
    let refused = |line: &str| {
        let line = format!(r#"{{"process":1,"call":1,"return":2,{line}}}"#);
        write("jepsen-log", &read("jsonl", line).unwrap()).unwrap_err().to_string()
    };
    assert_eq!(refused(r#""op":"push","arg":1"#), "operation 0 (\"push\") is none of read, write and cas");
    assert_eq!(
        refused(r#""op":"read","arg":1"#),
        "operation 0 (\"read\") has an argument, or lacks one, unlike those of this format"
    );
    assert_eq!(
        refused(r#""op":"write","arg":1,"ret":2"#),
        "operation 0 (\"write\") has a result that this format cannot express"
    );
    assert_eq!(
        refused(r#""op":"read","object":"x","ret":2"#),
        "operation 0 (\"read\") names its object, for which this format has no place"
    );
    assert_eq!(
        refused(r#""op":"read","ret":{"a":2}"#),
        "operation 0 (\"read\") cannot be written: EDN has no way to write {\"a\":2}"
    );
}
