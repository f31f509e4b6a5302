//! Several files that are one history, and histories in columns.

use std::fs;

use crate::run::{Folder, clewline};

/// A recording of a map, in three files by turns, and as one.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let plan = ["generate", "--spec", "map", "--operations", "300", "--keys", "20", "--seed", "3"];
    let whole = clewline(&folder, &plan, "").stdout;
    let mut bad: Vec<String> = whole.lines().map(str::to_owned).collect();
    let planted = bad.iter().rposition(|it| it.contains("\"get\"")).unwrap();
    let ret = bad[planted].find("\"ret\": ").unwrap() + 7;
    let end = ret + bad[planted][ret..].find(',').unwrap();
    bad[planted].replace_range(ret..end, "987654");
    let mut folder = folder.with("good.jsonl", &whole).with("bad.jsonl", &(bad.join("\n") + "\n"));
    for kind in ["good", "bad"] {
        fs::create_dir_all(folder.path(kind)).unwrap();
        let text = folder.read(&format!("{kind}.jsonl"));
        for part in 0..3 {
            let lines: String = text.lines().skip(part).step_by(3).map(|it| format!("{it}\n")).collect();
            folder = folder.with(&format!("{kind}/{part}.jsonl"), &lines);
        }
    }
    folder
}

#[test]
fn a_pattern_is_one_history() {
    let folder = folder("columns-pattern");
    for (kind, code) in [("good", 0), ("bad", 1)] {
        let one =
            clewline(&folder, &["check", &format!("{kind}.jsonl"), "--spec", "map", "--format", "json"], "");
        let pattern = format!("{kind}/*.jsonl");
        let many = clewline(&folder, &["check", &pattern, "--spec", "map", "--format", "json"], "");
        assert_eq!((one.code, many.code), (code, code), "{many:?}");
        let (one, many) = (one.json().remove(0), many.json().remove(0));
        for field in ["verdict", "operations", "objects", "algorithm"] {
            assert_eq!(one[field], many[field], "{field}");
        }
        assert_eq!(many["file"], pattern);
        if code == 1 {
            // An operation is named by its file and line there.
            let line = one["explanation"]["counterexample"][0].as_u64().unwrap();
            let expected = format!("bad/{}.jsonl:{}", line % 3, line / 3 + 1);
            assert_eq!(many["explanation"]["counterexample"][0], expected, "{many}");
        }
    }
    for index in ["0/2", "1/2"] {
        let journal = format!("{}.journal", &index[..1]);
        let args = ["check", "bad/*.jsonl", "--spec", "map", "--shard", index, "--journal", &journal];
        assert_eq!(clewline(&folder, &args, "").code, 0);
    }
    assert_eq!(clewline(&folder, &["merge", "0.journal", "1.journal"], "").code, 1);
    fs::write(folder.path("bad/3.jsonl"), folder.read("good/0.jsonl")).unwrap();
    let changed = clewline(&folder, &["merge", "0.journal", "1.journal"], "");
    assert!(changed.stderr.contains("bad/*.jsonl has changed since it was checked"), "{changed:?}");
}

#[test]
fn files_that_are_no_one_history_are_refused() {
    let folder = folder("columns-refused")
        .with("good/9.jsonl", "{\"event\":\"call\",\"process\":0,\"op\":\"get\",\"arg\":1}\n");
    let check = |args: &[&str], expected: &str| {
        let ran = clewline(&folder, &[&["check", "--spec", "map"], args].concat(), "");
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{ran:?}");
    };
    check(&["good/*.jsonl"], "good/9.jsonl: line 1: it has no times of all its operations");
    check(&["none/*.jsonl"], "none/*.jsonl: no file has a name like this");
    check(&["bad/*.jsonl", "--junit", "bad/1.jsonl"], "bad/1.jsonl: this file is an input");
    check(&["bad/*.jsonl", "--quasi", "all=1"], "--quasi: a pattern of several files is not supported");
    // Two operations of a process at a time, in two files.
    let one = "{\"process\":0,\"op\":\"get\",\"arg\":1,\"ret\":null,\"call\":0,\"return\":5}\n";
    let folder = Folder::new("columns-overlap")
        .with("1.jsonl", one)
        .with("2.jsonl", &one.replace("\"call\":0", "\"call\":3"));
    let ran = clewline(&folder, &["check", "?.jsonl", "--spec", "map"], "");
    assert!(
        ran.stderr.contains(
            "2.jsonl: line 1: a process calls while its previous operation is still open (1.jsonl, line 1)"
        ),
        "{ran:?}"
    );
}

/// A binary without these formats says which one has them.
#[cfg(not(feature = "columns"))]
#[test]
fn files_in_columns_need_another_binary() {
    let folder = Folder::new("columns-missing")
        .with("it.parquet", "PAR1")
        .with("it.arrow", "ARROW1")
        .with("it.jsonl", "{\"process\":0,\"op\":\"get\",\"arg\":1,\"call\":0}\n");
    for words in [
        &["check", "it.parquet", "--spec", "map"][..],
        &["check", "it.arrow", "--spec", "map"],
        &["convert", "it.jsonl", "new.parquet"],
    ] {
        let ran = clewline(&folder, words, "");
        assert!(ran.code == 2 && ran.stderr.contains("cargo build --release --features columns"), "{ran:?}");
    }
}

/// Parquet and Arrow files, alone and as one history, are checked as JSON lines are.
#[cfg(feature = "columns")]
#[test]
fn columns_are_checked_as_lines_are() {
    let folder = folder("columns-formats");
    for format in ["parquet", "arrow"] {
        for (kind, code) in [("good", 0), ("bad", 1)] {
            let file = format!("{kind}.{format}");
            let converted = clewline(&folder, &["convert", &format!("{kind}.jsonl"), &file], "");
            assert_eq!(converted.code, 0, "{converted:?}");
            let found = clewline(&folder, &["check", &file, "--spec", "map", "--format", "json"], "");
            assert_eq!(found.code, code, "{found:?}");
            let lines = clewline(
                &folder,
                &["check", &format!("{kind}.jsonl"), "--spec", "map", "--format", "json"],
                "",
            );
            assert_eq!(
                found.json()[0]["explanation"]["counterexample"],
                lines.json()[0]["explanation"]["counterexample"]
            );
            let back = clewline(&folder, &["convert", &file, "-", "--output-format", "jsonl"], "");
            let again = clewline(
                &folder,
                &["convert", &format!("{kind}.jsonl"), "-", "--output-format", "jsonl"],
                "",
            );
            assert_eq!(back.stdout, again.stdout);
        }
    }
    let damaged = folder.path("bad.parquet");
    let bytes = fs::read(&damaged).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    let ran = clewline(&folder, &["check", "bad.parquet", "--spec", "map"], "");
    assert!(ran.code == 2 && ran.stderr.contains("bad.parquet: line 1: no Parquet file"), "{ran:?}");
}
