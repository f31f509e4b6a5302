//! The table as a whole, and finding things in it.

use std::sync::Mutex;

use clewline_core::{Dice, Domain, Notation, Plan};
use clewline_specs::{CATALOG, Entry, find};

use crate::support::{for_every_specification, load, read_value, record, run};

#[test]
fn names_are_in_kebab_case_and_ascend() {
    for entry in &CATALOG {
        assert!(entry.name.split('-').all(|it| !it.is_empty()), "{}", entry.name);
        assert!(entry.name.chars().all(|it| it == '-' || it.is_ascii_lowercase()), "{}", entry.name);
    }
    assert!(CATALOG.iter().is_sorted_by(|a, b| a.name < b.name), "alphabetical, and none twice");
}

#[test]
fn the_typed_tests_cover_the_catalog() {
    static COVERED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    fn note<S: Notation>(name: &'static str, _: &S, _: fn(&mut Dice) -> S::Call) {
        COVERED.lock().unwrap().push(name.split(':').next().unwrap());
    }
    for_every_specification!(note);
    let mut covered = COVERED.lock().unwrap();
    covered.dedup();
    assert_eq!(*covered, CATALOG.iter().map(|it| it.name).collect::<Vec<_>>());
}

/// The operations of an entry with arguments in place: `put [1, 1]` for `put [key, value]`.
fn examples(entry: &Entry) -> impl Iterator<Item = (String, &'static str)> {
    entry.operations.iter().map(|&(written, about)| {
        let words: Vec<&str> = written.splitn(2, ' ').collect();
        let argument = words.get(1).map_or(String::new(), |it| {
            let items = it.split_inclusive([',', ']']);
            let item = |it: &str| match it.trim_matches([' ', ',', '[', ']']) {
                "text" => it.replace("text", "\"x\""),
                "" => it.to_owned(),
                name => it.replace(name, "1"),
            };
            items.map(item).collect()
        });
        (format!("{} {argument}", words[0]), about)
    })
}

#[test]
fn every_documented_operation_is_read_under_each_of_its_names() {
    for entry in &CATALOG {
        for (example, about) in examples(entry) {
            let label = |operation: &str| {
                let case = load(entry.name, record(&format!("{operation} = ?"), None));
                let case = case.unwrap_or_else(|error| panic!("{}: {operation}: {error}", entry.name));
                case.problems()[0].label(clewline_core::OperationId(0))
            };
            let (method, argument) = example.split_once(' ').unwrap();
            let expected = label(&example);
            assert!(expected.starts_with(&format!("{method}(")), "{expected} is not canonical");
            let aliases = about.split_once("(also: ").map_or("", |(_, it)| it.trim_end_matches(')'));
            for alias in aliases.split(", ").filter(|it| !it.is_empty()) {
                assert_eq!(label(&format!("{alias} {argument}")), expected, "{}: {alias}", entry.name);
            }
        }
    }
}

#[test]
fn errors_name_every_documented_operation() {
    for entry in &CATALOG {
        let error = load(entry.name, record("levitate", None)).err().unwrap().to_string();
        for (example, _) in examples(entry) {
            let method = example.split(' ').next().unwrap();
            assert!(error.contains(&format!("`{method}`")), "{}: {error}", entry.name);
        }
    }
}

#[test]
fn generated_histories_are_read_back() {
    for entry in &CATALOG {
        for (seed, values) in [(1, Domain::Below(4)), (2, Domain::Distinct)] {
            let plan = Plan { operations: 300, values, keys: 3, pending: 0.1, seed, ..Plan::default() };
            let recording = find(entry.name).ok().unwrap().generate(&plan);
            let returned = recording.history.operations().filter(|it| it.ret.is_some()).count();
            assert!(200 < returned, "{}: {returned} returned", entry.name);
            load(entry.name, recording).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        }
    }
}

#[test]
fn generated_serial_histories_hold_when_executed_in_order() {
    for entry in &CATALOG {
        let plan = Plan { operations: 300, processes: 1, overlap: 0.0, seed: 3, ..Plan::default() };
        let recording = find(entry.name).ok().unwrap().generate(&plan);
        assert_eq!(run(entry.name, recording), "holds", "{}", entry.name);
    }
}

#[test]
fn distinct_values_are_added_at_most_once() {
    let adds = ["enq", "push", "push-front", "push-back", "add", "write"];
    for entry in CATALOG.iter().filter(|it| it.name != "counter") {
        let plan = Plan { operations: 300, values: Domain::Distinct, seed: 4, ..Plan::default() };
        let recording = find(entry.name).ok().unwrap().generate(&plan);
        let mut values = recording.values.clone();
        let adds: Vec<_> = adds.iter().map(|it| read_value(&mut values, &format!("\"{it}\""))).collect();
        let added = recording.history.operations().filter(|it| adds.contains(&it.call.method));
        let mut added: Vec<_> = added.map(|it| it.call.arg).collect();
        let count = added.len();
        added.sort_unstable();
        added.dedup();
        assert_eq!(added.len(), count, "{}", entry.name);
    }
}

#[track_caller]
fn check_not_found(name: &str, expected: &str) {
    let error = find(name).err().expect("no such specification").to_string();
    let names: Vec<&str> = CATALOG.iter().map(|it| it.name).collect();
    assert_eq!(error.replace(&names.join(", "), "…"), expected);
}

#[test]
fn unknown_names_list_what_there_is_and_guess_what_was_meant() {
    check_not_found("quue", "no specification is called `quue`; did you mean `queue`? (there are …)");
    check_not_found("Queue:8", "no specification is called `Queue`; did you mean `queue`? (there are …)");
    check_not_found(
        "priority_queue",
        "no specification is called `priority_queue`; did you mean `priority-queue`? (there are …)",
    );
    check_not_found("teapot", "no specification is called `teapot` (there are …)");
    check_not_found("", "no specification is called `` (there are …)");
}

#[test]
fn parameters_are_checked() {
    check_not_found("mutex:3", "`mutex` takes no parameter, found `3`");
    check_not_found("map:", "`map` takes no parameter, found ``");
    check_not_found(
        "queue:many",
        "`queue` expected a capacity after the colon, a whole number from 1, found `many`",
    );
    check_not_found(
        "stack:0",
        "`stack` expected a capacity after the colon, a whole number from 1, found `0`",
    );
    check_not_found(
        "deque:-1",
        "`deque` expected a capacity after the colon, a whole number from 1, found `-1`",
    );
    check_not_found(
        "semaphore:x",
        "`semaphore` expected a number of permits after the colon, a whole number from 0, found `x`",
    );
    for entry in &CATALOG {
        let takes = entry.parameter.is_some();
        assert_eq!(find(&format!("{}:3", entry.name)).is_ok(), takes, "{}", entry.name);
    }
}

#[test]
fn a_specification_knows_its_name() {
    for entry in &CATALOG {
        let name = find(entry.name).unwrap().name().unwrap();
        // One that always has a parameter says so.
        assert_eq!(name.split(':').next(), Some(entry.name));
        assert_eq!(find(&name).unwrap().name(), Some(name));
    }
    assert_eq!(find("queue:8").unwrap().name().as_deref(), Some("queue:8"));
    assert_eq!(find("queue").unwrap().name().as_deref(), Some("queue"));
}
