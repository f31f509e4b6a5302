//! Parquet and Arrow files: what is written is read again; other tables of the schema are read;
//! what does not fit is named.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{collections::HashMap, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, ListArray,
    RecordBatch, StringArray, TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
    types::{Int32Type, Int64Type},
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema};
use clewline_core::{GeneratorConfig, Recording};
use clewline_formats::{Format, ReadOptions, formats};
use clewline_specs::CATALOG;
use clewline_testing::pick_of_three;
use parquet::{arrow::ArrowWriter, file::properties::WriterProperties};

fn format(name: &str) -> &'static dyn Format {
    *clewline_columns::FORMATS.iter().find(|it| it.name() == name).unwrap()
}

fn jsonl(recording: &Recording) -> String {
    let mut text = Vec::new();
    formats::jsonl::ENTRY.write(recording, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn from_jsonl(text: &str) -> Recording {
    formats::jsonl::ENTRY.read(&mut text.as_bytes(), &ReadOptions::default()).unwrap()
}

fn read(name: &str, bytes: &[u8]) -> Result<Recording, String> {
    formats::read(format(name), &mut &*bytes, &ReadOptions::default()).map_err(|it| it.to_string())
}

#[test]
fn order_hints_are_a_column() {
    let line = |call: i64, order: &str| {
        format!("{{\"process\": 0, \"op\": \"a\", \"call\": {call}, \"return\": {call}{order}}}\n")
    };
    let text = line(1, ", \"order\": 9") + &line(2, "") + &line(3, ", \"order\": -2");
    for name in ["parquet", "arrow"] {
        let mut bytes = Vec::new();
        format(name).write(&from_jsonl(&text), &mut bytes).unwrap();
        assert_eq!(read(name, &bytes).unwrap().names.orders, Some(vec![Some(9), None, Some(-2)]));
    }
}

/// Every specification's histories, of several objects, are the same after both formats.
#[test]
fn what_is_written_is_read_again() {
    for entry in CATALOG.built_in() {
        let spec = clewline_specs::find(entry.name).unwrap();
        for seed in 0..4 {
            let plan = GeneratorConfig {
                operations: 60,
                objects: 1 + seed as usize % 3,
                seed,
                ..GeneratorConfig::default()
            };
            let text = jsonl(&spec.generate(&plan));
            for name in ["parquet", "arrow"] {
                let mut bytes = Vec::new();
                format(name).write(&from_jsonl(&text), &mut bytes).unwrap();
                assert!(format(name).recognises(&bytes));
                assert_eq!(jsonl(&read(name, &bytes).unwrap()), text, "{} {name} {seed}", entry.name);
            }
        }
    }
}

/// More names than those whose numbers are remembered, in turn.
#[test]
fn many_processes_and_objects_take_turns() {
    let line = |it: usize| {
        let (process, object, call) = (it % 700, it % 600, 2 * it);
        let end = call + 1;
        format!(
            "{{\"process\": {process}, \"op\": \"a\", \"object\": {object}, \"ret\": null, \"call\": {call}, \"return\": {end}}}\n"
        )
    };
    let text: String = (0..2_100).map(line).collect();
    for name in ["parquet", "arrow"] {
        let mut bytes = Vec::new();
        format(name).write(&from_jsonl(&text), &mut bytes).unwrap();
        assert_eq!(jsonl(&read(name, &bytes).unwrap()), text, "{name}");
    }
}

/// Absent and null results, nested and mixed values, ids and names of both kinds.
#[test]
fn values_of_all_kinds_are_kept() {
    let text = r#"{"process": 0, "op": "a", "arg": [1, "x", [true, null]], "object": "o", "id": "one", "ret": null, "call": 0, "return": 1}
{"process": "p", "op": "b", "arg": null, "object": "o", "id": "two", "call": 2, "return": 3}
{"process": 0, "op": "c", "object": "o", "id": "three", "ret": {"b":1,"a":2}, "call": 4, "return": 5}
{"process": 0, "op": "d", "arg": 1.5, "object": "o", "id": "four", "call": 6}
"#;
    let recording = from_jsonl(&text.replace("\"process\": 0", "\"process\": \"q\""));
    for name in ["parquet", "arrow"] {
        let mut bytes = Vec::new();
        format(name).write(&recording, &mut bytes).unwrap();
        assert_eq!(jsonl(&read(name, &bytes).unwrap()), jsonl(&recording), "{name}");
    }
    let events = from_jsonl(
        "{\"event\":\"call\",\"process\":0,\"op\":\"x\"}\n{\"event\":\"info\",\"process\":0}\n{\"event\":\"call\",\"process\":0,\"op\":\"x\"}\n",
    );
    let error = format("parquet").write(&events, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("continues after an operation of unknown outcome"), "{error}");
}

type Columns = Vec<(&'static str, ArrayRef)>;

fn columns() -> Columns {
    vec![
        ("process", Arc::new(Int32Array::from(vec![0, 1, 0]))),
        ("op", Arc::new(vec!["put", "get", "put"].into_iter().collect::<DictionaryArray<Int32Type>>())),
        ("call", Arc::new(TimestampMicrosecondArray::from(vec![10, 20, 30]))),
        ("return", Arc::new(TimestampMicrosecondArray::from(vec![Some(11), Some(21), None]))),
        ("key", Arc::new(StringArray::from(vec!["x", "x", "y"]))),
        ("arg", Arc::new(Int64Array::from(vec![Some(7), None, Some(8)]))),
        ("ret", Arc::new(Int64Array::from(vec![None, Some(7), None]))),
        ("object", Arc::new(UInt64Array::from(vec![3, 3, 3]))),
        ("comment", Arc::new(Float64Array::from(vec![0.5; 3]))),
    ]
}

fn batch(columns: Columns) -> RecordBatch {
    let field = |(name, array): &(&str, ArrayRef)| {
        let field = Field::new(*name, array.data_type().clone(), true);
        let about = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.json".to_owned())]);
        if name.ends_with('!') {
            field.with_name(name.trim_end_matches('!')).with_metadata(about)
        } else {
            field
        }
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|it| it.1).collect()).unwrap()
}

/// The batch in each notation; Parquet in groups of two rows.
fn written(batch: &RecordBatch) -> Vec<(&'static str, Vec<u8>)> {
    let settings = WriterProperties::builder().set_max_row_group_row_count(Some(2)).build();
    let mut parquet = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(settings)).unwrap();
    parquet.write(batch).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(batch).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(batch).unwrap();
    vec![
        ("parquet", parquet.into_inner().unwrap()),
        ("arrow", file.into_inner().unwrap()),
        ("arrow", stream.into_inner().unwrap()),
    ]
}

#[test]
fn tables_of_others_are_read() {
    for (name, bytes) in written(&batch(columns())) {
        let text = jsonl(&read(name, &bytes).unwrap());
        assert_eq!(
            text,
            r#"{"process": 0, "op": "put", "arg": ["x", 7], "object": 3, "ret": null, "call": 0, "return": 1}
{"process": 1, "op": "get", "arg": "x", "object": 3, "ret": 7, "call": 2, "return": 3}
{"process": 0, "op": "put", "arg": ["y", 8], "object": 3, "call": 4}
"#
        );
    }
    // Batches in memory are read alike, also if there are several.
    let whole = batch(columns());
    let halves = [whole.slice(0, 1), whole.slice(1, 2)].map(Ok);
    let from_memory = clewline_columns::read_batches(halves, &ReadOptions::default()).unwrap();
    let (_, bytes) = written(&whole).remove(0);
    assert_eq!(jsonl(&from_memory), jsonl(&read("parquet", &bytes).unwrap()));
    let without = whole.project(&[0, 1]).unwrap();
    let error = clewline_columns::read_batches([Ok(without)], &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("expected a column `call`"), "{error}");
    let mut lists = columns();
    lists.retain(|it| !["arg", "key", "object", "ret"].contains(&it.0));
    let items = vec![Some(vec![Some(1), None]), None, Some(vec![])];
    lists.push(("arg", Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(items))));
    lists.push(("ret!", Arc::new(StringArray::from(vec![Some("null"), Some("[true, \"x\"]"), None]))));
    for (name, bytes) in written(&batch(lists)) {
        let text = jsonl(&read(name, &bytes).unwrap());
        assert_eq!(
            text,
            r#"{"process": 0, "op": "put", "arg": [1, null], "ret": null, "call": 0, "return": 1}
{"process": 1, "op": "get", "ret": [true, "x"], "call": 2, "return": 3}
{"process": 0, "op": "put", "arg": [], "call": 4}
"#
        );
    }
}

