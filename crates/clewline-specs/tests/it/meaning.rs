//! The behavior of each object in sequential histories.

use crate::support::{load, read_value, record, run};

#[track_caller]
fn check(specification: &str, operations: &str, expected: &str) {
    assert_eq!(run(specification, record(operations, None)), expected);
}

#[track_caller]
fn check_missing(missing: &str, operations: &str, expected: &str) {
    assert_eq!(run("map", record(operations, Some(missing))), expected);
}

#[test]
fn a_register_returns_the_last_value_written() {
    check("register", "read = null; write 1; write 2; read = 2; write null; read = null", "holds");
    check("register", "write 1; read = 2", "read() → 2: expected read() → 1");
    check("register", "write 1 = false", "write(1) → false: expected write(1)");
}

#[test]
fn a_cas_swaps_only_what_it_expects() {
    check(
        "cas-register",
        "cas [null, 1] = true; cas [2, 3] = false; read = 1; write 2; cas [2, 3] = true",
        "holds",
    );
    check("cas-register", "write 1; cas [2, 1] = false; cas [1, 1] = true; read = 1", "holds");
    check("cas-register", "cas [1, 1] = true", "cas(1, 1) → true: expected cas(1, 1) → false");
    check("cas-register", "cas [null, 7] = true; read = null", "read() → null: expected read() → 7");
}

#[test]
fn a_channel_is_closed_for_receivers_when_it_is_empty() {
    check(
        "channel",
        "recv = null; send 1 = true; send 2 = true; close; send 3 = false; recv = 1; close; recv = 2; recv = \"closed\"",
        "holds",
    );
    check("channel", "send 1 = true; close; recv = \"closed\"", "recv() → \"closed\": expected recv() → 1");
    check("channel", "close; recv = null", "recv() → null: expected recv() → \"closed\"");
    check("channel", "close; send 1 = true", "send(1) → true: expected send(1) → false");
}

#[test]
fn a_counter_sums_and_wraps() {
    check("counter", "read = 0; inc; inc; dec; add 5; add -7; read = -1", "holds");
    check("counter", "inc; read = 0", "read() → 0: expected read() → 1");
    check("counter", "add 9223372036854775807; inc; read = -9223372036854775808", "holds");
}

#[test]
fn set_operations_return_whether_the_set_changed() {
    check(
        "set",
        "add 1 = true; add 1 = false; contains 1 = true; remove 1 = true; remove 1 = false",
        "holds",
    );
    check("set", "add 1 = true; contains 2 = true", "contains(2) → true: expected contains(2) → false");
}

#[test]
fn a_multiset_counts_copies() {
    check(
        "multiset",
        "add 1; add 1; remove 1 = true; contains 1 = true; remove 1 = true; remove 1 = false",
        "holds",
    );
    check(
        "multiset",
        "add 1; remove 1 = true; contains 1 = true",
        "contains(1) → true: expected contains(1) → false",
    );
}

#[test]
fn a_bag_returns_any_element_and_empty_only_when_empty() {
    check("bag", "take = null; add 1; add 2; add 2; take = 2; take = 1; take = 2; take = null", "holds");
    check("bag", "add 1; add 2; take = null", "take() → null: expected take() → 1 or take() → 2");
    check("bag", "add 1; add 2; take = ?; take = 2; take = null", "holds");
    check("bag", "add 1; take = 1; take = 1", "take() → 1: expected take() → null");
    check("bag", "add 1 = false", "add(1) → false: expected add(1)");
}

#[test]
fn a_stack_is_last_in_first_out() {
    check("stack", "pop = null; push 1; push 2; peek = 2; pop = 2; pop = 1; peek = null", "holds");
    check("stack", "push 1; push 2; pop = 1", "pop() → 1: expected pop() → 2");
}

#[test]
fn a_queue_is_first_in_first_out() {
    check("queue", "deq = null; enq 1 = true; enq 2; peek = 1; deq = 1; deq = 2; peek = null", "holds");
    check("queue", "enq 1; enq 2; deq = 2", "deq() → 2: expected deq() → 1");
    check("queue", "enq \"x\"; enq true; enq [1, 2]; deq = \"x\"; deq = true; deq = [1, 2]", "holds");
    check("queue", "enq 1 = false", "enq(1) → false: expected enq(1)");
}

#[test]
fn a_deque_has_two_ends() {
    check(
        "deque",
        "push-front 1; push-back 2; push-front 0; pop-back = 2; pop-front = 0; pop-back = 1",
        "holds",
    );
    check("deque", "pop-front = null; pop-back = null; push-back 1; pop-front = 1; pop-back = null", "holds");
    check("deque", "push-front 1; push-front 2; pop-front = 1", "pop-front() → 1: expected pop-front() → 2");
}

