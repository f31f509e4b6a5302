//! Recordings of other tools, as they are.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clewline_formats::formats;

use crate::run::{BAD, Folder, GOOD, clewline};

pub(crate) fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text.as_ref()).expect("memory");
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
fn a_pattern_of_compressed_files_is_one_history() {
    let folder = Folder::new("compressed-pattern");
    for (number, line) in BAD.lines().enumerate() {
        std::fs::write(folder.path(&format!("{number}.jsonl.gz")), gzip(line)).expect("a file");
    }
    let ran = clewline(&folder, &["check", "*.gz", "--spec", "queue"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    // One of them is not compressed, and one is cut off.
    let folder = folder.with("0.jsonl.gz", BAD.lines().next().expect("a line"));
    assert_eq!(clewline(&folder, &["check", "*.gz", "--spec", "queue"], "").code, 1);
    std::fs::write(folder.path("0.jsonl.gz"), &gzip(BAD)[..30]).expect("a file");
    let ran = clewline(&folder, &["check", "*.gz", "--spec", "queue"], "");
    assert!(
        ran.code == 2 && ran.stderr.contains("0.jsonl.gz: ") && ran.stderr.contains("as gzip"),
        "{ran:?}"
    );
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

#[test]
fn clocks_of_several_files_may_differ_as_well() {
    let line = |process: u32, rest: &str| format!("{{\"process\": {process}, {rest}}}\n");
    let folder = Folder::new("skew-files")
        .with("a.jsonl", &line(1, r#""op": "write", "arg": 1, "call": 0, "return": 10"#))
        .with("b.jsonl", &line(2, r#""op": "read", "ret": null, "call": 12, "return": 20"#));
    let check =
        |skew: &str| clewline(&folder, &["check", "*.jsonl", "--spec", "register", "--skew", skew], "").code;
    assert_eq!([check("0"), check("1")], [1, 0]);
}

/// The order of a process is that of its own clock, however much clocks differ, and whatever
/// processes its operations are given to.
#[test]
fn sequential_consistency_keeps_the_order_of_a_process_whose_operations_overlap() {
    let rows = [("write", "1", "", 0, 10), ("write", "2", "", 11, 20), ("read", "", "1", 21, 30)];
    let mut csv = "process,op,arg,ret,call,return\n".to_owned();
    let (mut json, mut spans) = (String::new(), Vec::new());
    for (op, arg, ret, call, end) in rows {
        csv.push_str(&format!("p,{op},{arg},{ret},{call},{end}\n"));
        let member = |name: &str, value: &str| match value {
            "" => String::new(),
            value => format!(", \"{name}\": {value}"),
        };
        let (arg_member, ret_member) = (member("arg", arg), member("ret", ret));
        json.push_str(&format!(
            "{{\"process\": \"p\", \"op\": \"{op}\"{arg_member}{ret_member}, \"call\": {call}, \"return\": {end}}}\n"
        ));
        let attribute = |name: &str, value: &str| match value {
            "" => String::new(),
            value => format!(r#",{{"key":"clewline.{name}","value":{{"intValue":"{value}"}}}}"#),
        };
        spans.push(format!(
            r#"{{"name":"x","startTimeUnixNano":"{call}","endTimeUnixNano":"{end}","attributes":[{{"key":"clewline.process","value":{{"stringValue":"p"}}}},{{"key":"clewline.op","value":{{"stringValue":"{op}"}}}}{}{}]}}"#,
            attribute("arg", arg),
            attribute("ret", ret)
        ));
    }
    let otlp = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","));
    let folder = Folder::new("skew-sequential");
    for text in [csv, json, otlp] {
        let check = |text: &str, skew: &str, criterion: &str| {
            let args = ["check", "-", "--spec", "register", "--skew", skew, "--criterion", criterion];
            let ran = clewline(&folder, &args, text);
            assert!(ran.code < 2, "{ran:?}");
            ran.code
        };
        assert_eq!(check(&text, "0", "sequential"), 1, "{text}");
        assert_eq!((check(&text, "20", "linearizable"), check(&text, "20", "sequential")), (0, 1), "{text}");
        // Another process may read 1 at any time.
        let other = text.replacen("p,read", "q,read", 1).replacen(
            "\"p\", \"op\": \"read\"",
            "\"q\", \"op\": \"read\"",
            1,
        );
        if other != text {
            assert_eq!(check(&other, "20", "sequential"), 0, "{other}");
        }
    }
    // Two at a time, of one process: the third was called after both had returned.
    let overlapping = "process,op,arg,ret,call,return\np,write,1,,0,10\np,write,2,,5,15\np,write,3,,16,20\np,read,,2,21,30\n";
    let args = ["check", "-", "--spec", "register", "--criterion", "sequential"];
    assert_eq!(clewline(&folder, &args, overlapping).code, 1);
    assert_eq!(clewline(&folder, &args, overlapping.replace(",2,21", ",3,21")).code, 0);
}

/// A process goes on from an operation of unknown outcome, also where an initial state is given.
#[test]
fn an_initial_state_goes_with_operations_of_unknown_outcome() {
    let folder = Folder::new("initial-info");
    let events = |ret: i64| {
        format!(
            r#"{{"event": "call", "process": 1, "op": "write", "arg": 1}}
{{"event": "info", "process": 1}}
{{"event": "call", "process": 1, "op": "read"}}
{{"event": "return", "process": 1, "ret": {ret}}}
"#
        )
    };
    let csv = |ret: i64| {
        format!("event,process,op,arg,ret\ncall,1,write,1,\ninfo,1,,,\ncall,1,read,,\nreturn,1,,,{ret}\n")
    };
    let jepsen = |ret: i64| {
        format!(
            "{{:process 1 :type :invoke :f :write :value 1}}\n{{:process 1 :type :info :f :write :value 1}}\n\
             {{:process 1 :type :invoke :f :read :value nil}}\n{{:process 1 :type :ok :f :read :value {ret}}}\n"
        )
    };
    for text in [&events as &dyn Fn(i64) -> String, &csv, &jepsen] {
        for (ret, code) in [(0, 0), (1, 0), (2, 1)] {
            let args = ["check", "-", "--spec", "register", "--initial", "0"];
            let ran = clewline(&folder, &args, text(ret));
            assert_eq!(ran.code, code, "{}: {ran:?}", text(ret));
        }
    }
}

/// A specification, an initial state, and an operation that is right in that state alone.
const STATES: &[(&str, &str, &str)] = &[
    ("register", "7", r#""op": "read", "ret": 7"#),
    ("register", "seven", r#""op": "read", "ret": "seven""#),
    ("cas-register", "[1, 2]", r#""op": "cas", "arg": [[1, 2], 3], "ret": true"#),
    ("counter", "-3", r#""op": "read", "ret": -3"#),
    ("map", r#"{"k": 1, "l": 2}"#, r#""op": "remove", "arg": "l", "ret": 2"#),
    ("set", "[1, 2]", r#""op": "remove", "arg": 2, "ret": true"#),
    ("queue", "[1, 2]", r#""op": "deq", "ret": 1"#),
    ("queue:2", "[1, 2]", r#""op": "enq", "arg": 3, "ret": false"#),
    ("stack", "[1, 2]", r#""op": "pop", "ret": 2"#),
    ("deque", "[1, 2]", r#""op": "pop-front", "ret": 1"#),
    ("priority-queue", "[1, 3, 2]", r#""op": "poll", "ret": 3"#),
    ("min-priority-queue", "[4, 3]", r#""op": "poll", "ret": 3"#),
    ("bag", "[1, 1]", r#""op": "take", "ret": 1"#),
    ("multiset", "[1, 1]", r#""op": "remove", "arg": 1, "ret": true"#),
    ("channel", "[5]", r#""op": "recv", "ret": 5"#),
    ("bank", r#"{"0": 5, "1": 3}"#, r#""op": "read", "ret": {"0": 5, "1": 3}"#),
    ("full-set", "[2, 1]", r#""op": "read", "ret": [1, 2]"#),
    ("quasi-queue:1", "[1, 2]", r#""op": "deq", "ret": 2"#),
    ("quasi-stack:1", "[1, 2]", r#""op": "pop", "ret": 1"#),
    ("quasi-priority-queue:1", "[1, 2]", r#""op": "poll", "ret": 1"#),
    ("quasi-min-priority-queue:1", "[1, 2]", r#""op": "poll", "ret": 2"#),
    ("semaphore:0", "1", r#""op": "acquire""#),
    ("mutex", "true", r#""op": "unlock""#),
];

#[test]
fn every_specification_takes_an_initial_state() {
    let is_tried = |name: &str| STATES.iter().any(|it| it.0.split(':').next() == Some(name));
    let missing: Vec<&str> = clewline_specs::CATALOG.names().filter(|it| !is_tried(it)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    let folder = Folder::new("initial");
    for (spec, state, operation) in STATES {
        let line =
            format!("{{\"process\": 1, \"object\": \"x\", {operation}, \"call\": 1, \"return\": 2}}\n");
        // Each object is in that state.
        let line =
            format!("{line}{}", line.replace("\"x\"", "\"y\"").replace("process\": 1", "process\": 2"));
        for algorithm in ["auto", "oracle"] {
            let check = |flags: &[&str], text: &str| {
                let args = [&["check", "-", "--spec", spec, "--algorithm", algorithm], flags].concat();
                clewline(&folder, &args, text)
            };
            let given = check(&["--initial", state], &line);
            assert_eq!(given.code, 0, "{spec} {algorithm}: {given:?}");
            assert!(given.stdout.contains(": 2 operations, "), "{spec}: {given:?}");
            let usual = check(&[], &line);
            assert_eq!(usual.code, 1, "{spec} {algorithm}: {usual:?}");
            if state.parse::<i64>().is_ok() || state.starts_with(['[', '{']) {
                let first = check(&[], &format!("{{\"initial\": {state}}}\n{line}"));
                assert_eq!(first.code, 0, "{spec} {algorithm}: {first:?}");
            }
        }
    }
}

#[test]
fn an_initial_state_is_in_the_counterexample_and_must_be_one_of_the_object() {
    let folder = Folder::new("initial-shown").with("state.json", r#"{"k": 1}"#);
    let line = r#"{"process": 1, "op": "get", "arg": "k", "ret": null, "call": 1, "return": 2}"#;
    let check = |spec: &str, state: &str| {
        clewline(&folder, &["check", "-", "--spec", spec, "--initial", state], line)
    };
    let ran = check("map", "@state.json");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("put(\"k\", 1)") && ran.stdout.contains("initial"), "{}", ran.stdout);
    assert!(ran.stdout.contains("line 1."), "{}", ran.stdout);
    let error = |spec: &str, state: &str| {
        let line = line.replace("\"get\", \"arg\": \"k\"", "\"deq\"");
        let ran = clewline(&folder, &["check", "-", "--spec", spec, "--initial", state], &line);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.stderr
    };
    assert!(error("counter", "x").contains("the initial state: expected an integer of 64 bits, found \"x\""));
    assert!(error("queue", "3").contains("the initial state: expected the list of its elements, found 3"));
    assert!(
        error("queue:1", "[1, 2]").contains("found one that it cannot reach"),
        "{}",
        error("queue:1", "[1, 2]")
    );
    assert!(error("map", "{").contains("the initial state: expected"));
}

/// Input in each format that is not understood, with what the error says: the line as it is, and
/// what would be understood.
const NOT_UNDERSTOOD: &[(&str, &str, &str)] = &[
    (
        "queue",
        "{\"process\": 1, \"op\": \"enq\", \"arg\": 1, \"call\": 1}\n{\"proces\": 2, \"op\": \"deq\", \"call\": 1}\n",
        "line 2, column 2: expected `process`, the caller, found `proces`
  2 | {\"proces\": 2, \"op\": \"deq\", \"call\": 1}
    |  ^
",
    ),
    (
        "queue",
        "[{\"process\": 1, \"op\": \"enq\", \"arg\": 1, \"call\": 1},\n{\"process\": 2, \"op\": \"deqeue\", \"call\": 2}]",
        "line 2: no operation is called `deqeue`; did you mean `dequeue`? (there are enq, deq, peek)
  2 | {\"process\": 2, \"op\": \"deqeue\", \"call\": 2}]
",
    ),
    (
        "queue",
        "{\"event\": \"call\", \"process\": 1, \"op\": \"deq\"}{\"event\": \"retrun\", \"process\": 1}",
        "line 1, column 55: expected `call`, `return`, `fail`, `info`, `crash`, `note`, `begin` or `end`, found `retrun`; did you mean `return`?
  1 | {\"event\": \"call\", \"process\": 1, \"op\": \"deq\"}{\"event\": \"retrun\", \"process\": 1}
    |                                                       ^
",
    ),
    (
        "register",
        "0\t:invoke\t:raed\tnil\n",
        "line 1: no operation is called `raed`; did you mean `read`? (there are read, write)
  1 | 0\\t:invoke\\t:raed\\tnil
",
    ),
    (
        "register",
        "0 :invoke :read nil\n",
        "line 1: expected an operation with tabs between its process, type, name and value, found `0 :invoke :read nil`: 1 of 1 lines are not understood, and 1 in 20 may be
",
    ),
    (
        "full-set",
        "{:process 0, :type :invok, :f :add, :value 1}\n",
        "line 1, column 20: expected `:invoke`, `:ok`, `:fail` or `:info`, found `:invok`; did you mean `:invoke`?
  1 | {:process 0, :type :invok, :f :add, :value 1}
    |                    ^
",
    ),
    (
        "mutex",
        "[[0 :invoke :acquire nil]\n [0 :okay :acquire nil]]\n",
        "line 2, column 2: expected an event [process type f value], its type `:invoke`, `:ok`, `:fail` or `:info`, found [0, :okay, :acquire, null]
  2 |  [0 :okay :acquire nil]]
    |  ^
",
    ),
    (
        "counter",
        "[{\"process\": 0, \"type\": \"invoke\", \"f\": \"ad\", \"value\": 1}]",
        "line 1: no operation is called `ad`; did you mean `add`? (there are inc, dec, add, read)
  1 | [{\"process\": 0, \"type\": \"invoke\", \"f\": \"ad\", \"value\": 1}]
",
    ),
    (
        "map",
        "{\"ClientId\": 9, \"Input\": {\"Type\": \"rang\"}, \"Call\": 12}",
        "line 1: expected the type range, txn, leaseGrant, leaseRevoke, defragment, compact, found `rang`; did you mean `range`?
  1 | {\"ClientId\": 9, \"Input\": {\"Type\": \"rang\"}, \"Call\": 12}
",
    ),
    (
        "queue",
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":\"x\",\"attributes\":[{\"key\":\"clewline.ops\"}]}]}]}]}",
        "line 1: expected an operation, found only the span x: no attribute is called `clewline.op`; did you mean `clewline.ops`? (there are clewline.ops)
  1 | {\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":\"x\",\"attributes\":[{\"key\":\"clewline.ops\"}]}]}]}]}
",
    ),
    (
        "queue",
        "proces,op,call,return\n1,enq,1,2\n",
        "line 1: no column is called `process`; did you mean `proces`? (there are proces, op, call, return)
  1 | proces,op,call,return
",
    ),
    (
        "stack",
        "process,op,call,return\n1,enq,1,2\n",
        "line 2: no operation is called `enq` (there are push, pop, peek)
  2 | 1,enq,1,2
",
    ),
];

#[test]
fn an_error_shows_the_line_and_what_would_be_understood() {
    let folder = Folder::new("not-understood");
    for (spec, text, expected) in NOT_UNDERSTOOD {
        fs::write(folder.path("plain"), text).expect("a file");
        fs::write(folder.path("packed"), gzip(text)).expect("a file");
        for (name, shown) in [("plain", "plain"), ("packed", "packed"), ("-", "standard input")] {
            let ran = clewline(&folder, &["check", name, "--spec", spec], text);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
            assert_eq!(ran.stderr, format!("error: {shown}: {expected}"));
        }
    }
    let (_, text, expected) = NOT_UNDERSTOOD[0];
    for (name, shown) in [("packed", "packed"), ("-", "standard input")] {
        fs::write(folder.path("packed"), gzip(text)).expect("a file");
        let ran = clewline(&folder, &["convert", name, "out.jsonl"], text);
        assert_eq!((ran.code, ran.stderr), (2, format!("error: {shown}: {expected}")));
    }
    // Several files are read in another way.
    fs::write(folder.path("plain"), text).expect("a file");
    let ran = clewline(&folder, &["check", "plai?", "--spec", "queue"], "");
    assert_eq!((ran.code, ran.stderr), (2, format!("error: plain: {expected}")));
}

/// The recordings of other tools: the folder is the specification, and the name begins with the
/// verdict.
fn recordings() -> Vec<(PathBuf, String, i32)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/recordings");
    let list = |folder: &Path| -> Vec<PathBuf> {
        let mut all: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path()).collect();
        all.sort();
        all
    };
    let name = |it: &Path| it.file_name().expect("a name").to_string_lossy().into_owned();
    let each = |folder: PathBuf| {
        let spec = name(&folder).replace('@', ":");
        let code = |it: &Path| i32::from(name(it).starts_with("violated-"));
        list(&folder).into_iter().map(move |it| (it.clone(), spec.clone(), code(&it)))
    };
    list(&root).into_iter().flat_map(each).collect()
}

/// From a file, from standard input, and compressed in each way.
#[test]
fn recordings_of_other_tools_have_their_verdicts() {
    type Compress = fn(&[u8]) -> Vec<u8>;
    let zstd: Compress =
        |it| ruzstd::encoding::compress_to_vec(it, ruzstd::encoding::CompressionLevel::Fastest);
    let bzip2: Compress = |it| {
        let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        writer.write_all(it).expect("memory");
        writer.finish().expect("memory")
    };
    let compressions: [Compress; 3] = [|it| gzip(it), zstd, bzip2];
    let folder = Folder::new("recordings");
    let mut formats = BTreeSet::new();
    let (mut held, mut violated) = (0, 0);
    for (at, (file, spec, code)) in recordings().into_iter().enumerate() {
        let contents = fs::read(&file).expect("a file");
        let initial: &[&str] = if spec == "bank:0" { &["--initial", r#"{"0": 50, "1": 50}"#] } else { &[] };
        let check = |name: &str, input: &[u8]| {
            let args = [&["check", name, "--spec", &spec, "--format", "json"], initial].concat();
            let ran = clewline(&folder, &args, input);
            assert_eq!(ran.code, code, "{} as {name}: {ran:?}", file.display());
        };
        check(file.to_str().expect("a text"), b"");
        check("-", &contents);
        // Without an extension, and with another compression for each.
        let compressed = compressions[at % compressions.len()](&contents);
        fs::write(folder.path("packed"), &compressed).expect("a file");
        check("packed", b"");
        check("-", &compressed);
        formats.extend(formats::detect(&contents, None).map(|it| it.name()));
        (held, violated) = (held + 1 - code, violated + code);
    }
    assert_eq!(held, violated, "each that holds has a violated sibling");
    let expected = ["csv", "etcd", "jepsen", "jepsen-json", "jepsen-log", "jsonl", "otlp", "otlp-proto"];
    assert_eq!(formats.into_iter().collect::<Vec<_>>(), expected);
}

/// The collector compresses each message by itself.
#[test]
fn messages_that_were_compressed_one_by_one_are_read() {
    let zstd = |it: &[u8]| ruzstd::encoding::compress_to_vec(it, ruzstd::encoding::CompressionLevel::Fastest);
    let framed = |it: &[u8]| [&u32::try_from(it.len()).expect("short").to_be_bytes()[..], it].concat();
    let folder = Folder::new("compressed-messages");
    for (file, spec, code) in
        recordings().into_iter().filter(|it| it.0.to_string_lossy().contains("-traces."))
    {
        let contents = fs::read(&file).expect("a file");
        let mut messages = Vec::new();
        if file.extension().is_some_and(|it| it == "json") {
            messages.extend(contents.split_inclusive(|it| *it == b'\n').map(|it| it.trim_ascii().to_vec()));
        } else {
            let mut rest = &contents[..];
            while let Some((length, after)) = rest.split_first_chunk() {
                let (message, after) = after.split_at(u32::from_be_bytes(*length) as usize);
                messages.push(message.to_vec());
                rest = after;
            }
        }
        assert_eq!(messages.len(), 3);
        let packed: Vec<u8> = messages.iter().flat_map(|it| framed(&zstd(it))).collect();
        fs::write(folder.path("packed"), &packed).expect("a file");
        assert_eq!(clewline(&folder, &["check", "packed", "--spec", &spec], "").code, code);
        assert_eq!(clewline(&folder, &["check", "-", "--spec", &spec], &packed).code, code);
        fs::write(folder.path("packed"), &packed[..packed.len() - 3]).expect("a file");
        let ran = clewline(&folder, &["check", "packed", "--spec", &spec], "");
        assert!(ran.code == 2 && ran.stderr.contains("as messages in zstd"), "{ran:?}");
    }
}
