//! Histories recorded by other projects, with their published verdicts. The files, if present, are
//! beside the checkout.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clewline_core::{Reason, Verdict};
use clewline_methods::Check;
use clewline_testing::pick;

/// Files of at most this number of operations are also checked by two searches in parallel.
const COMPETITION: usize = 500;

fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.is_dir() {
        eprintln!("skipped: there is no recorded data beside the checkout");
        return None;
    }
    Some(folder)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a folder that end so, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|it| it.expect("readable").path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == extension));
    files.sort();
    files
}

/// Checks a file, a small one also with other algorithms than `auto`; returns its number of
/// operations.
#[track_caller]
fn check_recorded(path: &Path, spec: &str, expected: &str) -> usize {
    let judge = |algorithm: &str| {
        let check = Check::new().jobs(2).algorithm(algorithm.parse().expect("there is such a one"));
        let report = check.file(path, spec).run().unwrap_or_else(|error| panic!("{error}"));
        // A monitor may not support a history, but its verdict must not differ.
        if algorithm != "monitor" || !matches!(report.verdict(), Verdict::Unknown(Reason::Refused(_))) {
            assert_eq!(report.verdict().word(), expected, "{} by {algorithm}", path.display());
        }
        if let Verdict::Violated(violation) = report.verdict() {
            assert!(!violation.counterexample.is_empty(), "{} by {algorithm}: no evidence", path.display());
        }
        report.operations()
    };
    let operations = judge("auto");
    if operations <= COMPETITION {
        judge("jit-tree+wg-graph");
        judge("monitor");
    }
    operations
}

#[test]
fn etcd_histories_have_the_published_verdicts() {
    let Some(data) = data() else { return };
    let table = read(&data.join("etcd/VERDICTS.csv"));
    // In `./test` one of eight.
    for row in table.lines().skip(1).step_by(pick(8, 1)) {
        let [file, operations, verdict] = row.split(',').collect::<Vec<_>>().try_into().unwrap();
        let found = check_recorded(&data.join("etcd").join(file), "cas-register", verdict);
        assert_eq!(found.to_string(), operations, "{file}");
    }
    let listed = table.lines().skip(1).count();
    assert_eq!(listed, files(&data.join("etcd"), "log").len(), "the table lists every file");
}

#[test]
fn key_value_histories_have_the_verdicts_in_their_names() {
    let Some(data) = data() else { return };
    let files = files(&data.join("kv"), "txt");
    assert!(!files.is_empty());
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy();
        let expected = match name.split_once('-') {
            Some((_, "ok")) => "holds",
            Some((_, "bad")) => "violated",
            _ => panic!("{name} says neither ok nor bad"),
        };
        let operations = check_recorded(&path, "map", expected);
        assert_eq!(operations, read(&path).matches(":type :invoke").count(), "{name}");
    }
}

#[test]
fn knossos_histories_have_the_verdicts_of_their_folders() {
    let Some(data) = data() else { return };
    for (folder, expected) in [("good", "holds"), ("bad", "violated")] {
        let files = files(&data.join("knossos/cas-register").join(folder), "edn");
        assert!(!files.is_empty());
        for path in files {
            check_recorded(&path, "cas-register", expected);
        }
    }
}

#[test]
#[ignore = "long"]
fn small_histories_have_the_listed_verdicts() {
    let Some(data) = data() else { return };
    let corpus = data.join("corpus");
    let (mut holds, mut violated) = (0, 0);
    for row in read(&corpus.join("MANIFEST.tsv")).lines().skip(1) {
        let [file, spec, verdict] = row.split('\t').collect::<Vec<_>>().try_into().unwrap();
        check_recorded(&corpus.join(file), spec, verdict);
        *if verdict == "holds" { &mut holds } else { &mut violated } += 1;
    }
    let folders = fs::read_dir(&corpus).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_dir());
    let files: usize = folders.map(|it| files(&it, "jsonl").len()).sum();
    assert_eq!(holds + violated, files, "the table lists every file");
    assert!(0 < holds && 0 < violated);
}
