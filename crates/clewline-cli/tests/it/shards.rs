//! Shards: each command, divided, killed, resumed and merged, is as if one process had done it.

use std::{fs, thread, time::Duration};

use clewline_core::Random;
use clewline_testing::{pick, pick_of_three};
use serde_json::Value as Json;

use crate::{
    foreign::gzip,
    interrupts::start,
    run::{Folder, Ran, clewline},
};

/// Recorded registers, by name; those that end in a result that was never written are violated.
pub(crate) fn registers(objects: usize, operations: usize, violated: usize) -> String {
    let mut random = Random::new(objects as u64);
    let mut written = vec![0; objects];
    let mut text = String::new();
    let mut line = |at: usize, object: usize, call: &str| {
        let (process, from) = (at % 3, 2 * at);
        text.push_str(&format!(
            "{{\"process\":{process},\"object\":\"r{object}\",{call},\"call\":{from},\"return\":{}}}\n",
            from + 1
        ));
    };
    for at in 0..operations {
        let object = random.below(objects);
        if written[object] == 0 || random.below(2) == 0 {
            written[object] = at + 1;
            line(at, object, &format!("\"op\":\"write\",\"arg\":{}", at + 1));
        } else {
            line(at, object, &format!("\"op\":\"read\",\"ret\":{}", written[object]));
        }
    }
    for it in 0..violated {
        line(operations + it, 7 * it % objects, &format!("\"op\":\"read\",\"ret\":{}", 1_000_000 + it));
    }
    text
}

fn folder(name: &str) -> Folder {
    Folder::new(name)
        .with("good.jsonl", &registers(20, 300, 0))
        .with("bad.jsonl", &registers(30, 400, 5))
        .with("one.jsonl", &registers(1, 20, 0))
        .with("wrong.jsonl", "{\"process\": 0}\n")
}

/// Commands that have shards, and the exit code of each.
const COMMANDS: &[(&str, i32)] = &[
    ("check good.jsonl --spec register", 0),
    ("check bad.jsonl --spec register", 1),
    ("check good.jsonl one.jsonl bad.jsonl --spec register", 1),
    ("check good.jsonl wrong.jsonl --spec register", 2),
    ("explore treiber-stack --samples 7 --seed 3 --threads 2 --operations 2", 0),
    ("explore ms-queue:unlinked-tail --samples 12 --seed 5 --threads 2 --operations 2", 1),
    ("explore ms-queue:unlinked-tail --samples 12 --seed 5 --threads 2 --operations 2 --all", 1),
    ("explore treiber-stack --auto 2 --calls push(1),pop", 0),
    ("stress treiber-stack --executions 12 --operations 20 --seed 1", 0),
    ("explore manual-reset-event:pre --matrix wait|set|reset|set --scheduler iterative", 1),
    ("actors dr:repaired --lose 1 --duplicate 1", 0),
    ("explore iqueue --matrix enq(1)|enq(2)|deq|deq", 1),
    ("explore treiber-stack --matrix push(1)|push(2)|pop --scheduler random --seed 3", 0),
    ("actors edr --lose 1 --duplicate 1", 1),
    ("actors dr:repaired --lose 1 --stuck forbid", 1),
    ("actors dr:repaired --lose 1 --crash 1 --scheduler random --executions 50", 0),
    ("actors edr --scheduler random --executions 300", 1),
    ("actors open-chord --scheduler pct --executions 150 --stop-at-first", 1),
    ("actors adr --scheduler pos --executions 99 --steps 8", 3),
];

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// Runs a shard; returns its output.
fn shard(folder: &Folder, command: &str, index: usize, count: usize, more: &[&str]) -> Ran {
    let (share, journal) = (format!("{index}/{count}"), format!("{index}.journal"));
    let own = ["--shard", &share, "--journal", &journal];
    clewline(folder, &[&words(command)[..], &own, more].concat(), "")
}

fn journals(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("{it}.journal")).collect()
}

