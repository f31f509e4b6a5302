//! The programs in C and C++: the correct ones hold, and each of their bugs is found.
//!
//! They are compiled here. Where there is no compiler, or this is another platform, the tests say
//! so and are skipped.

use std::{ffi::OsString, path::PathBuf, sync::OnceLock};

use clewline_lab::{
    census::{Census, CensusRequest, census_of_program, count},
    enumeration::{Counting, Enumeration, EnumerationPlan},
    find_explorable,
};
use clewline_methods::{line_up::LineUpOptions, relaxed::ElementCalls};
use clewline_unmodified::{Compiler, Program, Runtime, Sources};

use super::program::{Ran, clewline, is_for_all_compilers};

// Exit codes.
const HOLDS: i32 = 0;
const VIOLATED: i32 = 1;

/// The compilers that there are, and the runtime. To try compilers takes a while, so it is done
/// once.
fn tools() -> Option<(Vec<Compiler>, Runtime)> {
    static TOOLS: OnceLock<Option<(Vec<Compiler>, Runtime)>> = OnceLock::new();
    TOOLS.get_or_init(look_for_tools).clone()
}

fn look_for_tools() -> Option<(Vec<Compiler>, Runtime)> {
    let runtime = match Runtime::find() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("notice: skipped: {error}");
            return None;
        }
    };
    let mut compilers = Vec::new();
    for name in ["gcc", "clang"] {
        match Compiler::find(Some(name)) {
            Ok(compiler) => compilers.push(compiler),
            Err(error) => eprintln!("notice: {name} is left out: {error}"),
        }
    }
    (!compilers.is_empty()).then_some((compilers, runtime))
}

/// Where they are.
fn programs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../clewline-lab/programs")
}

// Processes are slow.
const ISOLATED_MAX: u64 = 1_000;

