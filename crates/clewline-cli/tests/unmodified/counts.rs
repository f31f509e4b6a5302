//! Numbers of executions, where they are known.

use super::program::build;

/// The number of ways to choose `k` of `n`.
fn choose(n: u64, k: u64) -> u64 {
    (1..=k).fold(1, |product, it| product * (n - k + it) / it)
}

/// The start of a column is no step of its own: an operation is called with its first access. So
/// two threads of k steps each can be merged in C(2k, k) ways.
#[test]
fn two_threads_of_k_stores_have_as_many_executions_as_their_merges() {
    for k in [1, 2, 3, 5, 7] {
        let Some(program) = build("count.c", &[&format!("K={k}")]) else { return };
        let found =
            program.check("store(1) | store(2)", &["--scheduler", "exhaustive", "--preemptions", "none"]);
        found.holds();
        assert_eq!(found.number("executions"), choose(2 * k, k), "k = {k}");
    }
}

/// The second thread is started by a step of the program, before which the first one may run: so
/// that is merged with the stores of the second. To wait for those that have ended is no choice.
#[test]
#[ignore = "long"]
fn threads_that_a_program_starts_have_as_many_executions_as_their_merges() {
    for k in [1, 2, 3, 5] {
        let Some(program) = build("stores.c", &[&format!("K={k}")]) else { return };
        let words = ["--scheduler", "exhaustive", "--preemptions", "none", "--format", "json"];
        let found = program.explore_main(&words);
        found.holds();
        assert_eq!(found.number("executions"), choose(2 * k + 1, k), "k = {k}");
    }
}

#[test]
#[ignore = "long"]
fn repeated_explorations_are_equal() {
    let Some(program) = build("queue.c", &["BUG=0"]) else { return };
    let counts: Vec<[u64; 2]> = (0..3)
        .map(|_| {
            let found = program.check("enq(1) deq | enq(2) deq", &[]);
            found.holds();
            ["executions", "histories"].map(|it| found.number(it))
        })
        .collect();
    assert!(counts.iter().all(|it| *it == counts[0]), "{counts:?}");
}

/// Reductions find all histories in C as well.
#[test]
#[ignore = "long"]
fn reductions_find_every_history() {
    for (file, matrix) in [("treiber.c", "push(1) pop | push(2) pop"), ("queue.c", "enq(1) deq | enq(2) deq")]
    {
        let Some(program) = build(file, &["BUG=0"]) else { return };
        for (whole, reduced) in [("exhaustive", "dpor"), ("bounded", "bounded-dpor")] {
            let none: &[&str] = if whole == "exhaustive" { &["--preemptions", "none"] } else { &[] };
            let [whole, reduced] = [whole, reduced].map(|scheduler| {
                let found = program.check(matrix, &[none, &["--scheduler", scheduler]].concat());
                found.holds();
                [found.number("histories"), found.number("executions")]
            });
            assert_eq!(whole[0], reduced[0], "{file}");
            assert!(reduced[1] <= whole[1], "{file}");
        }
    }
}