/// Numbers in texts of JSON are those that JSON lines have.
#[test]
fn numbers_in_json_are_read_as_in_lines() {
    let lines = |text: &str| {
        let line = format!(r#"{{"process": 0, "op": "get", "ret": {text}, "call": 0, "return": 1}}"#);
        let read = formats::find("jsonl").unwrap().read(&mut line.as_bytes(), &ReadOptions::default());
        read.map(|it| jsonl(&it)).ok()
    };
    let texts = ["0", "7", "00", "01", "-5", "-0", "1a", "+1", " 3 ", "", "null", "999999999999999999"];
    let long = ["1000000000000000000", "9223372036854775807", "9223372036854775808", "1e2", "10.0"];
    for text in texts.into_iter().chain(long) {
        let columns: Columns = vec![
            ("process", Arc::new(Int32Array::from(vec![0]))),
            ("op", Arc::new(StringArray::from(vec!["get"]))),
            ("call", Arc::new(Int64Array::from(vec![0]))),
            ("return", Arc::new(Int64Array::from(vec![1]))),
            ("ret!", Arc::new(StringArray::from(vec![text]))),
        ];
        for (name, bytes) in written(&batch(columns)) {
            assert_eq!(read(name, &bytes).ok().map(|it| jsonl(&it)), lines(text), "{name}: {text:?}");
        }
    }
}

/// Each unit of timestamps is one of nanoseconds: they are compared with each other.
#[test]
fn timestamps_of_all_units_are_compared() {
    let rows = |columns: &mut Columns, called: ArrayRef, returned: ArrayRef| {
        columns.retain(|it| !matches!(it.0, "call" | "return" | "process"));
        columns.push(("process", Arc::new(Int32Array::from(vec![0; 3]))));
        columns.extend([("call", called), ("return", returned)]);
    };
    let mut mixed = columns();
    let returned = TimestampMicrosecondArray::from(vec![Some(1_500_000), Some(2_000_500), None]);
    rows(&mut mixed, Arc::new(TimestampSecondArray::from(vec![1, 2, 3])), Arc::new(returned));
    for (name, bytes) in written(&batch(mixed)) {
        let text = jsonl(&read(name, &bytes).unwrap());
        let times = |it: &str| it.split_once("\"call\"").map(|it| it.1.to_owned()).unwrap();
        assert_eq!(
            text.lines().map(times).collect::<Vec<_>>(),
            [": 0, \"return\": 1}", ": 2, \"return\": 3}", ": 4}"]
        );
    }
    let mut both = columns();
    let returned = Int64Array::from(vec![Some(11), Some(21), None]);
    rows(&mut both, Arc::new(TimestampSecondArray::from(vec![1, 2, 3])), Arc::new(returned));
    for (name, bytes) in written(&batch(both)) {
        let error = read(name, &bytes).map(|_| ()).unwrap_err();
        assert!(error.contains("column `return`") && error.contains("found both"), "{error}");
    }
    let mut late = columns();
    let returned = TimestampSecondArray::from(vec![None; 3]);
    rows(&mut late, Arc::new(TimestampSecondArray::from(vec![1, 2, i64::MAX / 1000])), Arc::new(returned));
    let error = read("arrow", &written(&batch(late))[1].1).map(|_| ()).unwrap_err();
    assert!(error.contains("column `call`") && error.contains("nanoseconds"), "{error}");
}

#[test]
fn what_does_not_fit_is_named() {
    let check = |name: &'static str, array: Option<ArrayRef>, expected: &str| {
        let mut columns = columns();
        columns.retain(|it| it.0 != name.trim_end_matches('!'));
        columns.extend(array.map(|it| (name, it)));
        for (format, bytes) in written(&batch(columns)) {
            let error = read(format, &bytes).unwrap_err();
            assert!(error.contains(expected), "{format}: {error}");
        }
    };
    check("process", None, "expected a column `process`, found only op, call");
    check(
        "arg",
        Some(Arc::new(Float64Array::from(vec![1.5; 3]))),
        "line 1: column `arg`, row group 0: expected booleans, integers, texts",
    );
    check(
        "call",
        Some(Arc::new(StringArray::from(vec!["1"; 3]))),
        "column `call`, row group 0: expected integers or timestamps, found Utf8",
    );
    check(
        "op",
        Some(Arc::new(Int64Array::from(vec![1; 3]))),
        "column `op`, row group 0: expected texts, found Int64",
    );
    check(
        "op",
        Some(Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]))),
        "line 2: column `op`, row group 0: expected a value, found null",
    );
    check(
        "arg",
        Some(Arc::new(UInt64Array::from(vec![1, u64::MAX, 1]))),
        "line 2: column `arg`, row group 0: expected an integer of 64 bits",
    );
    check(
        "arg!",
        Some(Arc::new(StringArray::from(vec!["1", "{", "2"]))),
        "line 2: column `arg`, row group 0: expected JSON",
    );
    check(
        "ret",
        Some(Arc::new(BooleanArray::from(vec![Some(true), Some(true), Some(true)]))),
        "expected a time of the return, where there is a result",
    );
    check(
        "id",
        Some(Arc::new(Int64Array::from(vec![5, 6, 5]))),
        "line 3: column `id`: it is the id of row 1, too",
    );
    check(
        "return",
        Some(Arc::new(TimestampMicrosecondArray::from(vec![40, 41, 42]))),
        "a process calls while its previous operation is still open (row 1)",
    );
    // The third row is in the second group.
    let mut late = columns();
    late.retain(|it| it.0 != "op");
    late.push(("op", Arc::new(StringArray::from(vec![Some("a"), Some("a"), None]))));
    let error = read("parquet", &written(&batch(late))[0].1).unwrap_err();
    assert!(error.contains("line 3: column `op`, row group 1: expected a value"), "{error}");
}

