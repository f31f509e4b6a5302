//! Weak memory models: atomics of unmodified code read older stores where the model lets them.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use clewline_core::Random;
use clewline_testing::{
    litmus::{Candidates, LITMUS, Program as Litmus},
    pick, pick_of_three,
};

use super::program::{Program, Ran, build};

const RELAXED: &[&str] = &["LOAD=memory_order_relaxed"];
const RELEASED: &[&str] = &["STORE=memory_order_release"];
const SEQUENTIAL: &[&str] = &["STORE=memory_order_seq_cst", "LOAD=memory_order_seq_cst"];

fn explore(program: &Program, matrix: &str, model: &str) -> Ran {
    let program = pick(program.by_first(), program.clone());
    program.check(matrix, &["--memory-model", model, "--nondeterminism", "allow"])
}

/// The models in which the matrix is violated, in the order `sc`, `tso`, `rc11`.
#[track_caller]
fn violated_under(defines: &[&str], matrix: &str, expected: [bool; 3]) {
    let Some(program) = build("weak.c", defines) else { return };
    let found = ["sc", "tso", "rc11"].map(|model| explore(&program, matrix, model).code == Some(1));
    assert_eq!(found, expected, "{defines:?} {matrix}");
}

const NOWHERE: [bool; 3] = [false, false, false];
const IF_RELAXED: [bool; 3] = [false, false, true];

#[test]
fn a_message_without_release_or_acquire_is_lost_where_the_model_lets_it() {
    violated_under(&[], "send | receive", IF_RELAXED);
    violated_under(&[RELEASED, RELAXED].concat(), "send | receive", IF_RELAXED);
    violated_under(RELEASED, "send | receive", NOWHERE);
}

#[test]
fn locks_order_relaxed_accesses() {
    violated_under(&[], "send_locked | receive_locked", NOWHERE);
}

/// The results of both calls are compared with those of a serial execution: `0 0` has none.
#[test]
fn stores_are_buffered_unless_they_are_sequentially_consistent() {
    let results = |defines: &[&str], model| {
        let program = build("weak.c", defines)?;
        let matrix = "first | second";
        let all = ["--memory-model", model, "--spec", "serial", "--all"];
        let found = program.by_first().check(matrix, &all);
        Some((found.field("cause"), found.out.contains("\"result\":\"0\"")))
    };
    // Under sequential consistency both may return 1, which is wrong in another way.
    for model in ["sc", "tso", "rc11"] {
        let Some(found) = results(SEQUENTIAL, model) else { return };
        assert!(!found.1, "{model}: {found:?}");
    }
    for model in ["tso", "rc11"] {
        assert_eq!(results(&[], model).map(|it| it.1), Some(true), "{model}");
    }
}

#[test]
fn memory_that_is_freed_and_allocated_again_is_forgotten() {
    let Some(program) = build("weak.c", &[]) else { return };
    for model in ["tso", "rc11"] {
        let more = ["--memory-model", model, "--reuse", "any"];
        program.by_first().check("renew(1) renew(2) | renew(3)", &more).holds();
    }
}

#[test]
fn overlapping_accesses_of_different_sizes_read_memory() {
    violated_under(RELEASED, "write_half | read_whole", NOWHERE);
    // There is one value, and it is the newest.
    violated_under(&[], "write_half | read_whole", NOWHERE);
}

#[test]
fn the_number_of_stale_reads_is_bounded_and_said() {
    let Some(program) = build("weak.c", &[]) else { return };
    let run = |most| {
        let model = ["--memory-model", "rc11", "--stale-reads", most];
        program.by_first().run(&[&["--matrix", "send | receive"], &model[..]].concat())
    };
    let (none, one) = (run("0"), run("1"));
    assert_eq!((none.code, one.code), (Some(0), Some(1)), "{}{}", none.out, one.out);
    assert!(none.text().contains("memory rc11, at most 0 stale reads"), "{}", none.out);
    assert!(one.text().contains("0, not 1 of step 1: nothing orders them"), "{}", one.out);
    // The token replays it.
    let command = one.out.lines().find_map(|it| it.strip_prefix("next: ")).unwrap();
    let token = command.split_whitespace().skip_while(|it| *it != "--replay").nth(1).unwrap();
    let model = ["--memory-model", "rc11", "--stale-reads", "1", "--replay", token];
    let again = program.by_first().run(&[&["--matrix", "send | receive"], &model[..]].concat());
    assert_eq!(again.code, Some(1), "{}{}", again.out, again.err);
}