#[test]
fn priority_queues_order_integers_of_64_bits() {
    check("priority-queue", "add 1; add -5000000000; add 5000000000; add 1; poll = 5000000000", "holds");
    check(
        "priority-queue",
        "add 1; add 1; add 0; poll = 1; peek = 1; poll = 1; poll = 0; poll = null",
        "holds",
    );
    check("priority-queue", "add 1; add 2; poll = 1", "poll() → 1: expected poll() → 2");
    check(
        "min-priority-queue",
        "add 3; add -5000000000; peek = -5000000000; poll = -5000000000; poll = 3",
        "holds",
    );
    check("min-priority-queue", "add 1; add 2; poll = 2", "poll() → 2: expected poll() → 1");
}

#[test]
fn bounded_collections_reject_elements_when_full() {
    check(
        "queue:2",
        "enq 1 = true; enq 2 = true; enq 3 = false; deq = 1; enq 3 = true; deq = 2; deq = 3",
        "holds",
    );
    check("queue:1", "enq 1 = true; enq 2 = true", "enq(2) → true: expected enq(2) → false");
    check("stack:1", "push 1 = true; push 2 = false; pop = 1; push 2 = true; peek = 2", "holds");
    check("deque:1", "push-front 1 = true; push-back 2 = false; push-front 2 = false; pop-back = 1", "holds");
    check("queue:2", "enq 1 = false", "enq(1) → false: expected enq(1) → true");
}

#[test]
fn a_lock_blocks_while_it_is_held() {
    check("mutex", "lock; unlock; lock = true; unlock", "holds");
    check("mutex", "lock; lock", "lock(): expected nothing");
    check("mutex", "lock; lock = ?", "lock() → ?: expected nothing");
    check("mutex", "unlock", "unlock(): expected nothing");
}

#[test]
fn acquiring_blocks_while_there_are_no_permits() {
    check("semaphore", "acquire; acquire", "acquire(): expected nothing");
    check("semaphore:2", "acquire; acquire; release; acquire", "holds");
    check("semaphore:0", "release; release; acquire; acquire; acquire", "acquire(): expected nothing");
    check("semaphore:0", "acquire", "acquire(): expected nothing");
}

#[test]
fn a_map_keeps_a_value_for_each_key() {
    check("map", "get 1 = null; put [1, 2]; put [2, 3]; get 1 = 2; get 2 = 3; contains 1 = true", "holds");
    check(
        "map",
        "insert [1, 2] = null; insert [1, 3] = 2; remove 1 = 3; remove 1 = null; contains 1 = false",
        "holds",
    );
    check(
        "map",
        "cas [1, null, 2] = true; cas [1, null, 3] = false; cas [1, 2, 3] = true; get 1 = 3",
        "holds",
    );
    check("map", "get-or-insert [1, 2] = 2; get-or-insert [1, 3] = 2; get 1 = 2", "holds");
    check("map", "put [1, 2]; get 2 = 2", "get(2) → 2: expected get(2) → null");
    check("map", "put [1, 2]; insert [1, 3] = null", "insert(1, 3) → null: expected insert(1, 3) → 2");
    check("map", "get-or-insert [1, 2] = 3", "get-or-insert(1, 2) → 3: expected get-or-insert(1, 2) → 2");
}

#[test]
fn erasing_a_key_does_not_return_its_value() {
    check("map", "erase 1; put [1, 2]; erase 1; get 1 = null; erase 1; remove 1 = null", "holds");
    check("map", "put [1, 2]; erase 1; get 1 = 2", "get(1) → 2: expected get(1) → null");
}

#[test]
fn writing_null_makes_a_key_absent() {
    check("map", "put [1, 2]; put [1, null]; contains 1 = false; get-or-insert [1, 3] = 3", "holds");
    check("map", "put [1, 2]; cas [1, 2, null] = true; insert [1, 4] = null", "holds");
}

#[test]
fn appends_build_texts() {
    check("map", "append [1, \"a\"]; append [1, \"b\"]; get 1 = \"ab\"", "holds");
    check(
        "map",
        "put [1, \"a\"]; append [1, \"b\"]; cas [1, \"ab\", \"c\"] = true; append [1, \"\"]; get 1 = \"c\"",
        "holds",
    );
    check(
        "map",
        "append [1, \"a\"]; append [1, \"b\"]; get 1 = \"a\"",
        "get(1) → \"a\": expected get(1) → \"ab\"",
    );
    check("map", "append [1, \"\"]; get 1 = \"\"; contains 1 = true", "holds");
    check("map", "append [1, \"a\"]; remove 1 = \"a\"; append [1, \"b\"]; insert [1, 2] = \"b\"", "holds");
}

