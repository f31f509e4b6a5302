//! `clewline explore --quasi`.

use serde_json::Value as Json;

use crate::run::{Folder, Ran, clewline};

#[track_caller]
fn explore(name: &str, subject: &str, quasi: &str, more: &[&str]) -> Ran {
    let mut args = vec!["explore", subject, "--quasi", quasi, "--format", "json"];
    args.extend(more);
    clewline(&Folder::new(name), &args, "")
}

#[track_caller]
fn one(ran: &Ran) -> Json {
    let objects = ran.json();
    assert_eq!(objects.len(), 1, "{ran:?}");
    objects[0].clone()
}

const DEQUEUES: [&str; 4] = ["--matrix", "deq deq | deq deq", "--initial", "enq(1) enq(2) enq(3) enq(4)"];

#[test]
fn a_relaxed_queue_keeps_its_bound_and_a_bug_is_told_from_it() {
    for reading in ["relaxed", "displacement"] {
        let more = [&DEQUEUES[..], &["--reading", reading]].concat();
        let holds = explore("quasi-holds", "quasi-queue", "enq=0,deq=2", &more);
        assert_eq!((holds.code, &one(&holds)["verdict"]), (0, &Json::from("holds")), "{reading}: {holds:?}");
        let less = explore("quasi-less", "quasi-queue", "enq=0,deq=0", &more);
        assert_eq!((less.code, &one(&less)["verdict"]), (1, &Json::from("violated")), "{reading}: {less:?}");
        let bug = explore("quasi-bug", "quasi-queue:b1", "enq=0,deq=2", &more);
        assert_eq!((bug.code, &one(&bug)["verdict"]), (1, &Json::from("violated")), "{reading}: {bug:?}");
        if reading == "displacement" {
            let told = one(&bug)["out_of_place"].as_str().unwrap().to_owned();
            assert!(told.contains("in every order") && told.contains("allowed"), "{told}");
        }
    }
}

#[test]
fn the_least_factor_of_a_matrix_is_found_and_one_less_fails() {
    for reading in ["relaxed", "displacement"] {
        let more = [&DEQUEUES[..], &["--reading", reading]].concat();
        let object = one(&explore("quasi-least", "quasi-queue", "enq=0,deq=?", &more));
        let least = object["least_factor"].as_u64().unwrap();
        assert!((1..=2).contains(&least), "{object}");
        let histories: u64 =
            object["histories_by_factor"].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum();
        assert_eq!(object["histories"].as_u64(), Some(histories));
        let less = explore("quasi-least-less", "quasi-queue", &format!("enq=0,deq={}", least - 1), &more);
        assert_eq!(less.code, 1, "{less:?}");
        let enough = explore("quasi-least-enough", "quasi-queue", &format!("enq=0,deq={least}"), &more);
        assert_eq!(enough.code, 0, "{enough:?}");
        let strict = one(&explore("quasi-strict", "ms-queue", "enq=0,deq=?", &more));
        assert_eq!(strict["least_factor"].as_u64(), Some(0), "{strict}");
    }
}

#[test]
fn another_subject_can_say_what_is_right() {
    let more = ["--matrix", "enq(1) deq | enq(2) deq", "--golden", "ms-queue"];
    let strict = explore("quasi-golden", "two-lock-queue", "enq=0,deq=0", &more);
    assert_eq!((strict.code, &one(&strict)["verdict"]), (0, &Json::from("holds")), "{strict:?}");
    let matrix = [
        "--matrix",
        "deq | deq",
        "--initial",
        "enq(1) enq(2) enq(3)",
        "--final",
        "deq",
        "--golden",
        "ms-queue",
    ];
    assert_eq!(explore("quasi-golden-2", "quasi-queue", "enq=0,deq=2", &matrix).code, 0);
    assert_eq!(explore("quasi-golden-0", "quasi-queue", "enq=0,deq=0", &matrix).code, 1);
}

#[test]
fn a_matrix_that_leaves_something_is_refused_unless_asked_for() {
    let more = ["--matrix", "enq(1) deq | enq(2)", "--reading", "displacement"];
    let ran = explore("quasi-ill", "ms-queue", "deq=1", &more);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("it has 2 enq and 1 deq"), "{}", ran.stderr);
    let more = [&more[..], &["--ill-formed", "allow"]].concat();
    assert_eq!(explore("quasi-ill-allowed", "ms-queue", "deq=1", &more).code, 0);
    let ran = explore("quasi-unknown", "ms-queue", "pop=1", &["--matrix", "enq(1) | deq"]);
    assert!(ran.code == 2 && ran.stderr.contains("nobody calls `pop`"), "{ran:?}");
}

#[test]
fn matrices_that_are_drawn_take_out_as_much_as_they_put_in() {
    let more =
        ["--rows", "1", "--columns", "2", "--samples", "6", "--seed", "3", "--reading", "displacement"];
    let ran = explore("quasi-drawn", "ms-queue", "enq=0,deq=0", &more);
    assert_eq!(ran.code, 0, "{ran:?}");
    for object in ran.json() {
        let text = ["initial", "matrix", "final"]
            .map(|it| object[it].as_str().unwrap_or_default().to_owned())
            .join(" ");
        assert_eq!(text.matches("enq").count(), text.matches("deq").count(), "{object}");
    }
}
