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
