//! `clewline convert`.

use clewline_formats::formats::FORMATS;

use crate::run::{Folder, GOOD, clewline};

#[test]
fn a_round_trip_through_each_format_keeps_the_verdict() {
    let folder = Folder::new("convert-all");
    for (spec, violate) in
        [("cas-register", None), ("cas-register", Some("invented")), ("map", Some("invented"))]
    {
        let mut args = vec!["generate", "--spec", spec, "--operations", "40", "--mix"];
        args.push(if spec == "map" { "get=1,put=1" } else { "read=1,write=1" });
        args.extend(violate.iter().flat_map(|kind| ["--violate", kind]));
        let made = clewline(&folder, &args, "").stdout;
        for format in &FORMATS {
            let there =
                clewline(&folder, &["convert", "-", "there", "--output-format", format.name()], &made);
            if there.code != 0 {
                assert!(there.stderr.contains("cannot be written as"), "{}: {there:?}", format.name());
                continue;
            }
            let back = ["convert", "there", "-", "--input-format", format.name(), "--output-format", "jsonl"];
            let back = clewline(&folder, &back, "");
            assert_eq!(back.code, 0, "{}: {back:?}", format.name());
            let judge = |text: &str| clewline(&folder, &["check", "-", "--spec", spec], text).code;
            assert_eq!(judge(&back.stdout), judge(&made), "{} {spec}", format.name());
        }
    }
}

#[test]
fn jsonl_comes_back_as_it_was_written() {
    let folder = Folder::new("convert-jsonl").with("good.jsonl", GOOD);
    let ran = clewline(&folder, &["convert", "good.jsonl", "again.jsonl"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(clewline(&folder, &["convert", "again.jsonl", "-"], "").stdout, folder.read("again.jsonl"));
}

#[test]
fn errors_name_the_file() {
    let folder = Folder::new("convert-errors").with("bad.jsonl", "{\"process\": 0}\n");
    let ran = clewline(&folder, &["convert", "bad.jsonl", "out.jsonl"], "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: bad.jsonl: line 1"), "{}", ran.stderr);
    assert!(!folder.path("out.jsonl").exists(), "nothing is written of what cannot be read");
    let ran = clewline(&folder, &["convert", "nowhere.jsonl", "-"], "");
    assert!(ran.code == 2 && ran.stderr.starts_with("error: nowhere.jsonl: "), "{ran:?}");
}