#[test]
fn json_names_the_model_and_both_accesses_of_a_race() {
    let Some(program) = build("races.c", &["-O2"]) else { return };
    let json = ["--format", "json", "--memory-model", "rc11"];
    let found = program.by_first().explore_main_with(&["racy_relaxed"], &json);
    assert_eq!(found.field("memory_model"), "rc11");
    let race = &found.out[found.out.find("\"race\":").unwrap()..];
    for part in ["\"access\":\"write\"", "\"access\":\"read\"", "races.c:", "\"kind\":\"acquire\""] {
        assert!(race.contains(part), "{part}: {race}");
    }
}

/// Every program that does not race holds under every model: nothing that orders accesses is
/// missed.
#[test]
fn code_without_races_holds_under_weak_models() {
    let Some(program) = build("races.c", &["-O2"]) else { return };
    let source = include_str!("programs/races.c");
    let names = source.split("ENTRY(").skip(2).filter_map(|it| it.split(')').next());
    for model in ["tso", "rc11"] {
        for name in names.clone().skip(pick(1, 0)).step_by(pick(8, 1)) {
            let found =
                program.by_first().explore_main_with(&[name], &["--format", "json", "--memory-model", model]);
            match name.starts_with("racy_") {
                true => found.violated("data-race"),
                false => found.holds(),
            }
        }
    }
}

/// The outcomes of a litmus test that an exploration reaches.
fn outcomes(program: &Program, litmus: &Litmus, model: &str) -> BTreeSet<String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("litmus-{number}"));
    let _absent = fs::remove_file(&file);
    let all = ["--memory-model", model, "--stale-reads", "none", "--scheduler", "dpor", "--format", "json"];
    program.explore_main_with(&[&litmus.to_string(), file.to_str().unwrap()], &all).holds();
    let found = fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
    fs::remove_file(&file).unwrap();
    found
}

#[track_caller]
fn compare(program: &Program, litmus: &Litmus, model: &str) {
    let allowed = match model {
        "sc" => litmus.sequential(),
        "tso" => litmus.buffered(),
        _ => litmus.relaxed(Candidates::Executable),
    };
    let allowed: BTreeSet<String> = allowed.iter().map(ToString::to_string).collect();
    assert_eq!(outcomes(program, litmus, model), allowed, "{litmus} {model}");
}

/// The same tests as for `clewline::sync`, in C.
#[test]
fn litmus_tests_in_c_return_exactly_what_the_axioms_allow() {
    for level in pick(&["-O2"][..], &["-O0", "-O2"]) {
        let Some(program) = build("litmus.c", &[level]) else { return };
        let program = pick(program.by_first(), program);
        for it in LITMUS.iter().step_by(pick(6, 1)) {
            let litmus = Litmus::parse(it.program);
            for model in pick(&["rc11"][..], &["sc", "tso", "rc11"]) {
                if litmus.0.len() <= pick(2, if *model == "tso" { 3 } else { 4 }) {
                    compare(&program, &litmus, model);
                }
            }
        }
    }
}

#[test]
fn random_programs_in_c_return_exactly_what_the_axioms_allow() {
    let Some(program) = build("litmus.c", &["-O2"]) else { return };
    for seed in 0..pick_of_three(10, 300, 20_000) {
        let mut random = Random::new(seed);
        let operations = 4 + random.below(pick(2, 3));
        let litmus = Litmus::random(operations, &mut |n| random.below(n));
        for model in pick(&["rc11"][..], &["tso", "rc11"]) {
            compare(&program.by_first(), &litmus, model);
        }
    }
}
