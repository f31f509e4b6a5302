//! Programs whose own `main` is explored.

use super::program::{Ran, build};

fn explore(wrong: u32, arguments: &[&str]) -> Option<Ran> {
    let program = build("program.c", &[&format!("WRONG={wrong}")])?;
    Some(program.explore_main(arguments))
}

#[test]
fn a_program_that_always_comes_to_an_end_holds() {
    for wrong in [0, 4] {
        let Some(found) = explore(wrong, &[]) else { return };
        assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
        assert!(found.out.starts_with("holds: "), "what it writes is not shown: {}", found.out);
    }
}

#[test]
fn a_program_that_is_wrong_in_some_executions_is_violated() {
    for (wrong, told) in [(1, "main returned 1"), (2, "waits for ever in main"), (3, "exit(3) was called")] {
        let Some(found) = explore(wrong, &[]) else { return };
        assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
        assert!(found.text().contains(told), "{}", found.out);
    }
}

#[test]
fn a_program_that_nobody_explores_is_what_it_was() {
    let Some(program) = build("program.c", &["WRONG=0"]) else { return };
    let found = program.run(&["a"]);
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    assert!(found.out.ends_with(" with 2 arguments\n"), "{}", found.out);
}
