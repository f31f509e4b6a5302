//! Client reports of etcd's robustness tests.

use crate::support::{check, check_error, read};

fn operation(client: u32, input: &str, output: &str, times: (i64, i64)) -> String {
    let (call, ret) = times;
    format!(
        "{{\"ClientId\":{client},\"Input\":{input},\"Call\":{call},\"Output\":{{{output},\"Error\":\"\"}},\"Return\":{ret}}}\n"
    )
}

fn put(key: &str, value: &str, lease: i64) -> String {
    format!(
        r#"{{"Type":"put-operation","Put":{{"Key":"{key}","Value":{{"Value":"{value}","Hash":0}},"LeaseID":{lease}}}}}"#
    )
}

fn transaction(conditions: &str, success: &str, failure: &str) -> String {
    format!(
        r#"{{"Type":"txn","Txn":{{"Conditions":{conditions},"OperationsOnSuccess":[{success}],"OperationsOnFailure":{failure}}}}}"#
    )
}

fn range(key: &str) -> String {
    format!(r#"{{"Type":"range","Range":{{"Start":"{key}","End":"","Limit":0,"Revision":0}}}}"#)
}

fn found(key: &str, value: &str, revision: i64) -> String {
    format!(r#"{{"Key":"{key}","Value":{{"Value":"{value}"}},"ModRevision":{revision}}}"#)
}

fn if_modified_by(key: &str, revision: i64) -> String {
    format!(r#"[{{"Key":"{key}","ExpectedRevision":{revision}}}]"#)
}

const DONE: &str = r#""Txn":{"Failure":false,"Results":[{"KVs":null}]}"#;

#[test]
fn ranges_and_puts_are_those_of_a_map() {
    let text = [
        operation(
            1,
            &transaction("null", &put("a", "4", 0), "null"),
            &format!("{DONE},\"Revision\":5"),
            (1, 2),
        ),
        operation(2, &range("a"), &format!("\"Range\":{{\"KVs\":[{}]}}", found("a", "4", 5)), (3, 4)),
        operation(2, &range("b"), "\"Range\":{\"KVs\":[]}", (5, 6)),
        operation(2, &range("b").replace("\"End\":\"\"", "\"End\":\"c\""), "\"Range\":{\"KVs\":[]}", (7, 8)),
        operation(
            2,
            &range("b").replace("\"Revision\":0", "\"Revision\":3"),
            "\"Range\":{\"KVs\":[]}",
            (9, 10),
        ),
        operation(2, &range("b"), "\"Range\":{\"KVs\":[]},\"Revision\":-1", (11, 12)),
        operation(2, "{\"Type\":\"compact\"}", "\"Revision\":9", (13, 14)),
    ]
    .concat();
    check(
        "etcd",
        &text,
        r#"
        1 [0, 1] put(["a", "4"])
        2 [2, 3] get("a") → "4"
        2 [4, 5] get("b") → null
        "#,
    );
    let names = read("etcd", &text).unwrap().names;
    // The revision of the response, where it has one.
    assert_eq!(names.orders, Some(vec![Some(10), None, None]));
    let skipped = names.skipped;
    assert_eq!((skipped.count, skipped.line), (4, 4));
}

#[test]
fn a_put_on_the_revision_of_its_key_is_a_cas() {
    let on = |revision: i64, value: &str, output: &str, times: (i64, i64)| {
        let input = transaction(&if_modified_by("a", revision), &put("a", value, 0), "null");
        operation(1, &input, output, times)
    };
    let refused = r#""Txn":{"Failure":true,"Results":[]},"Revision":9"#;
    let text = [
        on(0, "1", &format!("{DONE},\"Revision\":5"), (1, 2)),
        on(5, "2", &format!("{DONE},\"Revision\":6"), (3, 4)),
        on(5, "3", refused, (5, 6)),
        // Nothing says what this revision wrote.
        on(77, "4", &format!("{DONE},\"Revision\":7"), (7, 8)),
        on(78, "5", refused, (9, 10)),
        on(0, "6", refused, (11, 12)),
    ]
    .concat();
    check(
        "etcd",
        &text,
        r#"
        1 [0, 1] cas(["a", null, "1"]) → true
        1 [2, 3] cas(["a", "1", "2"]) → true
        1 [4, 5] cas(["a", "1", "3"]) → false
        1 [6, 7] put(["a", "4"])
        1 [8, 9] cas(["a", null, "6"]) → false
        "#,
    );
    // If the value of the revision is written twice, a cas may be refused that finds it.
    let again = operation(
        2,
        &transaction("null", &put("a", "1", 0), "null"),
        &format!("{DONE},\"Revision\":8"),
        (9, 10),
    );
    let twice = on(0, "1", &format!("{DONE},\"Revision\":5"), (1, 2)) + &on(5, "3", refused, (5, 6)) + &again;
    check("etcd", &twice, "1 [0, 1] cas([\"a\", null, \"1\"]) → true\n2 [2, 3] put([\"a\", \"1\"])");
}

#[test]
fn what_is_read_where_a_condition_fails_is_a_get() {
    let failure = r#"[{"Type":"range-operation","Range":{"Start":"a","End":""}}]"#;
    let input = transaction(&if_modified_by("a", 3), &put("a", "2", 0), failure);
    let output = format!(r#""Txn":{{"Failure":true,"Results":[{{"KVs":[{}]}}]}}"#, found("a", "9", 4));
    check("etcd", &operation(1, &input, &output, (1, 2)), "1 [0, 1] get(\"a\") → \"9\"");
}

#[test]
fn errors_leave_operations_pending_and_leases_may_erase_keys() {
    let unknown = operation(1, &transaction("null", &put("a", "1", 7), "null"), "\"Revision\":0", (1, 2))
        .replace("\"Error\":\"\"", "\"Error\":\"timeout\"");
    let read =
        operation(2, &range("a"), "\"Revision\":0", (1, 2)).replace("\"Error\":\"\"", "\"Error\":\"x\"");
    let revoke =
        operation(3, r#"{"Type":"leaseRevoke","LeaseRevoke":{"LeaseID":7}}"#, "\"LeaseRevoke\":{}", (5, 6));
    let both = transaction("null", &[put("b", "1", 0), put("c", "2", 0), put("b", "3", 0)].join(","), "null");
    let both = operation(4, &both, r#""Txn":{"Failure":false,"Results":[{},{},{}]},"Revision":4"#, (7, 8));
    check(
        "etcd",
        &[unknown, read, revoke, both].concat(),
        r#"
        1 [0, ..) put(["a", "1"]) → ?
        3 [1, ..) erase("a") → ?
        4 [2, 4] put(["b", "3"])
        4 [3, 5] put(["c", "2"])
        "#,
    );
}

#[test]
fn what_is_not_understood_is_an_error() {
    let good = operation(1, &range("a"), "\"Range\":{\"KVs\":[]}", (1, 2));
    let check = |more: &str, expected: &str| check_error("etcd", format!("{good}{more}"), expected, 1);
    check(
        r#"{"ClientId":1,"Input":{"Type":"watch"},"Call":1,"Output":{"Error":""},"Return":2}"#,
        "line 2: expected the type range, txn, leaseGrant, leaseRevoke, defragment, compact, found `watch`",
    );
    check(
        r#"{"ClientId":1,"Input":{"Type":"rang"},"Call":1}"#,
        "line 2: expected the type range, txn, leaseGrant, leaseRevoke, defragment, compact, found `rang`; \
         did you mean `range`?",
    );
    check(
        r#"{"ClientId":1,"Input":{"Type":"txn","Txn":{"OperationsOnSuccess":[{"Type":"putt-operation"}]}},"Call":1}"#,
        "line 2: expected an operation of the type range-operation, put-operation, delete-operation, found \
         `putt-operation`; did you mean `put-operation`?",
    );
    check(r#"{"ClientId":"x"}"#, "line 2: expected `ClientId`, an integer, found \"x\"");
    check(r#"{"ClientID":1}"#, "line 2: expected `ClientId`, an integer, found `ClientID`");
    check(r#"{"ClientId":1,"input":{}}"#, "line 2: expected `Input`, the request, found `ClientId`, `input`");
    check(r#"{"ClientId":1,"Input":{"type":"txn"}}"#, "line 2: expected the `Type` of `Input`, found `type`");
    check(r#"{"ClientId":1,}"#, "line 2, column 15: expected JSON: trailing comma");
}