fn merge(folder: &Folder, count: usize, more: &[&str]) -> Ran {
    let journals = journals(count);
    let files: Vec<&str> = journals.iter().map(String::as_str).collect();
    clewline(folder, &[&["merge"], &files[..], more].concat(), "")
}

/// A line without times, and without the spaces that depend on their length: `in 12 ms`, `1.2 s`.
fn without_times(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let end = ["took:", "<dt>took"].iter().filter_map(|it| line.find(it)).min().unwrap_or(line.len());
    for word in line[..end].split_whitespace() {
        let unit = word.trim_end_matches([':', ',', '.', ';']);
        let is_number = |it: &str| it.chars().all(|it| it.is_ascii_digit() || it == '.');
        if matches!(unit, "ms" | "s" | "min") && words.last().is_some_and(|it| is_number(it)) {
            words.pop();
            words.push("TIME");
        } else {
            words.push(word);
        }
    }
    words.join(" ")
}

/// Text without times.
pub(crate) fn timeless(text: &str) -> String {
    let line = |it: &str| match serde_json::from_str::<Json>(it) {
        Ok(Json::Object(mut json)) => {
            json.retain(|name, _| !name.ends_with("_ms"));
            Json::Object(json).to_string()
        }
        _ => without_times(it),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

const FILES: [&str; 4] = ["it.html", "it.xml", "it.md", "it.svg"];

/// What a command has printed and written.
fn all_of(folder: &Folder, ran: &Ran) -> (i32, String, Vec<Option<String>>) {
    let files = FILES.map(|it| fs::read_to_string(folder.path(it)).ok().map(|it| timeless(&it)));
    (ran.code, timeless(&ran.stdout), files.to_vec())
}

/// The merged output of `count` shards is that of one process, with these options. Returns the exit
/// code.
fn check_merged(folder: &Folder, command: &str, count: usize, outputs: &[&str]) -> i32 {
    let remove = || FILES.iter().for_each(|it| drop(fs::remove_file(folder.path(it))));
    remove();
    let whole = clewline(folder, &[&words(command)[..], outputs].concat(), "");
    let expected = all_of(folder, &whole);
    remove();
    let merged = merge(folder, count, outputs);
    let found = all_of(folder, &merged);
    assert_eq!((found.0, &found.1), (expected.0, &expected.1), "{command} {outputs:?}\n{merged:?}");
    for (at, name) in FILES.iter().enumerate() {
        assert!(found.2[at] == expected.2[at], "{command} {outputs:?}: {name} differs");
    }
    found.0
}

fn outputs(command: &str) -> Vec<Vec<&'static str>> {
    let mut all = vec![vec!["--format", "json"], vec!["--html", "it.html", "--junit", "it.xml"]];
    if pick(true, false) {
        return all;
    }
    all.extend([vec![], vec!["--markdown", "it.md"]]);
    if command.matches(".jsonl").count() <= 1 {
        all.push(vec!["--svg", "it.svg"]);
    }
    all
}

#[test]
fn merged_shards_are_as_one_process() {
    let folder = folder("shards");
    // In `./test` every other one.
    for &(command, code) in COMMANDS.iter().step_by(pick(2, 1)) {
        for count in pick_of_three(&[3][..], &[1, 3], &[1, 2, 3, 7]) {
            drop(journals(*count).iter().map(|it| fs::remove_file(folder.path(it))).collect::<Vec<_>>());
            for index in 0..*count {
                let ran = shard(&folder, command, index, *count, &[]);
                assert_eq!(ran.code, 0, "{command}: {ran:?}");
                assert!(ran.stdout.starts_with(&format!("shard {index}/{count} is finished: ")), "{ran:?}");
            }
            for outputs in outputs(command) {
                assert_eq!(check_merged(&folder, command, *count, &outputs), code, "{command}");
            }
        }
    }
}

/// Each shard is killed at a random moment, some several times, and then finished.
#[test]
fn killed_shards_are_resumed_and_merged() {
    let folder = folder("shards-killed");
    let mut random = Random::new(27);
    let commands = [
        "check good.jsonl one.jsonl bad.jsonl good.jsonl bad.jsonl --spec register",
        "explore ms-queue --samples 12 --seed 5 --threads 2 --operations 2",
        "explore ms-queue --matrix enq(1)|enq(2)|deq --preemptions 3",
        "actors dr:repaired --lose 1 --duplicate 1",
        "stress treiber-stack --executions 40 --operations 20 --seed 1",
    ];
    for command in commands {
        for index in 0..2 {
            let (share, journal) = (format!("{index}/2"), format!("{index}.journal"));
            drop(fs::remove_file(folder.path(&journal)));
            let own = ["--shard", &share, "--journal", &journal];
            let args = [&words(command)[..], &own].concat();
            for _ in 0..pick_of_three(2, 6, 20) {
                let started = start(&folder, &args);
                thread::sleep(Duration::from_micros(random.below(60_000) as u64));
                started.signal("KILL");
                let ran = started.end();
                assert!([137, 0].contains(&ran.code), "{ran:?}");
                // What a kill in the middle of a line leaves.
                if let Ok(text) = fs::read_to_string(folder.path(&journal))
                    && 200 < text.len()
                    && !text.contains("\"end\"")
                {
                    fs::write(folder.path(&journal), format!("{text}{{\"matrix\":\"to")).unwrap();
                }
            }
            if fs::read_to_string(folder.path(&journal)).is_ok_and(|it| !it.contains("\"end\"")) {
                let merged = merge(&folder, 2, &[]);
                assert_eq!(merged.code, 2, "{merged:?}");
            }
            let ran = shard(&folder, command, index, 2, &[]);
            assert_eq!(ran.code, 0, "{command}: {ran:?}");
        }
        check_merged(&folder, command, 2, &["--format", "json"]);
        check_merged(&folder, command, 2, &["--html", "it.html", "--junit", "it.xml"]);
    }
}

#[test]
fn what_is_wrong_with_shards_is_named() {
    let folder = folder("shards-wrong");
    let command = "check bad.jsonl --spec register";
    for index in [0, 2] {
        assert_eq!(shard(&folder, command, index, 3, &[]).code, 0);
    }
    let check = |files: &[&str], expected: &[&str]| {
        let ran = clewline(&folder, &[&["merge"], files].concat(), "");
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
        for expected in expected {
            assert!(ran.stderr.contains(expected), "{expected}\n{ran:?}");
        }
    };
    check(&["0.journal", "2.journal"], &["shard 1/3 is missing"]);
    check(&["0.journal"], &["shards 1/3, 2/3 are missing"]);
    check(&["0.journal", "0.journal", "2.journal"], &["shard 0/3 is there twice", "shard 1/3 is missing"]);
    check(&["0.journal", "1.journal", "bad.jsonl"], &["1.journal: ", "bad.jsonl: this is not a journal"]);
    assert_eq!(shard(&folder, command, 1, 3, &[]).code, 0);
    assert_eq!(merge(&folder, 3, &[]).code, 1);
    // Not finished: its last line is missing.
    let text = folder.read("1.journal");
    let cut = text.trim_end().rfind('\n').unwrap();
    fs::write(folder.path("1.journal"), &text[..=cut]).unwrap();
    check(&["0.journal", "1.journal", "2.journal"], &["1.journal: shard 1/3 is not finished"]);
    // A part of another whole.
    fs::write(folder.path("1.journal"), text.replace("\"parts\":30", "\"parts\":31")).unwrap();
    check(&["0.journal", "1.journal", "2.journal"], &["1.journal: it contradicts", "31 parts, and 30 there"]);
    fs::write(folder.path("1.journal"), text.replace("\"judged\":10", "\"judged\":9")).unwrap();
    check(&["0.journal", "1.journal", "2.journal"], &["29 of 30 parts of bad.jsonl were judged"]);
    fs::write(folder.path("1.journal"), text.replace("\"register\"", "\"cas-register\"")).unwrap();
    check(
        &["0.journal", "1.journal", "2.journal"],
        &["1.journal: its command is `check bad.jsonl --spec cas-register`"],
    );
    fs::write(folder.path("1.journal"), text.replace("\"program_bytes\":", "\"program_bytes\":1")).unwrap();
    check(&["0.journal", "1.journal", "2.journal"], &["1.journal: it was written by another build"]);
    fs::write(folder.path("1.journal"), &text).unwrap();
    fs::write(folder.path("bad.jsonl"), registers(30, 400, 4)).unwrap();
    check(&["0.journal", "1.journal", "2.journal"], &["bad.jsonl has changed since it was checked"]);
}

/// The parts of one matrix are all there, each once.
#[test]
fn a_part_of_a_matrix_that_is_lost_or_there_twice_is_named() {
    let folder = folder("shards-parts");
    let command = "explore treiber-stack --matrix push(1)|push(2)|pop";
    for index in 0..2 {
        assert_eq!(shard(&folder, command, index, 2, &[]).code, 0);
    }
    assert_eq!(merge(&folder, 2, &[]).code, 0);
    let text = folder.read("1.journal");
    let lines: Vec<&str> = text.lines().collect();
    let (units, end) = (lines.len() - 2, lines[lines.len() - 1]);
    let check = |lines: &[&str], expected: &str| {
        fs::write(folder.path("1.journal"), format!("{}\n", lines.join("\n"))).unwrap();
        let ran = merge(&folder, 2, &[]);
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{expected}\n{ran:?}");
    };
    let count =
        |units: usize| end.replace(&format!("\"units\":{}", lines.len() - 2), &format!("\"units\":{units}"));
    let (fewer, more) = (count(units - 1), count(units + 1));
    check(
        &[&lines[..3], &lines[4..=units], &[&fewer]].concat(),
        "of the schedules was not explored to its end",
    );
    check(&[&lines[..=units], &lines[3..4], &[&more]].concat(), "is there twice");
    check(&[&lines[..3], &lines[4..]].concat(), "this journal has lost lines");
    fs::write(folder.path("1.journal"), &text).unwrap();
    assert_eq!(merge(&folder, 2, &[]).code, 0);
}

/// A specification, a state and a mapping in files are inputs as the history is.
#[test]
fn files_that_options_name_may_not_change() {
    let folder = Folder::new("shards-inputs")
        .with("r.jsonl", "{\"process\":0,\"op\":\"read\",\"ret\":1,\"call\":0,\"return\":1}\n")
        .with("r.csv", "who,what,from,to,got\n0,read,0,1,1\n")
        .with("state", "1")
        .with("map.json", MAPPING);
    let check = |command: &str, changed: &str, text: &str| {
        drop(fs::remove_file(folder.path("0.journal")));
        let before = folder.read(changed);
        let ran = shard(&folder, command, 0, 1, &[]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(merge(&folder, 1, &[]).code, 0);
        fs::write(folder.path(changed), text).unwrap();
        let expected = format!(" or {changed} has changed since it was checked");
        for ran in [merge(&folder, 1, &[]), shard(&folder, command, 0, 1, &[])] {
            assert!(ran.code == 2 && ran.stderr.contains(&expected), "{ran:?}");
        }
        fs::write(folder.path(changed), before).unwrap();
        assert_eq!(merge(&folder, 1, &[]).code, 0);
    };
    check("check r.jsonl --spec register --initial @state", "state", "2");
    let mapped = "check r.csv --spec register --initial 1 --mapping map.json";
    check(mapped, "map.json", &MAPPING.replace("got", "ret"));
}

const MAPPING: &str =
    r#"{"process": "who", "op": "what", "call": "from", "return": "to", "ret": "got", "json": true}"#;

/// A large compressed file is checked while it is read, but not the shard of one: its parts have
/// numbers.
#[test]
fn shards_of_a_large_compressed_file_are_merged() {
    let folder = folder("shards-compressed");
    // Members without any content: the file is long, and what is in it is not.
    let mut text = gzip(registers(30, 400, 5));
    let (mut padding, extra) = (gzip(""), vec![0; 65_000]);
    padding[3] |= 4;
    padding.splice(10..10, (extra.len() as u16).to_le_bytes().into_iter().chain(extra));
    while text.len() <= 64 << 20 {
        text.extend_from_slice(&padding);
    }
    fs::write(folder.path("bad.jsonl.gz"), text).unwrap();
    let command = "check bad.jsonl.gz --spec register";
    for index in 0..2 {
        let ran = shard(&folder, command, index, 2, &[]);
        assert!(ran.code == 0 && ran.stdout.contains("15 objects and keys"), "{ran:?}");
    }
    let merged = merge(&folder, 2, &["--format", "json"]);
    let plain = clewline(&folder, &words("check bad.jsonl --spec register --format json"), "");
    assert_eq!(merged.code, 1, "{merged:?}");
    assert_eq!(timeless(&merged.stdout), timeless(&plain.stdout).replace("bad.jsonl", "bad.jsonl.gz"));
}

#[test]
fn a_shard_that_finds_something_is_finished_unless_it_fails_fast() {
    let folder = folder("shards-fail-fast");
    let command = "check bad.jsonl good.jsonl --spec register";
    let ran = shard(&folder, command, 0, 1, &["--fail-fast"]);
    assert_eq!((ran.code, ran.stdout.contains("5 violated")), (1, true), "{ran:?}");
    let merged = merge(&folder, 1, &[]);
    assert!(merged.stderr.contains("shard 0/1 is not finished"), "{merged:?}");
    // The same command without the flag continues.
    assert_eq!(shard(&folder, command, 0, 1, &[]).code, 0);
    assert_eq!(merge(&folder, 1, &[]).code, 1);
    let command = "explore ms-queue:unlinked-tail --samples 12 --seed 5 --threads 2 --operations 2";
    fs::remove_file(folder.path("0.journal")).unwrap();
    assert_eq!(shard(&folder, command, 0, 1, &["--fail-fast"]).code, 1);
    assert_eq!(shard(&folder, command, 0, 1, &[]).code, 0);
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let folder = folder("shards-refused");
    let check = |command: &str, expected: &str| {
        let ran = shard(&folder, command, 0, 2, &[]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{command}\n{ran:?}");
    };
    for scheduler in ["dpor", "bounded-dpor", "graph"] {
        let command = format!("explore treiber-stack --matrix push(1)|pop --scheduler {scheduler}");
        check(&command, "what one schedule shows decides which others are needed");
    }
    check(
        "explore treiber-stack --matrix push(1)|pop --serializability",
        "not divided with --serializability",
    );
    check("explore treiber-stack --samples 4", "--shard needs --seed");
    check("stress treiber-stack --seed 1", "--shard needs --executions");
    check("stress treiber-stack --executions 4", "--shard needs --seed");
    check("actors dr", "--shard needs several fault budgets");
    check("actors dr --scheduler dpor", "or a scheduler that draws schedules by their numbers");
    check("check good.jsonl --spec register --html it.html", "--html has no meaning for a shard");
    check("check good.jsonl --spec register --witness", "--witness has no meaning for a shard");
    check("check - --spec register", "standard input (`-`) cannot be read again");
    let ran = clewline(&folder, &["check", "good.jsonl", "--spec", "register", "--shard", "0/2"], "");
    assert!(ran.code == 2 && ran.stderr.contains("--journal"), "{ran:?}");
    let ran = clewline(
        &folder,
        &["check", "good.jsonl", "--spec", "register", "--shard", "2/2", "--journal", "x"],
        "",
    );
    assert!(ran.code == 2 && ran.stderr.contains("expected I/N with I from 0 to N-1"), "{ran:?}");
}