/// The number of executions, according to the text of a report.
fn executions(ran: &Ran) -> u64 {
    let line = ran.out.lines().find_map(|it| it.strip_prefix("phase 2:"));
    let number = line.and_then(|it| it.split_whitespace().next()).map(|it| it.replace(',', ""));
    number.and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// What a program said that was compiled by each compiler; and, if there are not too many
/// executions, what the first of these said with a process for each.
#[track_caller]
fn explore(file: &str, flags: &[&str], arguments: &[&str]) -> Vec<Ran> {
    let is_for_all = is_for_all_compilers(&format!("{file}{flags:?}"));
    explore_by(if is_for_all { usize::MAX } else { 1 }, file, flags, arguments)
}

/// The same with at most `compilers_max` compilers.
#[track_caller]
fn explore_by(compilers_max: usize, file: &str, flags: &[&str], arguments: &[&str]) -> Vec<Ran> {
    let Some((compilers, runtime)) = tools() else { return Vec::new() };
    let words = |it: &[&str]| it.iter().map(OsString::from).collect::<Vec<_>>();
    let sources = Sources { files: vec![programs().join(file)], flags: words(flags) };
    let mut all = Vec::new();
    for compiler in compilers.iter().take(compilers_max) {
        let program = Program::build(&sources, compiler, &runtime).unwrap();
        let run = |arguments: &[&str]| {
            let ran = clewline(program.executable(), arguments, &[]);
            assert!(ran.code.is_some(), "{file} {flags:?} {arguments:?}: {}", ran.err);
            ran
        };
        all.push(run(arguments));
        if all.len() == 1 && executions(&all[0]) <= ISOLATED_MAX {
            all.push(run(&[arguments, &["--isolate"]].concat()));
        }
    }
    all
}

/// Both compilers and both ways to run executions agree.
#[track_caller]
fn check(file: &str, flags: &[&str], arguments: &[&str], expected: i32, printed: &str) {
    let all = explore(file, flags, arguments);
    for ran in &all {
        assert_eq!(ran.code, Some(expected), "{file} {flags:?}\n{}{}", ran.out, ran.err);
        assert!(ran.out.contains(printed), "{file} {flags:?}: no {printed:?} in\n{}", ran.out);
        assert_eq!(found(ran), found(&all[0]), "{file} {flags:?}\n{}\nand\n{}", ran.out, all[0].out);
    }
}

/// The verdict in words; and, if everything was explored, how many histories there are.
fn found(ran: &Ran) -> (String, Option<String>) {
    let verdict = ran.out.lines().next().unwrap_or_default().to_owned();
    let counted = ran.out.lines().find(|it| it.starts_with("phase 2:")).and_then(|it| it.rsplit_once(": "));
    (verdict, counted.filter(|_| ran.code == Some(HOLDS)).map(|it| it.1.to_owned()))
}

/// Every program and every bug is run by a test.
#[test]
fn every_program_and_every_bug_is_explored_here() {
    let here = include_str!("lab_programs.rs");
    let mut bugs = 0;
    for file in std::fs::read_dir(programs()).unwrap() {
        let path = file.unwrap().path();
        // Those of packaged libraries are explored by a table.
        if path.is_dir() {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(here.contains(&format!("\"{name}\"")), "{name} is not explored");
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|it| it.starts_with("#if")) {
            let Some(bug) = line.split(['(', ')', ' ']).find(|it| it.starts_with("BUG_")) else { continue };
            let is_run = here.lines().collect::<Vec<_>>().windows(4).any(|it| {
                it.iter().any(|it| it.contains(&name))
                    && it.iter().any(|it| it.contains(&format!("-D{bug}\"")))
            });
            assert!(is_run, "{name} with {bug} is not explored");
            bugs += 1;
        }
    }
    assert!(20 < bugs, "{bugs}");
}

#[track_caller]
fn holds(file: &str, flags: &[&str], arguments: &[&str]) {
    check(file, flags, arguments, HOLDS, "holds");
}

#[track_caller]
fn violated(file: &str, flags: &[&str], arguments: &[&str], printed: &str) {
    check(file, flags, arguments, VIOLATED, printed);
}

const QUEUE: [&str; 2] = ["--matrix", "enq(1) deq | enq(2) deq"];
const STACK: [&str; 2] = ["--matrix", "push(1) pop | push(2) pop"];

#[test]
fn correct_structures_hold() {
    holds("herlihy_wing_queue.c", &[], &QUEUE);
    holds("ms_queue.c", &[], &QUEUE);
    holds("treiber_stack.c", &[], &STACK);
    holds("two_lock_queue.c", &[], &QUEUE);
    // Its plain accesses race, whatever the results are.
    holds("sl_queue.c", &[], &["--matrix", "enq(1) enq(2) | deq deq", "--no-races"]);
}

/// A ring is found empty while an operation is in flight. If it may be, its other bugs show.
#[test]
#[ignore = "long"]
fn results_with_no_effect_are_allowed_on_request() {
    const WRAP: [&str; 4] = ["--matrix", "enq(1) enq(2) | deq | enq(3)", "--preemptions", "1"];
    let allowed = [&WRAP[..], &["--may-fail", "deq=null,enq=0"]].concat();
    violated("vyukov_ring.c", &[], &WRAP, "It holds if `deq` may return None while an operation overlaps.");
    holds("vyukov_ring.c", &[], &allowed);
    holds("vyukov_ring.c", &["-DRELAXED"], &WRAP);
    violated("vyukov_ring.c", &["-DBUG_WRAP"], &allowed, "deq → 3");
}

#[test]
#[ignore = "long"]
fn bugs_of_plain_structures_are_found() {
    violated("iqueue.c", &[], &["--matrix", "enq(1) | enq(2) deq"], "deq");
    violated("ms_queue.c", &["-DBUG_UNLINKED_TAIL"], &["--matrix", "enq(1) | enq(2) deq"], "deq");
    violated("treiber_stack.c", &["-DBUG_STORE"], &["--matrix", "push(1) | push(2) pop pop"], "pop");
    violated(
        "herlihy_wing_queue.c",
        &["-DBUG_ONE_SEARCH"],
        &["--threads", "3", "--operations", "3", "--seed", "1"],
        "deq",
    );
    violated(
        "two_lock_queue.c",
        &["-DBUG_ONE_LOCK"],
        &["--matrix", "deq | deq", "--initial", "enq(1) enq(2)"],
        "deq",
    );
    violated("sl_queue.c", &[], &["--matrix", "enq(1) | enq(2)", "--final", "deq deq", "--no-races"], "deq");
}

#[test]
fn memory_that_is_used_after_it_was_freed_is_found() {
    violated(
        "treiber_stack.c",
        &["-DBUG_FREE"],
        &["--matrix", "pop | pop", "--initial", "push(1) push(2)"],
        "free",
    );
    violated("ms_queue.c", &["-DBUG_FREE"], &["--matrix", "deq | deq", "--initial", "enq(1) enq(2)"], "free");
}

/// gcc would fill the record in place, without a call of the runtime.
#[test]
fn memory_that_is_filled_by_a_library_function_is_seen() {
    holds("publish.c", &[], &[]);
    // It is a data race as well.
    violated("publish.c", &["-DBUG_LATE"], &["--no-races"], "look → 0");
}

#[test]
fn deadlocks_are_found() {
    violated("two_lock_queue.c", &["-DBUG_ORDER"], &["--matrix", "enq(1) | deq"], "wait");
    holds("bounded_buffer.c", &[], &["--matrix", "put(1) put(2) | take take"]);
    violated(
        "bounded_buffer.c",
        &["-DBUG_IF"],
        &["--matrix", "put(1) | take | take", "--final", "put(2)"],
        "take",
    );
    violated(
        "bounded_buffer.c",
        &["-DBUG_ONE_CONDITION"],
        &["--matrix", "put(1) put(2) | take | take"],
        "wait",
    );
}

#[test]
#[ignore = "long"]
fn relaxed_structures_keep_their_bounds() {
    let queue = ["--matrix", "deq deq | enq(4) deq", "--initial", "enq(1) enq(2) enq(3)", "--final", ""];
    for file in ["quasi_queue.c", "rd_queue.c", "bk_queue.c", "ubk_queue.c"] {
        holds(file, &[], &queue[..4]);
    }
    let stack =
        ["--matrix", "push(4) pop | pop", "--initial", "push(1) push(2) push(3)", "--final", "pop pop"];
    holds("quasi_stack.c", &[], &stack);
    holds("k_stack.c", &[], &stack);
    let priorities = ["--matrix", "poll poll | add(4) poll", "--initial", "add(1) add(2) add(3)"];
    holds("quasi_priority_queue.c", &[], &priorities);
}

#[test]
#[ignore = "long"]
fn bugs_of_relaxed_structures_are_found() {
    let four = ["--matrix", "deq deq | deq deq", "--initial", "enq(1) enq(2) enq(3) enq(4)"];
    for bug in ["-DBUG_B1", "-DBUG_B2", "-DBUG_B3"] {
        violated("quasi_queue.c", &[bug], &four, "deq");
    }
    violated("rd_queue.c", &["-DBUG_NO_WINDOW"], &four, "deq");
    let late = ["--matrix", "enq(1) | enq(2) deq deq", "--final", "deq deq"];
    violated("bk_queue.c", &["-DBUG_UNCOMMITTED"], &late, "deq");
    let late = ["--matrix", "enq(2) | deq deq", "--initial", "enq(1)", "--final", "deq"];
    violated("ubk_queue.c", &["-DBUG_LATE_MARK"], &late, "deq");
    let four = ["--matrix", "pop pop | pop pop", "--initial", "push(1) push(2) push(3) push(4)"];
    for bug in ["-DBUG_B1", "-DBUG_B2"] {
        violated("quasi_stack.c", &[bug], &four, "pop");
    }
    let four = ["--matrix", "poll poll | poll poll", "--initial", "add(1) add(2) add(3) add(4)"];
    violated("quasi_priority_queue.c", &["-DBUG_B2"], &four, "poll");
}

/// Section VI-D of the Round-Up paper. It needs the top segment to be empty and not yet removed.
#[test]
#[ignore = "long"]
fn a_value_that_is_pushed_twice_is_found() {
    let words = ["--matrix", "push(5) | pop", "--initial", "push(1) push(2) push(3) push(4) pop"];
    let after = ["--final", "pop pop pop pop"];
    let words: Vec<&str> = words.into_iter().chain(after).collect();
    violated("k_stack.c", &["-DBUG_SCAL"], &words, "k_stack.c:");
    holds("k_stack.c", &[], &words);
}

#[test]
#[ignore = "long"]
fn cpp_with_its_threads_locks_and_exceptions_is_explored() {
    holds("blocking_queue.cpp", &["-std=c++17"], &["--matrix", "put(1) put(2) | take poll"]);
    let two = ["--matrix", "put(1) | take | poll"];
    violated("blocking_queue.cpp", &["-std=c++17", "-DBUG_IF"], &two, "take");
    violated(
        "blocking_queue.cpp",
        &["-std=c++17", "-DBUG_UNLOCKED"],
        &["--matrix", "put(1) | put(2)", "--final", "poll poll"],
        "poll",
    );
}

/// The command of a report replays the same execution.
#[test]
fn a_violation_is_replayed_from_its_token() {
    let matrix = ["--matrix", "enq(1) | enq(2) deq"];
    for first in explore("iqueue.c", &[], &matrix) {
        let schedule = first.out.lines().find_map(|it| it.strip_prefix("schedule: ")).unwrap();
        let token = schedule.split(' ').next().unwrap();
        let words: Vec<&str> = matrix.into_iter().chain(["--replay", token]).collect();
        violated("iqueue.c", &[], &words, "deq");
    }
}

#[test]
#[ignore = "long"]
fn json_has_one_object_per_matrix() {
    let words: Vec<&str> = QUEUE.into_iter().chain(["--format", "json", "--preemptions", "none"]).collect();
    for ran in explore("ms_queue.c", &[], &words) {
        let lines: Vec<&str> = ran.out.lines().collect();
        assert_eq!(lines.len(), 1, "{}", ran.out);
        assert!(
            lines[0].contains("\"verdict\":\"holds\"") && lines[0].contains("\"coverage\":\"exhausted\"")
        );
    }
}

/// Both compilers, where there are both, leave the same schedules to explore.
#[test]
fn compilers_agree_on_how_many_executions_there_are() {
    for file in ["ms_queue.c", "herlihy_wing_queue.c"] {
        let words: Vec<&str> = QUEUE.into_iter().chain(["--format", "json", "--points", "atomics"]).collect();
        let count = |it: &Ran| {
            let rest = it.out.split("\"executions\":").nth(1).unwrap().to_owned();
            rest.split(',').next().unwrap().to_owned()
        };
        let counts: Vec<String> = explore_by(usize::MAX, file, &[], &words).iter().map(count).collect();
        assert!(counts.windows(2).all(|it| it[0] == it[1]), "{file}: {counts:?}");
    }
}

/// The same structure in C and in Rust has the same histories, as many of which are wrong: two
/// front ends, one explorer. (Those that have other accesses in Rust are left out: every access of
/// the stack of Treiber is atomic there, and so is that of a value after it was popped.)
#[test]
#[ignore = "long"]
fn structures_in_c_have_the_histories_that_they_have_in_rust() {
    let Some((compilers, runtime)) = tools() else { return };
    let mut wrong = 0;
    for (file, flags, subject, spec) in [
        ("iqueue.c", &[][..], "iqueue", "queue"),
        ("sl_queue.c", &["-DATOMIC"], "sl-queue", "queue"),
        ("herlihy_wing_queue.c", &[], "herlihy-wing-queue", "queue"),
        ("ms_queue.c", &[], "ms-queue", "queue"),
        ("quasi_queue.c", &[], "quasi-queue", "queue"),
        ("quasi_queue.c", &["-DBUG_B1"], "quasi-queue:b1", "queue"),
        ("quasi_queue.c", &["-DBUG_B2"], "quasi-queue:b2", "queue"),
        ("quasi_queue.c", &["-DBUG_B3"], "quasi-queue:b3", "queue"),
        ("bk_queue.c", &[], "bk-queue", "queue"),
        ("ubk_queue.c", &[], "ubk-queue", "queue"),
        ("rd_queue.c", &[], "rd-queue", "queue"),
        ("quasi_stack.c", &["-DBUG_B1"], "quasi-stack:b1", "stack"),
        ("quasi_stack.c", &["-DBUG_B2"], "quasi-stack:b2", "stack"),
        ("k_stack.c", &[], "k-stack", "stack"),
        ("quasi_priority_queue.c", &["-DBUG_B2"], "quasi-priority-queue:b2", "priority-queue"),
    ] {
        let roles = ElementCalls::of(spec).unwrap();
        let factors = |add: u32| format!("{}={add},{}=2", roles.add(), roles.remove());
        let asked = CensusRequest {
            matrix: roles.shape(2, 2, 2),
            plain: spec.to_owned(),
            relaxed: format!("quasi-{spec}:2"),
            factors: factors(0),
            enumerated: factors(2),
            executions_max: 1_000_000,
            time: None,
        };
        let path = programs().join(file);
        let sources = Sources { files: vec![path], flags: flags.iter().map(OsString::from).collect() };
        let rust = find_explorable(subject).unwrap().build();
        let options = LineUpOptions { executions_max: asked.executions_max, ..LineUpOptions::default() };
        let readings = asked.readings().unwrap();
        let enumeration = || Enumeration::new(EnumerationPlan::counting(Counting::Distinct));
        let expected =
            count(&*rust, &asked.matrix, &readings, Counting::Distinct, &options, &mut enumeration())
                .unwrap();
        let counts =
            |it: &Census| (it.histories, it.not_linearizable, it.not_relaxed, it.not_displaced, it.broken);
        for compiler in &compilers {
            let program = Program::build(&sources, compiler, &runtime).unwrap();
            let found = census_of_program(&program, &asked, &mut enumeration()).unwrap();
            assert_eq!(counts(&found), counts(&expected), "{file} {flags:?} by {}", compiler.name());
            assert_eq!(found.coverage, expected.coverage, "{file} {flags:?}");
        }
        wrong += usize::from(expected.not_relaxed != 0);
    }
    assert!((3..13).contains(&wrong), "{wrong} of them are wrong, and others are right");
}

#[test]
fn whole_programs_are_explored() {
    for (file, flags, expected) in [
        ("transfer.c", &[][..], HOLDS),
        ("transfer.c", &["-DBUG_ORDER"], VIOLATED),
        ("transfer.c", &["-DBUG_UNLOCKED"], VIOLATED),
    ] {
        let Some((compilers, runtime)) = tools() else { return };
        let path = programs().join(file);
        let sources = Sources { files: vec![path], flags: flags.iter().map(OsString::from).collect() };
        for compiler in &compilers {
            let program = Program::build(&sources, compiler, &runtime).unwrap();
            let ran = clewline(program.executable(), &[], &[]);
            assert_eq!(ran.code, Some(expected), "{flags:?}\n{}{}", ran.out, ran.err);
        }
    }
}
