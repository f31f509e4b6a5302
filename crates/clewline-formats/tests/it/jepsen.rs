//! Jepsen's EDN: the meaning of its maps, and errors in invalid ones.

use clewline_core::OperationId;

use crate::support::{canonical, check, check_error, format, options, read, show, write};

#[test]
fn a_vector_a_list_and_a_bare_sequence_are_the_same() {
    let maps = "{:process 0, :type :invoke, :f :write, :value 3} ; a comment\n\
                {:type :ok :process 0 :value 3 :f :write :time 12 :error [:a {:b #{1}}]}";
    for (open, close) in [("", ""), ("[", "]"), ("(", ")"), (" ; first\n [ ", " ] ; last")] {
        check("jepsen", &format!("{open}{maps}{close}"), "0 [0, 1] write(3)");
    }
    let records = maps.replace("{:process", "#jepsen.history.Op{:process").replace("{:type", "#a.B {:type");
    check("jepsen", &records, "0 [0, 1] write(3)");
    for nothing in ["", "[]", " () ", "; nothing", "#_ {:process 0}", ",,,"] {
        check("jepsen", nothing, "");
    }
}

#[test]
fn a_nemesis_is_no_client() {
    check(
        "jepsen",
        "{:process :nemesis, :type :info, :f :start, :value nil}
         {:process :n1, :type :info, :f :start}
         {:process \"nemesis\", :type :info, :f :start}",
        "",
    );
}

#[test]
fn clients_may_have_texts_as_names() {
    check(
        "jepsen",
        "{:process 0 :type :invoke :f :write :value 1}
         {:process \"c1\" :type :invoke :f :read :value nil}
         {:process 0 :type :ok :f :write :value 1}
         {:process \"c1\" :type :ok :f :read :value 2}
         {:process \"0\" :type :invoke :f :read}
         {:process \"0\" :type :info :f :read}",
        "
        0 [0, 2] write(1)
        \"c1\" [1, 3] read() → 2
        \"0\" [4, ..) read() → ?
        ",
    );
    let recording =
        read("porcupine-kv", "{:process \"c1\" :type :invoke :f :get :key \"0\" :value nil}").unwrap();
    assert_eq!((recording.history.len(), recording.names.skipped.count), (1, 0));
}

#[test]
fn processes_that_are_no_clients_are_counted() {
    let other = |kind: &str| format!("{{:process :clock-checker, :type {kind}, :f :read, :value 3}}\n");
    let client = "{:process 0, :type :invoke, :f :read, :value nil}\n";
    let nemesis = "{:process :nemesis, :type :info, :f :start, :value nil}\n";
    let text = [client, nemesis, &other(":invoke"), &other(":ok")].concat();
    let recording = read("jepsen", text).unwrap();
    let skipped = &recording.names.skipped;
    assert_eq!((recording.history.len(), skipped.count, skipped.line), (1, 2, 3));
    assert_eq!(skipped.text, "{:process :clock-checker …}");
    let log = "0\t:invoke\t:read\tnil\n:clock\t:invoke\t:read\tnil\n:clock\t:ok\t:read\t3\n";
    let recording = read("jepsen-log", log).unwrap();
    let skipped = &recording.names.skipped;
    assert_eq!((recording.history.len(), skipped.count, skipped.line), (1, 2, 2));
    assert_eq!(skipped.text, ":clock\t:invoke\t:read\tnil");
}

#[test]
fn a_process_without_a_name_is_an_error() {
    let good = "{:process 0 :type :invoke :f :read :value nil}\n";
    for (process, found) in [("nil", "nil"), ("[1]", "["), ("1.5", "1.5"), ("c1", "c1"), ("true", "true")] {
        check_error(
            "jepsen",
            format!("{good}{{:type :invoke :f :read :process {process}}}"),
            &format!(
                "line 2, column 34: expected a process (an integer, a text or a keyword), found `{found}`"
            ),
            1,
        );
    }
}

#[test]
fn failed_operations_are_removed_and_unknown_ones_stay_pending() {
    check(
        "jepsen",
        "{:process 0 :type :invoke :f :write :value 1}
         {:process 0 :type :fail :f :write :value 1}
         {:process 0 :type :invoke :f :cas :value [1 2]}
         {:process 0 :type :info :f :cas :value [1 2]}
         {:process 0 :type :invoke :f :read :value nil}
         {:process 0 :type :ok :f :read :value nil}
         {:process 1 :type :invoke :f :read}",
        "
        0 [2, ..) cas([1, 2]) → ?
        0 [4, 5] read() → null
        1 [6, ..) read() → ?
        ",
    );
}

/// The operation that a call and its completion are read as.
#[track_caller]
fn check_meaning(method: &str, invoked: &str, completed: &str, expected: &str) {
    let text = format!(
        "{{:process 0 :type :invoke :f {method} {invoked}}}\n{{:process 0 :type :ok :f {method} {completed}}}"
    );
    check("jepsen", &text, &format!("0 [0, 1] {expected}"));
    let recording = read("jepsen", &text).unwrap();
    let again = read("jepsen", write("jepsen", &recording).unwrap()).unwrap();
    assert_eq!(canonical(&again), canonical(&recording));
}

#[test]
fn the_value_of_a_read_is_its_result() {
    for method in ["read", "get", "deq", "dequeue", "pop", "poll", "peek", "take", "pop-front", "pop-back"] {
        check_meaning(&format!(":{method}"), ":value nil", ":value 7", &format!("{method}() → 7"));
    }
    check_meaning(":read", "", ":value nil", "read() → null");
    check_meaning(":read", ":value nil", "", "read()");
    check_meaning(":read", ":value 7", ":value 7", "read() → 7");
    check_meaning(":get", ":value :x", ":value 7", "get(:x) → 7");
}

#[test]
fn a_cas_that_returns_did_it() {
    check_meaning(":cas", ":value [1 2]", ":value [1 2]", "cas([1, 2]) → true");
    check_meaning(":cas", ":value [1 2]", ":value true", "cas([1, 2]) → true");
    check_meaning(":cas", ":value [1 2]", ":value false", "cas([1, 2]) → false");
}

#[test]
fn nil_is_no_argument_for_what_takes_none() {
    for method in ["lock", "unlock", "acquire", "release", "inc", "dec"] {
        check_meaning(&format!(":{method}"), ":value nil", ":value nil", &format!("{method}()"));
    }
    check_meaning(":inc", ":value 2", ":value 2", "inc(2)");
    check_meaning(":inc", "", ":value nil", "inc() → null");
    check_meaning(":write", ":value nil", ":value nil", "write(null)");
    check_meaning(":enqueue", "", "", "enqueue()");
}

#[test]
fn a_completion_other_than_the_argument_is_a_result() {
    check_meaning(":add", ":value 3", ":value 3", "add(3)");
    check_meaning(":add", ":value 3", ":value true", "add(3) → true");
    check_meaning(":insert", ":value [1 2]", ":value nil", "insert([1, 2]) → null");
    check_meaning("\"two words\"", ":value 3", ":value 4", "two words(3) → 4");
    check_meaning("9", ":value #{3 2}", ":value 1.0", "9(#{2 3}) → 1.0");
}

#[test]
fn keyed_values_are_objects_apart() {
    let text = "{:process 0 :type :invoke :f :write :value [:x 1]}
                {:process 1 :type :invoke :f :read :value [\"y\" nil]}
                {:process 0 :type :ok :f :write :value [:x 1]}
                {:process 1 :type :info :f :read :value nil}";
    let read = |text: &str| format("jepsen").read(&mut text.as_bytes(), &options(true, 1));
    let recording = read(text).unwrap();
    assert_eq!(show(&recording), "0 [0, 2] :x.write(1)\n1 [1, ..) \"y\".read() → ?\n");
    let again = read(&write("jepsen", &recording).unwrap()).unwrap();
    assert_eq!(canonical(&again), canonical(&recording));
    let error = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        error("\n{:process 0 :type :invoke :f :read :value nil}"),
        "line 2: expected a pair [key value], the history being keyed, found null"
    );
    assert_eq!(
        error("{:process 0 :type :invoke :f :read}"),
        "line 1: expected a pair [key value], the history being keyed, found no `:value`"
    );
    assert_eq!(
        error(
            "{:process 0 :type :invoke :f :read :value [1 nil]}{:process 0 :type :ok :f :read :value [2 nil]}"
        ),
        "line 1: expected the key 1, as in the call on line 1, found 2"
    );
}

#[test]
fn an_error_says_where_and_what_was_expected_and_found() {
    let good = "{:process 0 :type :invoke :f :read :value nil}\n";
    let check = |text: &str, expected: &str| check_error("jepsen", format!("{good}{text}"), expected, 1);
    check("{:process 1", "line 2, column 12: expected `}`, found the end of the file");
    check("{:process}", "line 2, column 10: expected a value for each key, found `}`");
    check("{:type :ok}", "line 2, column 11: expected `:process`, found `}`");
    check("{:process 1 :f :a}", "line 2, column 18: expected `:type`, found `}`");
    check("{:process 1 :type :ok}", "line 2, column 22: expected `:f`, found `}`");
    check(
        "{:process 1\n :type :done}",
        "line 3, column 8: expected `:invoke`, `:ok`, `:fail` or `:info`, found `:done`",
    );
    check(
        "{:process 1 :type :invok :f :read}",
        "line 2, column 19: expected `:invoke`, `:ok`, `:fail` or `:info`, found `:invok`; did you mean `:invoke`?",
    );
    check("{:process 1 :index 2 :typ :ok}", "line 2, column 22: expected `:type`, found `:typ`");
    check("{:process 1 :type :ok :fn :read}", "line 2, column 23: expected `:f`, found `:fn`");
    check("{:proc 1 :node 2}", "line 2, column 2: expected `:process`, found `:proc`");
    check(
        "{:process 1\n:f [1",
        "line 3, column 6: expected `]`, found the end of the file; the event begins on line 2",
    );
    check("{:f :a, :f :b}", "line 2, column 9: expected each key once, found `:f`");
    check("[", "line 2, column 2: expected `]`, found the end of the file");
    check("]", "line 2, column 1: expected `{`, found `]`");
    check("7", "line 2, column 1: expected `{`, found `7`");
    check("\"é\" {", "line 2, column 1: expected `{`, found `\"é\"`");
    check("{:a \"éé\" :b @}", "line 2, column 13: expected a form, found `@`");
    check_error(
        "jepsen",
        "[{:process :n :type :info :f 1}",
        "line 1, column 32: expected a map or `]`, found the end of the file",
        0,
    );
    check_error("jepsen", "[] []", "line 1, column 4: expected the end of the file, found `[`", 0);
    check_error("jepsen", "({})", "line 1, column 3: expected `:process`, found `}`", 0);
}

#[test]
fn a_collision_names_both_lines() {
    let call = "{:process 0 :type :invoke :f :read :value nil}";
    check_error(
        "jepsen",
        format!("{call}\n\n{call}"),
        "line 3: a process calls while its previous operation is still open (called on line 1)",
        1,
    );
    check_error(
        "jepsen",
        "{:process 0 :type :ok :f :read :value nil}",
        "line 1: an operation ends that was not open: its process has not called",
        0,
    );
    check_error(
        "jepsen",
        format!("{call} {{:process 0 :type :ok :f :write :value nil}}"),
        "line 1: expected the end of \"read\", called on line 1, found the end of \"write\"",
        1,
    );
}

#[test]
fn invalid_utf8_is_an_error() {
    let text = b"{:process 0 :type :invoke :f :read :value nil}\n \"\xc3\xa9\xff\"";
    check_error("jepsen", text, "line 2, column 2: expected `{`, found `\"é`", 1);
    let text = b"{:process 0 :type :invoke :f :read :value nil}\n {\xc3\xa9 \xff\"";
    check_error("jepsen", text, "line 2, column 5: expected text in UTF-8, found other bytes", 1);
    check_error("jepsen", b"\xc3", "line 1, column 1: expected text in UTF-8, found other bytes", 0);
}

#[test]
fn forms_may_span_windows() {
    let mut text = String::from("[");
    for number in 0..20_000 {
        let long = "é".repeat(number % 97);
        text.push_str(&format!(
            "{{:process {number}, :type :invoke, :f :write, :value [{number} \"{long}\"], :note {{:a #{{1}}}}}}"
        ));
        text.push_str(["\n", " ", "; comment\n", ",#_ \"é\" "][number % 4]);
    }
    text.push_str(&format!("{{:process -1 :type :invoke :f :write :value \"{}\"}}]", "y".repeat(3 << 20)));
    let recording = read("jepsen", &text).unwrap();
    assert_eq!(recording.history.len(), 20_001);
    let operations: Vec<String> = show(&recording).lines().take(20_000).map(str::to_owned).collect();
    for (number, operation) in operations.iter().enumerate() {
        let long = "é".repeat(number % 97);
        assert_eq!(*operation, format!("{number} [{number}, ..) write([{number}, \"{long}\"]) → ?"));
    }
    // Lines are counted right across all of it.
    let last = recording.names.line(20_000);
    assert_eq!(last, text.lines().count());
}

#[test]
fn histories_that_jepsen_cannot_express_are_refused() {
    let refused = |text: &str| write("jepsen", &read("jsonl", text).unwrap()).unwrap_err().to_string();
    assert_eq!(
        refused(r#"{"process":"a","op":"read","call":1}"#),
        "operation 0 (\"read\") is called by \"a\", and in Jepsen processes are integers"
    );
    assert_eq!(
        refused(r#"{"process":1,"op":"add","arg":2,"ret":2,"call":1,"return":2}"#),
        "operation 0 (\"add\") has an argument or a result that in Jepsen would mean something else"
    );
    assert_eq!(
        refused(r#"{"process":1,"op":"add","arg":{"a":2},"call":1}"#),
        "operation 0 (\"add\") cannot be written: EDN has no way to write {\"a\":2}"
    );
    assert_eq!(
        refused(
            "{\"process\":1,\"op\":\"a\",\"call\":1}\n{\"process\":2,\"op\":\"a\",\"call\":1,\"object\":1}"
        ),
        "in a Jepsen history either every operation names its object (a key), or none does"
    );
}

#[test]
fn vectors_of_old_histories_are_events() {
    let expected = "
        0 [0, 1] write(3)
        1 [2, 3] read() → 3
        ";
    let events = "[0 :invoke :write 3] [0 :ok :write 3 17] [:invoke 1 :read nil] (1 :ok :read 3)";
    check("jepsen", events, expected);
    check("jepsen", &format!("[{events}]"), expected);
    check("jepsen", &format!("; old\n({events})"), expected);
    check_error(
        "jepsen",
        "[[0 :invoke :read nil]\n [0 :read nil]]",
        "line 2, column 2: expected an event [process type f value], its type `:invoke`, `:ok`, `:fail` or \
         `:info`, found [0, :read, null]",
        1,
    );
    check_error(
        "jepsen",
        "[[nil :invoke :read nil]]",
        "line 1, column 2: expected a process (an integer, a text or a keyword), found `[`",
        0,
    );
    let recording = read("jepsen", "[[:nemesis :info :start nil] [0 :invoke :read nil]]").unwrap();
    assert_eq!((recording.history.len(), recording.names.notes.len()), (1, 1));
}

#[test]
fn keys_are_found_where_a_reading_method_is_invoked_with_a_key_and_nil() {
    let event =
        |kind: &str, f: &str, value: &str| format!("{{:process 0 :type :{kind} :f :{f} :value {value}}}\n");
    let operation = |f: &str, value: &str| event("invoke", f, value) + &event("ok", f, value);
    let cas = operation("cas", "[:x [1 2]]");
    let keyed = event("invoke", "read", "[:x nil]") + &event("ok", "read", "[:x 2]");
    check("jepsen", &(cas.clone() + &keyed), "0 [0, 1] :x.cas([1, 2]) → true\n0 [2, 3] :x.read() → 2");
    // What is no pair comes first.
    let plain = operation("write", "3");
    check_error(
        "jepsen",
        keyed.clone() + &plain,
        "line 3: expected a pair [key value], the history being keyed, found 3",
        2,
    );
    check("jepsen", &(plain + &keyed), "0 [0, 1] write(3)\n0 [2, 3] read([:x, null]) → [:x, 2]");
    // Pairs alone are no evidence.
    check("jepsen", &cas, "0 [0, 1] cas([:x, [1, 2]]) → true");
    // What would be taken for keys is not written.
    let one = r#"{"process":0,"op":"get","arg":[1,null],"call":1}"#;
    let error = write("jepsen", &read("jsonl", one).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "operation 0 (\"get\") has an argument that in Jepsen would be a key and nil");
}

#[test]
fn a_drain_is_one_dequeue_for_each_element() {
    let drain = |kind: &str, value: &str| format!("{{:process 1 :type :{kind} :f :drain :value {value}}}\n");
    let enqueue = "{:process 0 :type :invoke :f :enqueue :value 3}\n";
    let note = "{:process :nemesis :type :info :f :kill}\n";
    let text = [&drain("invoke", "nil"), enqueue, note, &drain("ok", "[1 2 3]")].concat();
    check(
        "jepsen",
        &text,
        "
        1 [0, 4] dequeue() → 1
        1 [1, 5] dequeue() → 2
        1 [2, 6] dequeue() → 3
        0 [3, ..) enqueue(3) → ?
        ",
    );
    let recording = read("jepsen", &text).unwrap();
    assert_eq!(recording.names.notes[0].from, 4);
    let lines: Vec<usize> =
        (0..4).map(|it| recording.names.line(recording.history.source(OperationId(it)))).collect();
    assert_eq!(lines, [1, 1, 1, 2]);
    check("jepsen", &(drain("invoke", "nil") + &drain("ok", "[]")), "");
    // A process that went on from an operation of unknown outcome.
    let unknown =
        "{:process 1 :type :invoke :f :enqueue :value 1}\n{:process 1 :type :info :f :enqueue :value 1}\n";
    check(
        "jepsen",
        &[unknown, &drain("invoke", "nil"), &drain("ok", "[1]")].concat(),
        "
        1 [0, ..) enqueue(1) → ?
        1 [1, 2] dequeue() → 1
        ",
    );
    check_error(
        "jepsen",
        drain("invoke", "nil") + &drain("info", "nil"),
        "line 1: expected the list of elements that `drain` returned, found a drain of unknown outcome, which \
         may have taken anything",
        2,
    );
}
