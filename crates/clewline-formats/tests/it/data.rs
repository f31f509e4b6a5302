//! Real histories, where they are available.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clewline_formats::formats;

use crate::support::{canonical, options};

fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.is_dir() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// The files of a folder that are histories, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it != "csv"));
    files.sort();
    files
}

/// The number of operations of a file in that format, which is also detected; and it can be
/// written.
#[track_caller]
fn operations(file: &Path, expected: &str) -> usize {
    let text = fs::read(file).unwrap();
    let head = &text[..text.len().min(4096)];
    let extension = file.extension().and_then(|it| it.to_str());
    let format = formats::detect(head, extension).expect("a format");
    assert_eq!(format.name(), expected, "{}", file.display());
    let options = options(false, 1);
    let recording =
        format.read(&mut &text[..], &options).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut written = Vec::new();
    format.write(&recording, &mut written).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let again = format.read(&mut &written[..], &options).unwrap();
    assert_eq!(canonical(&again), canonical(&recording), "{}", file.display());
    recording.history.len()
}

#[test]
fn the_corpus_is_read() {
    let Some(data) = data() else { return };
    let mut read = 0;
    for folder in
        fs::read_dir(data.join("corpus")).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_dir())
    {
        for file in files(&folder) {
            let lines = fs::read_to_string(&file).unwrap().lines().filter(|it| !it.trim().is_empty()).count();
            assert_eq!(operations(&file, "jsonl"), lines, "{}", file.display());
            read += 1;
        }
    }
    assert_eq!(read, 1000);
}

#[test]
fn the_etcd_logs_are_read() {
    let Some(data) = data() else { return };
    let table = fs::read_to_string(data.join("etcd/VERDICTS.csv")).unwrap();
    for row in table.lines().skip(1) {
        let mut row = row.split(',');
        let (file, expected) = (row.next().unwrap(), row.next().unwrap());
        let file = data.join("etcd").join(file);
        assert_eq!(operations(&file, "jepsen-log").to_string(), expected, "{}", file.display());
    }
    assert_eq!(files(&data.join("etcd")).len(), table.lines().count() - 1);
}

#[test]
fn the_key_value_stores_are_read() {
    let Some(data) = data() else { return };
    for file in files(&data.join("kv")) {
        let calls = fs::read_to_string(&file).unwrap().matches(":type :invoke").count();
        assert_eq!(operations(&file, "porcupine-kv"), calls, "{}", file.display());
    }
}

#[test]
fn the_knossos_histories_are_read() {
    let Some(data) = data() else { return };
    let mut read = 0;
    for folder in ["good", "bad"] {
        for file in files(&data.join("knossos/cas-register").join(folder)) {
            let text = fs::read_to_string(&file).unwrap();
            let (calls, failed) = (text.matches(":invoke").count(), text.matches(":fail").count());
            assert_eq!(operations(&file, "jepsen"), calls - failed, "{}", file.display());
            read += 1;
        }
    }
    assert_eq!(read, 16);
}