/// Damaged files are errors.
#[test]
fn damaged_files_are_refused() {
    for (name, bytes) in written(&batch(columns())) {
        for cut in (0..bytes.len()).step_by(23) {
            assert!(!matches!(read(name, &bytes[..cut]), Ok(it) if it.history.len() > 3), "{name} {cut}");
        }
        for at in (0..bytes.len()).step_by(19) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            // It is read, or refused: nothing else happens.
            drop(read(name, &damaged));
        }
    }
}

/// The columns with one replaced, or left out.
fn with(name: &'static str, array: Option<ArrayRef>) -> RecordBatch {
    let mut columns = columns();
    columns.retain(|it| it.0 != name.trim_end_matches('!'));
    columns.extend(array.map(|it| (name, it)));
    batch(columns)
}

/// The tables in `fuzz/corpus`; those that are refused are called `bad-…`.
fn seeds() -> Vec<(&'static str, RecordBatch)> {
    let ints = |ints: [i64; 3]| -> Option<ArrayRef> { Some(Arc::new(Int64Array::from(ints.to_vec()))) };
    let texts = |texts: [&str; 3]| -> Option<ArrayRef> { Some(Arc::new(StringArray::from(texts.to_vec()))) };
    let lists = vec![Some(vec![Some(1), None]), None, Some(vec![])];
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists));
    // Three processes, none of which returns.
    let mut pending = columns();
    pending.retain(|it| !["process", "return", "ret"].contains(&it.0));
    pending.push(("process", Arc::new(Int32Array::from(vec![0, 1, 2]))));
    vec![
        ("timestamps", batch(columns())),
        ("seconds", with("call", Some(Arc::new(TimestampSecondArray::from(vec![0, 0, 1]))))),
        ("ids", with("id", ints([7, 5, 6]))),
        ("texts-as-ids", with("id", texts(["a", "b", ""]))),
        ("json", with("arg!", texts(["1.5", "{\"a\": [null]}", "\"x\""]))),
        ("lists", with("arg", Some(lists))),
        ("truths", with("arg", Some(Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))))),
        ("no-returns", batch(pending)),
        ("no-objects", with("object", None)),
        ("no-rows", batch(columns()).slice(0, 0)),
        ("bad-no-op", with("op", None)),
        ("bad-op", with("op", ints([1, 2, 3]))),
        ("bad-both-kinds-of-times", with("return", ints([1, 2, 3]))),
        ("bad-json", with("arg!", texts(["1", "{", "2"]))),
        ("bad-same-id", with("id", ints([5, 6, 5]))),
    ]
}

