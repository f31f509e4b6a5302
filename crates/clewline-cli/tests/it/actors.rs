//! `clewline actors` and `clewline systems`: text and JSON; and `Explore`, for systems of users.

use clewline_actors::schedulers::{self, ActorScheduler};
use serde_json::Value as Json;

use crate::run::{Folder, Ran, clewline};

#[path = "../../../clewline/examples/noticeboard.rs"]
mod noticeboard;

#[track_caller]
fn actors(name: &str, args: &[&str]) -> Ran {
    let all: Vec<&str> = std::iter::once("actors").chain(args.iter().copied()).collect();
    clewline(&Folder::new(&format!("actors-{name}")), &all, "")
}

#[track_caller]
fn json(name: &str, args: &[&str]) -> (i32, Json) {
    let all: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    let ran = actors(name, &all);
    let mut objects = ran.json();
    assert_eq!((objects.len(), ran.stderr.as_str()), (1, ""), "{}", ran.stdout);
    (ran.code, objects.remove(0))
}

/// The numbers of those fields.
fn numbers(object: &Json, fields: &[&str]) -> Vec<Option<u64>> {
    fields.iter().map(|it| object[it].as_u64()).collect()
}

/// The canonical histories of a system, as another program compares them.
#[track_caller]
fn histories(system: &str, scheduler: &[&str]) -> Vec<String> {
    let name = format!("histories-{system}-{}", scheduler.join("-"));
    let args = [&[system, "--harness", "2r+1w", "--histories", "--scheduler"], scheduler].concat();
    let (_, object) = json(&name, &args);
    let all = object["all_histories"].as_array().unwrap();
    assert_eq!(all.len() as u64, object["canonical"].as_u64().unwrap(), "{system} {scheduler:?}");
    all.iter().map(Json::to_string).collect()
}

#[test]
fn the_histories_of_two_schedulers_can_be_compared() {
    for system in ["edr", "adr"] {
        let all = histories(system, &["exhaustive"]);
        assert!(all.is_sorted_by(|one, other| one < other), "each once: {all:#?}");
        for other in ["states", "dpor", "transdpor", "ired"] {
            assert_eq!(histories(system, &[other]), all, "{system}: {other}");
        }
        for bounded in [&["delay-bounded", "--delays", "1"][..], &["random", "--executions", "20"]] {
            let some = histories(system, bounded);
            assert!(some.len() < all.len(), "{system}: {bounded:?} leaves something out");
            assert!(some.iter().all(|it| all.contains(it)), "{system}: {bounded:?} is a part");
        }
    }
}

