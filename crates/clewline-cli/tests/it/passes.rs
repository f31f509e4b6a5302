//! `check --passes`: a history that is read several times has the report of one that is read once,
//! in less memory.

use std::{fmt::Write, fs};

use clewline_core::Random;
use clewline_testing::{pick, pick_of_three};

use crate::{
    limits::peak_of,
    run::{Folder, clewline},
    shards::{registers, timeless},
};

/// A map, by keys; some of them are violated.
fn map(keys: usize, operations: usize, violated: usize) -> String {
    let mut random = Random::new(operations as u64);
    let mut written = vec![0; keys];
    let mut text = String::new();
    let mut line = |at: usize, op: &str, more: &str| {
        let (process, call) = (at % 5, 10 * at);
        let end = call + 5;
        let row = format!("\"op\": \"{op}\", {more}, \"call\": {call}, \"return\": {end}");
        writeln!(text, "{{\"process\": {process}, {row}}}").unwrap();
    };
    for at in 0..operations {
        let key = random.below(keys);
        if written[key] == 0 || random.below(2) == 0 {
            written[key] = at + 1;
            line(at, "put", &format!("\"arg\": [\"k{key}\", {}], \"ret\": null", at + 1));
        } else {
            line(at, "get", &format!("\"arg\": \"k{key}\", \"ret\": {}", written[key]));
        }
    }
    for it in 0..violated {
        let key = 3 * it % keys;
        line(operations + it, "get", &format!("\"arg\": \"k{key}\", \"ret\": {}", 1_000_000 + it));
    }
    text
}

#[test]
fn several_passes_print_what_one_prints() {
    let bad = registers(30, 900, 25);
    let (first, second) = bad.split_at(bad[..bad.len() / 2].rfind('\n').unwrap() + 1);
    let folder = Folder::new("passes")
        .with("part-1.jsonl", first)
        .with("part-2.jsonl", second)
        .with("good.jsonl", &registers(20, 300, 0))
        .with("bad.jsonl", &bad)
        .with("few.jsonl", &registers(3, 40, 1))
        .with("map.jsonl", &map(40, 800, 6))
        .with("all.jsonl", &map(7, 200, 0))
        .with("wrong.jsonl", &format!("{}{{\"process\": 0}}\n", registers(5, 20, 0)));
    let mut codes = Vec::new();
    for (file, spec) in [
        ("good.jsonl", "register"),
        ("bad.jsonl", "register"),
        ("few.jsonl", "register"),
        ("map.jsonl", "map"),
        ("all.jsonl", "map"),
        ("part-*.jsonl", "register"),
        ("wrong.jsonl", "register"),
    ] {
        for format in ["json", "text"] {
            let words = ["check", file, "--spec", spec, "--format", format];
            let whole = clewline(&folder, &words, "");
            for passes in ["2", "3", "16"] {
                let ran = clewline(&folder, &[&words[..], &["--passes", passes]].concat(), "");
                let found = (ran.code, timeless(&ran.stdout));
                assert_eq!(found, (whole.code, timeless(&whole.stdout)), "{file} {passes}: {ran:?}");
            }
            codes.push(whole.code);
        }
    }
    assert!([0, 1, 2].iter().all(|it| codes.contains(it)), "{codes:?}");
}

#[test]
fn passes_divide_the_memory() {
    let folder = Folder::new("passes-memory")
        .with("large.jsonl", &map(2_000, pick_of_three(60_000, 300_000, 600_000), 0))
        .with("small.jsonl", &map(20, 20, 0));
    let peak = |file: &str, passes: &str| {
        let words = ["check", file, "--spec", "map", "--jobs", "1", "--passes", passes];
        let (printed, peak) = peak_of(&folder, &words);
        assert!(printed.starts_with("holds"), "{printed}");
        peak
    };
    let least = peak("small.jsonl", "1");
    let more = |passes: &str| peak("large.jsonl", passes).saturating_sub(least);
    let (one, four) = (more("1"), more("4"));
    // Of few operations the process itself needs most.
    assert!(four < pick(one * 3 / 4, one / 2), "{least} bytes, and {one}, {four} more");
    // Sixteen passes read the file sixteen times.
    if pick(false, true) {
        let sixteen = more("16");
        assert!(sixteen < one / 4, "{least} bytes, and {one}, {sixteen} more");
    }
}

