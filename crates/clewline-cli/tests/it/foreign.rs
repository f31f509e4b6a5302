//! Recordings of other tools, as they are.

use std::io::Write;

use crate::run::{BAD, Folder, GOOD, clewline};

fn gzip(text: &str) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text.as_bytes()).expect("memory");
    writer.finish().expect("memory")
}

#[test]
fn a_compressed_file_has_the_verdict_of_its_contents() {
    let folder = Folder::new("compressed");
    std::fs::write(folder.path("good.jsonl.gz"), gzip(GOOD)).expect("a file");
    std::fs::write(folder.path("bad"), gzip(BAD)).expect("a file");
    std::fs::write(folder.path("cut.jsonl.gz"), &gzip(GOOD)[..40]).expect("a file");
    let check = |file: &str| clewline(&folder, &["check", file, "--spec", "queue"], "");
    let ran = check("good.jsonl.gz");
    assert_eq!((ran.code, ran.first_line()), (0, "holds: good.jsonl.gz is linearizable as a queue"));
    assert_eq!((check("bad").code, check("cut.jsonl.gz").code), (1, 2));
    assert!(check("cut.jsonl.gz").stderr.contains("as gzip: "), "{:?}", check("cut.jsonl.gz"));
    let converted = clewline(&folder, &["convert", "good.jsonl.gz", "-"], "");
    assert_eq!(converted.stdout, clewline(&folder, &["convert", "-", "-"], GOOD).stdout);
}

#[test]
fn an_array_from_standard_input_is_checked_as_lines_are() {
    let folder = Folder::new("array");
    let array = |text: &str| format!("[{}]", text.trim_end().replace('\n', ",\n"));
    for (text, code) in [(GOOD, 0), (BAD, 1)] {
        let stream = text.replace('\n', " ");
        for text in [array(text), stream] {
            let ran = clewline(&folder, &["check", "-", "--spec", "queue"], &text);
            assert_eq!(ran.code, code, "{ran:?}");
        }
    }
}

#[test]
fn a_format_that_is_only_read_is_not_chosen_for_output() {
    let folder = Folder::new("only-read").with("good.jsonl", GOOD);
    let ran = clewline(&folder, &["convert", "good.jsonl", "good.json"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(folder.read("good.json").starts_with("{\"process\""));
}

#[test]
fn a_table_with_other_names_is_read_by_a_mapping() {
    let folder = Folder::new("mapping")
        .with("log.csv", "client,what,key,value,from,to\na,SET,k,1,10,20\nb,GET,k,,30,40\n")
        .with(
            "names.json",
            r#"{"process": "client", "op": "what", "arg": "key", "ret": "value", "call": "from",
                "return": "to", "ops": {"SET": "erase", "GET": "get"}}"#,
        )
        .with("wrong.json", r#"{"process": 3}"#);
    let check = |mapping: &str, more: &[&str]| {
        let args = ["check", "log.csv", "--spec", "map", "--input-format", "csv", "--mapping", mapping];
        clewline(&folder, &[&args, more].concat(), "")
    };
    let wrong = check("wrong.json", &[]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("wrong.json: `process`: expected a name in quotes, found 3"), "{wrong:?}");
    // `SET k → 1` is no `erase`.
    assert_eq!(check("names.json", &[]).code, 2);
    let names = folder.read("names.json").replace("\"key\", \"ret\": \"value\"", "[\"key\", \"value\"]");
    std::fs::write(folder.path("names.json"), names.replace("erase", "put")).expect("a file");
    // The get has no result.
    let refused = check("names.json", &[]);
    assert!(refused.stderr.contains("line 3: the result of `get`"), "{refused:?}");
}

#[test]
fn clocks_that_may_differ_are_no_evidence_of_an_order() {
    // The read is called 1 ms after the write has returned, by the clock of another host.
    let spans = |op: &str, process: i64, start: i64, value: &str| {
        format!(
            r#"{{"name":"x","startTimeUnixNano":"{start}","endTimeUnixNano":"{}","attributes":[
            {{"key":"clewline.process","value":{{"intValue":"{process}"}}}},
            {{"key":"clewline.op","value":{{"stringValue":"{op}"}}}}{value}]}}"#,
            start + 1_000_000
        )
    };
    let write = spans("write", 1, 5_000_000, r#",{"key":"clewline.arg","value":{"intValue":"1"}}"#);
    let read = spans("read", 2, 7_000_000, r#",{"key":"clewline.ret","value":{"stringValue":"old"}}"#);
    let text = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{write},{read}]}}]}}]}}"#);
    let folder = Folder::new("skew");
    let check =
        |skew: &str| clewline(&folder, &["check", "-", "--spec", "register:old", "--skew", skew], &text).code;
    assert_eq!([check("0"), check("300us"), check("1ms"), check("1000000")], [1, 1, 0, 0]);
    assert_eq!(clewline(&folder, &["check", "-", "--spec", "register", "--skew", "-3"], &text).code, 2);
}
