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

/// A graph is executed in some order. Other orders of it may have fewer stale reads.
#[test]
fn a_violation_is_replayed_whatever_the_order_of_its_stale_reads() {
    let Some(program) = build("orders/spsc_ring.c", &["-O2", "SIZE=2"]) else { return };
    let matrix = "push(1) push(2) push(3) | pop pop pop";
    let run = |more: &[&str]| {
        let given = ["--matrix", matrix, "--memory-model", "rc11", "--format", "json", "--shrink", "none"];
        program.by_first().run(&[&given[..], more].concat())
    };
    let found = run(&["--scheduler", "graph"]);
    found.violated("not-linearizable");
    run(&["--replay", &found.field("replay")]).violated("not-linearizable");
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

#[test]
fn by_default_a_violation_says_which_model_it_needs() {
    let Some(program) = build("weak.c", &[]) else { return };
    let given = ["--matrix", "send | receive"];
    let run = |more: &[&str]| program.run_under_default_models(&[&given[..], more].concat());
    let ran = run(&[]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let text = ran.text();
    assert!(text.contains(", under rc11; it holds under sequential consistency"), "{text}");
    assert!(text.contains("The violation needs rc11: under sequential consistency"), "{text}");
    assert_eq!(ran.out.matches("phase 2:").count(), 2, "{}", ran.out);
    // The token carries the model.
    let command = ran.out.lines().find_map(|it| it.strip_prefix("next: ")).unwrap();
    let token = command.split_whitespace().skip_while(|it| *it != "--replay").nth(1).unwrap();
    assert!(token.starts_with("rc11:") && text.contains(&format!("schedule: {token}")), "{command}");
    let again = run(&["--replay", token]);
    assert_eq!(again.code, Some(1), "{}{}", again.out, again.err);
    assert!(again.text().contains("0, not 1 of step 1: nothing orders them"), "{}", again.out);
    let other = run(&["--replay", token, "--memory-model", "tso"]);
    assert_eq!(other.code, Some(2), "{}{}", other.out, other.err);
    assert!(other.err.contains("under rc11, but --memory-model says tso"), "{}", other.err);
    // A schedule without a model is of sequential consistency.
    assert_eq!(run(&["--replay", "a"]).code, run(&["--replay", "a", "--memory-model", "sc"]).code);
    // A line for each model.
    let json = run(&["--format", "json", "--shrink", "none"]);
    let lines: Vec<&str> = json.out.lines().collect();
    let [first, second] = lines[..] else { panic!("{}", json.out) };
    assert!(first.contains("\"verdict\":\"holds\"") && first.contains("\"memory_model\":\"sc\""), "{first}");
    for part in ["\"verdict\":\"violated\"", "\"needs\":\"rc11\"", "\"replay\":\"rc11:"] {
        assert!(second.contains(part), "{part}: {second}");
    }
}

#[test]
fn by_default_what_holds_names_the_models_it_was_explored_under() {
    let Some(program) = build("weak.c", RELEASED) else { return };
    let run = |more: &[&str]| {
        let ran =
            program.run_under_default_models(&[&["--matrix", "send send | receive receive"], more].concat());
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        ran
    };
    let first = |ran: &Ran| ran.out.lines().next().unwrap_or_default().to_owned();
    let both = first(&run(&[]));
    assert!(both.ends_with(", under sequential consistency and rc11"), "{both}");
    let bounded = run(&["--preemptions", "none", "--stale-reads", "1"]);
    let said = "Every schedule was explored, but under rc11 only those with at most 1 stale read;";
    assert!(bounded.text().contains(said), "{}", bounded.out);
    let one = first(&run(&["--memory-model", "sc"]));
    assert!(one.ends_with(", under sequential consistency"), "{one}");
    let one = first(&run(&["--memory-model", "rc11", "--scheduler", "bounded-dpor"]));
    assert!(one.ends_with(", under rc11"), "{one}");
}

/// What was not explored under rc11 does not make a complete exploration unknown, and is said.
#[test]
fn a_limit_under_the_second_model_is_said_and_does_not_count() {
    let Some(program) = build("weak.c", RELEASED) else { return };
    let given = ["--matrix", "send send | receive receive", "--stale-reads", "none"];
    let count = |more: &[&str]| {
        let all = [&given[..], &["--format", "json"], more].concat();
        program.run_under_default_models(&all).number("executions")
    };
    let enough = count(&["--memory-model", "sc"]);
    let needed = count(&["--memory-model", "rc11", "--scheduler", "bounded-dpor"]);
    assert!(enough < needed, "{enough} {needed}");
    let limit = enough.to_string();
    let ran = program.run_under_default_models(&[&given[..], &["--executions", &limit]].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let text = ran.text();
    assert!(!text.contains("consistency and rc11"), "{text}");
    assert!(text.contains("Under rc11, what was explored holds, but that is not all there is"), "{text}");
    assert!(ran.out.contains("next: ") && ran.out.contains(" --memory-model rc11"), "{}", ran.out);
    // The model that was asked for counts.
    let asked = [&given[..], &["--executions", &limit, "--memory-model", "rc11"]].concat();
    assert_eq!(program.run_under_default_models(&asked).code, Some(3));
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

/// The outcomes of a litmus test that an exploration reaches, and its number of executions.
fn outcomes(program: &Program, litmus: &Litmus, model: &str, scheduler: &str) -> (BTreeSet<String>, u64) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("litmus-{number}"));
    let _absent = fs::remove_file(&file);
    let all =
        ["--memory-model", model, "--stale-reads", "none", "--scheduler", scheduler, "--format", "json"];
    let ran = program.explore_main_with(&[&litmus.to_string(), file.to_str().unwrap()], &all);
    ran.holds();
    let found = fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
    fs::remove_file(&file).unwrap();
    (found, ran.number("executions"))
}

/// The outcomes are those that are allowed. `graph` explores each graph of `rc11` once.
#[track_caller]
fn compare(program: &Program, litmus: &Litmus, model: &str) {
    let allowed = match model {
        "sc" => litmus.sequential(),
        "tso" => litmus.buffered(),
        _ => litmus.relaxed(Candidates::Executable),
    };
    let allowed: BTreeSet<String> = allowed.iter().map(ToString::to_string).collect();
    assert_eq!(outcomes(program, litmus, model, "dpor").0, allowed, "{litmus} {model}");
    let (found, executions) = match model {
        "sc" => return,
        model => outcomes(program, litmus, model, "graph"),
    };
    assert_eq!(found, allowed, "{litmus} {model} graph");
    if model == "rc11" {
        assert_eq!(executions, litmus.graphs(Candidates::Executable), "{litmus} graph");
    }
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

/// The failure counts, although `main` comes to its end after it.
#[test]
fn a_thread_of_main_that_fails_is_found_by_every_scheduler() {
    let model = ["--memory-model", "rc11", "--scheduler"];
    for (defines, cause) in [(&[][..], "failure"), (&["CRASHES"], "crash")] {
        let Some(program) = build("thread_fails.c", defines) else { return };
        for scheduler in ["graph", "dpor"] {
            let given = [&model[..], &[scheduler, "--format", "json"]].concat();
            let found = program.explore_main(&given);
            found.violated(cause);
            let token = found.field("replay");
            let given =
                ["--memory-model", "rc11", "--matrix", "main", "--replay", &token, "--format", "json"];
            program.by_first().run(&given).violated(cause);
        }
    }
    let Some(right) = build("thread_fails.c", &["ORDER=memory_order_release"]) else { return };
    right.explore_main(&[&model[..], &["graph", "--format", "json"]].concat()).holds();
}

/// Fences that are instructions, and not calls of the language.
#[test]
fn fences_in_assembly_are_fences() {
    let fails = |defines: &[&str], model: &str| {
        let program = build("fences.c", defines)?;
        let ran = program.by_first().run(&["--memory-model", model, "--format", "json"]);
        assert!(matches!(&*ran.field("verdict"), "holds" | "violated"), "{}{}", ran.out, ran.err);
        let other = program.by_second().map(|it| it.run(&["--memory-model", model, "--format", "json"]));
        assert!(other.is_none_or(|it| it.code == ran.code), "{defines:?} {model}");
        Some(ran.field("verdict") == "violated")
    };
    for level in pick(vec!["-O2"], vec!["-O0", "-O1", "-O2", "-O2 -masm=intel"]) {
        let flags: Vec<&str> = level.split(' ').collect();
        let expected = [(&[][..], [true, true]), (&["BY_MFENCE"], [false, false])];
        let others = [(&["BY_LOCK"][..], [false, false]), (&["BY_INTRINSIC"], [false, false])];
        // The operand of the other fence is written in one syntax.
        let is_intel = flags.len() == 2;
        for (how, expected) in
            expected.into_iter().chain(others).filter(|it| !is_intel || it.0 != ["BY_LOCK"])
        {
            let defines = [&["FULL"], how, &flags].concat();
            let Some(tso) = fails(&defines, "tso") else { return };
            assert_eq!([tso, fails(&defines, "rc11").unwrap()], expected, "{defines:?}");
        }
        for (how, fails_under_rc11) in [(&[][..], true), (&["BY_PARTS"], false)] {
            let found = fails(&[how, &flags].concat(), "rc11");
            assert_eq!(found, Some(fails_under_rc11), "{how:?} {level}");
        }
    }
}

/// An atomic instruction orders, too. It is not seen: what the model then allows is no violation.
#[test]
fn what_unseen_code_may_rule_out_is_no_violation() {
    let Some(program) = build("fences.c", &["FULL", "BY_EXCHANGE"]) else { return };
    for model in ["tso", "rc11"] {
        let run = |more: &[&str]| {
            let model = ["--memory-model", model, "--format", "json"];
            program.run(&[&model[..], more].concat())
        };
        run(&[]).unknown("an execution is wrong, but some of the code that ran was not seen, and may order");
        run(&["--trust", "fences.c"]).violated("failure");
    }
    program.run(&["--format", "json", "--memory-model", "sc"]).unknown("schedules were left out");
}
