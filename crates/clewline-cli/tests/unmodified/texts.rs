//! Arguments and results that are more than a number, and every built-in specification, in C and
//! C++.

use clewline_specs::CATALOG;
use clewline_testing::pick;

use super::program::build;

/// Calls that one thread makes, and the result of each.
#[track_caller]
fn check_results(file: &str, expected: &[(&str, &str)]) {
    let Some(program) = build(file, &[]) else { return };
    let matrix: Vec<&str> = expected.iter().map(|it| it.0).collect();
    let observed = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{file}.observed.xml"));
    let given = ["--matrix", &matrix.join(" "), "--observations", observed.to_str().unwrap()];
    let found = program.run(&given);
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    let observed = std::fs::read_to_string(observed).unwrap().replace("&quot;", "\"").replace("&lt;", "<");
    let lines: Vec<&str> = observed.lines().filter(|it| it.starts_with("<op ")).collect();
    assert_eq!(lines.len(), expected.len(), "{observed}");
    for ((call, result), line) in expected.iter().zip(lines) {
        let shown = line.split_once("result=\"").map_or("", |it| it.1).trim_end_matches("</op>");
        assert_eq!(shown.strip_suffix('"').unwrap_or(shown), *result, "{call}: {line}");
    }
}

const ALIKE: [(&str, &str); 10] = [
    ("echo(\"a, b) |\")", "\"a, b) |\""),
    ("echo(7)", "\"7\""),
    ("nothing", "None"),
    ("yes", "true"),
    ("four(1, 2, 3, 4)", "1234"),
    ("pair(1)", "{one: 1, other: false}"),
    ("pair(2)", "{one: 2, other: true}"),
    ("wide", "1267650600228229401496703205376"),
    ("below", "-1267650600228229401496703205376"),
    ("most", "340282366920938463463374607431768211455"),
];

#[test]
fn strings_structs_and_wide_numbers_are_results_in_c() {
    let own = [("small", "-7"), ("swap(\"a b\")", "(none, 4)"), ("swap(\"c\")", "(a b, 3)")];
    check_results("texts.c", &[&ALIKE[..], &own].concat());
}

#[test]
#[ignore = "long"]
fn strings_structs_and_wide_numbers_are_results_in_cpp() {
    let own = [
        ("maybe(\"a\")", "\"a\""),
        ("mixed(\"a\", 3, 1)", "\"a3\""),
        ("swap(\"a b\")", "\"none\""),
        ("swap(\"c\")", "\"a b\""),
    ];
    check_results("texts.cc", &[&ALIKE[..], &own].concat());
}

#[test]
#[ignore = "long"]
fn results_that_are_texts_are_compared() {
    for file in ["texts.c", "texts.cc"] {
        let matrix = "swap(\"a\") | swap(\"b\")";
        let Some(right) = build(file, &[]) else { return };
        right.check(matrix, &[]).holds();
        let Some(wrong) = build(file, &["TORN"]) else { return };
        let found = wrong.run(&["--matrix", matrix]);
        assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
        assert!(found.out.contains("swap(\"a\") → "), "{}", found.out);
        // The matrix can be typed in a shell.
        assert!(found.out.contains(&format!("--matrix '{matrix}'")), "{}", found.out);
    }
}

#[test]
fn an_argument_that_is_neither_a_number_nor_a_string_is_refused() {
    let Some(program) = build("texts.c", &[]) else { return };
    let found = program.run(&["--matrix", "echo(a)"]);
    assert_eq!(found.code, Some(2), "{}", found.out);
    assert!(found.err.contains("`echo(a)`: expected a number or a \"string\", found `a`"), "{}", found.err);
}

/// A specification, how the object for it is built, and calls; with `TORN` they are not
/// linearizable, except those of a register.
const OBJECTS: [(&str, &[&str], &str); 26] = [
    ("set", &["SET=1"], "add(1) remove(1) | add(1) contains(1)"),
    ("map", &["MAP"], "put(1, 2) cas(1, 2, 3) get(1) | insert(1, 3) get_or_insert(1, 2)"),
    ("cas-register", &["REGISTER"], "write(1) cas(1, 2) read | cas(1, 3) read"),
    ("queue:1", &["QUEUE", "CAPACITY=1"], "enq(1) deq | enq(2) deq"),
    ("map", &["MAP"], "insert(1, 3) remove(1) | remove(1) erase(1) contains(1)"),
    ("map", &["TEXTS"], "append(1, \"a\") get(1) | append(1, \"b\") get(1)"),
    ("queue", &["QUEUE"], "enq(1) deq | enq(2) deq peek"),
    ("stack", &["STACK"], "push(1) pop | push(2) pop peek"),
    ("stack:1", &["STACK", "CAPACITY=1"], "push(1) pop | push(2) pop"),
    ("deque", &["DEQUE"], "push_front(1) pop_back | push_back(2) pop_front"),
    ("deque:1", &["DEQUE", "CAPACITY=1"], "push_front(1) pop_back | push_back(2) pop_front"),
    ("bag", &["BAG"], "add(1) take | add(2) take"),
    ("priority-queue", &["PRIORITY=1"], "add(1) poll | add(2) poll peek"),
    ("min-priority-queue", &["PRIORITY=-1"], "add(1) poll | add(2) poll peek"),
    ("quasi-queue:1", &["QUEUE"], "enq(1) deq | enq(2) deq peek"),
    ("quasi-stack:1", &["STACK"], "push(1) pop | push(2) pop peek"),
    ("quasi-priority-queue:1", &["PRIORITY=1"], "add(1) poll | add(2) poll peek"),
    ("quasi-min-priority-queue:1", &["PRIORITY=-1"], "add(1) poll | add(2) poll peek"),
    ("multiset", &["SET=2"], "add(1) remove(1) | remove(1) contains(1)"),
    ("full-set", &["SET=3"], "add(1) remove(1) | add(1) read"),
    ("register", &["REGISTER"], "write(1) read | write(2) read"),
    ("counter", &["COUNTER"], "inc add(2) | dec read"),
    ("channel", &["CHANNEL"], "send(1) recv | close recv"),
    ("bank", &["BANK"], "transfer(0, 1, 5) read | transfer(1, 0, 2) read"),
    ("mutex", &["MUTEX"], "lock unlock | lock unlock"),
    ("semaphore", &["SEMAPHORE"], "acquire release | acquire release"),
];

#[test]
fn every_built_in_specification_is_in_the_list() {
    for spec in CATALOG.iter() {
        let is_there = OBJECTS.iter().any(|it| it.0.split(':').next() == Some(spec.name));
        assert!(is_there, "{}", spec.name);
    }
}

#[test]
#[ignore = "long"]
fn every_built_in_specification_can_be_used() {
    for file in ["specs.c", "specs.cc"] {
        for (spec, defines, matrix) in &OBJECTS[..pick(4, OBJECTS.len())] {
            let given = ["--spec", spec, "--matrix", matrix];
            let Some(right) = build(file, defines) else { return };
            let found = right.run(&given);
            assert_eq!(found.code, Some(0), "{file} {spec}: {}{}", found.out, found.err);
            if *spec == "register" {
                continue;
            }
            let Some(wrong) = build(file, &[defines, &["TORN"][..]].concat()) else { return };
            let found = wrong.run(&given);
            let is_named =
                found.out.starts_with("violated: ") && found.out.contains(" is not linearizable as a ");
            assert!(is_named, "{file} {spec}: {}{}", found.out, found.err);
        }
    }
}