/// A history of the list is a file that `check` reads, with the same verdict.
#[test]
fn each_history_of_the_list_can_be_checked() {
    let (_, object) = json("histories-checked", &["edr", "--histories"]);
    let violated = object["all_histories"].as_array().unwrap().iter().filter(|history| {
        let lines: Vec<String> = history.as_array().unwrap().iter().map(Json::to_string).collect();
        let folder = Folder::new("actors-histories-checked-again");
        clewline(&folder, &["check", "-", "--spec", "register"], lines.join("\n")).code == 1
    });
    assert_eq!(Some(violated.count() as u64), object["violated"].as_u64());
    let (_, object) = json("histories-not-listed", &["edr"]);
    assert!(object.get("all_histories").is_none());
    let ran = actors("histories-text", &["edr", "--histories"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (2, "error: --histories needs --format json\n"));
}

/// Schedules, canonical histories and violated ones, by counting states and by executing every
/// schedule.
#[track_caller]
fn check_counts(system: &str, harness: &str, counts: [u64; 3], exhaustive: bool) {
    let fields = ["executions", "canonical", "violated"];
    let code = i32::from(counts[2] != 0);
    let name = format!("counts-{system}-{harness}");
    for scheduler in ["states", "exhaustive"] {
        if scheduler == "exhaustive" && !exhaustive {
            continue;
        }
        let (status, object) = json(&name, &[system, "--harness", harness, "--scheduler", scheduler]);
        let expected: Vec<Option<u64>> = counts.into_iter().map(Some).collect();
        assert_eq!(numbers(&object, &fields), expected, "{system} {harness} {scheduler}");
        assert_eq!((status, object["coverage"].as_str()), (code, Some("exhausted")), "{system} {scheduler}");
    }
}

#[test]
fn three_calls_on_the_papers_systems_have_the_known_counts() {
    check_counts("dr", "2r+1w", [4_200, 44, 0], true);
    check_counts("edr", "2r+1w", [252, 32, 12], true);
    check_counts("adr", "2r+1w", [1_680, 35, 0], true);
    check_counts("open-chord", "2r+1w", [18_396, 41, 9], true);
    check_counts("paxos", "2r+1w", [5_765_760, 32, 0], false);
}

#[test]
fn four_calls_on_the_papers_systems_have_the_known_counts() {
    check_counts("dr", "2r+2w", [4_204_200, 399, 0], false);
    check_counts("edr", "2r+2w", [1_197_504, 562, 272], false);
    check_counts("adr", "2r+2w", [369_600, 551, 0], false);
    check_counts("open-chord", "2r+2w", [1_672_440, 432, 91], false);
}

#[test]
fn counts_are_the_same_for_any_number_of_threads() {
    let fields = ["executions", "states", "edges", "ends", "stuck", "canonical", "violated"];
    let (_, alone) = json("alone", &["edr", "--harness", "2r+2w"]);
    let (_, together) = json("together", &["edr", "--harness", "2r+2w", "--jobs", "2"]);
    assert_eq!(numbers(&alone, &fields), numbers(&together, &fields));
    assert_eq!(alone["replay"], together["replay"]);
    assert_eq!(numbers(&alone, &["states", "edges"]), [Some(46_495), Some(98_948)]);
}

#[test]
fn schedulers_count_the_same_with_any_number_of_threads() {
    let fields = ["executions", "incomplete", "unique", "canonical", "violated"];
    for (scheduler, bound) in [
        ("exhaustive", &[][..]),
        ("delay-bounded", &["--delays", "5"]),
        ("dpor", &[]),
        ("transdpor", &[]),
        ("ired", &[]),
        ("liviola", &[]),
        ("random", &[]),
        ("pct", &["--depth", "5"]),
        ("pos", &[]),
    ] {
        for limit in [&["--executions", "900"][..], &["--executions", "900", "--stop-at-first"]] {
            let mut args = vec!["open-chord", "--jobs", "1", "--scheduler", scheduler];
            args.extend(bound.iter().chain(limit));
            let name = format!("threads-{scheduler}-{}", limit.len());
            let (_, alone) = json(&format!("{name}-1"), &args);
            args[2] = "3";
            let (_, together) = json(&format!("{name}-3"), &args);
            assert_eq!(numbers(&alone, &fields), numbers(&together, &fields), "{args:?}");
            assert_eq!(alone["first_violation"], together["first_violation"], "{args:?}");
            assert_eq!((&alone["replay"], &alone["limit"]), (&together["replay"], &together["limit"]));
        }
    }
}

#[test]
fn partially_visited_states_are_the_same_for_any_number_of_threads() {
    let fields = ["states", "edges", "ends", "stuck", "canonical", "violated"];
    for limit in [&["--stop-at-first"][..], &["--states", "20000"]] {
        let args = |jobs| [&["edr", "--harness", "2r+2w", "--jobs", jobs][..], limit].concat();
        let (_, alone) = json(&format!("some-states-1{}", limit[0]), &args("1"));
        let (_, together) = json(&format!("some-states-3{}", limit[0]), &args("3"));
        assert_eq!(numbers(&alone, &fields), numbers(&together, &fields), "{limit:?}");
        assert_eq!(alone["first_violation"], together["first_violation"], "{limit:?}");
    }
}

#[test]
fn reductions_need_fewer_schedules_and_find_the_same_histories() {
    for scheduler in ["dpor", "transdpor", "ired", "liviola"] {
        let (code, object) = json(scheduler, &["open-chord", "--scheduler", scheduler]);
        let counts = numbers(&object, &["executions", "canonical", "violated"]);
        assert_eq!((code, counts), (1, vec![Some(1_708), Some(41), Some(9)]), "{scheduler}");
    }
}

#[test]
fn random_schedulers_report_their_coverage() {
    for scheduler in ["random", "pct", "pos"] {
        let args = ["edr", "--scheduler", scheduler, "--executions", "300", "--seed", "3"];
        let (code, object) = json(scheduler, &args);
        assert_eq!((code, object["coverage"].as_str()), (1, Some("limited")), "{object}");
        assert_eq!(object["executions"], 300, "{object}");
        assert_eq!(object["existing"]["canonical"], 32, "{object}");
        assert_eq!(object["existing"]["violated"], 12, "{object}");
        assert!(object["canonical"].as_u64() <= Some(32), "{object}");
        assert!(object["first_violation"]["execution"].as_u64().is_some(), "{object}");
    }
    let (code, object) = json("drawn", &["adr", "--scheduler", "random", "--executions", "50"]);
    assert_eq!((code, object["verdict"].as_str()), (0, Some("holds")), "{object}");
    assert_eq!(object["coverage"], "limited");
}

/// A scheduler that leaves nothing out within its bounds, but was cut by a limit, decides nothing.
#[test]
fn a_limit_leaves_the_verdict_of_a_systematic_scheduler_unknown() {
    for entry in &schedulers::SCHEDULERS {
        let args = ["adr", "--scheduler", entry.name, "--executions", "5"];
        let (code, object) = json(&format!("limit-{}", entry.name), &args);
        assert_eq!(object["executions"], 5, "{object}");
        let (expected, limit) = match entry.is_random {
            true => (0, "schedules were drawn"),
            false => (3, "the limit of 5 executions was hit"),
        };
        assert_eq!((code, object["limit"].as_str()), (expected, Some(limit)), "{object}");
    }
    let ran = actors("limit-text", &["adr", "--scheduler", "delay-bounded", "--executions", "1"]);
    assert_eq!(ran.code, 3);
    for expected in ["unknown: ", "the limit of one execution was hit", "1 execution by delay-bounded"] {
        assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    }
    let cut = ["adr", "--scheduler", "random", "--executions", "50", "--steps", "4"];
    let (code, object) = json("limit-steps", &cut);
    assert_eq!((code, object["limit"].as_str()), (3, Some("50 executions were cut")), "{object}");
}

#[test]
fn the_number_of_schedules_grows_with_the_delay_bound() {
    for (bound, schedules, violated) in [("0", 1, 0), ("3", 47, 2), ("4", 93, 8)] {
        let args = ["edr", "--scheduler", "delay-bounded", "--delays", bound];
        let (_, object) = json(&format!("delays-{bound}"), &args);
        assert_eq!(numbers(&object, &["executions", "violated"]), [Some(schedules), Some(violated)]);
        assert_eq!(object["coverage"], "limited");
    }
}

#[test]
fn every_bound_of_a_scheduler_has_a_flag() {
    for entry in &schedulers::SCHEDULERS {
        for bound in entry.bounds {
            let flag = format!("--{}", bound.name);
            let with = |args: &[&str]| {
                let basis = ["edr", "--scheduler", entry.name, "--executions", "300"];
                let (_, object) = json(&format!("bound-{}", entry.name), &[&basis[..], args].concat());
                numbers(&object, &["executions", "unique", "canonical", "violated"])
            };
            let (few, many) = (with(&[&flag, "1"]), with(&[&flag, "4"]));
            assert_ne!(few, many, "{} {flag}", entry.name);
        }
    }
}

#[test]
fn objects_have_the_fields_that_scripts_rely_on() {
    let (code, object) = json("fields", &["edr"]);
    assert_eq!(code, 1);
    for (field, value) in
        [("system", "edr"), ("harness", "2r+1w"), ("scheduler", "states"), ("verdict", "violated")]
    {
        assert_eq!(object[field], value);
    }
    assert_eq!(object["cause"], "not-linearizable");
    for field in ["incomplete", "unique"] {
        assert!(object.as_object().unwrap().contains_key(field), "{field}");
        assert!(object[field].is_null(), "states cannot tell: {object}");
    }
    let (_, object) = json("fields-walk", &["edr", "--scheduler", "exhaustive"]);
    assert_eq!(numbers(&object, &["incomplete", "unique"]), [Some(0), Some(32)]);
    assert!(object["elapsed_ms"].is_u64() && object["first_violation"].is_object(), "{object}");
    for operation in object["first_violation"]["history"].as_array().expect("operations") {
        let fields = ["process", "call", "called", "returned", "result"];
        assert!(fields.iter().all(|it| operation.get(it).is_some()), "{operation}");
    }
    assert!(object.get("states").is_none(), "{object}");
    for time in ["exploring", "from_scratch", "judging", "until_violation"] {
        assert!(object["times_ms"][time].is_f64(), "{time}: {object}");
    }
}

#[test]
fn a_violation_is_shown_message_by_message_and_can_be_replayed() {
    let ran = actors("report", &["edr", "--harness", "2r+2w"]);
    assert_eq!(
        (ran.code, ran.first_line()),
        (1, "violated: edr is not linearizable as a register"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("\n  1: C"), "{}", ran.stdout);
    assert!(ran.stdout.contains(" ──Write──► N1"), "{}", ran.stdout);
    assert!(ran.stdout.contains("found in: 4 calls, of which 2 could be left out"), "{}", ran.stdout);
    let next = ran.stdout.lines().find_map(|it| it.strip_prefix("next: clewline ")).unwrap();
    let args: Vec<&str> = next.split(' ').collect();
    let again = clewline(&Folder::new("actors-again"), &args, "");
    assert_eq!((again.code, again.first_line()), (1, ran.first_line()), "{again:?}");
    let shown = |text: &str| -> Vec<String> {
        let evidence = text.split("\ncalls:").next().unwrap();
        evidence.lines().skip(1).map(ToOwned::to_owned).collect()
    };
    assert_eq!(shown(&ran.stdout), shown(&again.stdout), "the same history and the same messages");
    let twice = clewline(&Folder::new("actors-twice"), &args, "");
    assert_eq!(shown(&again.stdout), shown(&twice.stdout));
}

#[test]
fn schedulers_of_schedules_do_not_check_properties_of_states() {
    let harness = ["--harness", "1r+1w", "--scheduler", "dpor"];
    for (name, args) in [
        ("properties", &["two-phase-commit", "--scheduler", "dpor"][..]),
        ("stuck", &["dr", "--stuck", "forbid"][..]),
    ] {
        let args = if name == "stuck" { [args, &harness[..]].concat() } else { args.to_vec() };
        let (code, object) = json(&format!("vouch-{name}"), &args);
        assert_eq!((code, object["verdict"].as_str()), (3, Some("unknown")), "{object}");
        assert_eq!(object["coverage"], "limited", "{object}");
    }
}

#[test]
fn tokens_of_other_systems_are_rejected() {
    for (token, printed) in [
        ("?", "not a replay token"),
        ("9:a", "the token names call 9, and there are 3"),
        ("z40", "the schedule does not fit this system"),
    ] {
        let ran = actors("unfit", &["edr", "--replay", token]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(printed), "{}", ran.stderr);
    }
}

#[test]
fn a_reached_limit_is_no_success() {
    for (name, args, printed) in [
        ("states", &["adr", "--states", "10"][..], "the limit of 10 states was hit"),
        ("executions", &["adr", "--scheduler", "exhaustive", "--executions", "10"], "10 executions"),
        ("time", &["adr", "--scheduler", "exhaustive", "--timeout", "0s"], "time"),
        ("memory", &["paxos:stateright", "--memory", "1KiB"], "memory"),
        ("steps", &["adr", "--scheduler", "exhaustive", "--steps", "3"], "cut"),
    ] {
        let (code, object) = json(&format!("limit-{name}"), args);
        assert_eq!((code, object["verdict"].as_str()), (3, Some("unknown")), "{object}");
        assert_eq!(object["coverage"], "limited", "{object}");
        assert!(object["reason"].as_str().is_some_and(|it| it.contains(printed)), "{object}");
        let ran = actors(&format!("limit-text-{name}"), args);
        assert_eq!((ran.code, ran.first_line().split(':').next()), (3, Some("unknown")), "{ran:?}");
    }
}

#[test]
fn a_violation_within_a_limit_counts() {
    let args = ["edr", "--scheduler", "exhaustive", "--executions", "200"];
    let (code, object) = json("within", &args);
    assert_eq!((code, object["verdict"].as_str()), (1, Some("violated")), "{object}");
    assert_eq!(object["coverage"], "limited");
    for scheduler in ["exhaustive", "states"] {
        let args = ["edr", "--scheduler", scheduler, "--stop-at-first", "--histories"];
        let (code, object) = json("first", &args);
        assert_eq!((code, object["violated"].as_u64()), (1, Some(1)), "{object}");
        let listed = object["all_histories"].as_array().expect("a list").len() as u64;
        assert_eq!(Some(listed), object["canonical"].as_u64(), "{object}");
    }
}

/// The counts are of histories that are not linearizable: a violated property, or a call that never
/// returns, is none.
#[test]
fn a_violation_that_is_no_history_is_counted_as_none() {
    let property = &["two-phase-commit:majority"][..];
    for args in [property, &["chain:unnumbered"], &["dr", "--stuck", "forbid"]] {
        for more in [&[][..], &["--stop-at-first"]] {
            let args = [args, more].concat();
            let (code, object) = json("no-history", &args);
            assert_eq!((code, object["violated"].as_u64()), (1, Some(0)), "{object}");
            let text = actors("no-history-text", &args).stdout;
            assert!(text.starts_with("violated: ") && !text.contains("0 violated"), "{text}");
            assert!(!text.contains("quality") && text.contains("linearizable"), "{text}");
        }
    }
}

#[test]
fn rules_as_published_never_give_holds() {
    for scheduler in ["exhaustive", "random"] {
        let args = ["paxos", "--scheduler", scheduler, "--compat", "ds2", "--executions", "200"];
        let (code, object) = json(&format!("compat-limit-{scheduler}"), &args);
        assert_eq!((code, object["verdict"].as_str()), (3, Some("unknown")), "{object}");
        assert_eq!(object["executions"], 200, "{object}");
    }
    for (system, scheduler, counts) in [
        ("dr", "liviola", [88, 83, 22]),
        ("dr", "dpor", [2_984, 2_979, 37]),
        ("adr", "ired", [802, 412, 124]),
    ] {
        let args = [system, "--scheduler", scheduler, "--compat", "ds2"];
        let (code, object) = json(&format!("compat-{system}-{scheduler}"), &args);
        let expected: Vec<Option<u64>> = counts.into_iter().map(Some).collect();
        assert_eq!(numbers(&object, &["executions", "incomplete", "unique"]), expected);
        assert_eq!((code, object["verdict"].as_str()), (3, Some("unknown")), "{object}");
    }
    let ran = actors("compat-states", &["dr", "--compat", "ds2"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--compat: expected --scheduler to be one of exhaustive"), "{}", ran.stderr);
}

#[test]
fn violations_of_the_rules_as_published_can_be_replayed() {
    let args = ["open-chord", "--harness", "2r+2w", "--scheduler", "dpor", "--compat", "ds2"];
    let ran = actors("compat-found", &args);
    assert_eq!(ran.code, 1, "{ran:?}");
    let next = ran.stdout.lines().find_map(|it| it.strip_prefix("next: clewline actors ")).unwrap();
    let again = actors("compat-again", &next.split(' ').collect::<Vec<_>>());
    let steps = |text: &str| -> Vec<String> {
        text.lines().filter(|it| it.contains("──►")).map(str::to_owned).collect()
    };
    assert_eq!((again.code, steps(&again.stdout)), (1, steps(&ran.stdout)), "{next}");
}

#[test]
fn faults_are_allowed_from_none_upward() {
    let (code, object) = json("lossy", &["single-copy", "--lose", "2"]);
    assert_eq!(code, 0, "{object}");
    assert_eq!(object["faults"]["lose"], 2, "{object}");
    let (code, object) = json("lossy-edr", &["edr", "--lose", "2", "--crash", "1"]);
    assert_eq!(code, 1);
    assert_eq!(object["faults"]["lose"], 0, "none is needed: {object}");
}

#[test]
fn pending_calls_are_a_violation_if_forbidden() {
    let (code, object) = json("stuck-allowed", &["dr"]);
    assert_eq!((code, object["verdict"].as_str()), (0, Some("holds")), "{object}");
    assert!(object["stuck"].as_u64() > Some(0), "{object}");
    let (code, object) = json("stuck-forbidden", &["dr", "--stuck", "forbid"]);
    assert_eq!((code, object["cause"].as_str()), (1, Some("deadlock")), "{object}");
    let token = object["replay"].as_str().unwrap();
    let (code, object) = json("stuck-again", &["dr", "--stuck", "forbid", "--replay", token]);
    assert_eq!((code, object["cause"].as_str()), (1, Some("deadlock")), "{object}");
}

#[test]
fn harnesses_may_come_from_a_file() {
    let text = "# a write and two reads by one client\nC1 N1 write(1)\nC2 N2 read\nC2 N3 read\n";
    let folder = Folder::new("actors-file").with("calls.txt", text);
    let ran = clewline(&folder, &["actors", "edr", "--harness", "calls.txt"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("--harness calls.txt"), "{}", ran.stdout);
    let folder = Folder::new("actors-bad-file").with("calls.txt", "C1 N1 write(1)\nC2 N9 read\n");
    let ran = clewline(&folder, &["actors", "edr", "--harness", "calls.txt"], "");
    assert_eq!(ran.code, 2);
    let printed = "error: calls.txt: line 2, column 1: expected one of the actors N1 to N3, found N9\n";
    assert_eq!(ran.stderr, printed);
    let folder = Folder::new("actors-many").with("calls.txt", "\nactors 99\nC1 N1 read\n");
    let ran = clewline(&folder, &["actors", "edr", "--harness", "calls.txt"], "");
    assert_eq!(ran.stderr, "error: calls.txt: line 2, column 1: edr has from 2 to 9 actors, found 99\n");
}

/// Lines of a file take the place of lines of the same kind in the system's own.
#[test]
fn a_file_may_say_what_messages_mean() {
    let run = |text: &str| {
        let folder = Folder::new("actors-messages").with("my.harness", text);
        clewline(&folder, &["actors", "single-copy", "--harness", "my.harness"], "")
    };
    let calls = "C1 N1 write(1)\nC1 N1 write(1)\nC2 N1 read\n";
    assert_eq!(run(calls).first_line(), "holds: single-copy is linearizable as a register in every schedule");
    let as_counter = "spec counter\nrequest add(v) = Put(n, v)\nrequest read = Get(n)\n";
    let ran = run(&format!("{as_counter}C1 N1 add(1)\nC1 N1 add(1)\nC1 N1 read\n"));
    assert_eq!(ran.first_line(), "violated: single-copy is not linearizable as a counter", "{ran:?}");
    for (text, printed) in [
        ("spec countr\n", "line 1, column 6: no specification is called `countr`; did you mean `counter`?"),
        (
            "request write(v) = Putt(n, v)\nrequest read = Get(n)\n",
            "line 1, column 20: this is no message of the actors: unknown variant",
        ),
        ("ignore GetOkk(..)\n", "line 1, column 8: no message is called `GetOkk`"),
        ("response PutOk(n) to Put(n, _) = true\n", "sends GetOk(0, "),
    ] {
        let ran = run(&format!("{text}{calls}"));
        assert!(ran.code == 2 && ran.stderr.contains(printed), "{printed}: {ran:?}");
        assert_eq!(ran.stderr.contains("error: my.harness: "), printed.starts_with("line"), "{ran:?}");
    }
}

#[test]
fn invalid_arguments_get_a_clear_error() {
    for (name, args, printed) in [
        ("system", &["pax0s"][..], "did you mean `paxos`?"),
        ("scheduler", &["dr", "--scheduler", "dporr"], "did you mean `dpor`?"),
        (
            "bound",
            &["dr", "--scheduler", "states", "--delays", "1"],
            "--delays: the scheduler `states` has no such bound; it is one of `delay-bounded`",
        ),
        ("no-reads", &["dr", "--harness", "0r+2w"], "the harness has no reads"),
        ("harness", &["dr", "--harness", "two"], "found `two`; and no file has this name"),
        ("actors", &["dr", "--actors", "99"], "dr has from"),
        ("nothing", &["dr", "--harness", "none"], "there is nothing to judge"),
        ("only-writes", &["dr", "--harness", "2w"], "the harness has no reads"),
        ("negative-shape", &["dr", "--harness", "-1r"], "found `-1r`; and no file has this name"),
        ("negative-faults", &["dr", "--lose", "-1"], "-1 is not in 0..=255"),
        ("negative-schedules", &["dr", "--executions", "-5"], "invalid value '-5' for '--executions <N>'"),
        ("negative-states", &["dr", "--states", "-5"], "invalid value '-5' for '--states <N>'"),
        ("negative-time", &["dr", "--timeout", "-1s"], "invalid value '-1s' for '--timeout <DURATION>'"),
        ("negative-memory", &["dr", "--memory", "-1"], "invalid value '-1' for '--memory <SIZE>'"),
        ("negative-jobs", &["dr", "--jobs", "-1"], "invalid value '-1' for '--jobs <N>'"),
    ] {
        let ran = actors(&format!("bad-{name}"), args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(printed), "{}", ran.stderr);
    }
}

/// Replies to every message; the call says what goes wrong.
mod odd {
    use std::sync::atomic::{AtomicBool, Ordering};

    use clewline_actors::{Actor, ActorId, AnyActor, Context, Harness};
    use clewline_core::Deterministic;
    use clewline_systems::{ActorScheduler, Explore};

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) enum Call {
        Nothing,
        Set,
        Clear,
        Flip,
        Panic,
        Later,
        Unknown,
        Nowhere,
        Silence,
    }

    #[derive(Clone, Debug)]
    pub(crate) struct Anything;

    impl Deterministic for Anything {
        type State = ();
        type Call = Call;
        type Return = ();

        fn initial(&self) {}

        fn apply(&self, _state: &mut (), _call: &Call) -> Option<()> {
            Some(())
        }
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Odd(bool);

    static FLIPPED: AtomicBool = AtomicBool::new(false);

    impl Actor for Odd {
        type Message = Option<Call>;

        fn on_message(&mut self, from: ActorId, call: &Self::Message, context: &mut Context<Self::Message>) {
            if from.is_client() && matches!(call, Some(Call::Set | Call::Clear)) {
                context.send(ActorId::new(1), *call);
                return context.send(from, None);
            }
            match call {
                Some(Call::Flip) => self.0 = FLIPPED.fetch_not(Ordering::Relaxed),
                Some(Call::Panic) => panic!("there is no such call"),
                Some(Call::Set) => self.0 = true,
                Some(Call::Clear) => self.0 = false,
                // The timer is handled where messages are.
                Some(Call::Later) => context.set_timer(Some(Call::Set)),
                Some(Call::Unknown) => context.unhandled(),
                Some(Call::Nowhere) => context.send(ActorId::new(7), Some(Call::Nothing)),
                Some(Call::Silence) => return,
                Some(Call::Nothing) | None => (),
            }
            if from.is_client() {
                context.send(from, None);
            }
        }
    }

    pub(crate) struct System {
        has_keys: bool,
    }

    impl Harness for System {
        type Message = Option<Call>;
        type Specification = Anything;

        fn specification(&self) -> Anything {
            Anything
        }

        fn actors(&self) -> Vec<Box<dyn AnyActor<Self::Message>>> {
            vec![Box::new(Odd(false)), Box::new(Odd(false))]
        }

        fn request(&self, call: &Call, _n: u32) -> Self::Message {
            Some(*call)
        }

        fn response(&self, message: &Self::Message) -> Option<()> {
            message.is_none().then_some(())
        }

        fn key(&self, message: &Self::Message) -> Option<u64> {
            message.filter(|_| self.has_keys).map(|it| it as u64)
        }
    }

    /// The error of a system for which this is called.
    pub(crate) fn error(call: Call, scheduler: &str) -> Option<String> {
        let harness = System { has_keys: false };
        let explore = Explore::new(harness)
            .client([(0, Call::Nothing), (1, call)])
            .scheduler(scheduler.parse().expect("a scheduler"));
        explore.run().err().map(|it| it.to_string())
    }

    /// The verdict on a system of which only this is called.
    pub(crate) fn verdict(call: Call, change: fn(Explore<System>) -> Explore<System>) -> String {
        let explore = change(Explore::new(System { has_keys: false }).client([(1, call)]));
        format!("{:?}", explore.run().expect("a system that can be explored").verdict)
    }

    /// The error for keys according to which `set` and `clear` commute.
    pub(crate) fn error_of_keys() -> Option<String> {
        let explore = Explore::new(System { has_keys: true });
        let explore =
            explore.client([(0, Call::Set)]).client([(0, Call::Clear)]).scheduler(ActorScheduler::LIVIOLA);
        explore.run().err().map(|it| it.to_string())
    }
}

#[test]
fn a_handler_that_cannot_be_explored_is_an_error_that_names_it() {
    for scheduler in ["states", "dpor", "random", "exhaustive"] {
        assert_eq!(odd::error(odd::Call::Nothing, scheduler), None, "{scheduler}");
        assert_eq!(
            odd::error(odd::Call::Flip, scheduler).unwrap(),
            "the handler of N2 is not pure: message Some(Flip) from C1 in the same state did something else the second time",
            "{scheduler}"
        );
        assert_eq!(
            odd::error(odd::Call::Panic, scheduler).unwrap(),
            "the handler of N2 panicked at message Some(Panic) from C1: there is no such call",
            "{scheduler}"
        );
    }
}

#[test]
fn what_no_handler_handles_is_an_error_that_names_it() {
    for scheduler in ["states", "dpor", "random", "exhaustive"] {
        for (call, printed) in [
            (
                odd::Call::Later,
                "N2 does not handle timer Some(Set): implement `Actor::on_timer` for `Odd` (`on_message` receives no timers)",
            ),
            (
                odd::Call::Unknown,
                "N2 does not handle message Some(Unknown) from C1: the handler of `Odd` calls `Context::unhandled`",
            ),
            (
                odd::Call::Nowhere,
                "N2 sends Some(Nothing) to N8 at message Some(Nowhere) from C1, but there is no actor N8",
            ),
        ] {
            assert_eq!(odd::error(call, scheduler).as_deref(), Some(printed), "{scheduler}");
        }
    }
}

#[test]
fn a_system_that_returns_no_result_does_not_hold() {
    for (name, verdict) in [
        ("no response", odd::verdict(odd::Call::Silence, |it| it)),
        (
            "no response in a sample",
            odd::verdict(odd::Call::Silence, |it| it.scheduler(ActorScheduler::RANDOM)),
        ),
        (
            "no execution",
            odd::verdict(odd::Call::Nothing, |it| it.scheduler(ActorScheduler::RANDOM).executions(0)),
        ),
    ] {
        assert!(verdict.starts_with("Unknown(\"no call returned in any execution"), "{name}: {verdict}");
    }
    assert_eq!(odd::verdict(odd::Call::Nothing, |it| it), "Holds(())");
}

#[test]
fn keys_that_promise_too_much_are_an_error() {
    let printed = odd::error_of_keys().unwrap();
    assert!(printed.starts_with("the keys promise too much: a message at N2 from N1"), "{printed}");
}

#[test]
fn compat_ds2_reports_that_it_uses_one_thread() {
    let ran = actors("one-thread", &["edr", "--scheduler", "dpor", "--compat", "ds2", "--jobs", "2"]);
    assert!(ran.stderr.contains("note: --compat ds2 uses one thread"), "{ran:?}");
    let ran = actors("two-threads", &["edr", "--scheduler", "dpor", "--jobs", "2"]);
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_history_is_shown_without_messages_after_the_time_limit() {
    let args = ["edr:waits-for-all", "--harness", "3c", "--timeout", "0s"];
    let ran = actors("given-up", &args);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stdout.contains("C2:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("A limit was hit before it was found out which messages"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("next: clewline actors edr:waits-for-all --harness 3c\n"), "{}", ran.stdout);
    let (_, object) = json("given-up-json", &args);
    assert!(object.get("replay").is_none(), "{object}");
    assert!(
        object["first_violation"]["counterexample"].as_array().is_some_and(|it| !it.is_empty()),
        "{object}"
    );
}

#[test]
fn little_memory_is_enough_to_show_a_small_violation() {
    let (code, object) = json("little-memory", &["edr", "--memory", "1KiB"]);
    assert_eq!((code, object["first_violation"]["steps"].as_u64()), (1, Some(4)), "{object}");
}

#[test]
fn a_system_without_clients_is_checked_by_its_properties() {
    let ran = actors("no-calls", &["two-phase-commit"]);
    let printed = "holds: two-phase-commit is as its properties say in every schedule";
    assert_eq!((ran.code, ran.first_line()), (0, printed), "{ran:?}");
}

#[test]
fn shrinking_respects_the_time_limit() {
    let args = ["edr", "--harness", "2r+2w", "--scheduler", "exhaustive", "--timeout", "0s"];
    let (code, object) = json("no-time", &args);
    assert_eq!((code, object["verdict"].as_str()), (3, Some("unknown")), "{object}");
    assert!(
        object.get("existing").is_none(),
        "existing histories are not counted after the time limit: {object}"
    );
}

#[test]
fn message_flow_is_written_for_graphviz() {
    let folder = Folder::new("actors-dot");
    let ran = clewline(&folder, &["actors", "edr", "--dot", "flow.dot"], "");
    assert_eq!(ran.code, 1);
    let text = folder.read("flow.dot");
    assert!(text.starts_with("digraph \"edr\" {\n") && text.ends_with("}\n"), "{text}");
    assert!(text.contains("C1 -> N1 [label=\"1: Write\", penwidth=2];"), "{text}");
    assert!(text.contains("N1 -> N2 [label=\"WriteReplica\""), "{text}");
}

#[test]
fn systems_are_listed() {
    let folder = Folder::new("systems");
    let ran = clewline(&folder, &["systems", "--format", "json"], "");
    let names: Vec<String> = ran.json().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    for name in ["dr", "edr", "adr", "open-chord", "paxos", "abd", "single-copy", "raft", "dr:repaired"] {
        assert!(names.iter().any(|it| it == name), "{names:?}");
    }
    let text = clewline(&folder, &["systems"], "");
    assert_eq!(text.code, 0);
    assert!(names.iter().all(|it| text.stdout.contains(it.as_str())), "{}", text.stdout);
}

/// The blocks of a page that begin with such a fence.
fn blocks<'a>(page: &'a str, fence: &str) -> Vec<&'a str> {
    let fence = format!("\n```{fence}\n");
    page.split(&*fence).skip(1).map(|it| it.split("\n```").next().unwrap()).collect()
}

#[test]
fn the_code_of_the_manual_is_that_of_the_example() {
    let plain = |text: &str| -> String {
        let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && *it != "#[test]");
        let lines = lines.filter(|it| !it.starts_with("use ") && !it.starts_with("#!"));
        lines.map(|it| it.trim_start_matches("pub(crate) ")).collect::<Vec<_>>().join("\n")
    };
    let example = plain(include_str!("../../../clewline/examples/noticeboard.rs"));
    let page = include_str!("../../../../docs/tutorials/replicated-register.md");
    let all = blocks(page, "rust,ignore");
    assert_eq!(all.len(), 8);
    for block in all {
        assert!(example.contains(&plain(block)), "{block}");
    }
}

/// The page shows the reports as they are, but for how long it took.
#[test]
fn the_reports_of_the_manual_are_real() {
    let page = include_str!("../../../../docs/tutorials/replicated-register.md");
    let untimed = |text: &str| -> String {
        let lines = text.lines().filter(|it| !it.starts_with("took:")).map(str::trim_end);
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    };
    let shown: Vec<String> = blocks(page, "text").into_iter().map(untimed).collect();
    let printed = [noticeboard::hasty(), noticeboard::careful()].map(|it| untimed(&it.unwrap()));
    assert_eq!(shown, printed);
}

#[test]
fn the_first_notice_board_of_the_manual_replies_too_early() {
    let printed = noticeboard::hasty().unwrap();
    assert!(printed.starts_with("violated: Noticeboard is not linearizable as a Board\n"), "{printed}");
    assert!(printed.contains("C1 ──Post──► N1"), "{printed}");
}

#[test]
fn the_second_notice_board_of_the_manual_goes_back_in_time() {
    let printed = noticeboard::careful().unwrap();
    assert!(printed.contains("Look → 7") && printed.contains("Look → 0"), "{printed}");
}

#[test]
fn the_third_notice_board_of_the_manual_is_correct() {
    assert_eq!(noticeboard::right(), None);
}
