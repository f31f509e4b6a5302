//! `clewline generate`.

use clewline_core::{Datum, GeneratorConfig};
use clewline_specs::{CATALOG, find};
use clewline_testing::pick;

use crate::run::{Folder, clewline};

#[test]
fn generated_histories_hold_for_every_specification() {
    let folder = Folder::new("generate-all");
    for entry in &CATALOG {
        for more in [
            &[][..],
            &["--values", "distinct"],
            &["--values", "shuffled"],
            &["--pending", "0.1", "--objects", "3"],
        ] {
            let args =
                [&["generate", "--spec", entry.name, "--operations", "60", "--seed", "7"], more].concat();
            let made = clewline(&folder, &args, "");
            assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{args:?}");
            let judged = clewline(&folder, &["check", "-", "--spec", entry.name], &made.stdout);
            assert_eq!(judged.code, 0, "{args:?}: {judged:?}");
        }
    }
}

#[test]
fn a_planted_violation_is_found_for_every_specification() {
    let folder = Folder::new("plant-all");
    for entry in &CATALOG {
        let drawn = find(entry.name).unwrap().generate(&GeneratorConfig::default());
        let results = || drawn.history.operations().filter_map(|it| it.ret.copied());
        let has_results = results().any(|it| !it.is_absent());
        let has_objects = results().any(|it| matches!(drawn.values.get(it), Datum::Other(_)));
        // A lock has no results, so no result can be wrong; but an unlock can be missing, if all
        // are needed.
        let (spec, kind) = match (has_results, entry.parameter) {
            (true, _) if has_objects => (entry.name.to_owned(), "swap"),
            (true, _) => (entry.name.to_owned(), "invented"),
            (false, Some(_)) => (format!("{}:0", entry.name), "lost"),
            (false, None) => (entry.name.to_owned(), "lost"),
        };
        let args = ["generate", "--spec", &spec, "--operations", "60", "--violate", kind];
        let made = clewline(&folder, &args, "");
        assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{args:?}");
        let judged = clewline(&folder, &["check", "-", "--spec", &spec], &made.stdout);
        assert_eq!(judged.code, 1, "{args:?}: {judged:?}");
    }
}

#[test]
fn every_kind_of_violation_can_be_planted() {
    let folder = Folder::new("plant-kinds");
    for spec in ["queue", "map", "stack", "cas-register"].into_iter().take(pick(2, 4)) {
        for kind in ["swap", "stale", "lost", "duplicate", "invented"] {
            let args = ["generate", "--spec", spec, "--operations", "120", "--keys", "3", "--violate", kind];
            let made = clewline(&folder, &args, "");
            assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{args:?}");
            assert_eq!(clewline(&folder, &args, "").stdout, made.stdout, "one seed, one history");
            let judged = clewline(&folder, &["check", "-", "--spec", spec], &made.stdout);
            assert_eq!(judged.code, 1, "{args:?}: {judged:?}");
        }
    }
}

#[test]
fn a_violation_that_does_not_fit_is_an_error() {
    let folder = Folder::new("plant-none");
    let ran = clewline(&folder, &["generate", "--spec", "mutex", "--violate", "swap"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: no violation of kind `swap` fits"), "{}", ran.stderr);
}

#[test]
fn the_mix_is_respected() {
    let folder = Folder::new("mix");
    let args = ["generate", "--spec", "queue", "--operations", "50", "--mix", "enq=1,deq=0"];
    let made = clewline(&folder, &args, "");
    assert_eq!(made.stdout.lines().filter(|it| it.contains("\"enq\"")).count(), 50);
}

#[test]
fn invalid_arguments_say_what_was_expected() {
    let folder = Folder::new("generate-usage");
    for (more, expected) in [
        (["--mix", "push=1"], "--mix: queue: no operation is called `push` (there are enq, deq, peek)"),
        (["--mix", "enq"], "expected METHOD=WEIGHT, for example enq=3; found `enq`"),
        (["--mix", "enq=0"], "--mix: expected at least one weight above 0"),
        (["--overlap", "2"], "expected a number from 0 to 1; found `2`"),
        (["--values", "0"], "expected `distinct`, `shuffled` or a number of at least 1; found `0`"),
        (["--processes", "0"], "expected a number of at least 1; found `0`"),
        (["--violate", "typo"], "expected one of swap, stale, lost, duplicate, invented; found `typo`"),
        (["--output-format", "xml"], "--output-format: no format is called `xml` (there are"),
        (["-o", "out.xyz"], "unknown file extension `.xyz`: choose a format with --output-format"),
    ] {
        let ran = clewline(&folder, &[&["generate", "--spec", "queue"][..], &more].concat(), "");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{more:?}");
        assert!(ran.stderr.contains(expected), "expected `{expected}` in:\n{}", ran.stderr);
    }
}

#[test]
fn a_file_is_written_when_named() {
    let folder = Folder::new("generate-file");
    let ran = clewline(&folder, &["generate", "--spec", "set", "-o", "made.jsonl"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(folder.read("made.jsonl").lines().count(), 100);
}
