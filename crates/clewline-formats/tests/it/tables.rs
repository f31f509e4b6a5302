//! Tables with a header.

use clewline_formats::{Circumstances, Mapping, ReadOptions};

use crate::support::{check, check_error, format, show};

#[test]
fn rows_are_operations() {
    let expected = r#"
        1 [0, 4] put(["k", 1])
        "b c" [1, 3] get("k") → null
        2 [2, 5] get("k") → 3
        3 [6, ..) get("x") → ?
        "#;
    let rows = [
        "process,op,arg,ret,call,return,mine",
        "1,put,\"[\"\"k\"\", 1]\",,12,15,7",
        "2,get,k,3,13,18,7",
        "b c,get,k,null,13,14,7",
        "3,get,\"x\",,20,,7",
    ];
    check("csv", &rows.join("\n"), expected);
    check("csv", &rows.map(|it| it.replace("\"k\"\", 1", "\"k\"\" , 1")).join("\r\n\r\n"), expected);
}

#[test]
fn rows_are_events() {
    check(
        "csv",
        "process;event;op;arg;ret\n1;call;enq;3;\n2;call;deq;;\n1;return;;;true\n2;info;deq;;\n2;call;deq;;\n2;fail;;;",
        "1 [0, 2] enq(3) → true\n2 [1, ..) deq() → ?",
    );
}

fn read_as(name: &str, text: &str, reading: &Circumstances) -> String {
    let options = ReadOptions { circumstances: reading, ..ReadOptions::default() };
    let read = clewline_formats::formats::read(format(name), &mut text.as_bytes(), &options);
    read.map_or_else(|it| it.to_string(), |it| show(&it))
}

fn with_mapping(mapping: &str) -> Circumstances {
    let mut reading = Circumstances::default();
    reading.mapping = Mapping::parse(mapping).unwrap();
    reading
}

#[test]
fn a_mapping_gives_other_names_to_columns() {
    let reading = with_mapping(
        r#"{"process": "client", "op": "what", "arg": ["key", "value"], "ret": "found", "call": "from",
            "return": "to", "outcome": "status", "ops": {"SET": "put", "GET": "get"}}"#,
    );
    let text = "client,what,key,value,found,from,to,status\nc1,SET,k,1,,1,2,ok\nc2,GET,k,,1,3,4,\nc2,GET,k,,,5,9,info";
    assert_eq!(
        read_as("csv", text, &reading),
        "\"c1\" [0, 1] put([\"k\", 1])\n\"c2\" [2, 3] get(\"k\") → 1\n\"c2\" [4, ..) get(\"k\") → ?\n"
    );
    let error = read_as("csv", "client,what,key,value,found,from,to,state\n", &reading);
    assert_eq!(
        error,
        "line 1: no column is called `status` (there are client, what, key, value, found, from, to, state)"
    );
}

#[test]
fn a_skew_widens_every_interval() {
    let mut reading = Circumstances::default();
    let lines = r#"{"process": 1, "op": "a", "call": 0, "return": 10}
                   {"process": 1, "op": "b", "call": 11, "return": 20}
                   {"process": 2, "op": "c", "call": 16, "return": 20}"#;
    let table = "process,op,call,return\n1,a,0,10\n1,b,11,20\n2,c,16,20";
    for (skew, expected) in [
        (0, "1 [0, 1] a()\n1 [2, 4] b()\n2 [3, 5] c()\n"),
        // The two of process 1 overlap now: neither clock proves their order.
        (2, "1 [0, 2] a()\n1 [1, 4] b()\n2 [3, 5] c()\n"),
        (3, "1 [0, 3] a()\n1 [1, 4] b()\n2 [2, 5] c()\n"),
    ] {
        reading.skew = skew;
        assert_eq!(read_as("jsonl", lines, &reading), expected, "{skew}");
        assert_eq!(read_as("csv", table, &reading), expected, "{skew}");
    }
    let event = r#"{"event": "call", "process": 1, "op": "a"}"#;
    assert_eq!(
        read_as("jsonl", event, &reading),
        "line 1: expected an operation with times, where a skew is given, found an event"
    );
    assert_eq!(
        read_as("jepsen", "{:process 1 :type :invoke :f :read}", &reading),
        "line 1: the order of events in the format `jepsen` is that of the file: there is no skew"
    );
}

#[test]
fn an_error_says_where_and_what_was_expected_and_found() {
    let check = |row: &str, expected: &str| {
        let text = format!("process,op,arg,call,return\n1,a,\"x\ny\",1,2\n{row}");
        check_error("csv", text, expected, 1);
    };
    check("1,a,,3", "line 4: expected 5 cells, as in the header, found 4");
    check("1,a,,x,4", "line 4: expected a time, an integer, found `x`");
    check("1,a,,,4", "line 4: expected the time of the call, found an empty cell");
    check(",a,,3,4", "line 4: expected a process, found an empty cell");
    check("1,,,3,4", "line 4: expected an operation, found an empty cell");
    check("1,\"a\"b,,3,4", "line 4: expected ',' behind a cell in quotes, found `b,,3,4`");
    check("1,\"a,,3,4", "line 4: expected the closing quote of a cell, found the end of the file");
    check_error(
        "csv",
        "process,op,event\n1,a,cal\n",
        "line 2: expected `call`, `return`, `fail` or `info`, found `cal`; did you mean `call`?",
        0,
    );
    check_error(
        "csv",
        "process,op,call,retrun\n",
        "line 1: no column is called `return`; did you mean `retrun`? (there are process, op, call, retrun)",
        0,
    );
}

#[test]
fn order_hints_are_those_of_the_operations() {
    let orders = |text: &str, reading: &Circumstances| {
        let options = ReadOptions { circumstances: reading, ..ReadOptions::default() };
        let read = clewline_formats::formats::read(format("csv"), &mut text.as_bytes(), &options);
        read.map(|it| it.names.orders).map_err(|it| it.to_string())
    };
    let usual = Circumstances::default();
    let rows = "process,op,call,return,order\n1,a,1,2,7\n1,b,3,4,\n1,c,5,6,-2\n";
    assert_eq!(orders(rows, &usual), Ok(Some(vec![Some(7), None, Some(-2)])));
    let renamed = rows.replace("order", "revision");
    assert_eq!(orders(&renamed, &usual), Ok(None));
    assert_eq!(orders(&renamed, &with_mapping(r#"{"order": "revision"}"#)), orders(rows, &usual));
    // By event: at the call, or at the return.
    let events =
        "process,event,op,order\n1,call,a,7\n1,return,,\n1,call,b,\n1,return,,9\n1,call,c,\n1,info,,4\n";
    assert_eq!(orders(events, &usual), Ok(Some(vec![Some(7), None, Some(9), None, None, None])));
    let wrong = rows.replace(",7", ",soon");
    assert_eq!(orders(&wrong, &usual), Err("line 2: expected an order, an integer, found `soon`".to_owned()));
}
