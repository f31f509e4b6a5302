//! The kill matrix: long commands, ended at random moments by each signal, and run again.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use clewline_core::Random;
use clewline_testing::{pick, pick_of_three};
use clewline_unmodified::{Compiler, Runtime};
use serde_json::Value as Json;

use crate::{
    interrupts::{check_no_parts, start},
    run::{Folder, Ran, clewline},
};

const FILES: usize = 24;

/// The files that the commands write.
const OUTPUTS: [&str; 2] = ["it.xml", "it.md"];

/// Rows of a table that are times.
const TIMES: [&str; 5] = ["TS", "ST", "TC", "TT", "TF"];

/// A register that is right, and one that is not.
const REGISTERS: &str = "\
#include <clewline.h>
static long word, other;
CLEWLINE_OPERATION(get) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }
CLEWLINE_OPERATION(set, value) {
    __atomic_store_n(&word, value, __ATOMIC_SEQ_CST);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(add) { other += 1; return CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(read) { return other; }
";

/// The long commands, without `--journal`; their files are in the folder. All but stress tests have
/// the same result each time.
fn commands() -> Vec<Vec<String>> {
    let files: String = (0..FILES).map(|it| format!(" {it}.jsonl")).collect();
    let (samples, lost, runs) = pick_of_three((6, 1, 40), (20, 2, 600), (60, 2, 2_000));
    let mut commands = vec![
        format!("check{files} --spec queue --format json --junit it.xml"),
        format!(
            "explore ms-queue --samples {samples} --seed 3 --threads 2 --operations 2 --format json --junit it.xml"
        ),
        format!(
            "explore ms-queue:unlinked-tail --samples {samples} --threads 2 --operations 2 --seed 5 --all --markdown it.md"
        ),
        format!("actors dr:repaired --lose {lost} --duplicate 1 --format json --junit it.xml"),
        format!(
            "stress treiber-stack --executions {runs} --operations 40 --seed 1 --format json --junit it.xml"
        ),
        "reproduce ds2-a2 --quick --format json".to_owned(),
    ];
    if Runtime::find().is_ok() && Compiler::find(None).is_ok() {
        // The points of accesses that race, which one matrix finds, are those of the next ones.
        for more in ["--calls get,set(1),set(2)", "--all --calls get,set(1),add,read"] {
            commands.push(format!(
                "cc registers.c --threads 2 --operations 2 --samples {samples} --seed 3 {more} --format json --junit it.xml"
            ));
        }
    }
    commands.into_iter().map(|it| it.split(' ').map(str::to_owned).collect()).collect()
}

fn folder(name: &str) -> Folder {
    let mut folder = Folder::new(name).with("registers.c", REGISTERS);
    for it in 0..FILES {
        let seed = (it + 1).to_string();
        let operations = pick("40", "4000");
        let shape = ["generate", "--spec", "queue", "--operations", operations, "--seed", &seed];
        let wrong: &[&str] = if it % 8 == 5 { &["--violate", "swap"] } else { &[] };
        // Two are made, and copied, to save time.
        let text = match it {
            0 | 5 => clewline(&folder, &[&shape[..], wrong].concat(), "").stdout,
            _ => folder.read(if wrong.is_empty() { "0.jsonl" } else { "5.jsonl" }),
        };
        folder = folder.with(&format!("{it}.jsonl"), &text);
    }
    folder
}

/// What two runs of a command have in common: its output and its files, without times.
#[derive(Debug, PartialEq)]
struct Timeless {
    code: i32,
    stdout: String,
    files: Vec<(String, String)>,
}

fn timeless(folder: &Folder, ran: &Ran) -> Timeless {
    let line = |it: &str| match serde_json::from_str::<Json>(it) {
        Ok(mut json) => {
            json.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_ms"));
            json.to_string()
        }
        // `took:     1.2 s`, and the clock of a table.
        Err(_) => it.split("took:").next().unwrap().to_owned(),
    };
    let is_time = |it: &&str| TIMES.iter().any(|name| it.contains(&format!("\"figure\":\"{name}\"")));
    let stdout = ran.stdout.lines().filter(|it| !is_time(it)).map(line).collect::<Vec<_>>().join("\n");
    let written = OUTPUTS.iter().filter(|it| folder.path(it).exists());
    Timeless {
        code: ran.code,
        stdout,
        files: written.map(|it| ((*it).to_owned(), folder.read(it))).collect(),
    }
}

fn run(folder: &Folder, args: &[String]) -> Ran {
    for name in OUTPUTS {
        let _not_there = fs::remove_file(folder.path(name));
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    clewline(folder, &args, "")
}

/// Each command is ended `times` times, by the signals in turn, at random moments of its run, and
/// then runs to its end. The result is the one without a kill, and no unit is done twice.
fn check_kills(name: &str, times: usize) {
    let folder = folder(name);
    let mut random = Random::new(24);
    // In `./test` every third.
    for (number, command) in commands().iter().enumerate().step_by(pick(3, 1)) {
        let begun = Instant::now();
        let expected = timeless(&folder, &run(&folder, command));
        let took = begun.elapsed();
        let journal = format!("{number}.journal");
        let with_journal = [command.clone(), vec!["--journal".to_owned(), journal.clone()]].concat();
        let words: Vec<&str> = with_journal.iter().map(String::as_str).collect();
        // What was finished is not done again, so each of many starts has little left to do.
        let share = (2.0 / times as f64).min(1.0);
        let (mut units, mut ended_by) = (0, [0; 3]);
        for at in number..number + times {
            let signal = ["INT", "TERM", "KILL"][at % 3];
            let started = start(&folder, &words);
            thread::sleep(took.mul_f64(random.below(1_000) as f64 / 1_000.0 * share));
            started.signal(signal);
            let ran = started.end();
            let ended = [130, 143, 137][at % 3];
            assert!([ended, expected.code].contains(&ran.code), "{words:?}: {ran:?}");
            ended_by[at % 3] += usize::from(ran.code == ended);
            if ran.code == 130 || ran.code == 143 {
                check_whole(&folder, &ran);
            }
            let kept = fs::read_to_string(folder.path(&journal)).unwrap_or_default();
            let now = kept.matches('\n').count();
            assert!(units <= now, "a journal only grows");
            units = now;
        }
        let ran = run(&folder, &with_journal);
        let resumed = timeless(&folder, &ran);
        assert_eq!(resumed, expected, "{command:?}\n{}", ran.stderr);
        // Everything is finished now, so that nothing is added.
        let kept = folder.read(&journal);
        assert_eq!(timeless(&folder, &run(&folder, &with_journal)), expected, "{command:?}");
        assert_eq!(folder.read(&journal), kept, "{command:?}");
        check_no_parts(&folder);
        let [interrupted, terminated, killed] = ended_by;
        println!(
            "{}: {times} starts, {interrupted} ended by SIGINT, {terminated} by SIGTERM, {killed} by SIGKILL; {took:?} whole",
            command[..2].join(" ")
        );
    }
}

/// The files of an interrupted command are complete.
fn check_whole(folder: &Folder, ran: &Ran) {
    if !ran.stdout.starts_with('{') {
        return;
    }
    ran.json();
    if folder.path("it.xml").exists() {
        assert!(folder.read("it.xml").trim_end().ends_with("</testsuites>"), "{ran:?}");
    }
}

#[test]
fn what_was_finished_is_not_done_again() {
    check_kills("kills", pick_of_three(1, 6, 30));
}

#[test]
fn the_journal_of_another_command_is_refused() {
    let folder = folder("kills-other");
    let check = ["check", "0.jsonl", "1.jsonl", "--journal", "it.journal", "--spec"];
    assert_eq!(clewline(&folder, &[&check[..], &["queue"]].concat(), "").code, 0);
    let ran = clewline(&folder, &[&check[..], &["stack"]].concat(), "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("it.journal: this is the journal of another command"), "{ran:?}");
    // A file that has changed is not the one that was checked.
    fs::write(folder.path("1.jsonl"), folder.read("5.jsonl")).unwrap();
    let ran = clewline(&folder, &[&check[..], &["queue"]].concat(), "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("1.jsonl has changed since it was checked"), "{ran:?}");
}

/// A header is part of the program as well.
#[test]
fn the_journal_of_another_program_is_refused() {
    if Runtime::find().is_err() || Compiler::find(None).is_err() {
        return eprintln!("notice: skipped: no program can be built");
    }
    let folder = Folder::new("kills-program").with("it.c", &format!("#include \"it.h\"\n{REGISTERS}"));
    let args = ["cc", "it.c", "--matrix", "get | set(1)", "--journal", "it.journal"];
    for (header, code) in [("", 0), ("", 0), ("long more(void) { return 1; }\n", 2)] {
        fs::write(folder.path("it.h"), header).unwrap();
        let ran = clewline(&folder, &args, "");
        assert_eq!(ran.code, code, "{ran:?}");
        let is_refused = ran.stderr.contains("it.journal: the program has changed since");
        assert_eq!(is_refused, code == 2, "{ran:?}");
    }
}

/// A killed writer leaves the old file, and the next one removes what was left.
#[test]
fn no_partial_file_is_left() {
    let folder = Folder::new("kills-files").with("it.jsonl", "old");
    let args = ["generate", "--spec", "queue", "--operations", "300000", "-o", "it.jsonl"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_clewline"));
    command.args(args).current_dir(folder.path(".")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let parts = || fs::read_dir(folder.path(".")).unwrap().count() - 1;
    while parts() == 0 && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_micros(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let text = folder.read("it.jsonl");
    assert!(text == "old" || text.lines().count() == 300_000);
    let ran = clewline(&folder, &["generate", "--spec", "queue", "--operations", "3", "-o", "it.jsonl"], "");
    assert_eq!((ran.code, parts()), (0, 0), "{ran:?}");
}
