//! Inputs in which nothing is to be judged: never a pass.

use std::{io::Write, time::Instant};

use clewline_formats::formats::FORMATS;
use clewline_testing::pick;

use crate::run::{BAD, Folder, GOOD, clewline};

/// A register that is written 1, and then 2, and read as 1 afterwards, as newer runs log it.
fn jepsen_log() -> String {
    let mut log = String::from(
        "2026-11-01 06:12:30,001{GMT}\tINFO\t[main] jepsen.core: Command line:\nlein run test\n",
    );
    let mut line = |process: u32, text: &str| {
        log.push_str(&format!(
            "2026-11-01 06:12:33,104{{GMT}}\tINFO\t[jepsen worker {process}] jepsen.util: [ 1350999542 ] {process}\t{text}\n"
        ));
    };
    for (process, text) in [
        (2, ":invoke\t:write\t1"),
        (2, ":ok\t:write\t1"),
        (3, ":invoke\t:write\t2"),
        (3, ":ok\t:write\t2"),
        (2, ":invoke\t:read\tnil"),
        (2, ":ok\t:read\t1"),
    ] {
        line(process, text);
    }
    log.push_str("2026-11-01 06:12:40,001{GMT}\tINFO\t[main] jepsen.core: {:valid? false,\n :count 3}\n");
    log
}

const PACKAGES: &str = "\
2026-11-01 06:12:33 startup archives unpack
2026-11-01 06:12:34 install libfoo:amd64 <none> 1.2-3
2026-11-01 06:12:34 status half-installed libfoo:amd64 1.2-3
";