/// The seeds of the fuzzer are read, or refused, and nothing that is like them makes a panic.
#[test]
fn seeds_and_mutations_of_them_never_panic() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut random = clewline_core::Random::new(27);
    for (place, format) in [(0, "parquet"), (1, "arrow")] {
        let (mut read_again, mut refused) = (0, 0);
        for (seed, batch) in seeds() {
            let path = corpus.join(format).join(seed);
            if std::env::var_os("CLEWLINE_BLESS").is_some() {
                std::fs::create_dir_all(corpus.join(format)).unwrap();
                std::fs::write(&path, &written(&batch)[place].1).unwrap();
            }
            let bytes = std::fs::read(&path).expect("CLEWLINE_BLESS=1 writes the files");
            let outcome = read(format, &bytes);
            let is_none = outcome.as_ref().err().is_some_and(|it| it.contains("expected an operation"));
            let is_good = outcome.is_ok() || seed == "no-rows" && is_none;
            assert_eq!(is_good, !seed.starts_with("bad-"), "{format}/{seed}: {:?}", outcome.err());
            for _ in 0..pick_of_three(60, 300, 3_000) {
                let mut mutated = bytes.clone();
                for _ in 0..=random.below(3) {
                    let at = random.below(mutated.len());
                    mutated[at] = random.below(256) as u8;
                }
                *if read(format, &mutated).is_ok() { &mut read_again } else { &mut refused } += 1;
            }
        }
        assert!(0 < read_again && 0 < refused, "{format}: {read_again} read, {refused} refused");
    }
}
