//! Correct and wrong structures.

use super::program::build;

const ALL: [&[&str]; 2] = [&[], &["--points", "all"]];

#[test]
#[ignore = "long"]
fn a_treiber_stack_holds() {
    let Some(program) = build("treiber.c", &["BUG=0"]) else { return };
    for points in ALL {
        program.check("push(1) pop | push(2) pop", points).holds();
        program.check("push(1) pop | push(2) pop", &[points, &["--spec", "stack"]].concat()).holds();
    }
    // What a node holds is ordered by the atomic through which it is found.
    let found = program.run(&[]);
    assert!(found.code == Some(0) && !found.out.contains("--racing"), "{}", found.out);
}

#[test]
#[ignore = "long"]
fn a_push_that_overwrites_is_found() {
    let Some(program) = build("treiber.c", &["BUG=1"]) else { return };
    for points in ALL {
        program.check("push(1) pop | push(2) pop", points).violated("not-linearizable");
    }
}

#[test]
#[ignore = "long"]
fn a_node_that_is_freed_too_early_is_found() {
    let Some(program) = build("treiber.c", &["BUG=2"]) else { return };
    for points in ALL {
        let found = program.check("push(1) pop | push(2) pop", points);
        found.violated("use-after-free");
        assert!(found.field("message").starts_with("use after free: read of"), "{}", found.out);
    }
    let printed = program.run(&[]);
    assert!(printed.text().contains("use after free: read of byte 8 of block #"), "{}", printed.out);
    assert!(printed.out.contains("treiber.c:"), "{}", printed.out);
}

#[test]
#[ignore = "long"]
fn a_michael_scott_queue_holds() {
    let Some(program) = build("queue.c", &["BUG=0"]) else { return };
    for points in ALL {
        program.check("enq(1) deq | enq(2) deq", points).holds();
        program.check("enq(1) deq | enq(2) deq", &[points, &["--spec", "serial"]].concat()).holds();
    }
}

#[test]
#[ignore = "long"]
fn a_queue_with_a_tail_that_runs_ahead_is_found() {
    let Some(program) = build("queue.c", &["BUG=1"]) else { return };
    for points in ALL {
        program.check("enq(1) deq | enq(2) deq", points).violated("not-linearizable");
    }
}

#[test]
#[ignore = "long"]
fn a_queue_that_frees_too_early_is_found() {
    let Some(program) = build("queue.c", &["BUG=2"]) else { return };
    for points in ALL {
        program.check("enq(1) deq | enq(2) deq", points).violated("use-after-free");
    }
}

/// The command of a report shows the same violation.
#[test]
#[ignore = "long"]
fn a_replay_finds_what_was_found() {
    let Some(program) = build("treiber.c", &["BUG=1"]) else { return };
    let found = program.run(&[]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
    let next = found.out.lines().find_map(|it| it.strip_prefix("next: ")).expect("what to type next");
    let words = shell_words(next);
    assert_eq!(words[..2], ["clewline", "run"], "{next}");
    let arguments: Vec<&str> = words[3..].iter().map(String::as_str).collect();
    let again = program.run(&arguments);
    assert_eq!(again.code, Some(1), "{next}: {}{}", again.out, again.err);
}

/// Words as a shell reads them that knows only one kind of quotes.
fn shell_words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let split = |(at, part): (usize, &str)| match at % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    };
    parts.flat_map(split).collect()
}