/// Each shard makes some of the passes, in the memory of one; `merge` makes the last one.
#[test]
fn shards_divide_the_passes() {
    let folder = Folder::new("passes-shards")
        .with("good.jsonl", &registers(20, 300, 0))
        .with("bad.jsonl", &registers(30, 900, 25))
        .with("few.jsonl", &registers(3, 40, 1))
        .with("map.jsonl", &map(40, 800, 6))
        .with("wrong.jsonl", &format!("{}{{\"process\": 0}}\n", registers(5, 20, 0)));
    let run = |words: &[&str]| clewline(&folder, words, "");
    let mut codes = Vec::new();
    for (files, spec, passes, shards) in [
        ("good.jsonl bad.jsonl good.jsonl", "register", "5", 2),
        ("few.jsonl", "register", "16", 3),
        ("map.jsonl", "map", "3", 3),
        ("good.jsonl wrong.jsonl", "register", "4", 1),
    ] {
        let words: Vec<&str> = ["check"]
            .into_iter()
            .chain(files.split(' '))
            .chain(["--spec", spec, "--passes", passes])
            .collect();
        let journals: Vec<String> = (0..shards).map(|it| format!("{it}.journal")).collect();
        for (index, journal) in journals.iter().enumerate() {
            drop(fs::remove_file(folder.path(journal)));
            let share = format!("{index}/{shards}");
            let own = [&words[..], &["--shard", &share, "--journal", journal]].concat();
            let ran = run(&own);
            assert_eq!(ran.code, 0, "{ran:?}");
            // A kill after the first pass of the file: only that one is not made again.
            let text = folder.read(journal);
            let kept: Vec<&str> = text.lines().take(2).collect();
            fs::write(folder.path(journal), format!("{}\n{{\"file\":", kept.join("\n"))).unwrap();
            let again = run(&own);
            assert_eq!((again.code, &again.stdout), (0, &ran.stdout), "{again:?}");
            assert!(again.stderr.contains("1 units were finished before"), "{again:?}");
            assert!(folder.read(journal).starts_with(&format!("{}\n", kept.join("\n"))));
        }
        let merge: Vec<&str> = ["merge"].into_iter().chain(journals.iter().map(String::as_str)).collect();
        for format in ["json", "text"] {
            let whole = run(&[&words[..words.len() - 2], &["--format", format]].concat());
            let merged = run(&[&merge[..], &["--format", format]].concat());
            let found = (merged.code, timeless(&merged.stdout));
            assert_eq!(found, (whole.code, timeless(&whole.stdout)), "{files} {passes}: {merged:?}");
            codes.push(whole.code);
        }
        let last = folder.read(&journals[0]);
        let lost: String =
            last.lines().filter(|it| !it.contains("\"pass\":0")).map(|it| format!("{it}\n")).collect();
        let units = |text: &str| text.lines().count() - 2;
        let (before, after) = (format!("\"units\":{}", units(&last)), format!("\"units\":{}", units(&lost)));
        fs::write(folder.path("0.journal"), lost.replace(&before, &after)).unwrap();
        let merged = run(&merge);
        assert!(merged.code == 2 && merged.stderr.contains("pass 0"), "{merged:?}");
    }
    assert!([1, 2].iter().all(|it| codes.contains(it)), "{codes:?}");
}

#[test]
fn what_passes_cannot_divide_is_refused() {
    let one = "{\"process\": 0, \"op\": \"read\", \"ret\": null, \"call\": 0, \"return\": 1}\n";
    let event = "{\"event\": \"call\", \"process\": 0, \"op\": \"read\"}\n";
    let folder = Folder::new("passes-refused")
        .with("one.jsonl", one)
        .with("set.jsonl", &one.replace("read", "add").replace("null", "true, \"arg\": 1"))
        .with("events.jsonl", event)
        .with("jepsen.edn", "{:process 0, :type :invoke, :f :read, :value nil}\n");
    let check = |words: &str, expected: &str| {
        let words: Vec<&str> = ["check"].into_iter().chain(words.split(' ')).collect();
        let ran = clewline(&folder, &words, "");
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{words:?}: {ran:?}");
    };
    check(
        "one.jsonl --spec register --passes 2",
        "its operations name no objects, and are not judged by keys",
    );
    check("set.jsonl --spec set --passes 2", "are not judged by keys");
    check("events.jsonl --spec register --passes 2", "line 1: expected an operation with its times");
    check("jepsen.edn --spec register --passes 2", "is read whole: no rows can be left out");
    check("one.jsonl --spec register --passes 2 --witness", "--passes cannot be combined with --witness");
    check("- --spec register --passes auto", "--passes cannot be combined with standard input");
    let shard = "one.jsonl --spec register --shard 1/3 --journal it.journal --passes";
    check(&format!("{shard} auto"), "all shards make the same passes, so give their number");
    check(&format!("{shard} 2"), "--passes 2: expected a pass for each of 3 shards, or more");
    check("one.jsonl --spec register --passes 0", "expected `auto`, or a number from 1 to");
}

#[test]
fn the_size_of_the_input_says_how_many_passes_there_are() {
    let folder = Folder::new("passes-auto").with("map.jsonl", &map(40, 800, 0));
    let bytes = fs::metadata(folder.path("map.jsonl")).unwrap().len();
    let check = |memory: &str, expected: &str| {
        let words = ["check", "map.jsonl", "--spec", "map", "--passes", "auto", "--memory", memory];
        let ran = clewline(&folder, &words, "");
        assert!(ran.stderr.contains(&format!("note: map.jsonl: {expected}: at once it would")), "{ran:?}");
    };
    check("1GiB", "1 pass");
    // The process itself takes more than these limits: a quarter of them is for the history.
    check(&(8 * bytes).to_string(), "1 pass");
    check(&(4 * bytes).to_string(), "2 passes");
}
