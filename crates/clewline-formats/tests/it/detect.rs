//! Detection of the format of a file by its contents.

use clewline_formats::formats::{FORMATS, detect, extension_of, find};

#[track_caller]
fn check(head: &str, extension: Option<&str>, expected: Option<&str>) {
    assert_eq!(detect(head.as_bytes(), extension).map(|it| it.name()), expected);
}

#[test]
fn formats_are_detected_by_contents() {
    check("\n {\"process\": 1", None, Some("jsonl"));
    check("\u{feff}{ \"process\": 1", Some("txt"), Some("jsonl"));
    check("{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x\"}", None, Some("porcupine-kv"));
    check("{:process 0, :type :invoke, :f :read, :value nil}\n{:key 1}", None, Some("jepsen"));
    check("[{:type :invoke", None, Some("jepsen"));
    check("; a comment\n;\n ( {:type :invoke", Some("jsonl"), Some("jepsen"));
    check("[#jepsen.history.Op{:type :invoke", None, Some("jepsen"));
    check("12:00 INFO  jepsen.util - 0\t:invoke", None, Some("jepsen-log"));
    check("[[0 :invoke :read nil]", None, Some("jepsen"));
    check("; old\n[0 :ok :read nil]", None, Some("jepsen"));
    check("[0 1 :ok]", None, None);
    check("[{\"process\": 1, \"op\": \"a\"", Some("json"), Some("jsonl"));
    check("[{\"index\": 0, \"type\": \"invoke\", \"f\": \"r\"", Some("jsonl"), Some("jepsen-json"));
    check("{\"process\": 0, \"type\": \"invoke\"}", None, Some("jepsen-json"));
    check("{\"process\": 0, \"op\": \"a\", \"type\": \"mine\"}", None, Some("jsonl"));
    check("process,op,arg,ret,call,return\n1,", Some("txt"), Some("csv"));
    check("\"op\";\"process\";\"event\"", None, Some("csv"));
    // The error says what is missing.
    check("op,call,return\n", None, Some("csv"));
    check("op,begin,end\n", None, None);
    check("[0 :invok :read nil]", None, Some("jepsen"));
    check("0 :invoke :read nil\n", None, Some("jepsen-log"));
    check("{\"resourceLogs\": []}", None, Some("otlp"));
    check("{\"ClientId\":1,\"Input\":{", Some("json"), Some("etcd"));
    check("{\n \"resourceSpans\": [", Some("json"), Some("otlp"));
    check("<?xml version=\"1.0\"?>", None, Some("observations"));
    check("Line-Up encountered a non-linearizable history:\n<thread id=\"A\">", None, Some("observations"));
}

#[test]
fn for_an_empty_file_the_name_decides() {
    check("", None, None);
    check("", Some("edn"), Some("jepsen"));
    check("", Some("jsonl"), Some("jsonl"));
    check("; nothing", Some("edn"), Some("jepsen"));
    check("hello", None, None);
    check("hello", Some("doc"), None);
}

#[test]
fn formats_are_found_by_name_and_sorted_by_it() {
    let names: Vec<&str> = FORMATS.iter().map(|it| it.name()).collect();
    assert!(names.is_sorted(), "{names:?}");
    for name in names {
        assert_eq!(find(name).map(|it| it.name()), Some(name));
    }
    assert!(find("json").is_none());
}

#[test]
fn the_extension_before_that_of_a_compression_counts() {
    assert_eq!(extension_of("a/history.edn.gz"), Some("edn"));
    assert_eq!(extension_of("a.b/history.zst"), None);
    assert_eq!(extension_of("history.tar.jsonl"), Some("jsonl"));
    assert_eq!(extension_of("history"), None);
}
