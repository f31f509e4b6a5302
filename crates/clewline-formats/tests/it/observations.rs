//! Line-Up's observation files: each history an object, and errors with their place.

use crate::support::{check, check_error, read, write};

/// Figure 7 of the paper, without its last part.
const FIGURE: &str = r#"<observationset>
<observation>
<thread id="A">1 2</thread>
<thread id="B">3 4</thread>
<op id="1" name="Add">value="200"</op>
<op id="2" name="Add">value="400"</op>
<op id="3" name="Take">result="200"</op>
<op id="4" name="TryTake">result="Fail"</op>
<history>1[ ]1 3[ ]3 4[ ]4 2[ ]2</history>
</observation>
<!-- a comment -->
<observation>
<thread id="A"></thread>
<thread id="B">1B</thread>
<op id="1" name="Take" />
<history>1[ #</history>
<history>
  1[
  #
</history>
</observation>
</observationset>
"#;

#[test]
fn each_history_is_an_object_with_processes_of_its_own() {
    check(
        "observations",
        FIGURE,
        r#"
        "A" [0, 1] "observation 1, history 1".Add(200)
        "B" [2, 3] "observation 1, history 1".Take() → 200
        "B" [4, 5] "observation 1, history 1".TryTake() → "Fail"
        "A" [6, 7] "observation 1, history 1".Add(400)
        "B" [8, ..) "observation 2, history 1".Take() → ?
        "B" [9, ..) "observation 2, history 2".Take() → ?
        "#,
    );
    let recording = read("observations", FIGURE).unwrap();
    assert_eq!(recording.names.lines.as_ref().unwrap()[..2], [9, 9]);
    assert_eq!(recording.names.lines.as_ref().unwrap()[8..], [16, 18]);
    assert_eq!(recording.history.process(clewline_core::OperationId(4)).0, 2);
    assert_eq!(recording.history.process(clewline_core::OperationId(5)).0, 3);
}

#[test]
fn a_report_of_a_violation_has_nothing_around_its_elements() {
    check(
        "observations",
        r#"Line-Up encountered a non-linearizable history:
        <thread id="A">1</thread>
        <thread id="B">2</thread>
        <op id="1" name="Add">value='a &lt; "b"' result="true"</op>
        <op id="2" name="Take">result="007"</op>
        <history>1[ 2[ ]2 ]1</history>"#,
        r#"
        "A" [0, 3] "history 1".Add("a < \"b\"") → true
        "B" [1, 2] "history 1".Take() → "007"
        "#,
    );
}

#[test]
fn an_empty_file_is_a_history() {
    for text in ["", "<observationset/>", "<?xml version=\"1.0\"?>\n<observationset></observationset>"] {
        check("observations", text, "");
    }
}

#[test]
fn an_error_says_where_and_what_was_expected_and_found() {
    let inside = |element: &str, expected: &str| {
        let text = format!(
            "<observation>\n<thread id=\"A\">1 2 3B</thread>\n<op id=\"1\" name=\"a\"/><op id=\"2\" name=\"b\"/>\
             <op id=\"3\" name=\"b\"/>\n {element}\n</observation>"
        );
        check_error("observations", text, expected, 0);
    };
    inside(
        "<history>[1</history>",
        "line 4, column 11: expected a call such as `1[`, a return such as `]1`, or `#`, found `[1`",
    );
    inside("<history>x[</history>", "line 4, column 11: expected the number of an operation, found `x[`");
    inside(
        "<history>4[</history>",
        "line 4, column 11: expected an operation of one of the threads, found 4",
    );
    inside("<history># 1[</history>", "line 4, column 13: expected nothing after `#`, found `1[`");
    inside("<history>]1</history>", "line 4, column 11: operation 1 returns, but is not open");
    inside("<thread id=\"A\"></thread>", "line 4, column 2: this thread is given twice");
    inside("<thread id=\"B\">1</thread>", "line 4, column 17: operation 1 is called twice");
    inside(
        "<thread id=\"B\">x</thread>",
        "line 4, column 17: expected the number of an operation, found `x`",
    );
    inside("<thread></thread>", "line 4, column 2: expected `id`, found an element without it");
    inside("<op id=\"x\" name=\"y\"/>", "line 4, column 2: expected an integer as `id`, found `x`");
    inside("<op id=\"9\"/>", "line 4, column 2: expected `name`, found an element without it");
    inside("<op id=\"1\" name=\"y\"/>", "line 4, column 2: operation 1 is given twice");
    inside(
        "<op id=\"9\" name=\"y\">value</op>",
        "line 4, column 27: expected `=`, found the end of the element",
    );
    inside("<op id=\"9\" name=\"y\">value=3</op>", "line 4, column 28: expected a quoted value, found `3`");
    inside(
        "<op id=\"9\" name=\"y\">value=\"3</op>",
        "line 4, column 30: expected a quote at the end of the value, found the end of the element",
    );
    inside(
        "<op id=\"9\" name=\"y\">size=\"3\"</op>",
        "line 4, column 22: expected `value` or `result`, found `size`",
    );
    inside("<op id=\"9\" name=\"y\"><b/></op>", "line 4, column 22: expected text, found `<b/></op>`");
    inside(
        "<b/>",
        "line 4, column 2: expected `<thread>`, `<op>`, `<history>` or `</observation>`, found `<b/>`",
    );
    inside(
        "text",
        "line 4, column 2: expected `<thread>`, `<op>`, `<history>` or `</observation>`, found `text`",
    );
    check_error(
        "observations",
        "<observation>",
        "line 1, column 14: expected `<thread>`, `<op>`, `<history>` or `</observation>`, found the end of the file",
        0,
    );
    check_error(
        "observations",
        "<observationset>\n<op/>",
        "line 2, column 1: expected `<observation>` or `</observationset>`, found `<op/>`",
        0,
    );
    check_error("observations", "<x/>", "line 1, column 1: expected `<observationset>`, found `<x/>`", 0);
    check_error("observations", b"<a\xff", "line 1, column 3: expected text in UTF-8, found other bytes", 0);
}

#[test]
fn events_that_make_no_history_are_an_error() {
    let text = |history: &str| {
        format!(
            "<thread id=\"A\">1 2B</thread>\n<op id=\"1\" name=\"a\"/>\n<op id=\"2\" name=\"b\"/>\n\
             <history>{history}</history>"
        )
    };
    check_error("observations", text("1[ 1["), "line 4, column 13: operation 1 is called twice", 1);
    check_error(
        "observations",
        text("1[ ]1 ]1"),
        "line 4, column 16: operation 1 returns, but is not open",
        2,
    );
    check_error(
        "observations",
        text("2[ ]2"),
        "line 4, column 13: operation 2 returns, but its thread says that it blocks (2B)",
        1,
    );
    check_error(
        "observations",
        text("1[ 2["),
        "line 4, column 13: a process calls while its previous operation is still open (called on line 4)",
        1,
    );
    check_error(
        "observations",
        "<thread id=\"A\">1</thread><history>1[</history>",
        "line 1, column 35: expected an operation that an `<op>` describes, found 1",
        0,
    );
}

#[test]
fn ill_formed_xml_is_an_error() {
    for text in [
        "<observationset>\n</observation>",
        "<observation",
        "</observation>",
        "<op id=1></op>",
        "<op id=\"1\" id=\"2\"></op>",
    ] {
        let error = read("observations", text).unwrap_err().to_string();
        assert!(error.contains("expected well-formed"), "{error}");
    }
}

#[test]
fn writing_is_refused() {
    let error = write("observations", &read("observations", FIGURE).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "observation files are of the calls of a matrix; `clewline explore --observations` writes them"
    );
    // But they can be written in another format.
    let written = write("jsonl", &read("observations", FIGURE).unwrap()).unwrap();
    assert_eq!(read("jsonl", written).unwrap().history.len(), 6);
}
