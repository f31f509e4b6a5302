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
fn newer_logs_and_history_files_are_read() {
    check(
        "jepsen-log",
        "2024-08-10 07:24:20,101{GMT}\tINFO\t[main] jepsen.core: Test version 1
         2024-08-10 07:24:21,635{GMT}\tINFO\t[jepsen worker 2] jepsen.util: 2\t:invoke\t:read\tnil
         2024-08-10 07:24:21,640{GMT}\tWARN\t[jepsen worker 1] jepsen.core: Process 1 crashed
java.lang.IllegalStateException: nothing
\tat user$eval.invoke(core.clj:291)
         2024-08-10 07:24:22,000{GMT}\tINFO\t[jepsen nemesis] jepsen.util: :nemesis\t:info\t:start\tnil
         INFO [2020-06-18 19:56:27,704] jepsen worker 0 - jepsen.util 0\t:invoke\t:cas\t[1 3]
         INFO [2020-06-18 19:56:27,704] jepsen.util: [ 1350999542 ] 2\t:ok\t:read\t3
         0\t:ok\t:cas\t[1 3]\n",
        "
        2 [0, 2] read() → 3
        0 [1, 3] cas([1, 3]) → true
        ",
    );
}

#[test]
fn operations_of_other_objects_are_read_as_in_edn() {
    check(
        "jepsen-log",
        "0\t:invoke\t:add\t1
         0\t:ok\t:add\t1
         1\t:invoke\t:acquire\tnil
         0\t:invoke\t:read\tnil
         0\t:ok\t:read\t#{1}
         1\t:ok\t:acquire\tnil
         1\t:invoke\t:drain\tnil
         1\t:ok\t:drain\t[4 5]",
        "
        0 [0, 1] add(1)
        1 [2, 5] acquire()
        0 [3, 4] read() → #{1}
        1 [6, 8] dequeue() → 4
        1 [7, 9] dequeue() → 5
        ",
    );
}

#[test]
fn keys_of_independent_registers_are_found() {
    check(
        "jepsen-log",
        "0\t:invoke\t:cas\t[7 [3 4]]
         0\t:fail\t:cas\t[7 [3 4]]
         0\t:invoke\t:read\t[8 nil]
         0\t:ok\t:read\t[8 3]
         0\t:invoke\t:write\t[8 5]
         0\t:info\t:write\t[8 :timed-out]",
        "
        0 [0, 1] 7.cas([3, 4]) → false
        0 [2, 3] 8.read() → 3
        0 [4, ..) 8.write(5) → ?
        ",
    );
}

#[test]
fn a_failure_for_another_reason_than_the_value_had_no_effect() {
    check(
        "jepsen-log",
        "0\t:invoke\t:cas\t[1 2]
         0\t:fail\t:cas\t[1 2]\t:connection-refused
         0\t:invoke\t:cas\t[1 3]
         0\t:fail\t:cas\t[1 3]",
        "
        0 [2, 3] cas([1, 3]) → false
        ",
    );
}

/// `count` operations, and these lines after them.
fn log_with(count: usize, more: &str) -> String {
    let operation = |it| format!("INFO  jepsen.util - {it}\t:invoke\t:read\tnil\n");
    (0..count).map(operation).collect::<String>() + more
}

#[test]
fn other_lines_are_counted_and_few_may_be_of_no_known_kind() {
    let read = |text: &str| read("jepsen-log", text).map(|it| it.names.skipped);
    let skipped = read(&log_with(2, "WARN  jepsen.core - x\ny\n\nz\n")).unwrap();
    assert_eq!((skipped.count, skipped.line, &*skipped.text), (3, 3, "WARN  jepsen.core - x"));
    assert_eq!(read(&log_with(19, "cut off: 0\t:invo")).unwrap().count, 1);
    assert_eq!(
        read(&log_with(18, "cut off: \u{1b}\t:invo")).unwrap_err().to_string(),
        "line 19: expected a line of a Jepsen log, found `cut off: \\u{1b}\\t:invo`: 1 of 19 lines are not \
         understood, and 1 in 20 may be"
    );
    // With spaces instead of tabs an operation is not understood, and a level does not excuse it.
    let spaced = "INFO  jepsen.util - 7 :invoke :read nil\n";
    assert_eq!(read(&log_with(19, spaced)).unwrap().count, 1);
    assert_eq!(
        read(&log_with(1, &spaced.repeat(1000))).unwrap_err().to_string(),
        "line 2: expected a line of a Jepsen log, found `INFO  jepsen.util - 7 :invoke :read nil`: 1000 of \
         1001 lines are not understood, and 1 in 20 may be"
    );
    assert_eq!(
        read("0 :invoke :read nil\n").unwrap_err().to_string(),
        "line 1: expected an operation with tabs between its process, type, name and value, found `0 :invoke \
         :read nil`: 1 of 1 lines are not understood, and 1 in 20 may be"
    );
    for line in
        ["WARN 7,:ok,:read,3", "INFO  jepsen.util - {:type :fail, :f :read}", "INFO 7\t:info :read\tnil"]
    {
        read(&log_with(1, &format!("{line}\n"))).expect_err(line);
    }
    // It ends the record before it.
    read(&log_with(19, &format!("WARN  jepsen.core - x\n{spaced}y\n"))).unwrap_err();
    // What other loggers say about operations is no operation.
    let about = "WARN  jepsen.core - crashed in {:process 7, :type :invoke, :f :read}\n{:level :info}\n:ok 3\n:ok-count 3\n";
    assert_eq!(read(&log_with(1, about)).unwrap().count, 4);
    // What looks like an operation is one, or an error.
    let error = read(&log_with(99, "INFO  jepsen.util - x7\t:invoke\t:read\tnil\n")).unwrap_err();
    assert_eq!(error.to_string(), "line 100, column 21: expected the number of a process, found `x7`");
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
    check("1\t:invoke\tpush\t1", "line 3, column 31: expected an operation, such as `:read`, found `push`");
    check(
        "1\t:invoke",
        "line 3, column 30: expected an operation, such as `:read`, found the end of the line",
    );
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