#[test]
fn the_log_of_a_newer_jepsen_run_is_judged() {
    let folder = Folder::new("silent-jepsen").with("jepsen.log", &jepsen_log());
    let ran = clewline(&folder, &["check", "jepsen.log", "--spec", "cas-register"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    let told = "skipped 4 entries of the file are no operations of clients: the first is line 1, 2026-11-01 06:12:30,001";
    assert!(ran.stdout.contains(told), "{ran:?}");
    let ran = clewline(&folder, &["check", "jepsen.log", "--spec", "cas-register", "--format", "json"], "");
    let skipped = &ran.json()[0]["skipped"];
    assert_eq!((&skipped["entries"], &skipped["line"]), (&4.into(), &1.into()), "{ran:?}");
    // Of the history alone nothing is skipped, and nothing is printed about it.
    let ran = clewline(&folder, &["check", "-", "--spec", "queue"], BAD);
    assert!(ran.code == 1 && !ran.stdout.contains("skipped"), "{ran:?}");
}

#[test]
fn what_has_no_operation_is_an_error_however_it_is_read() {
    let garbage: String = (0..=31).map(char::from).collect();
    let folder = Folder::new("silent").with("good.jsonl", GOOD).with("bad.jsonl", BAD);
    for (name, text) in [("packages.log", PACKAGES), ("nothing.log", ""), ("garbage.log", &garbage)] {
        std::fs::write(folder.path(name), text).unwrap();
        std::fs::write(folder.path("no-extension"), text).unwrap();
        std::fs::write(folder.path("it.jsonl"), text).unwrap();
        for file in [name, "no-extension", "it.jsonl", "-"] {
            for format in std::iter::once("auto").chain(FORMATS.names()) {
                let args = ["check", file, "--spec", "register", "--input-format", format];
                let ran = clewline(&folder, &args, text);
                assert_eq!((ran.code, &*ran.stdout), (2, ""), "{args:?}: {ran:?}");
                // The line may be shown below the error.
                let mut lines = ran.stderr.lines();
                assert!(lines.next().is_some_and(|it| it.starts_with("error: ")), "{ran:?}");
                assert!(lines.all(|it| it.starts_with(' ')), "{ran:?}");
                let args = ["convert", file, "out.jsonl", "--input-format", format];
                assert_eq!(clewline(&folder, &args, text).code, 2, "{args:?}");
            }
        }
        // Among many it does not hide the others, and is not hidden by them.
        let ran = clewline(&folder, &["check", "good.jsonl", name, "--spec", "queue"], "");
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stdout.contains("2 files: 1 unreadable, 1 hold"), "{ran:?}");
        let ran = clewline(&folder, &["check", "bad.jsonl", name, "--spec", "queue"], "");
        assert_eq!(ran.code, 1, "{ran:?}");
    }
    let ran = clewline(&folder, &["check", "packages.log", "--spec", "register"], "");
    assert_eq!(
        ran.stderr,
        "error: packages.log: line 1: expected an operation, found none: all 3 lines were skipped, and this one, \
         the first, is `2026-11-01 06:12:33 startup archives unpack`\n"
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_that_is_not_written_to_ends_with_the_time_limit() {
    let folder = Folder::new("silent-pipe");
    let pipe = folder.path("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    for more in [&[][..], &["--witness"], &["--html", "page.html"]] {
        let begun = Instant::now();
        let args = [&["check", "pipe.jsonl", "--spec", "queue", "--timeout", "300ms"], more].concat();
        let ran = clewline(&folder, &args, "");
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
    let write = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::File::create(pipe).unwrap().write_all(BAD.as_bytes()).unwrap())
    };
    let ran = clewline(&folder, &["check", "pipe.jsonl", "--spec", "queue", "--timeout", "1m"], "");
    write.join().unwrap();
    assert_eq!(ran.code, 1, "{ran:?}");
}

/// A run in which every operation failed shows nothing, whether it is read at once or while it
/// grows.
#[test]
fn a_file_in_which_every_operation_failed_does_not_hold() {
    let lines = |format: &str, count: usize| match format {
        "jsonl" => (0..count)
            .map(|it| {
                format!(
                    "{{\"event\": \"call\", \"process\": {it}, \"op\": \"write\", \"arg\": 1}}\n\
                     {{\"event\": \"fail\", \"process\": {it}}}\n"
                )
            })
            .collect::<String>(),
        _ => (0..count)
            .map(|it| {
                format!(
                    "{{:process {it}, :type :invoke, :f :write, :value 1}}\n\
                     {{:process {it}, :type :fail, :f :write, :value 1}}\n"
                )
            })
            .collect(),
    };
    let folder = Folder::new("silent-failed");
    for (format, count) in [("jsonl", 1), ("jsonl", 20_000), ("edn", 3)] {
        let name = format!("it.{format}");
        std::fs::write(folder.path(&name), lines(format, count)).unwrap();
        for given in [&[&*name][..], &["-"]] {
            let args = [&["check", "--spec", "register"], given].concat();
            let ran = clewline(&folder, &args, lines(format, count));
            assert_eq!(ran.code, 3, "{ran:?}");
            assert!(ran.stdout.contains("no operation took effect: each of them failed"), "{ran:?}");
        }
        // One that has no result may have taken effect, and is judged.
        let pending = match format {
            "jsonl" => "{\"event\": \"call\", \"process\": \"last\", \"op\": \"write\", \"arg\": 2}\n",
            _ => "{:process 99, :type :invoke, :f :write, :value 2}\n",
        };
        let ran = clewline(&folder, &["check", "--spec", "register", "-"], lines(format, count) + pending);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

/// Pending additions that no operation observed, as lines.
fn pending(op: &str, count: usize) -> String {
    (0..count)
        .map(|it| format!("{{\"process\": {it}, \"op\": \"{op}\", \"arg\": {it}, \"call\": {it}}}\n"))
        .collect()
}

/// Quadratic time would be a minute for each.
#[test]
fn pending_additions_that_nothing_observed_cost_next_to_nothing() {
    let folder = Folder::new("silent-pending");
    for (spec, op) in [("queue", "enq"), ("stack", "push"), ("bag", "add"), ("priority-queue", "insert")] {
        std::fs::write(folder.path("h.jsonl"), pending(op, 80_000)).unwrap();
        let begun = Instant::now();
        let ran = clewline(&folder, &["check", "h.jsonl", "--spec", spec, "--timeout", "30s"], "");
        assert_eq!(ran.code, 0, "{spec}: {ran:?}");
        assert!(begun.elapsed().as_secs() < 30, "{spec}: {:?}", begun.elapsed());
    }
}

/// The tests of the limits of each checker count; this one looks at the clock, from afar.
#[test]
fn a_time_limit_is_kept_in_every_phase() {
    let folder = Folder::new("silent-limits");
    let made = [
        "generate",
        "--spec",
        "queue",
        "--operations",
        pick("40000", "200000"),
        "--processes",
        "8",
        "-o",
        "h.jsonl",
    ];
    assert_eq!(clewline(&folder, &[&made[..], &["--values", "distinct"]].concat(), "").code, 0);
    for limit in pick(&["1ms", "300ms"][..], &["1ms", "300ms", "900ms"]) {
        for more in [&[][..], &["--algorithm", "jit-graph"], &["--quasi", "deq=?"], &["--witness"]] {
            let begun = Instant::now();
            let args = [&["check", "h.jsonl", "--spec", "queue", "--timeout", limit], more].concat();
            let ran = clewline(&folder, &args, "");
            let elapsed = begun.elapsed();
            println!("{limit} {more:?}: exit code {} after {elapsed:?}", ran.code);
            assert!(ran.code == 3 || ran.code == 0, "{args:?}: {ran:?}");
            assert!(elapsed.as_secs() < 30, "{args:?}: {elapsed:?}: {ran:?}");
        }
    }
}
