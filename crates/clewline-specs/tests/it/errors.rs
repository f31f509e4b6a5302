//! Error messages for operations that an object cannot have executed.

use crate::support::{load, record};

#[track_caller]
fn check_unreadable(specification: &str, operation: &str, expected: &str) {
    let error = load(specification, record(operation, None)).expect_err("it cannot be read");
    assert_eq!(error.to_string(), format!("line 1: {expected}"));
}

#[test]
fn arguments_that_do_not_fit_are_rejected() {
    check_unreadable("queue", "enq", "`enq`: expected a value, found nothing");
    check_unreadable(
        "stack",
        "push null",
        "`push`: expected a value other than null, which means that there is none, found null",
    );
    check_unreadable("queue", "dequeue 3", "`dequeue`: expected no argument, found 3");
    check_unreadable("priority-queue", "add \"x\"", "`add`: expected an integer of 64 bits, found \"x\"");
    check_unreadable("counter", "inc 3", "`inc`: expected no argument, found 3");
    check_unreadable("cas-register", "cas 3", "`cas`: expected [old, new], found 3");
    check_unreadable("cas-register", "cas [1, 2, 3]", "`cas`: expected [old, new], found [1, 2, 3]");
    check_unreadable("register", "write", "`write`: expected a value, found nothing");
    check_unreadable(
        "channel",
        "send \"closed\" = true",
        "`send`: expected a value other than \"closed\", which is a result, found \"closed\"",
    );
    check_unreadable("map", "put 3", "`put`: expected [key, value], found 3");
    check_unreadable("map", "get", "`get`: expected a value, found nothing");
    check_unreadable("map", "append [1, 2]", "`append`: expected [key, text], found [1, 2]");
    check_unreadable("map", "cas [1, 2]", "`cas`: expected [key, old, new], found [1, 2]");
}

#[test]
fn results_that_do_not_fit_are_rejected() {
    check_unreadable(
        "queue",
        "deq",
        "the result of `deq`: expected a value, or null for none, found nothing",
    );
    check_unreadable(
        "register",
        "read",
        "the result of `read`: expected a value, or null for none, found nothing",
    );
    check_unreadable(
        "map",
        "get 1",
        "the result of `get`: expected a value, or null for none, found nothing",
    );
    check_unreadable("set", "add 1", "the result of `add`: expected true or false, found nothing");
    check_unreadable("set", "add 1 = null", "the result of `add`: expected true or false, found null");
    check_unreadable("queue", "enq 1 = 7", "the result of `enq`: expected nothing, or true, found 7");
    check_unreadable("queue:2", "enq 1", "the result of `enq`: expected true or false, found nothing");
    check_unreadable(
        "priority-queue",
        "poll",
        "the result of `poll`: expected an integer of 64 bits, or null for none, found nothing",
    );
    check_unreadable(
        "counter",
        "read = null",
        "the result of `read`: expected an integer of 64 bits, found null",
    );
    check_unreadable("mutex", "lock = 3", "the result of `lock`: expected nothing, or true, found 3");
}

#[test]
fn a_null_argument_is_none_where_none_is_taken() {
    load("queue", record("deq null = 3; peek null = null", None)).unwrap();
}

#[test]
fn errors_for_unknown_operations_list_the_known_ones() {
    check_unreadable("queue", "push 1", "no operation is called `push` (there are enq, deq, peek)");
    check_unreadable(
        "queue",
        "enqueu 1",
        "no operation is called `enqueu`; did you mean `enqueue`? (there are enq, deq, peek)",
    );
    check_unreadable(
        "register",
        "raed",
        "no operation is called `raed`; did you mean `read`? (there are read, write)",
    );
    check_unreadable("mutex", "try-lock", "no operation is called `try-lock` (there are lock, unlock)");
}