#[test]
fn only_texts_can_be_appended_to() {
    check("map", "put [1, 2]; append [1, \"a\"]", "append(1, \"a\"): expected nothing");
}

#[test]
fn a_missing_key_reads_as_the_recording_says() {
    check_missing("", "get 1 = \"\"; append [1, \"a\"]; get 1 = \"a\"; get 2 = \"\"", "holds");
    check_missing("", "get 1 = null; contains 1 = false; remove 1 = \"\"", "holds");
    check_missing("", "put [1, \"a\"]; put [1, \"\"]; contains 1 = false; insert [1, \"b\"] = \"\"", "holds");
    check_missing("", "append [1, \"\"]; contains 1 = false; cas [1, \"\", \"c\"] = true", "holds");
    check_missing("", "get 1 = \"a\"", "get(1) → \"a\": expected get(1) → \"\"");
    check_missing("none", "get 1 = \"none\"; append [1, \"!\"]; get 1 = \"none!\"", "holds");
}

#[test]
fn a_bank_moves_what_is_covered() {
    check(
        "bank",
        r#"transfer [1, 2, 5]; read = {"1":-5,"2":5}; transfer [2, 1, 5] = true; read = {}"#,
        "holds",
    );
    check("bank", r#"transfer ["a", "b", 5]; read = {:b 5, :a -5, :c 0}; transfer ["a", "a", 9]"#, "holds");
    check("bank", r#"transfer {:from 0, :to 1, :amount 5}; read = [-5, 5]; read = {1 5, 0 -5}"#, "holds");
    check("bank", r#"transfer {"to":"1","from":0,"amount":5} = ?; read = {"0":-5,"1":5}"#, "holds");
    check(
        "bank",
        r#"transfer [1, 2, 5]; read = {"1":-5}"#,
        r#"read() → {"1":-5}: expected read() → {"1":-5,"2":5}"#,
    );
    check("bank", "transfer [1, 2, 5] = false", "transfer(1, 2, 5) → false: expected transfer(1, 2, 5)");
    check("bank:3", r#"transfer [1, 2, 3]; transfer [1, 2, 1] = false; read = {"1":-3,"2":3}"#, "holds");
    check("bank:3", "transfer [1, 2, 4]", "transfer(1, 2, 4): expected transfer(1, 2, 4) → false");
    // A sum of more than 64 bits.
    let most = i64::MAX;
    let twice = i128::from(most) * 2;
    let text = format!("transfer [1, 2, {most}]; transfer [1, 2, {most}]; read = {{1 -{twice}, 2 {twice}}}");
    check("bank", &text, "holds");
}

#[test]
fn a_bank_starts_with_the_balances_that_are_given() {
    let state = |initial: &str, operations: &str| {
        let mut recording = record(operations, None);
        recording.initial = Some(read_value(&mut recording.values, initial));
        load("bank:0", recording).map(|_| ()).map_err(|it| it.to_string())
    };
    assert_eq!(state(r#"{"a":3,"b":0}"#, "read = {:a 3}"), Ok(()));
    assert_eq!(state("[3, 0]", "read = [3]"), Ok(()));
    for wrong in ["3", r#"{"a":"b"}"#, r#"["a"]"#] {
        let error = state(wrong, "read = {}").unwrap_err();
        assert!(error.contains("the initial state: expected an object of accounts and balances"), "{error}");
    }
    let mut recording =
        record(r#"transfer ["a", "b", 3]; read = {"b":3}; transfer ["a", "b", 1] = false"#, None);
    recording.initial = Some(read_value(&mut recording.values, r#"{"a":3}"#));
    assert_eq!(run("bank:0", recording), "holds");
}

#[test]
fn what_is_no_transfer_is_refused() {
    let error = |operations: &str| load("bank", record(operations, None)).err().unwrap().to_string();
    for wrong in
        ["5", "[1, 2]", "[1, 2, -5]", "[1, null, 5]", "{:from 1, :to 2}", "{:from 1, :to 2, :amount -1}"]
    {
        let error = error(&format!("transfer {wrong}"));
        assert!(error.contains("expected {from, to, amount} or [from, to, amount]"), "{error}");
    }
    assert!(error("transfer [1, 2, 3] = 4").contains("expected nothing, true or false"));
    assert!(error("read = 4").contains("expected the object of all accounts and their balances"));
    assert!(error("read = {:a nil}").contains("expected the object of all accounts and their balances"));
    assert!(error("read 3 = {}").contains("expected no argument"));
}
